"""A server in a thread of this process, as a context."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Self


class Serving:
    """Serves `http` inside of the context. `url` stands for it, also before."""

    def __init__(self, http: ThreadingHTTPServer) -> None:
        self._server = http
        self._thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

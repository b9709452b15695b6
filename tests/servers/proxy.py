"""A proxy on loopback that commits faults on the way to a server that knows none."""

from __future__ import annotations

import http.client
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.servers.faults import Faults, Request
from tests.servers.serving import Serving

_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class Proxy(Serving):
    """`url` stands for the server at `upstream`. An operation is a method and what the query's `comp` says."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream.removeprefix("http://")
        self.faults = Faults()
        self.requests: list[Request] = []
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.proxy = self
        super().__init__(self._http)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    proxy: Proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up; that is theirs to do."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def _do(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, text = self.path.partition("?")
        query = dict(parse_qsl(text, keep_blank_values=True))
        operation = " ".join(filter(None, [self.command, query.get("comp")]))
        request = Request(method=self.command, operation=operation, bucket="", name=unquote(path), query=query)
        proxy.requests.append(request)
        fault = proxy.faults.of(request)
        kind = None if fault is None else fault.kind
        if fault is not None and kind == "status":
            self._answer(fault.status, [], b"", 0)
            return
        if kind == "drop":
            self._hang_up()
            return
        upstream = http.client.HTTPConnection(proxy.upstream)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            upstream.putheader(name, value)
        upstream.endheaders(body)
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        if kind == "lost":
            self._hang_up()
            return
        length = int(answer.getheader("Content-Length") or 0) if self.command == "HEAD" else len(content)
        if fault is not None and kind == "short":
            content = content[: len(content) // 2]
            length = length if fault.honest else len(content)
        self._answer(answer.status, answer.getheaders(), content, length)
        if kind == "short" and fault is not None and fault.honest:
            self._hang_up()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = _do  # noqa: N815 - as http.server names them

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes, length: int) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in _HOP:
                self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""

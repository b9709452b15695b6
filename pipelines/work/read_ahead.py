"""Reads a task's objects, several at a time where storage is far away, and hands them over in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from pipelines.config.model import Budget
from pipelines.documents.failures import DocumentFailure
from pipelines.storage.store import Fetched, Store

WINDOW_BYTES = 16 * 1024 * 1024
"""Bytes, as listed, that may be waiting to be chunked; one larger object waits alone."""


def read_ahead(reads: Sequence[tuple[Store, str, int]], limits: Budget) -> Iterator[Fetched | Exception]:
    """What each (store, path, listed size) held, in order, or what reading it raised.

    An object of more than `limits.max_bytes` is not read: its text and rows would have to be in memory at once.
    """
    most = limits.max_bytes
    workers = max((store.in_flight for store in {id(store): store for store, _, _ in reads}.values()), default=1)
    if workers == 1:
        for store, path, size in reads:
            yield _read(store, path, size, most)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[tuple[Future[Fetched | Exception], int]] = deque()
        held = 0
        for store, path, size in reads:
            while waiting and (held + size > WINDOW_BYTES or len(waiting) >= 2 * workers):
                future, freed = waiting.popleft()
                held -= freed
                yield future.result()
            waiting.append((pool.submit(_read, store, path, size, most), size))
            held += size
        while waiting:
            yield waiting.popleft()[0].result()


def _read(store: Store, path: str, size: int, most: int) -> Fetched | Exception:
    try:
        fetched = None if size > most else store.fetch(path)
        found = size if fetched is None else len(fetched.data)
        if fetched is None or found > most:  # it may have grown since it was listed
            raise DocumentFailure("too-large", f"{found} bytes of {most} that limits.max_bytes allows; split it")
        return fetched
    except Exception as error:
        return error

"""Reads a task's objects, several at a time where storage is far away, and hands them over in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from pipelines.config.addresses import protocol_of
from pipelines.documents.failures import DocumentFailure
from pipelines.storage.store import Store
from pipelines.work.job import MAX_DOCUMENT_BYTES

READS_IN_FLIGHT = 16
"""Requests at a time to storage that answers in tens of milliseconds."""

_NEAR = ("file", "memory")
"""Storage where a thread costs more than waiting."""

WINDOW_BYTES = 16 * 1024 * 1024
"""Bytes, as listed, that may be waiting to be chunked; one larger object waits alone."""


def read_ahead(reads: Sequence[tuple[Store, str, int]]) -> Iterator[bytes | Exception]:
    """The bytes of each (store, path, listed size), in order, or what reading it raised."""
    addresses = {store.address for store, _, _ in reads}
    workers = READS_IN_FLIGHT if any(protocol_of(address) not in _NEAR for address in addresses) else 1
    if workers == 1:
        for store, path, size in reads:
            yield _read(store, path, size)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[tuple[Future[bytes | Exception], int]] = deque()
        held = 0
        for store, path, size in reads:
            while waiting and (held + size > WINDOW_BYTES or len(waiting) >= 2 * workers):
                future, freed = waiting.popleft()
                held -= freed
                yield future.result()
            waiting.append((pool.submit(_read, store, path, size), size))
            held += size
        while waiting:
            yield waiting.popleft()[0].result()


def _read(store: Store, path: str, size: int) -> bytes | Exception:
    try:
        if size > MAX_DOCUMENT_BYTES:
            raise DocumentFailure("too-large", f"{size} bytes; a document may have {MAX_DOCUMENT_BYTES}. Split it")
        data = store.read(path)
        if len(data) > MAX_DOCUMENT_BYTES:  # it grew since it was listed
            raise DocumentFailure("too-large", f"{len(data)} bytes; a document may have {MAX_DOCUMENT_BYTES}. Split it")
        return data
    except Exception as error:
        return error

"""Give the files of a run their final names, next to each other, before the commit names them.

Idempotent: a final name is linked or copied to once, never opened for writing, and a second attempt finds it done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from pipelines.errors import TableStateError
from pipelines.storage.store import Store
from pipelines.table.layout import RUNS, final_file
from pipelines.table.records import FileEntry, Shard

THREADS = 16
"""Requests in flight at once."""

_PUBLISHED_STATES = re.compile(rf"{RUNS}[^/]+/documents/[^/]+")
_In = TypeVar("_In")
_Out = TypeVar("_Out")


def publish(store: Store, run_id: str, shards: Sequence[Shard], *, folder: bool = True) -> list[Shard]:
    """All shards of the next snapshot, in order, under their final names. See `publish_shard`."""
    jobs = [(index, shard) for index, shard in enumerate(shards)]
    return in_parallel(lambda job: publish_shard(store, run_id, job[0], len(shards), job[1], folder=folder), jobs)


def publish_shard(store: Store, run_id: str, index: int, count: int, shard: Shard, *, folder: bool = True) -> Shard:
    """Shard `index` (from 0) of `count` under its final names.

    Its chunks go to the run's folder; with `folder` false a chunk file that an earlier run published stays where it
    is. Its states go to the run's folder unless an earlier run published them. What stays live is touched: other
    tools' VACUUM goes by the modification time. TableStateError when a file is missing or not of the size it should be.
    """
    chunks, documents = shard.chunks, shard.documents
    if folder or not chunks.path.startswith("chunks/"):
        chunks = _named(store, chunks, final_file(run_id, "chunks", index, count))
    if not _PUBLISHED_STATES.fullmatch(documents.path):
        documents = _named(store, documents, final_file(run_id, "documents", index, count))
    check_file(store, chunks)
    check_file(store, documents)
    store.touch(chunks.path)
    return replace(shard, chunks=chunks, documents=documents)


def check_files(store: Store, files: Iterable[FileEntry]) -> None:
    """Every file is there and of the size it should be; TableStateError for the first that is not."""
    in_parallel(lambda entry: check_file(store, entry), files, store.in_flight)


def check_file(store: Store, entry: FileEntry) -> None:
    """The file is there and of the size it should be; TableStateError otherwise."""
    found = store.stat(entry.path)
    if found is None:
        raise TableStateError(f"{store.child(entry.path)}: the file to publish is missing")
    if found.size != entry.bytes:
        raise TableStateError(f"{store.child(entry.path)}: has {found.size} bytes instead of {entry.bytes}")


def in_parallel(function: Callable[[_In], _Out], items: Iterable[_In], threads: int = THREADS) -> list[_Out]:
    """`function` of every item, in order, so many at a time; the first error is raised."""
    if threads == 1:  # where nothing is waited for, a thread for each costs more than the rest
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def _named(store: Store, entry: FileEntry, path: str) -> FileEntry:
    if entry.path != path:
        try:
            store.link(entry.path, path)
        except FileNotFoundError as error:
            raise TableStateError(f"{store.child(entry.path)}: the file to publish is missing") from error
    return replace(entry, path=path)

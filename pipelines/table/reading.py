"""Rows of a snapshot: document states and chunks, reading as few files as the question allows."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.storage.store import Store
from pipelines.table import shards
from pipelines.table.layout import Kind
from pipelines.table.records import FileEntry, Shard, Snapshot
from pipelines.table.schemas import schema_of

REPEATED = ("source", "fingerprint", "status", "error", "kind")
"""Columns of states with few values."""


def read_documents(
    store: Store,
    snapshot: Snapshot,
    shard_indexes: Iterable[int] | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """The states of all documents, or of those in some shards, in shard order and by id within a shard."""
    files = [shard.documents for shard in _chosen(snapshot, shard_indexes)]
    return _read(store, files, "documents", snapshot, columns)


def each_documents(store: Store, snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The states of each shard in turn. Columns with few values are dictionaries.

    Where storage is far away, some shards more than the one that is looked at are in memory.
    """
    schema = schema_of("documents", snapshot.payload)
    nothing = pa.schema([schema.field(name) for name in columns]).empty_table()

    def one(shard: Shard) -> pa.Table:
        entry = shard.documents
        return shards.read(store, entry.path, columns, dictionaries=REPEATED) if entry.rows else nothing

    if store.in_flight == 1:
        yield from map(one, snapshot.shards)
        return
    with ThreadPoolExecutor(store.in_flight) as pool:
        waiting: deque[Future[pa.Table]] = deque()
        for shard in snapshot.shards:
            waiting.append(pool.submit(one, shard))
            if len(waiting) > 2 * store.in_flight:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def read_chunks(
    store: Store,
    snapshot: Snapshot,
    *,
    parent_ids: Collection[str] | None = None,
    ids: Collection[str] | None = None,
    shard_indexes: Iterable[int] | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Chunks that meet every condition given, in shard order and by (parent_id, chunk_index) within a shard."""
    files = [shard.chunks for shard in _chosen(snapshot, shard_indexes)]
    condition: Any = None
    if parent_ids is not None:
        files = _having(files, [(f"{parent}#", f"{parent}$") for parent in parent_ids])
        condition = _among("parent_id", parent_ids)
    if ids is not None:
        files = _having(files, [(one, f"{one}\0") for one in ids])
        among = _among("id", ids)
        condition = among if condition is None else condition & among
    return _read(store, files, "chunks", snapshot, columns, condition)


def may_hold(file: FileEntry, id_: str) -> bool:
    """Whether an id may be in a file, going by the file's bounds."""
    if file.min_id is None or file.max_id is None:
        return file.rows > 0
    return file.min_id <= id_ <= file.max_id


def read_changes(store: Store, snapshot: Snapshot) -> pa.Table:
    """What the snapshot's run changed."""
    return _read(store, snapshot.changes, "changes", snapshot, None)


def read_failures(store: Store, snapshot: Snapshot) -> pa.Table:
    """What the snapshot's run could not chunk."""
    return _read(store, snapshot.failures, "failures", snapshot, None)


def _chosen(snapshot: Snapshot, indexes: Iterable[int] | None) -> Sequence[Shard]:
    return snapshot.shards if indexes is None else [snapshot.shards[index] for index in indexes]


def _read(
    store: Store,
    files: Sequence[FileEntry],
    kind: Kind,
    snapshot: Snapshot,
    columns: Sequence[str] | None,
    condition: Any = None,
) -> pa.Table:
    schema = schema_of(kind, snapshot.payload)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    tables = _each(store, lambda path: shards.read(store, path, columns, condition), [f.path for f in files if f.rows])
    return pa.concat_tables([schema.empty_table(), *(table.select(schema.names) for table in tables)])


def _each(store: Store, read: Callable[[str], pa.Table], paths: Sequence[str]) -> list[pa.Table]:
    """`read` of every path, several at a time where storage is far away."""
    if store.in_flight == 1 or len(paths) < 2:
        return [read(path) for path in paths]
    with ThreadPoolExecutor(min(store.in_flight, len(paths))) as pool:
        return list(pool.map(read, paths))


def _among(column: str, values: Collection[str]) -> Any:
    return pc.field(column).isin(pa.array(list(values), pa.string()))


def _having(files: Sequence[FileEntry], ranges: Sequence[tuple[str, str]]) -> list[FileEntry]:
    """The files whose ids may fall into one of `ranges` (low inclusive, high exclusive), by their bounds."""
    ordered = sorted(ranges)
    lows = [low for low, _ in ordered]
    furthest = list(accumulate((high for _, high in ordered), max))

    def may_have(file: FileEntry) -> bool:
        if file.min_id is None or file.max_id is None:
            return file.rows > 0
        below = bisect_right(lows, file.max_id)
        return below > 0 and furthest[below - 1] > file.min_id

    return [file for file in files if may_have(file)]

"""What a task finds of its range in the last commit: document states, and rows to carry over as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.storage.store import Store
from pipelines.table import schemas, shards
from pipelines.table.records import FileEntry, Shard


class Result(NamedTuple):
    """The columns of a state that say what became of the document; the others say what was listed."""

    encoding: str | None = None
    confidence: float | None = None
    hash: str = ""
    strategy: str | None = None
    chunk_count: int = 0
    chunk_hashes: bytes = b""
    status: str = "failed"
    error: str | None = None
    fail_streak: int = 0


class OldShards:
    """The old shards that overlap the keys `low <= key < high`. Nothing is read before it is asked for."""

    def __init__(self, store: Store, old: Sequence[Shard], low: str, high: str | None) -> None:
        self._store = store
        self._shards = old
        self._low = low
        self._high = high

    @property
    def only_chunks(self) -> FileEntry:
        """The chunk file of the one old shard there is."""
        (shard,) = self._shards
        return shard.chunks

    @cached_property
    def states(self) -> pa.Table:
        """Old states of the range, sorted by id."""
        tables = [shards.read(self._store, shard.documents.path) for shard in self._shards]
        if not tables:
            return schemas.DOCUMENTS.empty_table()
        table = pa.concat_tables(tables)
        return table.filter(self._in_range(table["id"])).combine_chunks()

    def slim(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of the old states (`id` among them) without reading the others."""
        tables = [shards.read(self._store, shard.documents.path, columns=columns) for shard in self._shards]
        if not tables:
            return schemas.DOCUMENTS.empty_table().select(columns)
        table = pa.concat_tables(tables)
        return table.filter(self._in_range(table["id"]))

    @cached_property
    def state_rows(self) -> dict[str, int]:
        """Row in `states` by document id."""
        return {document: row for row, document in enumerate(self.states["id"].to_pylist())}

    def state(self, row: int, column: str) -> Any:
        """One value of an old state."""
        return self.states[column][row].as_py()

    def result(self, row: int) -> Result:
        """What became of the document."""
        return Result(*(self.states[name][row].as_py() for name in Result._fields))

    def rows_of_ids(self, ids: pa.Array) -> pa.Array:
        """Rows in `states` of the documents `ids`, null for those that have none."""
        return pc.index_in(ids, value_set=_value_set(self.states["id"]))

    def known_hashes(self, rows: pa.Array, fingerprints: pa.ChunkedArray, uris: pa.ChunkedArray) -> pa.ChunkedArray:
        """The hash of the bytes that the rows of old states were made from, if chunking them again would change none.

        Null where it might, read from these `uris` under these `fingerprints`, and for a failed document: its rows, if
        it has any, are of another time.
        """
        states = self.states.select(["hash", "fingerprint", "uri", "status"]).combine_chunks().take(rows)
        same = pc.and_(pc.equal(states["fingerprint"], fingerprints), pc.equal(states["uri"], uris))
        same = pc.and_(same, pc.is_in(states["status"], value_set=pa.array(["chunked", "empty"])))
        return pc.if_else(same, states["hash"], None)

    def states_of(self, ids: pa.Array | pa.ChunkedArray) -> pa.Table:
        """Old states of the documents `ids`."""
        if not len(ids):
            return schemas.DOCUMENTS.empty_table()
        return self.states.filter(pc.is_in(self.states["id"], _value_set(ids)))

    def rows_of(self, ids: pa.Array) -> pa.Table | None:
        """Old rows of the documents `ids`, in order; None when there are none. Text stays in Arrow."""
        with_rows = self.states.filter(
            pc.and_(pc.greater(self.states["chunk_count"], 0), pc.is_in(self.states["id"], _value_set(ids)))
        )["id"]
        if not len(ids) or not len(with_rows):
            return None
        wanted = _value_set(with_rows)
        found = []
        for shard in self._shards:
            rows = shards.read(self._store, shard.chunks.path)
            chosen = pc.is_in(rows["parent_id"], wanted).to_numpy(zero_copy_only=False)
            found.append(shards.rows_at(rows, np.flatnonzero(chosen)))
        return pa.concat_tables(found)

    def _in_range(self, ids: pa.ChunkedArray) -> pa.ChunkedArray:
        inside = pc.greater_equal(ids, self._low)
        return inside if self._high is None else pc.and_(inside, pc.less(ids, self._high))


def same_rows(old_states: pa.Table, new_states: pa.Table) -> bool:
    """Whether the chunk rows that two sets of states stand for are the same in every column."""
    return bool(_rows_of(old_states).equals(_rows_of(new_states)))


def _rows_of(states: pa.Table) -> pa.Table:
    with_rows = states.select(["id", "hash", "chunk_count", "chunk_hashes"])
    return with_rows.filter(pc.greater(with_rows["chunk_count"], 0)).sort_by("id")


def _value_set(ids: pa.Array | pa.ChunkedArray) -> pa.Array:
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids

"""What a task finds of its range in the last commit: document states, and rows to carry over as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.storage.store import Store
from pipelines.table import schemas, shards
from pipelines.table.keys import RECORD, sort_keys
from pipelines.table.records import FileEntry, Shard

_SETTLED = pa.array(["chunked", "empty"])


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


class KnownRecords:
    """The records of containers in the old states of a task, as dictionaries: there may be very many of them."""

    def __init__(self, states: pa.Table) -> None:
        rows = np.flatnonzero(pc.equal(states["kind"], RECORD).to_numpy()) if states.num_rows else np.empty(0, np.int64)
        self._records = states.select(["id", "hash", "fingerprint", "uri", "status"]).take(pa.array(rows, pa.int64()))
        self._rows = dict(zip(self._records["id"].to_pylist(), rows.tolist(), strict=True))

    def row(self, id_: str) -> int | None:
        """The row of a record's old state."""
        return self._rows.get(id_)

    def hashes(self, fingerprint: str, uri: str) -> Mapping[str, str]:
        """The hashes of the records that chunking again, read from `uri` under `fingerprint`, would not change."""
        return self._hashes.get((fingerprint, uri), {})

    @cached_property
    def _hashes(self) -> dict[tuple[str, str], dict[str, str]]:
        settled = self._records.filter(pc.is_in(self._records["status"], value_set=_SETTLED))
        columns = (settled[name].to_pylist() for name in ("fingerprint", "uri", "id", "hash"))
        found: dict[tuple[str, str], dict[str, str]] = {}
        for fingerprint, uri, id_, hashed in zip(*columns, strict=True):
            found.setdefault((fingerprint, uri), {})[id_] = hashed
        return found


class OldShards:
    """The old shards that overlap the keys `low <= key < high`. Nothing is read before it is asked for.

    `payload` are the payload columns, with their types, that rows are to have.
    """

    def __init__(
        self, store: Store, old: Sequence[Shard], low: str, high: str | None, payload: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._store = store
        self._shards = old
        self._low = low
        self._high = high
        self._schema = schemas.chunks_schema(dict(payload))

    @property
    def only_chunks(self) -> FileEntry:
        """The chunk file of the one old shard there is."""
        (shard,) = self._shards
        return shard.chunks

    @cached_property
    def states(self) -> pa.Table:
        """Old states of the range."""
        tables = [shards.read(self._store, shard.documents.path) for shard in self._shards]
        return self._of_range(tables).combine_chunks() if tables else schemas.DOCUMENTS.empty_table()

    def slim(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of the old states without reading the others."""
        names = list(dict.fromkeys([*columns, "key", "position"]))
        tables = [shards.read(self._store, shard.documents.path, columns=names) for shard in self._shards]
        found = self._of_range(tables) if tables else schemas.DOCUMENTS.empty_table()
        return found.select(list(columns))

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
        same = pc.and_(same, pc.is_in(states["status"], value_set=_SETTLED))
        return pc.if_else(same, states["hash"], None)

    def parted(self, keys: pa.Array | pa.ChunkedArray) -> tuple[pa.Table, pa.Table]:
        """Old states of the objects `keys` and of the records in them, and all others."""
        if not len(keys):
            return schemas.DOCUMENTS.empty_table(), self.states
        inside = pc.is_in(self.states["key"], _value_set(keys))
        return self.states.filter(inside), self.states.filter(pc.invert(inside))

    def rows_of(self, ids: pa.Array) -> pa.Table | None:
        """Old rows of the documents `ids`, in order; None when there are none. Text stays in Arrow."""
        found = self.among_rows(ids)
        return None if found is None else shards.rows_at(*found)

    def among_rows(self, ids: pa.Array) -> tuple[pa.Table, npt.NDArray[Any]] | None:
        """The same as positions in a table that has other rows too: copying those once may be all that is needed."""
        with_rows = self.states.filter(
            pc.and_(pc.greater(self.states["chunk_count"], 0), pc.is_in(self.states["id"], _value_set(ids)))
        )["id"]
        if not len(ids) or not len(with_rows):
            return None
        wanted = _value_set(with_rows)
        tables = []
        for shard in self._shards:
            rows = self._aligned(shards.read(self._store, shard.chunks.path))
            if len(self._shards) > 1:  # only some of them may be of our range: they need not all be in memory
                rows = shards.rows_at(rows, _chosen(rows, wanted))
            tables.append(rows)
        table = pa.concat_tables(tables)
        return table, _chosen(table, wanted) if len(tables) == 1 else np.arange(table.num_rows)

    def _aligned(self, rows: pa.Table) -> pa.Table:
        """`rows` with the columns of now: what they have no values for is null."""
        if rows.column_names == self._schema.names:
            return rows
        has = set(rows.column_names)
        columns = [
            rows[field.name] if field.name in has else pa.nulls(rows.num_rows, field.type) for field in self._schema
        ]
        return pa.table(columns, schema=self._schema)

    def _of_range(self, tables: Sequence[pa.Table]) -> pa.Table:
        states = pa.concat_tables(tables)
        if not self._low and self._high is None:
            return states
        keys = sort_keys(states)
        inside = pc.greater_equal(keys, self._low)
        return states.filter(inside if self._high is None else pc.and_(inside, pc.less(keys, self._high)))


def _chosen(rows: pa.Table, parents: pa.Array) -> npt.NDArray[Any]:
    return np.flatnonzero(pc.is_in(rows["parent_id"], parents).to_numpy())


def same_rows(old_states: pa.Table, new_states: pa.Table) -> bool:
    """Whether the chunk rows that two sets of states stand for are the same in every column."""
    old, new = _with_rows(old_states), _with_rows(new_states)
    return old.num_rows == new.num_rows and bool(old.sort_by("id").equals(new.sort_by("id")))


def _with_rows(states: pa.Table) -> pa.Table:
    rows = states.select(["id", "hash", "chunk_count", "chunk_hashes"])
    return rows.filter(pc.greater(rows["chunk_count"], 0))


def _value_set(ids: pa.Array | pa.ChunkedArray) -> pa.Array:
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids

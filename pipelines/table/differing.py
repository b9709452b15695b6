"""The document states in which two snapshots differ, so much at a time as fits in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import pyarrow as pa

from pipelines.storage.store import Store
from pipelines.table import schemas, shards
from pipelines.table.records import Shard, Snapshot

CHUNKS_AT_ONCE = 2_000_000
"""Chunks whose hashes are in memory; a larger difference takes several passes over the same files."""

COLUMNS = ("id", "chunk_hashes")


class StatePairs:
    """The states of two snapshots (`old` None: of nothing) without the shards that both have, in `passes` passes.

    Each pass is of other documents: whatever is said of one of them is said in one pass.
    """

    def __init__(self, store: Store, old: Snapshot | None, new: Snapshot) -> None:
        self._store = store
        same = set() if old is None else _digests(old) & _digests(new)
        self._old = [shard for shard in (() if old is None else old.shards) if shard.documents.sha256 not in same]
        self._new = [shard for shard in new.shards if shard.documents.sha256 not in same]
        chunks = sum(shard.chunks.rows for shard in (*self._old, *self._new))
        self.passes = 1 + chunks // CHUNKS_AT_ONCE

    def __iter__(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Old and new states with COLUMNS."""
        for number in range(self.passes):
            yield self._states(self._old, number), self._states(self._new, number)

    def _states(self, owners: Sequence[Shard], number: int) -> pa.Table:
        tables = [pa.schema([schemas.DOCUMENTS.field(name) for name in COLUMNS]).empty_table()]
        for shard in owners:
            rows = shards.read(self._store, shard.documents.path, COLUMNS)
            tables.append(self.of_pass(rows, "id", number))
        return pa.concat_tables(tables)

    def of_pass(self, rows: pa.Table, column: str, number: int) -> pa.Table:
        """The rows of documents (their ids in `column`) that are the concern of pass `number`, from 0."""
        if self.passes == 1:
            return rows
        mine = [crc32(id_.encode()) % self.passes == number for id_ in rows[column].to_pylist()]
        return rows.filter(pa.array(mine, pa.bool_()))


def _digests(table: Snapshot) -> set[str]:
    return {shard.documents.sha256 for shard in table.shards}

"""The net changes since a version, for an index that lags behind the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.operations.tables import load_snapshot, open_table
from pipelines.reconcile import Net, net
from pipelines.storage.store import Store
from pipelines.table import shards
from pipelines.table.records import Shard
from pipelines.table.renaming import renames_between
from pipelines.table.schemas import DOCUMENTS

COMPARED = ("id", "chunk_hashes")
_ROWS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesSince:
    """What turns an index at version `since` into one at version `until`. Nothing is read before it is asked for.

    `since` None is an empty index.
    """

    since: int | None
    until: int
    _store: Store
    _before: tuple[Shard, ...]
    _shards: tuple[Shard, ...]
    _net: Net

    @property
    def upserts(self) -> int:
        """How many chunks are to be written."""
        return int(self._net.upserts.num_rows)

    @property
    def deletions(self) -> int:
        """How many chunks are to be deleted."""
        return int(self._net.deletions.num_rows)

    def renamed_documents(self) -> Iterator[dict[str, Any]]:
        """Documents that are there under another id, with the columns of `renames`, however many commits it took.

        Chunk `new_id#n` has the content of the chunk `old_id#n` of version `since`, for each n below `chunk_count`: its
        vector can be copied. The old chunks are among the deletions, the new ones among the upserts all the same.
        """
        if self.upserts and self.deletions:
            for found in renames_between(self._store, self._before, self._shards):
                for batch in found.to_batches(_ROWS_AT_ONCE):
                    yield from batch.to_pylist()

    def upserted_rows(self) -> Iterator[dict[str, Any]]:
        """The rows to write, with every column of the table, by shard."""
        wanted = self._net.upserts["id"].combine_chunks()
        if not len(wanted):
            return
        for shard in self._shards:
            rows = shards.read(self._store, shard.chunks.path)
            for batch in rows.filter(pc.is_in(rows["id"], value_set=wanted)).to_batches(_ROWS_AT_ONCE):
                yield from batch.to_pylist()

    def deleted_rows(self) -> Iterator[dict[str, Any]]:
        """id, parent_id and chunk_index of the chunks to delete."""
        for batch in self._net.deletions.select(["id", "parent_id", "chunk_index"]).to_batches(_ROWS_AT_ONCE):
            yield from batch.to_pylist()


def changes_since(target: str, since: int | None) -> ChangesSince:
    """Compare version `since` of a table (a configuration or an address) with its newest; None with nothing at all.

    TableStateError when there is no such version, or its files were collected.
    """
    store = open_table(target)
    new = load_snapshot(store)
    old = () if since is None else load_snapshot(store, since).shards
    same = _state_files(old) & _state_files(new.shards)  # a shard that no run touched since has the same states
    touched = tuple(shard for shard in new.shards if shard.documents.sha256 not in same)
    before = tuple(shard for shard in old if shard.documents.sha256 not in same)
    assert new.version is not None
    return ChangesSince(
        since=since,
        until=new.version,
        _store=store,
        _before=before,
        _shards=touched,
        _net=net(_states(store, before), _states(store, touched)),
    )


def _state_files(owners: tuple[Shard, ...]) -> set[str]:
    return {shard.documents.sha256 for shard in owners}


def _states(store: Store, owners: tuple[Shard, ...]) -> pa.Table:
    empty = pa.schema([DOCUMENTS.field(name) for name in COMPARED]).empty_table()
    return pa.concat_tables([empty, *(shards.read(store, shard.documents.path, COMPARED) for shard in owners)])

"""A commit against the one before it: the changes it tells are exactly the difference between the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.operations.verifying.problems import Problem
from pipelines.reconcile import net
from pipelines.storage.store import Store
from pipelines.table import layout, schemas, shards
from pipelines.table.records import Shard, Snapshot

CHUNKS_AT_ONCE = 2_000_000
"""Chunks compared in one pass; a larger difference takes several over the same files."""

_COLUMNS = ("id", "chunk_hashes")


def check_changes(store: Store, old: Snapshot | None, new: Snapshot) -> Iterator[Problem]:
    """old − deletions + upserts == new, as id → (content_hash, row_hash), by the states of both."""
    where = layout.commit_file(new.run_id)
    same = set() if old is None else _state_files(old) & _state_files(new)
    before = [shard for shard in (() if old is None else old.shards) if shard.documents.path not in same]
    after = [shard for shard in new.shards if shard.documents.path not in same]
    told = pa.concat_tables([schemas.CHANGES.empty_table(), *(shards.read(store, entry.path) for entry in new.changes)])
    counted = Counter(told["change"].to_pylist())
    said = {name: number for name, number in new.stats.get("changes", {}).items() if number}
    if said != counted:
        yield Problem(where, f"counts the changes {said}; the changes table has {dict(counted)}")
    chunks = sum(shard.chunks.rows for shard in (*before, *after))
    passes = 1 + chunks // CHUNKS_AT_ONCE
    for number in range(passes):
        difference = net(_states(store, before, number, passes), _states(store, after, number, passes))
        mine = told.filter(_belongs(told["parent_id"], number, passes))
        deleted = pc.equal(mine["change"], "deleted")
        yield from _compared("deleted", mine.filter(deleted), difference.deletions, where)
        yield from _compared("upserted", mine.filter(pc.invert(deleted)), difference.upserts, where)


def _compared(what: str, told: pa.Table, found: pa.Table, where: str) -> Iterator[Problem]:
    hashes = dict(zip(*(told[name].to_pylist() for name in ("id", "content_hash")), strict=True))
    if len(hashes) != told.num_rows:
        yield Problem(where, f"its changes name a chunk to be {what} twice")
    for id_, content in zip(*(found[name].to_pylist() for name in ("id", "content_hash")), strict=True):
        said = hashes.pop(id_, None)
        if said is None:
            yield Problem(where, f"its changes do not say that {id_!r} is {what}")
        elif said != content:
            yield Problem(where, f"its changes give {id_!r} another content_hash than the document's state")
    for id_ in hashes:
        yield Problem(where, f"its changes say that {id_!r} is {what}, which is not so")


def _state_files(table: Snapshot) -> set[str]:
    return {shard.documents.path for shard in table.shards}


def _states(store: Store, owners: list[Shard], number: int, passes: int) -> pa.Table:
    tables = [pa.schema([schemas.DOCUMENTS.field(name) for name in _COLUMNS]).empty_table()]
    for shard in owners:
        rows = shards.read(store, shard.documents.path, _COLUMNS)
        tables.append(rows.filter(_belongs(rows["id"], number, passes)))
    return pa.concat_tables(tables)


def _belongs(ids: pa.ChunkedArray, number: int, passes: int) -> pa.Array:
    """Which ids are the `number`th of `passes` passes' concern."""
    if passes == 1:
        return pa.array(np.ones(len(ids), bool))
    return pa.array([crc32(id_.encode()) % passes == number for id_ in ids.to_pylist()], pa.bool_())

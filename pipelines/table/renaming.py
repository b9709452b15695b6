"""The documents that were renamed between two snapshots, so much at a time as fits in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.renames import PAIRED, marks, pair
from pipelines.storage.store import Store
from pipelines.table import shards
from pipelines.table.records import Shard

CHUNKS_AT_ONCE = 2_000_000
"""Chunks of renamed documents whose hashes are in memory; more take several passes."""

_Numbers = npt.NDArray[np.int64]
_NONE: _Numbers = np.zeros(0, np.int64)


def renames_between(store: Store, old: Sequence[Shard], new: Sequence[Shard]) -> Iterator[pa.Table]:
    """Tables of RENAMES. Shards of the same states on both sides are not read; of the others at first the ids alone.

    Some 24 bytes a document of those others are in memory. The same snapshots give the same tables.
    """
    same = {shard.documents.sha256 for shard in old} & {shard.documents.sha256 for shard in new}
    before, after = _Side(store, old, same), _Side(store, new, same)
    before.look(without=after.ids)
    if not before.candidates:
        return
    after.look(without=before.ids)
    both = np.intersect1d(before.marks(), after.marks())
    if not len(both):
        return
    passes = min(1 + max(before.chunks(both), after.chunks(both)) // CHUNKS_AT_ONCE, len(both))
    for some in np.array_split(both, passes):
        found = pair(before.states(some), after.states(some))
        if found.num_rows:
            yield found


class _Side:
    """The documents of one snapshot, without the shards that both have. `marks` only pick whom to look at."""

    def __init__(self, store: Store, owners: Sequence[Shard], same: set[str]) -> None:
        self._store = store
        self._owners = [shard for shard in owners if shard.documents.rows and shard.documents.sha256 not in same]
        self._ids = [_hashes(shards.read(store, shard.documents.path, ["id"])["id"]) for shard in self._owners]
        self.candidates: list[tuple[Shard, _Numbers, _Numbers, _Numbers]] = []  # rows, their marks, their chunks

    @property
    def ids(self) -> _Numbers:
        """A hash of every id. Two ids of one hash may hide a rename, and never make one."""
        return np.concatenate([_NONE, *self._ids])

    def look(self, *, without: _Numbers) -> None:
        """Find the documents with chunks whose ids are not in `without`."""
        others = np.unique(without)
        for shard, ids in zip(self._owners, self._ids, strict=True):
            alone = np.flatnonzero(~np.isin(ids, others))
            if not len(alone):
                continue
            states = shards.read(self._store, shard.documents.path, ["chunk_count", "chunk_hashes"])
            counts = states["chunk_count"].to_numpy()[alone].astype(np.int64)
            rows = alone[counts > 0]
            if len(rows):
                hashes = states["chunk_hashes"].take(pa.array(rows))
                self.candidates.append((shard, rows, marks(hashes), counts[counts > 0]))

    def marks(self) -> _Numbers:
        """Those of all candidates."""
        return np.concatenate([_NONE, *(mine for _, _, mine, _ in self.candidates)])

    def chunks(self, wanted: _Numbers) -> int:
        """How many chunks the candidates with these marks have."""
        return sum(int(counts[np.isin(mine, wanted)].sum()) for _, _, mine, counts in self.candidates)

    def states(self, wanted: _Numbers) -> pa.Table:
        """The states, PAIRED, of the candidates with these marks."""
        found = []
        for shard, rows, mine, _ in self.candidates:
            chosen = rows[np.isin(mine, wanted)]
            if len(chosen):
                states = shards.read(self._store, shard.documents.path, PAIRED)
                found.append(states.take(pa.array(chosen)))
        return pa.concat_tables(found)


def _hashes(ids: pa.ChunkedArray) -> _Numbers:
    """The same in this process only."""
    return np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids))

"""The documents that were renamed between two snapshots, so much at a time as fits in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.renames import PAIRED, marks, pair, slim
from pipelines.storage.store import Store
from pipelines.table import shards
from pipelines.table.records import Shard

DOCUMENTS_AT_ONCE = 100_000
"""Documents of one side that are paired at a time; more take several passes over the same files."""

_Numbers = npt.NDArray[np.int64]
_NONE: _Numbers = np.zeros(0, np.int64)


def renames_between(store: Store, old: Sequence[Shard], new: Sequence[Shard]) -> Iterator[pa.Table]:
    """Tables of RENAMES. Shards of the same states on both sides are not read; of the others at first the ids alone.

    Some 24 bytes a document of those others are in memory. The same snapshots give the same tables. 100,000 documents
    of ten chunks that all have another id take 2 s of CPU, one among 100,000 that stay 0.05 s.
    """
    same = {shard.documents.sha256 for shard in old} & {shard.documents.sha256 for shard in new}
    before, after = _Side(store, old, same), _Side(store, new, same)
    before.look(without=after.ids)
    if not len(before.marks):
        return
    after.look(without=before.ids)
    both = np.intersect1d(before.marks, after.marks)
    if not len(both):
        return
    most = max(int(_among(side.marks, both).sum()) for side in (before, after))
    for some in np.array_split(both, min(-(-most // DOCUMENTS_AT_ONCE), len(both))):
        found = pair(before.states(some), after.states(some))
        if found.num_rows:
            yield found


class _Side:
    """The documents of one snapshot, without the shards that both have.

    `ids` is a hash of every id: two ids of one hash may hide a rename, and never make one. `marks` are those of the
    documents that `look` found; they only pick whom to compare.
    """

    def __init__(self, store: Store, owners: Sequence[Shard], same: set[str]) -> None:
        self._store = store
        self._owners = [shard for shard in owners if shard.documents.rows and shard.documents.sha256 not in same]
        found = [_hashes(shards.read(store, shard.documents.path, ["id"])["id"]) for shard in self._owners]
        self._ends = np.cumsum([len(each) for each in found], dtype=np.int64)
        self._found: list[tuple[Shard, _Numbers, _Numbers]] = []  # rows of a shard's states, and their marks
        self.ids = np.concatenate([_NONE, *found])
        self.marks = _NONE

    def look(self, *, without: _Numbers) -> None:
        """Find the documents that have chunks and whose ids are not in `without`."""
        alone = ~_among(self.ids, np.sort(without))
        for shard, mine in zip(self._owners, np.split(alone, self._ends)[:-1], strict=True):
            if mine.any():
                states = shards.read(self._store, shard.documents.path, ["chunk_count", "chunk_hashes"])
                rows = np.flatnonzero(mine & (states["chunk_count"].to_numpy() > 0))
                self._found.append((shard, rows, marks(states["chunk_hashes"].take(pa.array(rows)))))
        self.marks = np.concatenate([_NONE, *(found for _, _, found in self._found)])

    def states(self, wanted: _Numbers) -> pa.Table:
        """What `pair` takes, of the documents found whose marks are `wanted` (sorted)."""
        tables = []
        for shard, rows, found in self._found:
            chosen = rows[_among(found, wanted)]
            if len(chosen):
                states = shards.read(self._store, shard.documents.path, PAIRED)
                tables.append(slim(states.take(pa.array(chosen))))
        return pa.concat_tables(tables)


def _among(values: _Numbers, ordered: _Numbers) -> npt.NDArray[np.bool_]:
    """Which of the values are in `ordered`, which is sorted."""
    if not len(ordered):
        return np.zeros(len(values), bool)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: npt.NDArray[np.bool_] = ordered[places] == values
    return found


def _hashes(ids: pa.ChunkedArray) -> _Numbers:
    """The same in this process only."""
    return np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids))

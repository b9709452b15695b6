"""Which ids are in more than one place: made twice, or kept in another task's range than before.

Ids are compared by hash first: 8 bytes an id, so that millions fit, and nothing is sorted but numbers. A hash only
picks ids to look at. Whoever looks compares the ids themselves, so that two ids of one hash are no harm.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.table.records import FileEntry
from pipelines.work.deciding.ledger import Ledger

Hashes = npt.NDArray[np.int64]

MANY_NEW = 200_000
"""More new ids than this are looked for in every shard, not only where they could be."""

_ODD = np.int64(0x9E3779B97F4A7C1)
_NONE: Hashes = np.zeros(0, np.int64)


class Places:
    """The ids of every task, new and old, as hashes in the order of their files.

    `shared` are the hashes of ids that are in more than one place, sorted: twice in new states, old in one task's range
    or object and new in another, or new in a task and still in a shard that no task touches. Without records there are
    none: a file's id decides where it is. `untouched` are those last shards.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.new: list[Hashes] = []
        self.old: list[Hashes] = []
        self.untouched: list[int] = []
        self.shared: Hashes = _NONE
        if ledger.plan.has_records:
            self.shared = self._find()

    def new_rows(self, place: int, wanted: Hashes) -> npt.NDArray[np.int64]:
        """The rows of a task's new states whose hashes are `wanted`."""
        return _rows(self.new[place], wanted) if len(wanted) else _NONE

    def old_rows(self, place: int, wanted: Hashes) -> npt.NDArray[np.int64]:
        """The rows of the old states in a task's range whose hashes are `wanted`."""
        return _rows(self.old[place], wanted) if len(wanted) else _NONE

    def _find(self) -> Hashes:
        first_run = self._ledger.plan.base is None  # then nothing was anywhere else before
        came: list[Hashes] = []
        went: list[Hashes] = []
        names: list[pa.Array] | None = []
        for place in range(len(self._ledger.results)):
            states, before = self._ledger.new_states(place, ["id", "key"]), self._ledger.old(place).slim(["id", "key"])
            new, old = hashes_of(states["id"]), hashes_of(before["id"])
            self.new.append(new)
            self.old.append(old)
            if first_run:
                continue
            # Of another object than before is another place too, although the task is the same.
            here, there = _mixed(new, states["key"]), _mixed(old, before["key"])
            arrived = ~np.isin(here, there)
            came.append(new[arrived])
            went.append(old[~np.isin(there, here)])
            if names is not None:
                names += states["id"].filter(pa.array(arrived)).chunks
                if sum(map(len, names)) > MANY_NEW:
                    names = None
        arrivals, departures = np.concatenate([_NONE, *came]), np.concatenate([_NONE, *went])
        everything = np.sort(np.concatenate([_NONE, *self.new]))
        twice = everything[1:][everything[1:] == everything[:-1]]
        del everything
        moved = np.intersect1d(arrivals, departures)
        return np.unique(np.concatenate([twice, moved, self._elsewhere(arrivals, names)]))

    def _elsewhere(self, arrivals: Hashes, names: list[pa.Array] | None) -> Hashes:
        """Those of `arrivals` that a shard which no task touches has already."""
        if not len(arrivals) or not self._ledger.untouched:
            return _NONE
        candidates = np.unique(arrivals)
        ordered = None if names is None else sorted(name for each in names for name in each.to_pylist())
        found = [_NONE]
        for shard in self._ledger.untouched:
            entry = self._ledger.plan.old_shards[shard].documents
            if entry.rows and (ordered is None or _may_have(entry, ordered)):
                here = np.intersect1d(candidates, hashes_of(self._ledger.untouched_states(shard, ["id"])["id"]))
                if len(here):
                    self.untouched.append(shard)
                    found.append(here)
        return np.concatenate(found)


def hashes_of(ids: pa.Array | pa.ChunkedArray) -> Hashes:
    """A hash of each id; the same in this process only."""
    return np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids))


def _mixed(ids: Hashes, keys: pa.ChunkedArray) -> Hashes:
    """A hash of each id with its object's key, of which there are few. (A file's id is its key.)"""
    if not len(ids):
        return _NONE
    encoded = keys.combine_chunks().dictionary_encode()
    mixed: Hashes = ids * _ODD + hashes_of(encoded.dictionary)[encoded.indices.to_numpy()]
    return mixed


def _rows(hashes: Hashes, wanted: Hashes) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.isin(hashes, wanted))


def _may_have(entry: FileEntry, ordered: list[str]) -> bool:
    """Whether one of the ids in `ordered` can be in the file."""
    if entry.min_id is None or entry.max_id is None:
        return True
    at = bisect_left(ordered, entry.min_id)
    return at < len(ordered) and ordered[at] <= entry.max_id

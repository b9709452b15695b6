"""Which old documents stay although no task has them any more. Not read is not gone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.table.keys import CONTAINER
from pipelines.work.deciding.ledger import Ledger

LOOKED_AT = ["id", "uri", "source", "status", "chunk_count", "kind", "key"]
"""The columns of states that decide what stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Why old documents go, and what keeps them.

    `reasons` says by key why objects vanish; a record that its container no longer has was removed. `unread` are the
    keys of containers that were not read whole, `unreplaced` the addresses of objects that have nothing to show under
    their new id. `withheld` are the sources whose deletions the guard withholds, `reread` the containers that have to
    be read again because of it.
    """

    reasons: Mapping[str, str]
    unread: frozenset[str]
    unreplaced: frozenset[str]
    withheld: frozenset[str] = frozenset()
    reread: frozenset[str] = frozenset()
    _keys: list[str] = field(init=False)
    _names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        keys = sorted(self.reasons)
        object.__setattr__(self, "_keys", keys)
        object.__setattr__(self, "_names", [self.reasons[key] for key in keys])

    def reasons_of(self, gone: pa.Table) -> pa.ChunkedArray:
        """Why each of these documents is gone. Looks only at keys between theirs: this is asked task by task."""
        bounds = pc.min_max(gone["key"]).as_py()
        if bounds["min"] is None:
            return pa.chunked_array([pa.array(["removed"] * gone.num_rows, pa.string())])
        some = slice(bisect_left(self._keys, bounds["min"]), bisect_right(self._keys, bounds["max"]))
        rows = pc.index_in(gone["key"], value_set=pa.array(self._keys[some], pa.string()))
        return pc.fill_null(pa.array(self._names[some], pa.string()).take(rows), "removed")

    def unseen(self, gone: pa.Table, reasons: pa.ChunkedArray) -> pa.ChunkedArray:
        """Which of the documents that are not in the new states are no deletions at all."""
        unread = pc.is_in(gone["key"], value_set=_set(self.unread))
        if not self.unreplaced:
            return unread
        rekeyed = pc.and_(pc.equal(reasons, "rekeyed"), pc.is_in(gone["uri"], value_set=_set(self.unreplaced)))
        has_rows = pc.or_(pc.greater(gone["chunk_count"], 0), pc.equal(gone["kind"], CONTAINER))
        return pc.or_(unread, pc.and_(rekeyed, has_rows))

    def kept(self, gone: pa.Table) -> pa.ChunkedArray:
        """Which of the documents that are not in the new states stay as they were."""
        unseen = self.unseen(gone, self.reasons_of(gone))
        if not self.withheld:
            return unseen
        has_rows = pc.or_(pc.greater(gone["chunk_count"], 0), pc.equal(gone["kind"], CONTAINER))
        return pc.or_(unseen, pc.and_(pc.is_in(gone["source"], value_set=_set(self.withheld)), has_rows))


def keeping_of(ledger: Ledger) -> Keeping:
    """What is known before the guard has judged."""
    return Keeping(reasons=ledger.vanished, unread=frozenset(ledger.unread), unreplaced=frozenset(_unreplaced(ledger)))


def _unreplaced(ledger: Ledger) -> set[str]:
    """Addresses of objects whose old rows are all there is of them, should their ids have changed."""
    if "rekeyed" not in ledger.vanished.values():
        return set()
    columns = ["uri", "status", "chunk_count"]
    failing: set[str] = set()
    for place in range(len(ledger.results)):
        states = ledger.new_states(place, columns)
        failing.update(states.filter(_nothing_to_show(states))["uri"].to_pylist())
    if failing:
        wanted = _set(failing)
        for place in range(len(ledger.results)):
            states = ledger.new_states(place, columns)
            shown = pc.and_(pc.is_in(states["uri"], value_set=wanted), pc.invert(_nothing_to_show(states)))
            failing.difference_update(states.filter(shown)["uri"].to_pylist())
    return failing | set(ledger.unread.values())


def _nothing_to_show(states: pa.Table) -> pa.ChunkedArray:
    return pc.and_(pc.equal(states["status"], "failed"), pc.equal(states["chunk_count"], 0))


def chunked_by_source(states: pa.Table) -> Counter[str]:
    """How many documents have chunks, by source."""
    sources = states.filter(pc.greater(states["chunk_count"], 0))["source"]
    return Counter({each["values"]: each["counts"] for each in pc.value_counts(sources).to_pylist()})


def _set(values: frozenset[str] | set[str]) -> pa.Array:
    return pa.array(sorted(values), pa.string())

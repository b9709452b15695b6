"""Whose an id is when several have it: the first by (source, path, position), wherever their rows lie.

Looks only at the ids that `Places` found in more than one place. It takes them in passes of bounded size; a pass is
settled the same way however often it is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.config.model import Config
from pipelines.documents.formats import format_of, place_of
from pipelines.table import schemas
from pipelines.work.deciding.keeping import LOOKED_AT, Keeping
from pipelines.work.deciding.ledger import Ledger
from pipelines.work.deciding.places import Hashes, Places, hashes_of
from pipelines.work.deciding.positions import Positions
from pipelines.work.standing_failures import duplicate_message

IDS_AT_ONCE = 100_000
"""Ids settled in one pass."""

NEW, OLD, UNTOUCHED = 0, 1, 2
"""Where a claim to an id comes from: a task's new states, old states in a task's range, a shard no task touches."""

_CLAIMS = [*LOOKED_AT, "path", "position"]
_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Who has which id, for the ids of one pass.

    `claims` are all rows of states about them: `origin`, `place` (of a task, or an untouched shard's number), `row`
    and LOOKED_AT. The other arrays have one value a claim. `owner` is the claim that has its id, `previous` the one
    that had it in the last commit, -1 for none. `lost` are claims that others knew of and that have no document now.
    `inherits` are owners that failed: what they can show is what the previous one had.
    """

    claims: pa.Table
    origin: Positions
    place: Positions
    row: Positions
    owner: Positions
    previous: Positions
    lost: _Flags
    inherits: _Flags

    def rows(self, place: int, which: _Flags, origin: int) -> Positions:
        """The rows of a task's (or shard's) states among the claims `which`."""
        found: Positions = self.row[which & (self.origin == origin) & (self.place == place)]
        return found

    @property
    def owns(self) -> _Flags:
        """Which claims have their id."""
        found: _Flags = self.owner == np.arange(len(self.owner))
        return found


def settle_shared(ledger: Ledger, places: Places, keeping: Keeping) -> Iterator[Settled]:
    """Every pass over the ids in more than one place."""
    for start in range(0, len(places.shared), IDS_AT_ONCE):
        claims = _claims(ledger, places, places.shared[start : start + IDS_AT_ONCE])
        if claims.num_rows:
            yield _settled(claims, ledger.job.config, keeping)


def lost_failures(settled: Settled, config: Config) -> pa.Table:
    """A failure row for each claim that lost its id to another.

    None for a file that no source takes any more: no listing has it, so the next run would take the row back.
    """
    rows = np.flatnonzero(settled.lost)
    losers = settled.claims.take(pa.array(rows)).to_pylist()
    owners = settled.claims.take(pa.array(settled.owner[rows])).to_pylist()
    found = [
        {
            "id": loser["id"],
            "uri": loser["uri"],
            "position": _position(loser, config),
            "stage": "id",
            "error": "duplicate-id",
            "message": duplicate_message(owner["uri"], _position(owner, config)),
            "fail_streak": 1,
            "kept_chunks": 0,
        }
        for loser, owner in zip(losers, owners, strict=True)
        if _in_scope(loser, config)
    ]
    return pa.Table.from_pylist(found, schema=schemas.FAILURES)


def lost_outcomes(settled: Settled, unlisted: pa.Array) -> Counter[tuple[str, str]]:
    """The claims of tasks that lost, by source and by what their task took them for; no run counts `unlisted` keys."""
    lost = settled.claims.filter(pa.array(settled.lost & (settled.origin == NEW)))
    lost = lost.filter(pc.invert(pc.is_in(lost["key"], value_set=unlisted)))
    return Counter(zip(lost["source"].to_pylist(), lost["status"].to_pylist(), strict=True))


def _in_scope(claim: Mapping[str, object], config: Config) -> bool:
    """Whether it is a record, or a file that a source takes."""
    is_record = isinstance(claim["position"], int)
    return is_record or any(
        each.path == claim["source"] and each.selects(str(claim["path"])) for each in config.sources
    )


def _position(claim: Mapping[str, object], config: Config) -> str | None:
    position = claim["position"]
    if not isinstance(position, int):
        return None
    source = next((each for each in config.sources if each.path == claim["source"]), None)
    return f"record {position}" if source is None else place_of(format_of(source, str(claim["path"])), position)


def _claims(ledger: Ledger, places: Places, wanted: Hashes) -> pa.Table:
    found: list[pa.Table] = []
    for place in range(len(ledger.results)):
        new, old = places.new_rows(place, wanted), places.old_rows(place, wanted)
        if len(new):
            found.append(_taken(ledger.new_states(place, _CLAIMS), new, NEW, place))
        if len(old):
            found.append(_taken(ledger.old(place).slim(_CLAIMS), old, OLD, place))
    for shard in places.untouched:
        rows = np.flatnonzero(np.isin(hashes_of(ledger.untouched_states(shard, ["id"])["id"]), wanted))
        if len(rows):
            found.append(_taken(ledger.untouched_states(shard, _CLAIMS), rows, UNTOUCHED, shard))
    if not found:
        return pa.table({})
    claims = pa.concat_tables(found).combine_chunks()
    # An id that no task has is gone or not: no matter of this module.
    made_ids = claims.filter(pc.equal(claims["origin"], NEW))["id"].combine_chunks()
    return claims.filter(pc.is_in(claims["id"], value_set=made_ids)).combine_chunks()


def _taken(states: pa.Table, rows: Positions, origin: int, place: int) -> pa.Table:
    taken = states.take(pa.array(rows))
    for name, values in (("origin", np.full(len(rows), origin)), ("place", np.full(len(rows), place)), ("row", rows)):
        taken = taken.append_column(name, pa.array(values.astype(np.int64)))
    return taken


def _settled(claims: pa.Table, config: Config, keeping: Keeping) -> Settled:
    origin, place, row = (claims[name].to_numpy() for name in ("origin", "place", "row"))
    ids = _codes(claims["id"])
    eligible = (origin == NEW) | (origin == UNTOUCHED) | _unseen(claims, ids, origin, keeping)
    ranks = (
        pc.fill_null(claims["position"], -1).to_numpy(),
        _ranks(claims["path"]),
        _source_ranks(claims["source"], config),
    )
    order = np.lexsort((row, place, *ranks, ids))
    order = order[eligible[order]]
    first = np.ones(len(order), bool)
    first[1:] = ids[order][1:] != ids[order][:-1]
    owner = np.full(ids.max() + 1, -1)
    owner[ids[order[first]]] = order[first]
    previous = np.full(ids.max() + 1, -1)
    before = np.flatnonzero(origin != NEW)
    previous[ids[before]] = before
    owner, previous = owner[ids], previous[ids]
    numbers, chunks = np.arange(len(ids)), claims["chunk_count"].to_numpy()
    emptied = (previous >= 0) & (chunks[previous] > 0) & (origin[owner] == NEW) & (chunks[owner] == 0)
    failed = pc.equal(claims["status"], "failed").to_numpy()[owner]
    withheld = pc.is_in(claims["source"], value_set=pa.array(sorted(keeping.withheld), pa.string())).to_numpy()
    return Settled(
        claims=claims,
        origin=origin,
        place=place,
        row=row,
        owner=np.where(emptied & ~failed & withheld[previous], previous, owner),
        previous=previous,
        lost=(origin != OLD) & (owner != numbers),
        inherits=emptied & failed & (owner == numbers),
    )


def _unseen(claims: pa.Table, ids: Positions, origin: Positions, keeping: Keeping) -> _Flags:
    """Old claims of containers that were not read whole and did not show them: they may still be there."""
    unread: _Flags = pc.is_in(claims["key"], value_set=pa.array(sorted(keeping.unread), pa.string())).to_numpy()
    keys = _codes(claims["key"])
    pairs = ids * (keys.max() + 1) + keys
    result: _Flags = (origin == OLD) & unread & ~np.isin(pairs, pairs[origin == NEW])
    return result


def _codes(values: pa.ChunkedArray) -> Positions:
    """Equal strings have equal numbers."""
    indices: Positions = values.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    return indices


def _ranks(values: pa.ChunkedArray) -> Positions:
    """Numbers in the order of the strings."""
    ranks: Positions = pc.rank(values.combine_chunks(), tiebreaker="dense").to_numpy().astype(np.int64)
    return ranks


def _source_ranks(sources: pa.ChunkedArray, config: Config) -> Positions:
    known = pa.array([source.path for source in config.sources], pa.string())
    ranks: Positions = pc.fill_null(pc.index_in(sources, value_set=known), len(known)).to_numpy().astype(np.int64)
    return ranks

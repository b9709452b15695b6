"""The plan: what to do with every object, and which shards that touches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.documents.failures import TRANSIENT
from pipelines.planning.contested import with_contested
from pipelines.planning.identified import ROWS, Identified, identify, slices, without_reserved
from pipelines.planning.layout import lay_out
from pipelines.planning.listed import IN_MEMORY, decide_listed
from pipelines.planning.pieces import pieces_of
from pipelines.planning.records import (
    CONTESTED,
    HELD,
    STATES,
    Decided,
    Part,
    Plan,
    PlanSource,
    Route,
    ShardRange,
    StateSlice,
)
from pipelines.planning.unlisted import addresses_of, decide_unlisted, not_in


def plan(
    *,
    listing: pa.Table,
    sources: Sequence[PlanSource],
    route: Route,
    states: pa.Table | None,
    shards: Sequence[ShardRange],
    task_bytes: int,
    full: bool = False,
    prune: bool = False,
) -> Plan:
    """`decide_objects`, then `lay_out_plan` with no container in parts."""
    decided = decide_objects(
        identified=identify(listing, sources),
        sources=sources,
        route=route,
        states=() if states is None else (StateSlice(high=None, rows=states),),
        shards=shards,
        full=full,
        prune=prune,
    )
    return lay_out_plan(decided, shards=shards, task_bytes=task_bytes)


def decide_objects(
    *,
    identified: Identified,
    sources: Sequence[PlanSource],
    route: Route,
    states: Sequence[StateSlice],
    shards: Sequence[ShardRange],
    held: pa.Table | None = None,
    contested: pa.Table | None = None,
    heals: Collection[str] = TRANSIENT,
    deleted: Mapping[str, Collection[str]] | None = None,
    full: bool = False,
    prune: bool = False,
) -> Decided:
    """Decide what to read, keep and let go.

    `states` are those of the last commit's files and containers in order, `held` (HELD) counts their records and
    `shards` are its ranges; all empty on a first run. `contested` (CONTESTED) are records without their id. `heals` are
    the failure classes to try again. `deleted`, the paths by source path, is what is known to be gone; given, nothing
    else is gone. `full` reads every listed object again; `prune` lets go of what no source's globs take any more.
    ValueError for states that no shard owns.
    """
    if not shards and any(each.rows.num_rows for each in states):
        raise ValueError("there are document states but no shards that own them")
    held = HELD.empty_table() if held is None else held
    retry = held.filter(held["retry"])["key"].combine_chunks() if held.num_rows else held["key"].combine_chunks()
    listed: list[pa.Table] = []
    gone: list[pa.Table] = []
    losers = [identified.losers]
    for winners, old in _side_by_side(identified.winners, states):
        winners, lost = without_reserved(winners, sources, old)
        losers.append(lost)
        parts = [winners.slice(start, ROWS) for start in range(0, max(winners.num_rows, 1), ROWS)]
        options: dict[str, Any] = {"heals": heals, "retry": retry, "full": full}
        listed.append(pa.concat_tables([decide_listed(part, sources, route, old, **options) for part in parts]))
        gone.append(not_in(old, winners))
    duplicates = pa.concat_tables(losers).sort_by([("id", "ascending"), ("source", "ascending")])
    addresses = addresses_of(gone, listed, duplicates)
    for index, rows in enumerate(gone):
        if rows.num_rows:
            unlisted = decide_unlisted(rows, sources, addresses, deleted=deleted, prune=prune)
            both = pa.concat_tables([listed[index], unlisted]).unify_dictionaries().combine_chunks()
            listed[index] = both.take(pc.sort_indices(both["id"]))
    documents = pa.concat_tables([IN_MEMORY.empty_table(), *listed])
    documents = with_contested(documents, CONTESTED.empty_table() if contested is None else contested)
    return Decided(documents=documents, duplicates=duplicates)


def _side_by_side(winners: pa.Table, states: Sequence[StateSlice]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The listed objects and the states of the same ids, range by range."""
    parts = slices(winners, [*(each.high for each in states), None])
    for number, part in enumerate(parts):
        yield part, _plain(states[number].rows) if number < len(states) else STATES.empty_table()


def lay_out_plan(
    decided: Decided,
    *,
    shards: Sequence[ShardRange],
    task_bytes: int,
    parts: Mapping[str, Sequence[Part]] | None = None,
    held: pa.Table | None = None,
    rewrite: bool = False,
) -> Plan:
    """Lay the objects out in shards.

    `task_bytes` is the input, in bytes, that one shard is meant to take. `parts` has the parts of the containers that
    are read in several, by key; `held` (HELD) says where the records of the others lie. `rewrite` writes every shard
    anew. ValueError when `shards` do not own every key once.
    """
    pieces = pieces_of(decided.documents, parts or {}, HELD.empty_table() if held is None else held, shards)
    layout = lay_out(
        pieces.keys,
        sizes=pieces.sizes,
        reads=pieces.reads,
        touched=pieces.touched,
        spans=pieces.spans,
        shards=shards,
        task_bytes=task_bytes,
        rewrite=rewrite,
    )
    return Plan(
        documents=pieces.documents,
        duplicates=decided.duplicates,
        tasks=layout.tasks,
        untouched=layout.untouched,
        regions=layout.regions,
        layout=layout.order,
        counts=decided.counts,
    )


def _plain(states: pa.Table) -> pa.Table:
    """The columns of STATES in one chunk each: taking rows from many is several times slower."""
    return states.select(STATES.names).cast(STATES).combine_chunks()

"""The plan: what to do with every object, and which shards that touches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.documents.failures import TRANSIENT
from pipelines.planning.contested import with_contested
from pipelines.planning.layout import lay_out
from pipelines.planning.listed import decide_listed, identify
from pipelines.planning.pieces import pieces_of
from pipelines.planning.records import (
    CONTESTED,
    HELD,
    LISTING,
    STATES,
    Decided,
    Part,
    Plan,
    PlanSource,
    Route,
    ShardRange,
)
from pipelines.planning.unlisted import decide_unlisted


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
        listing=listing, sources=sources, route=route, states=states, shards=shards, full=full, prune=prune
    )
    return lay_out_plan(decided, shards=shards, task_bytes=task_bytes)


def decide_objects(
    *,
    listing: pa.Table,
    sources: Sequence[PlanSource],
    route: Route,
    states: pa.Table | None,
    shards: Sequence[ShardRange],
    held: pa.Table | None = None,
    contested: pa.Table | None = None,
    heals: Collection[str] = TRANSIENT,
    deleted: Mapping[str, Collection[str]] | None = None,
    full: bool = False,
    prune: bool = False,
) -> Decided:
    """Decide what to read, keep and let go.

    `listing` follows LISTING; `states` holds at least STATE_COLUMNS of the last commit's files and containers, `held`
    (HELD) counts their records and `shards` are its ranges; None and () on a first run. `contested` (CONTESTED) are
    records without their id. `heals` are the failure classes to try again. `deleted`, the paths by source path, is what
    is known to be gone; given, nothing else is gone. `full` reads every listed object again; `prune` lets go of what no
    source's globs take any more. ValueError for states that no shard owns.
    """
    old = STATES.empty_table() if states is None else _columns(states, STATES)
    if old.num_rows and not shards:
        raise ValueError("there are document states but no shards that own them")
    held = HELD.empty_table() if held is None else held
    # One chunk a column: taking rows from many chunks is several times slower.
    identified = identify(_columns(listing, LISTING).combine_chunks(), sources, old)
    retry = held.filter(held["retry"])["key"].combine_chunks() if held.num_rows else held["key"].combine_chunks()
    listed = decide_listed(identified.winners, sources, route, old, heals=heals, retry=retry, full=full)
    unlisted = decide_unlisted(listed, identified.losers, sources, old, deleted=deleted, prune=prune)
    documents = listed.combine_chunks()
    if unlisted.num_rows:
        documents = pa.concat_tables([listed, unlisted]).combine_chunks()
        documents = documents.take(pc.sort_indices(documents["id"])).combine_chunks()
    documents = with_contested(documents, CONTESTED.empty_table() if contested is None else contested)
    return Decided(documents=documents, duplicates=identified.losers)


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


def _columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    selected = table.select(schema.names)
    return selected if selected.schema.equals(schema) else selected.cast(schema)

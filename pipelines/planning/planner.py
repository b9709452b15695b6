"""The plan: what to do with every document, and which shards that touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.layout import lay_out
from pipelines.planning.listed import decide_listed, identify
from pipelines.planning.records import LISTING, STATES, Plan, PlanSource, Route, ShardRange
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
    """Decide what to read, keep and let go, and lay the documents out in shards.

    `listing` follows LISTING; `states` holds at least STATE_COLUMNS of the last commit and `shards` its ranges, or None
    and () on a first run. `full` reads every listed document again; `prune` lets go of documents that no source's
    globs take any more. `task_bytes` is the input, in bytes, that one shard is meant to take. ValueError when `shards`
    do not own every key once.
    """
    old = STATES.empty_table() if states is None else _columns(states, STATES)
    if old.num_rows and not shards:
        raise ValueError("there are document states but no shards that own them")
    # One chunk a column: taking rows from many chunks is several times slower.
    identified = identify(_columns(listing, LISTING).combine_chunks(), sources, old)
    listed = decide_listed(identified.winners, sources, route, old, full=full)
    unlisted = decide_unlisted(listed, identified.losers, sources, old, prune=prune)
    documents = listed.combine_chunks()
    if unlisted.num_rows:
        documents = pa.concat_tables([listed, unlisted]).combine_chunks()
        documents = documents.take(pc.sort_indices(documents["id"])).combine_chunks()
    actions = documents["action"].combine_chunks()
    layout = lay_out(
        documents["id"].combine_chunks(),
        sizes=_surviving_sizes(documents, actions),
        reads=_flags(pc.equal(actions, "read")),
        touched=_flags(pc.not_equal(actions, "keep")),
        shards=shards,
        task_bytes=task_bytes,
    )
    return Plan(
        documents=documents,
        duplicates=identified.losers,
        tasks=layout.tasks,
        untouched=layout.untouched,
        regions=layout.regions,
        layout=layout.order,
        counts=_counts(documents),
    )


def _columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    selected = table.select(schema.names)
    return selected if selected.schema.equals(schema) else selected.cast(schema)


def _surviving_sizes(documents: pa.Table, actions: pa.Array) -> npt.NDArray[np.int64]:
    sizes = pc.if_else(pc.equal(actions, "vanish"), 0, pc.fill_null(documents["size"], 0))
    result: npt.NDArray[np.int64] = sizes.to_numpy().astype(np.int64)
    return result


def _flags(values: Any) -> npt.NDArray[np.bool_]:
    flags: npt.NDArray[np.bool_] = values.to_numpy(zero_copy_only=False)
    return flags


def _counts(documents: pa.Table) -> Mapping[str, Mapping[str, int]]:
    counts: dict[str, dict[str, int]] = {"keep": {}, "read": {}, "vanish": {}}
    grouped = documents.group_by(["action", "reason"], use_threads=False).aggregate([([], "count_all")])
    for row in sorted(grouped.to_pylist(), key=lambda row: (row["action"], row["reason"])):
        counts[row["action"]][row["reason"]] = row["count_all"]
    return counts

"""From the sources as they are now to a stored plan. Only numbers come back: the tables behind them are let go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.config.model import Config
from pipelines.errors import SourcesUnreachable
from pipelines.observe.events import Planned, Sink
from pipelines.observe.stats import COUNTED
from pipelines.operations.listing import Listing, list_sources
from pipelines.planning import STATE_COLUMNS, Plan, PlanSource, plan
from pipelines.records import RunOptions
from pipelines.routing import Router
from pipelines.storage.store import Store
from pipelines.table import snapshot
from pipelines.table.reading import read_documents
from pipelines.table.records import Snapshot
from pipelines.table.shards import read
from pipelines.work.stored_plan import store_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that is planned. `base` is the commit it starts from, None for a table's first.

    `sources` counts each source's documents by COUNTED, as far as they are known before anything is read, its `bytes`
    and whether its listing is `completed`. `plan` counts documents by action and reason. `partial`: some source was
    not listed whole. `read_bytes` is the size of what is to be read. The plan is stored unless there is
    `nothing_to_do`.
    """

    base: Snapshot | None
    sources: Mapping[str, Mapping[str, Any]]
    plan: Mapping[str, Mapping[str, int]]
    tasks: int
    read_bytes: int
    partial: bool
    nothing_to_do: bool


def prepare(config: Config, options: RunOptions, store: Store, run_id: str, emit: Sink) -> Prepared:
    """List, plan and store the plan. Raises SourcesUnreachable, and TableStateError for a table that is not ours."""
    base = snapshot.load(store)
    listing = list_sources(config, emit)
    if not any(listing.completed) and not listing.table.num_rows:
        addresses = ", ".join(source.path for source in config.sources)
        raise SourcesUnreachable("no source could be listed; nothing was read", address=addresses)
    planned = make_plan(config, options, store, base, listing)
    totals = {action: sum(reasons.values()) for action, reasons in planned.counts.items()}
    emit(
        Planned(
            read=totals.get("read", 0),
            keep=totals.get("keep", 0),
            vanish=totals.get("vanish", 0),
            tasks=len(planned.tasks),
        )
    )
    nothing_to_do = planned.nothing_to_do and not _duplicates_changed(store, base, planned)
    if not nothing_to_do:
        store_plan(
            store,
            run_id,
            planned,
            base=None if base is None else base.version,
            old_shards=() if base is None else base.shards,
            listed=listing.table.num_rows,
            partial=not all(listing.completed),
        )
    return Prepared(
        base=base,
        sources=_by_source(config, listing, planned),
        plan={action: dict(reasons) for action, reasons in planned.counts.items()},
        tasks=len(planned.tasks),
        read_bytes=_bytes_to_read(planned),
        partial=not all(listing.completed),
        nothing_to_do=nothing_to_do,
    )


def make_plan(config: Config, options: RunOptions, store: Store, base: Snapshot | None, listing: Listing) -> Plan:
    """What a run of this configuration would do with this listing on top of this commit."""
    router = Router(config)
    sources = [
        PlanSource(
            path=source.path,
            id_prefix=source.id_prefix,
            completed=completed,
            fingerprints=router.fingerprints(index),
            selects=source.selects,
        )
        for index, (source, completed) in enumerate(zip(config.sources, listing.completed, strict=True))
    ]
    return plan(
        listing=listing.table,
        sources=sources,
        route=router.rules_of,
        states=None if base is None else read_documents(store, base, columns=STATE_COLUMNS),
        shards=() if base is None else base.shards,
        task_bytes=config.output.task_bytes,
        full=options.full,
        prune=options.prune,
    )


def _bytes_to_read(planned: Plan) -> int:
    documents = planned.documents
    return pc.sum(documents["size"].filter(pc.equal(documents["action"], "read"))).as_py() or 0


def _duplicates_changed(store: Store, base: Snapshot | None, planned: Plan) -> bool:
    """Whether other objects than before make an id that is taken: a new failure, or one that is gone."""
    old: set[tuple[str, str]] = set()
    for entry in () if base is None else base.failures:
        rows = read(store, entry.path, columns=["id", "uri", "stage"])
        old.update(_pairs(rows.filter(pc.equal(rows["stage"], "id"))))
    return old != set(_pairs(planned.duplicates))


def _pairs(rows: pa.Table) -> list[tuple[str, str]]:
    return list(zip(rows["id"].to_pylist(), rows["uri"].to_pylist(), strict=True))


def _by_source(config: Config, listing: Listing, planned: Plan) -> dict[str, dict[str, Any]]:
    listed = Counter({row["values"]: row["counts"] for row in pc.value_counts(listing.table["source"]).to_pylist()})
    duplicates = Counter(planned.duplicates["source"].to_pylist())
    by_reason = planned.documents.group_by(["source", "action", "reason"], use_threads=False)
    grouped = by_reason.aggregate([([], "count_all")]).to_pylist()
    kept = Counter({(row["source"], row["reason"]): row["count_all"] for row in grouped if row["action"] == "keep"})
    found: dict[str, dict[str, Any]] = {}
    for index, source in enumerate(config.sources):
        each = found.setdefault(source.path, dict.fromkeys(COUNTED, 0) | {"bytes": 0, "completed": True})
        each["listed"] += listed[index]
        each["unchanged"] += kept[index, "unchanged"]
        each["failed"] += kept[index, "failed"] + duplicates[index]
        each["bytes"] += listing.bytes[index]
        each["completed"] = each["completed"] and listing.completed[index]
    return found

"""From the sources as they are now to a stored plan. Only numbers come back: the tables behind them are let go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.config.model import Config
from pipelines.documents.failures import TRANSIENT
from pipelines.errors import SourcesUnreachable, TableStateError
from pipelines.observe.events import Planned, Sink, TwinIds
from pipelines.observe.stats import COUNTED
from pipelines.operations.last_commit import LastCommit, read_last_commit
from pipelines.operations.listing import Listing, list_sources
from pipelines.operations.objects import list_objects, without_unknown
from pipelines.operations.refused import Shown, same_refused, with_standing
from pipelines.operations.survey import survey
from pipelines.planning import LISTING, Decided, Part, PlanSource, decide_objects, identify, lay_out_plan
from pipelines.records import RunOptions
from pipelines.routing import Router
from pipelines.storage.probe import prove_exclusive
from pipelines.storage.store import Store, open_source
from pipelines.table import layout, snapshot
from pipelines.table.keys import CONTAINER, name_of
from pipelines.table.records import Snapshot
from pipelines.twins import find_twins
from pipelines.work.stored_plan import store_plan

LIMIT_CLASSES = frozenset({"too-large", "budget", "expansion", "incomplete"})
"""Failure classes that other limits may heal; an incomplete container may have a record that was too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that is planned. `base` is the commit it starts from, None for a table's first.

    `sources` counts each source's documents by COUNTED, as far as they are known before anything is read, its `bytes`
    and whether its listing is `completed`. `plan` counts documents by action and reason. `partial`: some source was
    not listed whole. `read_bytes` is the size of what is to be read. The plan is stored unless there is
    `nothing_to_do`; then nobody has looked for `twins` (twins.py) either.
    """

    base: Snapshot | None
    sources: Mapping[str, Mapping[str, Any]]
    plan: Mapping[str, Mapping[str, int]]
    tasks: int
    read_bytes: int
    partial: bool
    nothing_to_do: bool
    twins: Mapping[str, Any] | None = None


def prepare(
    config: Config, options: RunOptions, store: Store, run_id: str, emit: Sink, *, always: bool = False
) -> Prepared:
    """List, plan and store the plan; `always`: there is something to do even where nothing changed.

    Raises SourcesUnreachable, and TableStateError for a table that is not ours.
    """
    base = snapshot.load(store)
    rewrite = _columns_changed(config, base)
    deleted: Mapping[str, Collection[str]] | None = None
    if options.objects is not None:
        listing, deleted = list_objects(config, options.objects, emit)
    else:
        listing = list_sources(config, emit)
        if not any(listing.completed) and not listing.table.num_rows:
            addresses = ", ".join(source.path for source in config.sources)
            raise SourcesUnreachable("no source could be listed; nothing was read", address=addresses)
    partial = deleted is None and not all(listing.completed)
    heals = _classes_to_retry(config, base)
    router = Router(config)
    plan_sources = _plan_sources(config, router, listing)
    if deleted is not None:
        last = read_last_commit(store, base, heals)
        listing = without_unknown(listing, last.states, emit)
    identified = identify(listing.table, plan_sources)
    listing = replace(listing, table=LISTING.empty_table())  # gone, before as many states are read
    if deleted is None:
        last = read_last_commit(store, base, heals)
    shards = () if base is None else base.shards
    decided = decide_objects(
        identified=identified,
        sources=plan_sources,
        route=router.rules_of,
        states=last.states,
        shards=shards,
        held=last.held,
        contested=last.contested,
        heals=heals,
        deleted=deleted,
        full=options.full,
        prune=options.prune,
    )
    sources = _by_source(config, listing, decided, last)
    known_failures = sum(each["failed"] for each in sources.values()) - decided.duplicates.num_rows
    shown = Shown(identified=identified, whole=all(listing.completed), deleted=deleted)
    decided = replace(decided, duplicates=with_standing(decided.duplicates, last, shown))
    planned = lay_out_plan(
        decided,
        shards=shards,
        task_bytes=config.output.task_bytes,
        parts=_surveyed(config, decided),
        held=last.held,
        rewrite=rewrite,
    )
    totals = {action: sum(reasons.values()) for action, reasons in planned.counts.items()}
    emit(Planned(read=totals["read"], keep=totals["keep"], vanish=totals["vanish"], tasks=len(planned.tasks)))
    nothing_to_do = not always and planned.nothing_to_do and same_refused(planned.duplicates, last, shown)
    if not nothing_to_do:
        if store.must_prove:
            prove_exclusive(store, layout.run_file(run_id, ""))
        store_plan(
            store,
            run_id,
            planned,
            base=None if base is None else base.version,
            old_shards=shards,
            listed=sum(each["listed"] for each in sources.values()),
            known_failures=known_failures,
            partial=partial,
            has_records=last.has_records or CONTAINER in decided.documents["kind"].unique().to_pylist(),
            payload=config.payload,
            rewrite=rewrite,
            old_documents=last.documents,
        )
    return Prepared(
        base=base,
        sources=sources,
        plan={action: dict(reasons) for action, reasons in planned.counts.items()},
        tasks=len(planned.tasks),
        read_bytes=_bytes_to_read(decided),
        partial=partial,
        nothing_to_do=nothing_to_do,
        twins=None if nothing_to_do else _twins(decided, emit),
    )


def _twins(decided: Decided, emit: Sink) -> dict[str, Any] | None:
    """Files and containers whose ids are easily taken for one another. (Ids of records are keys, and no names.)"""
    documents = decided.documents
    stays = pc.not_equal(documents["action"], "vanish")
    found = find_twins(documents["id"].filter(stays))
    if found is None:
        return None
    found = replace(found, example=(name_of(found.example[0]), name_of(found.example[1])))
    emit(TwinIds(message=found.text))
    return asdict(found)


def _plan_sources(config: Config, router: Router, listing: Listing) -> list[PlanSource]:
    return [
        PlanSource(
            path=source.path,
            id_prefix=source.id_prefix,
            completed=completed,
            fingerprints=router.fingerprints(index),
            selects=source.selects,
        )
        for index, (source, completed) in enumerate(zip(config.sources, listing.completed, strict=True))
    ]


def _columns_changed(config: Config, base: Snapshot | None) -> bool:
    """Whether the table has other payload columns than before. TableStateError if one has another type."""
    if base is None:
        return False
    for name, type_ in config.payload:
        if base.payload.get(name, type_) != type_:
            raise TableStateError(
                f"the payload column {name!r} is {type_} now and was {base.payload[name]}; "
                "another type needs a new table: give output.path another folder, or the column another name"
            )
    return tuple(base.payload.items()) != tuple(config.payload)


def _classes_to_retry(config: Config, base: Snapshot | None) -> Collection[str]:
    """Failure classes worth another try: those of limits only when the limits are others than they were."""
    before = None if base is None else base.config.get("limits")
    return TRANSIENT if before in (None, asdict(config.limits)) else TRANSIENT | LIMIT_CLASSES


def _surveyed(config: Config, decided: Decided) -> dict[str, Sequence[Part]]:
    """The parts of every container that is to be read and can be cut."""
    documents = decided.documents
    chosen = documents.filter(pc.and_(pc.equal(documents["kind"], CONTAINER), pc.equal(documents["action"], "read")))
    if not chosen.num_rows:
        return {}
    stores = [open_source(source.path, config.storage.reveal())[0] for source in config.sources]
    found: dict[str, Sequence[Part]] = {}
    for row in chosen.select(["id", "source", "path", "size"]).to_pylist():
        parts = survey(config, stores[row["source"]], row["source"], row["path"], row["size"] or 0)
        if parts:
            found[row["id"]] = parts
    return found


def _bytes_to_read(decided: Decided) -> int:
    documents = decided.documents
    return pc.sum(documents["size"].filter(pc.equal(documents["action"], "read"))).as_py() or 0


def _by_source(config: Config, listing: Listing, decided: Decided, last: LastCommit) -> dict[str, dict[str, Any]]:
    """Counts of documents: files, and the records of containers that stay. What is read of containers comes later."""
    documents = decided.documents
    duplicates = Counter(decided.duplicates["source"].to_pylist())
    by_reason = documents.group_by(["source", "kind", "action", "reason"], use_threads=False)
    listed, kept = Counter(duplicates), Counter[tuple[int, str]]()
    for row in by_reason.aggregate([([], "count_all")]).to_pylist():
        if row["kind"] != CONTAINER:
            listed[row["source"]] += row["count_all"]
            if row["action"] == "keep":
                kept[row["source"], row["reason"]] += row["count_all"]
    for index, records, failed in _kept_records(documents, last):
        listed[index] += records
        kept[index, "failed"] += failed
        kept[index, "unchanged"] += records - failed
    found: dict[str, dict[str, Any]] = {}
    for index, source in enumerate(config.sources):
        each = found.setdefault(source.path, dict.fromkeys(COUNTED, 0) | {"bytes": 0, "completed": True})
        each["listed"] += listed[index]
        each["unchanged"] += kept[index, "unchanged"]
        each["failed"] += kept[index, "failed"] + duplicates[index]
        each["bytes"] += listing.bytes[index]
        each["completed"] = each["completed"] and listing.completed[index]
    return found


def _kept_records(documents: pa.Table, last: LastCommit) -> list[tuple[int, int, int]]:
    """Source, documents and failed ones of each listed container that stays: its records, and what else failed in it.

    As when it is read, every failure is a document: lines that are no record, and records whose id another one has.
    """
    stays = pc.and_(pc.equal(documents["kind"], CONTAINER), pc.equal(documents["action"], "keep"))
    chosen = documents.filter(pc.and_(stays, pc.greater_equal(documents["source"], 0)))
    if not chosen.num_rows:
        return []
    held = last.held.group_by("key", use_threads=False).aggregate([("records", "sum"), ("failed", "sum")]).to_pylist()
    good = {row["key"]: row["records_sum"] - row["failed_sum"] for row in held}
    inside = last.failed.filter(pc.is_in(last.failed, value_set=chosen["uri"].combine_chunks()))
    failures = {each["values"]: each["counts"] for each in inside.value_counts().to_pylist()}
    found = []
    for row in reversed(chosen.select(["id", "source", "uri"]).to_pylist()):
        failed = failures.pop(row["uri"], 0)  # of two sources with this object: the later one, whose records lose
        found.append((row["source"], good.get(row["id"], 0) + failed, failed))
    return found

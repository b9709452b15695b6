"""`run`: chunk what is new or changed, and publish the whole corpus with the list of stale chunks as one commit."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.beam.quiet import quiet_beam
from pipelines.config.model import Config
from pipelines.errors import SourcesUnreachable
from pipelines.observe.events import Finished, GateFailed, Planned, RunStarted, Sink, Withheld
from pipelines.observe.stats import run_stats
from pipelines.operations.listing import Listing, list_sources
from pipelines.planning import STATE_COLUMNS, Plan, PlanSource, plan
from pipelines.records import Outcome, RunOptions
from pipelines.routing import Router
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, snapshot
from pipelines.table.reading import read_documents
from pipelines.table.records import Snapshot
from pipelines.table.shards import read
from pipelines.work.finish import outcome_path
from pipelines.work.job import Job
from pipelines.work.stored_plan import store_plan

SHOWN_FAILURES = 20
"""Failure rows in the outcome."""


def run(config: Config, options: RunOptions, emit: Sink) -> Outcome:
    """One run. Raises SourcesUnreachable when no source can be listed, TableStateError for a table that is not ours.

    Anything that goes wrong with single documents is in the failures; a lost race, withheld deletions and failed gates
    are outcomes (DESIGN: exit codes 0, 1, 4, 5 and 6).
    """
    return _Run(config, options, emit).outcome()


class _Run:
    def __init__(self, config: Config, options: RunOptions, emit: Sink) -> None:
        self._config = config
        self._options = options
        self._emit = emit
        self._store: Store = open_store(config.output.path, config.storage.reveal())
        self._run_id = layout.new_run_id()
        self._seconds: dict[str, float] = {}
        self._clock = time.monotonic()

    def outcome(self) -> Outcome:
        layout.check_address(self._config.output.path)
        self._emit(RunStarted(run_id=self._run_id, table=self._store.address))
        base = snapshot.load(self._store)
        listing = list_sources(self._config, self._emit)
        if not any(listing.completed):
            raise SourcesUnreachable("no source could be listed; nothing was read", address=self._addresses())
        self._lap("list")
        planned = self._plan(base, listing)
        self._lap("plan")
        if planned.nothing_to_do and not self._duplicates_changed(base, planned):
            return self._nothing_to_do(base, listing, planned)
        return self._carry_out(base, listing, planned)

    def _plan(self, base: Snapshot | None, listing: Listing) -> Plan:
        router = Router(self._config)
        sources = [
            PlanSource(
                path=source.path,
                id_prefix=source.id_prefix,
                completed=completed,
                fingerprints=router.fingerprints(index),
                selects=source.selects,
            )
            for index, (source, completed) in enumerate(zip(self._config.sources, listing.completed, strict=True))
        ]
        planned = plan(
            listing=listing.table,
            sources=sources,
            route=router.rules_of,
            states=None if base is None else read_documents(self._store, base, columns=STATE_COLUMNS),
            shards=() if base is None else base.shards,
            task_bytes=self._config.output.task_bytes,
            full=self._options.full,
            prune=self._options.prune,
        )
        totals = {action: sum(reasons.values()) for action, reasons in planned.counts.items()}
        self._emit(
            Planned(
                read=totals.get("read", 0),
                keep=totals.get("keep", 0),
                vanish=totals.get("vanish", 0),
                tasks=len(planned.tasks),
            )
        )
        return planned

    def _duplicates_changed(self, base: Snapshot | None, planned: Plan) -> bool:
        old: set[tuple[str, str]] = set()
        for entry in () if base is None else base.failures:
            rows = read(self._store, entry.path, columns=["id", "uri", "stage"])
            rows = rows.filter(pc.equal(rows["stage"], "id"))
            old.update(zip(rows["id"].to_pylist(), rows["uri"].to_pylist(), strict=True))
        new = set(zip(planned.duplicates["id"].to_pylist(), planned.duplicates["uri"].to_pylist(), strict=True))
        return old != new

    def _nothing_to_do(self, base: Snapshot | None, listing: Listing, planned: Plan) -> Outcome:
        assert base is not None  # a first run always has something to do
        chunks = sum(shard.chunks.rows for shard in base.shards)
        stats = self._stats(listing, planned, "nothing", base.version, {"chunks": chunks, "shards": len(base.shards)})
        partial = not all(listing.completed)
        return self._ended(4 if partial else 0, base.version, False, "nothing changed", stats, base)

    def _carry_out(self, base: Snapshot | None, listing: Listing, planned: Plan) -> Outcome:
        store_plan(
            self._store,
            self._run_id,
            planned,
            base=None if base is None else base.version,
            old_shards=() if base is None else base.shards,
            listed=listing.table.num_rows,
            partial=not all(listing.completed),
        )
        job = Job(config=self._config, run_id=self._run_id, approve_deletions=self._options.approve_deletions)
        with quiet_beam():
            from pipelines.beam.run_graph import run_graph  # an unchanged night never imports Beam

            run_graph(job, self._options)
        self._lap("run")
        ended = json.loads(self._store.read(outcome_path(self._run_id)))
        stats = self._stats(listing, planned, ended["ending"], ended["version"], ended)
        self._store.write(layout.run_file(self._run_id, "stats.json"), json.dumps(stats, indent=1).encode())
        for source in ended["guard"]["sources"]:
            self._emit(Withheld(message=source["message"]))
        if ended["gate"]["level"] != "pass":
            self._emit(GateFailed(message=ended["gate"]["message"]))
        code, message = _ending(ended, partial=not all(listing.completed))
        committed = ended["ending"] == "committed"
        shown = snapshot.load(self._store, ended["version"]) if committed else base
        return self._ended(code, ended["version"], committed, message, stats, shown)

    def _ended(
        self,
        code: int,
        version: int | None,
        committed: bool,
        message: str,
        stats: Mapping[str, Any],
        shown: Snapshot | None,
    ) -> Outcome:
        self._emit(Finished(message=message))
        changes = stats["changes"]
        summary = {
            **stats["counts"],
            "removed": sum(stats["plan"].get("vanish", {}).values()),
            "chunks": stats["chunks"]["total"],
            **{name: changes.get(name, 0) for name in ("added", "changed", "moved", "deleted")},
            "withheld": sum(each["vanishing"] for each in stats["guard"].get("sources", ()) if each["withheld"]),
            "table": self._store.address,
            "failures": self._failures(shown),
            "seconds": round(sum(self._seconds.values()), 2),
        }
        return Outcome(
            exit_code=code,
            run_id=self._run_id,
            version=version,
            committed=committed,
            summary=summary,
            message=message,
        )

    def _failures(self, shown: Snapshot | None) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        for entry in () if shown is None else shown.failures:
            rows = read(self._store, entry.path, columns=["id", "error", "message"])
            found += rows.slice(0, SHOWN_FAILURES - len(found)).to_pylist()
        return found

    def _stats(
        self, listing: Listing, planned: Plan, ending: str, version: int | None, outcome: Mapping[str, Any]
    ) -> dict[str, Any]:
        listed = _count_by_source(listing.table)
        return run_stats(
            run_id=self._run_id,
            ending=ending,
            version=version,
            sources=[
                {"path": source.path, "listed": listed.get(index, 0), "bytes": size, "completed": completed}
                for index, (source, size, completed) in enumerate(
                    zip(self._config.sources, listing.bytes, listing.completed, strict=True)
                )
            ],
            plan=planned,
            outcome=outcome,
            seconds=self._seconds,
        )

    def _lap(self, name: str) -> None:
        now = time.monotonic()
        self._seconds[name] = now - self._clock
        self._clock = now

    def _addresses(self) -> str:
        return ", ".join(source.path for source in self._config.sources)


def _ending(ended: Mapping[str, Any], *, partial: bool) -> tuple[int, str]:
    """Exit code and message."""
    ending, guard, gate = ended["ending"], ended["guard"], ended["gate"]
    if ending == "race":
        return 6, "another run committed first; this one published nothing"
    if ending == "gate":
        return 5, f"nothing published: {gate['message']}"
    withheld = "; ".join(source["message"] for source in guard["sources"] if source["withheld"])
    if ending == "nothing":
        return (4, f"nothing published: {withheld}") if withheld else (4 if partial else 0, "nothing changed")
    done = f"committed version {ended['version']}"
    if gate["level"] == "soft":
        return 1, f"{done}; {gate['message']}"
    if withheld:
        return 4, f"{done}; {withheld}"
    return (4, f"{done}; a source could not be listed whole") if partial else (0, done)


def _count_by_source(table: pa.Table) -> dict[int, int]:
    counted = pc.value_counts(table["source"].combine_chunks()).to_pylist()
    return {each["values"]: each["counts"] for each in counted}

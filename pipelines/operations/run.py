"""`run`: chunk what is new or changed, and publish the whole corpus with the list of stale chunks as one commit."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa

from pipelines.beam.engine import Engine, engine_for
from pipelines.beam.quiet import quiet_beam
from pipelines.beam.watched import run_watched, workers_for
from pipelines.config.model import Config
from pipelines.errors import EngineFailed, StorageError, TableStateError
from pipelines.observe.events import Finished, GateFailed, OtherRun, RunStarted, Sink, Withheld
from pipelines.observe.progress import told
from pipelines.observe.stats import run_stats
from pipelines.operations.prepare import Prepared, prepare
from pipelines.operations.stored_run import store_run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, log, snapshot
from pipelines.table.claims import claimed, fresh_claims
from pipelines.table.records import Snapshot
from pipelines.table.shards import read
from pipelines.work.finish import outcome_path
from pipelines.work.job import Job

SHOWN_FAILURES = 20
"""Failure rows in the outcome."""


def run(config: Config, options: RunOptions, emit: Sink) -> Outcome:
    """One run. Raises SourcesUnreachable when no source can be listed, TableStateError for a table that is not ours.

    Anything that goes wrong with single documents is in the failures; a lost race, withheld deletions and failed gates
    are outcomes (exit codes 0, 1, 4, 5 and 6: README.md).
    """
    layout.check_address(config.output.path)
    engine = engine_for(config, options.pipeline, options.workers)
    store = open_store(config.output.path, config.storage.reveal())
    run_id = layout.new_run_id()
    emit(RunStarted(run_id=run_id, table=store.address))
    began = time.monotonic()
    for other in fresh_claims(store):
        emit(OtherRun(claim=str(other)))
    prepared = prepare(config, options, store, run_id, emit)
    pa.default_memory_pool().release_unused()
    if not prepared.nothing_to_do:
        store_run(store, run_id, config, prepared, options.approve_deletions)
    return carry_out(
        config,
        store,
        run_id,
        prepared,
        emit,
        engine=engine,
        approve_deletions=options.approve_deletions,
        began=began,
    )


def carry_out(
    config: Config,
    store: Store,
    run_id: str,
    prepared: Prepared,
    emit: Sink,
    *,
    engine: Engine,
    approve_deletions: int | None,
    began: float,
) -> Outcome:
    """Do what is prepared, and say what came of it. `began` is when it was begun (time.monotonic())."""
    planned = time.monotonic()
    if prepared.nothing_to_do:
        ended = _unchanged(prepared)
    else:
        job = Job(config=config, run_id=run_id, approve_deletions=approve_deletions)
        try:
            with claimed(store, run_id):
                for other in fresh_claims(store, own=run_id):
                    emit(OtherRun(claim=str(other)))
                drive(job, engine, prepared, emit)
            ended = _recorded(store, run_id)
        except (StorageError, TableStateError, EngineFailed) as error:
            return _committed_all_the_same(store, run_id, prepared, error)
    if ended["ending"] in ("gate", "race"):
        ended |= _standing(store, ended["version"], prepared.base)
    stats = run_stats(
        run_id=run_id,
        ending=ended["ending"],
        version=ended["version"],
        sources=prepared.sources,
        plan=prepared.plan,
        twins=prepared.twins,
        tasks=prepared.tasks,
        outcome=ended,
        seconds={"plan": planned - began, "run": time.monotonic() - planned},
    )
    _tell(ended, emit)
    code, message = _ending(ended, partial=prepared.partial)
    committed = ended["ending"] == "committed"
    failures: list[dict[str, str | None]] = []
    try:  # what the run came to does not depend on any of this
        if not prepared.nothing_to_do:
            store.write(layout.run_file(run_id, "stats.json"), json.dumps(stats, ensure_ascii=False, indent=1).encode())
        failures = _failures(store, snapshot.load(store, ended["version"]) if committed else prepared.base)
    except (StorageError, TableStateError) as error:
        message = f"{message}; but its statistics could not be written, or its failures not be read: {error}"
    emit(Finished(message=message))
    return Outcome(
        exit_code=code,
        run_id=run_id,
        version=ended["version"],
        committed=committed,
        summary=_summary(stats) | {"table": store.address, "failures": failures},
        message=message,
    )


def _recorded(store: Store, run_id: str) -> dict[str, Any]:
    """How the run ended, as its last step wrote it."""
    path = outcome_path(run_id)
    try:
        ended: dict[str, Any] = json.loads(store.read(path))
    except (FileNotFoundError, ValueError) as error:
        raise TableStateError(f"{store.child(path)}: is not readable: {error}") from error
    return ended


def _committed_all_the_same(
    store: Store, run_id: str, prepared: Prepared, error: StorageError | TableStateError | EngineFailed
) -> Outcome:
    """The outcome of a run that met `error` after its commit. Raises `error` if it did not commit."""
    base = -1 if prepared.base is None or prepared.base.version is None else prepared.base.version
    try:
        version = log.find_run(store, run_id, above=base)
    except (StorageError, TableStateError):
        raise error from None
    if version is None:
        raise error
    return Outcome(
        exit_code=0,
        run_id=run_id,
        version=version,
        committed=True,
        message=f"committed version {version}; but what the run says of itself could not be written or read: {error}",
    )


def drive(job: Job, engine: Engine, prepared: Prepared, emit: Sink, *, publish: bool = True) -> None:
    """Run the stored plan on `engine`; without `publish` up to there.

    What came of it is in the run's `outcome.json`.
    """
    if engine.is_local:
        wanted = workers_for(job.config, engine.workers, tasks=prepared.tasks, read_bytes=prepared.read_bytes)
        engine = replace(engine, workers=wanted)
    reads = sum(prepared.plan.get("read", {}).values())
    with told(job.table(), job.run_id, emit, tasks=prepared.tasks, documents=reads, size=prepared.read_bytes):
        _drive(job, engine, prepared.tasks, publish=publish)


def _drive(job: Job, engine: Engine, tasks: int, *, publish: bool) -> None:
    if engine.workers is not None and engine.workers > 1:
        run_watched(job, engine, tasks, publish=publish)
        return
    with quiet_beam():
        gc.disable()  # nothing that an import makes is garbage, and looking for it is a tenth of importing Beam
        from pipelines.beam.run_graph import run_graph  # an unchanged night never imports Beam

        gc.enable()
        run_graph(job, engine, publish=publish)


def _unchanged(prepared: Prepared) -> dict[str, Any]:
    """The outcome of a night on which there is nothing to do."""
    assert prepared.base is not None  # a first run always has something to do
    return {
        "ending": "nothing",
        "version": prepared.base.version,
        "chunks": sum(shard.chunks.rows for shard in prepared.base.shards),
        "shards": len(prepared.base.shards),
        "guard": {"sources": []},
        "gate": {"level": "pass", "message": ""},
    }


def _standing(store: Store, version: int | None, base: Snapshot | None) -> dict[str, int]:
    """Chunks and shards of the table that a run left as it was; those it began with where the newest cannot be read."""
    with suppress(StorageError, TableStateError):
        base = base if version is None else snapshot.load(store, version)
    shards = () if base is None else base.shards
    return {"chunks": sum(shard.chunks.rows for shard in shards), "shards": len(shards)}


def _tell(ended: Mapping[str, Any], emit: Sink) -> None:
    for source in ended["guard"]["sources"]:
        if source["withheld"]:
            emit(Withheld(message=source["message"]))
    if ended["gate"]["level"] != "pass":
        emit(GateFailed(message=ended["gate"]["message"]))


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
    soft = gate["level"] == "soft"
    said = (gate["message"] if soft else "", withheld, "a source could not be listed whole" if partial else "")
    return 1 if soft else 4 if withheld or partial else 0, "; ".join(filter(None, (done, *said)))


def _summary(stats: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **stats["counts"],
        "removed": sum(stats["gone"].values()),
        "renamed": stats["renamed"],
        "out_of_scope": stats["plan"].get("keep", {}).get("out_of_scope", 0),
        "chunks": stats["chunks"]["total"],
        **{name: stats["changes"].get(name, 0) for name in ("added", "changed", "moved", "deleted")},
        "withheld": sum(each["vanishing"] for each in stats["guard"]["sources"] if each["withheld"]),
        "bytes_read": stats["bytes_read"],
        "seconds": round(sum(stats["seconds"].values()), 2),
    }


def _failures(store: Store, shown: Snapshot | None) -> list[dict[str, str | None]]:
    """Some of the documents that fail as of a commit."""
    found: list[dict[str, str | None]] = []
    for entry in () if shown is None else shown.failures:
        rows = read(store, entry.path, columns=["id", "uri", "position", "error", "message"])
        found += rows.slice(0, SHOWN_FAILURES - len(found)).to_pylist()
    return found

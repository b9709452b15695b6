"""`run`: chunk what is new or changed, and publish the whole corpus with the list of stale chunks as one commit."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, replace

import pyarrow as pa

from pipelines.beam.engine import Engine, engine_for
from pipelines.beam.quiet import quiet_beam
from pipelines.beam.watched import run_watched, workers_for
from pipelines.config.model import Config
from pipelines.errors import EngineFailed, StorageError, TableStateError
from pipelines.observe.events import OtherRun, RunStarted, Sink
from pipelines.observe.progress import told
from pipelines.operations.ending import committed_all_the_same, outcome_of, recorded, unchanged
from pipelines.operations.prepare import Prepared, prepare
from pipelines.operations.stored_run import store_run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import Store, open_store
from pipelines.table import layout
from pipelines.table.claims import claimed, fresh_claims
from pipelines.work.here import run_here
from pipelines.work.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run whose sources are listed and whose plan is stored. `planning` is how long that took, in seconds."""

    store: Store
    run_id: str
    prepared: Prepared
    planning: float


def run(config: Config, options: RunOptions, emit: Sink) -> Outcome:
    """One run. Raises SourcesUnreachable when no source can be listed, TableStateError for a table that is not ours.

    Anything that goes wrong with single documents is in the failures; a lost race, withheld deletions and failed gates
    are outcomes (exit codes 0, 1, 4, 5 and 6: README.md).
    """
    layout.check_address(config.output.path)
    engine = engine_for(config, options.pipeline, options.workers)
    begun = begin(config, options, emit)
    return carry_out(config, begun, emit, engine=engine, approve_deletions=options.approve_deletions)


def begin(config: Config, options: RunOptions, emit: Sink, *, always: bool = False) -> Begun:
    """List the sources and store the plan; `always`: also one without anything to do."""
    began = time.monotonic()
    store = open_store(config.output.path, config.storage.reveal())
    run_id = layout.new_run_id()
    emit(RunStarted(run_id=run_id, table=store.address))
    for other in fresh_claims(store):
        emit(OtherRun(claim=str(other)))
    prepared = prepare(config, options, store, run_id, emit, always=always)
    pa.default_memory_pool().release_unused()
    if not prepared.nothing_to_do:
        store_run(store, run_id, config, prepared, options.approve_deletions)
    return Begun(store=store, run_id=run_id, prepared=prepared, planning=time.monotonic() - began)


def carry_out(config: Config, begun: Begun, emit: Sink, *, engine: Engine, approve_deletions: int | None) -> Outcome:
    """Do what is prepared, and say what came of it."""
    store, run_id, prepared = begun.store, begun.run_id, begun.prepared
    planned = time.monotonic()
    if prepared.nothing_to_do:
        ended = unchanged(prepared)
    else:
        job = Job(config=config, run_id=run_id, approve_deletions=approve_deletions)
        try:
            with claimed(store, run_id):
                for other in fresh_claims(store, own=run_id):
                    emit(OtherRun(claim=str(other)))
                drive(job, engine, prepared, emit)
            ended = recorded(store, run_id)
        except (StorageError, TableStateError, EngineFailed) as error:
            base = None if prepared.base is None else prepared.base.version
            return committed_all_the_same(store, run_id, base, error)
    seconds = {"plan": begun.planning, "run": time.monotonic() - planned}
    return outcome_of(store, run_id, prepared, ended, emit, seconds=seconds, keep=not prepared.nothing_to_do)


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
    if not engine.needs_beam:
        run_here(job, publish=publish)
        return
    if engine.workers is not None and engine.workers > 1:
        run_watched(job, engine, tasks, publish=publish)
        return
    with quiet_beam():
        gc.disable()  # nothing that an import makes is garbage, and looking for it is a tenth of importing Beam
        from pipelines.beam.run_graph import run_graph  # a run in one process never imports Beam

        gc.enable()
        run_graph(job, engine, publish=publish)

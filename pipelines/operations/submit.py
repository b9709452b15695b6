"""`run --no-wait`: give a run to an engine that goes on alone. Guard, gates, publishing and commit are in its job.

What the driver of any other run does afterwards, `wait` does: later, from anywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pipelines.beam.engine import engine_for
from pipelines.beam.quiet import quiet_beam
from pipelines.config.model import Config
from pipelines.errors import StorageError
from pipelines.observe.events import Sink
from pipelines.operations.ending import outcome_of, unchanged
from pipelines.operations.run import Begun, begin
from pipelines.records import Outcome, RunOptions
from pipelines.table import layout
from pipelines.table.claims import drop_claim, leave_claim
from pipelines.work.finish import outcome_path
from pipelines.work.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """A run that an engine has. `job_id` is what that calls it, None where it is not known yet."""

    run_id: str
    table: str
    runner: str
    job_id: str | None


def submit(config: Config, options: RunOptions, emit: Sink) -> Submitted | Outcome:
    """Begin a run and hand it over; its outcome where there was nothing to do.

    Raises what `run` raises before its graph begins, and UsageError for an engine that would end with this process.
    """
    layout.check_address(config.output.path)
    engine = engine_for(config, options.pipeline, options.workers)
    with quiet_beam():
        from pipelines.beam.submission import note_of, refuse_attached, submit_graph, writes_template
    refuse_attached(engine)
    # Whoever launches a template waits for a job, also in a night without changes.
    begun = begin(config, options, emit, always=writes_template(engine))
    store, run_id = begun.store, begun.run_id
    if begun.prepared.nothing_to_do:
        return _nothing(begun, emit)
    leave_claim(store, run_id)
    job = Job(config=config, run_id=run_id, approve_deletions=options.approve_deletions, unattended=True)
    try:
        with quiet_beam():
            job_id = submit_graph(job, engine)
    except BaseException:
        drop_claim(store, run_id)
        raise
    _note(begun, note_of(engine, job_id))
    return Submitted(run_id=run_id, table=store.address, runner=engine.runner, job_id=job_id)


def _nothing(begun: Begun, emit: Sink) -> Outcome:
    """Say so in the table, where whoever waits for the run will look."""
    ended = unchanged(begun.prepared)
    recorded = {"run_id": begun.run_id, "partial": begun.prepared.partial, **ended}
    begun.store.write(outcome_path(begun.run_id), json.dumps(recorded, ensure_ascii=False, indent=1).encode())
    seconds = {"plan": begun.planning, "run": 0.0}
    return outcome_of(begun.store, begun.run_id, begun.prepared, ended, emit, seconds=seconds)


def _note(begun: Begun, note: dict[str, Any]) -> None:
    """Write where the job is. The job works without it; only whoever waits learns less."""
    when = datetime.now(tz=UTC).isoformat(timespec="seconds")
    record = {"run_id": begun.run_id, "submitted": when, "planning": round(begun.planning, 3), **note}
    try:
        begun.store.write(layout.submitted_file(begun.run_id), json.dumps(record, indent=1).encode())
    except StorageError:
        return

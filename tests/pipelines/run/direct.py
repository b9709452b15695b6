"""The job's steps one after the other in this process, as the graph runs them, without Beam's second for each run."""

from __future__ import annotations

import pytest

from pipelines.beam.engine import Engine
from pipelines.observe.events import Sink
from pipelines.operations.prepare import Prepared
from pipelines.routing import Router
from pipelines.work.chunk_shard import chunk_shard
from pipelines.work.decide import decide
from pipelines.work.finish import commit_run, publish_one, report_plan
from pipelines.work.job import Job
from pipelines.work.stored_plan import load_plan


def drive(job: Job, engine: Engine, prepared: Prepared, emit: Sink, *, publish: bool = True) -> None:
    """What `operations.run.drive` does."""
    plan = load_plan(job.table(), job.run_id)
    router = Router(job.config)
    decision = decide(job, plan, [chunk_shard(job, plan, router, task.index) for task in plan.tasks])
    if not publish:
        report_plan(job, decision)
        return
    shards = decision.shards if decision.action == "publish" else ()
    published = [publish_one(job, index, len(shards), shard)[1] for index, shard in enumerate(shards)]
    commit_run(job, decision, published)


@pytest.fixture
def without_beam(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run and plan through `drive` of this module."""
    monkeypatch.setattr("pipelines.operations.run.drive", drive)
    monkeypatch.setattr("pipelines.operations.plan.drive", drive)

"""The job as a Beam graph. Thin: every step is a plain function that also runs without Beam.

    Create([run]) → tasks → Reshuffle → ChunkShard → GroupByKey(task) → take one
    Create([run]) + all results → Decide → shards → Reshuffle → Publish
    Create([run]) + all shards + decision → Commit          (a plan alone: decision → Report)

Only small records cross from step to step; text never does. Commit hangs on `Create([run])`, so a plan without a task
commits too.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam

from pipelines.allocation import become_worker, rare_collections
from pipelines.beam.engine import Engine
from pipelines.beam.errors import own_errors, revived_errors
from pipelines.beam.runners import run_pipeline
from pipelines.routing import Router
from pipelines.table.records import Shard
from pipelines.work.chunk_shard import chunk_shard
from pipelines.work.decide import Decision, decide
from pipelines.work.finish import Numbered, commit_run, numbered_shards, publish_some, report_plan
from pipelines.work.job import Job
from pipelines.work.results import TaskResult
from pipelines.work.signs import SignsOfLife
from pipelines.work.stored_plan import load_plan
from pipelines.work.versions import refuse_others, versions_of


def run_graph(job: Job, engine: Engine, *, publish: bool = True) -> None:
    """Run the stored plan of `job` on `engine`, and wait for its end.

    What came of it is in the run's `outcome.json`. Not to `publish` ends with what would be published. Raises what the
    job itself raised, and EngineFailed for whatever else the engine says.
    """
    with rare_collections(), revived_errors():
        run_pipeline(engine, lambda pipeline: build(pipeline, job, publish=publish), name=job_name(job.run_id))


def job_name(run_id: str) -> str:
    """What engines call the run."""
    return f"rechunk-{run_id.lower()}"


def build(pipeline: beam.Pipeline, job: Job, *, publish: bool = True) -> None:
    """Attach the job to `pipeline`; without `publish` it ends with the decision."""
    run = pipeline | "Run" >> beam.Create([job.run_id])
    results = (
        run
        | "Tasks" >> beam.ParDo(Tasks(job))
        | "Spread tasks" >> beam.Reshuffle()
        | "Chunk shard" >> beam.ParDo(ChunkShard(job))
        | "By task" >> beam.GroupByKey()
        | "Take one" >> beam.Map(take_one)
    )
    decision = run | "Decide" >> beam.ParDo(Decide(job), beam.pvalue.AsList(results))
    if not publish:
        _ = decision | "Report" >> beam.ParDo(Report(job))
        return
    published = (
        decision
        | "Shards" >> beam.FlatMap(numbered_shards)
        | "Spread shards" >> beam.Reshuffle()
        | "Publish" >> beam.ParDo(Publish(job))
    )
    _ = run | "Commit" >> beam.ParDo(Commit(job), beam.pvalue.AsList(published), beam.pvalue.AsSingleton(decision))


class Tasks(beam.DoFn):
    """The run to its task numbers."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def process(self, element: str) -> Iterator[int]:
        with own_errors():
            tasks = load_plan(self._job.table(), self._job.run_id).tasks
        yield from range(len(tasks))


class ChunkShard(beam.DoFn):
    """A task number to (task number, TaskResult)."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._signs = SignsOfLife(job)
        self._planned = versions_of(job.config, Router(job.config))
        self._plan: Any = None
        self._router: Any = None

    def setup(self) -> None:
        become_worker()
        with own_errors():
            self._router = Router(self._job.config)
            refuse_others(versions_of(self._job.config, self._router), self._planned)
            self._plan = load_plan(self._job.table(), self._job.run_id)
        # What importing Beam and Arrow left behind would be looked through again and again: 5 % of a run's CPU.
        gc.freeze()

    def teardown(self) -> None:
        gc.unfreeze()

    def process(self, element: int) -> Iterator[tuple[int, TaskResult]]:
        self._signs.give()
        with own_errors():
            result = chunk_shard(self._job, self._plan, self._router, element)
        yield element, result


def take_one(keyed: tuple[int, Iterable[TaskResult]]) -> TaskResult:
    """All attempts at a task return what its marker says, so any will do."""
    return next(iter(keyed[1]))


class Decide(beam.DoFn):
    """All results to the Decision."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._signs = SignsOfLife(job)

    def process(self, element: str, results: list[TaskResult]) -> Iterator[Decision]:
        self._signs.give()
        with own_errors():
            decision = decide(self._job, load_plan(self._job.table(), self._job.run_id), results)
        yield decision


class Publish(beam.DoFn):
    """Shards to (index, the shard under its final names) of each."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._signs = SignsOfLife(job)

    def process(self, element: list[Numbered]) -> Iterator[tuple[int, Shard]]:
        with own_errors():
            published = publish_some(self._job, element)
        yield from published


class Report(beam.DoFn):
    """The last step of a run that publishes nothing."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def process(self, element: Decision) -> None:
        with own_errors():
            report_plan(self._job, element)


class Commit(beam.DoFn):
    """The one step that makes the run the table."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def process(self, element: str, published: list[tuple[int, Shard]], decision: Decision) -> None:
        with own_errors():
            commit_run(self._job, decision, [shard for _, shard in sorted(published, key=_index)])


def _index(numbered: tuple[int, Shard]) -> int:
    return numbered[0]

"""A run in this process, from its first step to its last: the steps of the graph without the graph.

Importing Beam and building a pipeline takes longer than the work of a night on which little changed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pipelines.allocation import rare_collections
from pipelines.routing import Router
from pipelines.work.chunk_shard import chunk_shard
from pipelines.work.deaths import deaths_before
from pipelines.work.decide import decide
from pipelines.work.finish import commit_run, numbered_shards, publish_some, report_plan
from pipelines.work.job import Job
from pipelines.work.stored_plan import load_plan


def run_here(job: Job, *, publish: bool = True) -> None:
    """Do the stored plan of `job`, one step after the other; without `publish` up to there.

    What came of it is in the run's `outcome.json`, as after `beam.run_graph`. Raises what the steps raise.
    """
    with rare_collections(), _nothing_from_before():
        plan, router = load_plan(job.table(), job.run_id), Router(job.config)
        job = replace(job, isolate_after=max(0, job.isolate_after - deaths_before(job, plan.base)))
        decision = decide(job, plan, [chunk_shard(job, plan, router, task.index) for task in plan.tasks])
        if not publish:
            report_plan(job, decision)
            return
        published = [pair for some in numbered_shards(decision) for pair in publish_some(job, some)]
        commit_run(job, decision, [shard for _, shard in published])


@contextmanager
def _nothing_from_before() -> Iterator[None]:
    """Look for garbage among what is made in here only: all that was imported is none."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

"""What a run knows of those before it that died: a document may have killed them, and would kill it as well.

Worker processes that die are replaced. A run in one process dies with its document, and so would the next one, night
after night.
"""

from __future__ import annotations

from contextlib import suppress

from pipelines.errors import StorageError, TableStateError
from pipelines.storage.store import Store
from pipelines.table import layout
from pipelines.table.claims import dead_runs
from pipelines.work.job import Job
from pipelines.work.stored_plan import load_plan


def deaths_before(job: Job, base: int | None) -> int:
    """How many runs died in a task on the way from version `base`, as far as it matters; `job`'s own is none of them.

    Whatever goes wrong in looking for them is no reason to fail a run.
    """
    store, found = job.table(), 0
    for run_id in dead_runs(store)[: job.isolate_after + 1]:
        with suppress(StorageError, TableStateError, OSError):
            found += run_id != job.run_id and _died_in_a_task(store, run_id, base)
    return found


def _died_in_a_task(store: Store, run_id: str, base: int | None) -> bool:
    if load_plan(store, run_id).base != base or store.exists(layout.run_file(run_id, "outcome.json")):
        return False
    began = _numbers(store, layout.run_file(run_id, "starts/"))
    return bool(began - _numbers(store, layout.task_markers(run_id)))


def _numbers(store: Store, folder: str) -> set[str]:
    """The tasks, as numbers with leading zeros, that have files in a folder of a run."""
    paths = (path.removeprefix(folder) for page in store.list(folder) for path in page.paths)
    return {path.partition("/")[0].removesuffix(".json") for path in paths}

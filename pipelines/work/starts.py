"""Start markers: an attempt at a task says that it begins, so that later ones know what became of it.

A task whose earlier attempts began and left no result may hold a document that kills the process it is worked on in.
From the third attempt on its documents get a process of their own each (`isolated.py`), and the one that kills it
becomes a failure row.
"""

from __future__ import annotations

from pipelines.routing import Router
from pipelines.storage.store import Store
from pipelines.table import layout
from pipelines.work.chunking import Chunking, InProcess
from pipelines.work.isolated import Isolated
from pipelines.work.job import Job


def chunking_for(job: Job, router: Router, store: Store, task: int, attempt: str) -> Chunking:
    """Marks the start of `attempt` at a task that has no result yet, and says how it should go about it."""
    before = _attempts(store, job.run_id, task)
    store.write(layout.start_marker(job.run_id, task, attempt), b"")
    return Isolated(job.config) if before >= job.isolate_after else InProcess(job.config, router)


def _attempts(store: Store, run_id: str, task: int) -> int:
    """How many attempts have begun."""
    return sum(len(page.paths) for page in store.list(f"{layout.starts_folder(run_id, task)}/"))

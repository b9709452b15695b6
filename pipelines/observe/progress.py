"""How far a run is, told while it goes on.

The markers of finished tasks are the only channel: whoever works on them, in this process or in others, they lie in the
table. A thread looks for new ones now and then, and only where a person is looking (`wants_progress`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pipelines.config.addresses import protocol_of
from pipelines.observe.events import Sink, Working
from pipelines.processes import Repeating
from pipelines.storage.store import Store
from pipelines.table import layout

_SECONDS = 0.5
_SECONDS_REMOTE = 3.0
"""Between two looks; a listing of a remote store costs a request."""

REST = 20
"""Between two looks there is this many times what one takes: there may be tens of thousands of tasks to look at."""


def wants_progress(emit: Sink) -> bool:
    """Whether there is a person at the other end of `emit`."""
    return bool(getattr(emit, "wants_progress", False))


@contextmanager
def told(store: Store, run_id: str, emit: Sink, *, tasks: int, documents: int, size: int) -> Iterator[None]:
    """Around the work on `tasks`, which are to read so many documents and bytes: emit Working as it goes on."""
    if not wants_progress(emit):
        yield
        return
    watched = _Watched(store, run_id, tasks, documents, size)
    near = protocol_of(store.address) in ("file", "memory")

    rested = time.monotonic()

    def look() -> None:
        nonlocal rested
        began = time.monotonic()
        if began < rested:
            return
        with suppress(Exception):  # whatever is wrong with the store, the run itself will say
            emit(watched.look())
        rested = time.monotonic() + REST * (time.monotonic() - began)

    looking = Repeating(_SECONDS if near else _SECONDS_REMOTE, look, name="progress")
    try:
        yield
    finally:
        looking.stop()


@dataclass(slots=True)
class _Watched:
    """What is known of one run."""

    store: Store
    run_id: str
    tasks: int
    documents: int
    size: int
    began: float = field(default_factory=time.monotonic)
    seen: set[str] = field(default_factory=set)
    read: int = 0
    bytes: int = 0
    failures: int = 0

    def look(self) -> Working:
        """Count what is new, and say how far it is."""
        if len(self.seen) < self.tasks:
            for page in self.store.list(layout.task_markers(self.run_id)):
                for path in page.paths:
                    if path.endswith(".json") and path not in self.seen:
                        self._count(json.loads(self.store.read(path))["counts"])
                        self.seen.add(path)
        seconds = time.monotonic() - self.began
        rate = self.bytes / seconds if seconds > 0 else 0.0
        working = len(self.seen) < self.tasks
        return Working(
            stage="chunking" if working else "publishing" if self._publishes() else "deciding",
            tasks_done=len(self.seen),
            tasks=self.tasks,
            documents=self.read,
            documents_to_read=self.documents,
            bytes=self.bytes,
            bytes_to_read=self.size,
            rate=rate,
            eta=(self.size - self.bytes) / rate if working and rate and self.size >= self.bytes else None,
            failures=self.failures,
        )

    def _count(self, counts: dict[str, Any]) -> None:
        # Records are counted as listed where they are found, and again by what became of them.
        self.read += sum(number for what, number in counts["documents"].items() if not what.endswith("\tlisted"))
        self.bytes += sum(counts["bytes_read"].values())
        self.failures += sum(counts["failures"].values())

    def _publishes(self) -> bool:
        return any(page.paths for page in self.store.list(layout.published_chunks(self.run_id)))

"""What every worker must know about the run it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.config.model import Config, Source
from pipelines.storage.overlay import OverlayStore
from pipelines.storage.store import Store, open_source, open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run of one configuration. Small and picklable: it crosses to every worker.

    `scratch` is the folder that a dry run writes to instead of the table. A task that began `isolate_after` times
    without an end chunks each document in a process of its own.
    """

    config: Config
    run_id: str
    approve_deletions: int | None = None
    scratch: str | None = None
    isolate_after: int = 2

    def table(self) -> Store:
        """The store of the table's folder."""
        store = open_store(self.config.output.path, self.config.storage.reveal())
        return store if self.scratch is None else OverlayStore(store, open_store(self.scratch))

    def source(self, source: Source) -> Store:
        """The store that a source's paths are relative to."""
        store, _ = open_source(source.path, self.config.storage.reveal())
        return store

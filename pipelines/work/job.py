"""What every worker must know about the run it belongs to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from pipelines.config.addresses import protocol_of
from pipelines.config.model import Config, Source
from pipelines.storage.overlay import OverlayStore
from pipelines.storage.store import Store, open_source, open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run of one configuration. Small and picklable: it crosses to every worker.

    `scratch` is the folder that a dry run writes to instead of the table. A task that began `isolate_after` times
    without an end chunks each document in a process of its own. Relative local addresses are relative to `folder`,
    wherever a worker is. `unattended`: nobody waits for the run, so it looks after its claim itself.
    """

    config: Config
    run_id: str
    approve_deletions: int | None = None
    scratch: str | None = None
    isolate_after: int = 2
    folder: str = field(default_factory=os.getcwd)
    unattended: bool = False

    def table(self) -> Store:
        """The store of the table's folder."""
        store = open_store(self._anchored(self.config.output.path), self.config.storage.reveal())
        return store if self.scratch is None else OverlayStore(store, open_store(self.scratch))

    def source(self, source: Source) -> Store:
        """The store that a source's paths are relative to."""
        store, _ = open_source(self._anchored(source.path), self.config.storage.reveal())
        return store

    def _anchored(self, address: str) -> str:
        return address if protocol_of(address) != "file" or "://" in address else os.path.join(self.folder, address)

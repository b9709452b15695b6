"""A corpus and its table on any two stores, as a person works with them: write, run, look."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from pipelines.config.model import Config, Hidden, Output, Source
from pipelines.observe.events import Event
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import Store, open_store
from pipelines.table import shards, snapshot
from pipelines.table.reading import read_documents
from pipelines.table.records import Snapshot
from tests.pipelines.run.corpus import rule

Options = dict[str, dict[str, Any]]


@dataclass
class Stored:
    """Documents at the address `docs`, the table at `table`, both reached with `options` (the section `storage`)."""

    docs: str
    table: str
    options: Options
    task_bytes: int = 2000
    config: Config = field(init=False)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.config = Config(
            name="test",
            sources=(Source(path=self.docs),),
            output=Output(path=self.table, task_bytes=self.task_bytes),
            default=rule(),
            storage=Hidden(self.options),
        )

    @property
    def source(self) -> Store:
        return open_store(self.docs, self.options)

    @property
    def store(self) -> Store:
        return open_store(self.config.output.path, self.options)

    def write(self, name: str, content: str | bytes) -> None:
        self.source.write(name, content.encode() if isinstance(content, str) else content)

    def change(self, **fields: Any) -> None:
        self.config = replace(self.config, **fields)

    def run(self, **options: Any) -> Outcome:
        self.events.clear()
        return run(self.config, RunOptions(**options), self.events.append)

    def counts(self, outcome: Outcome) -> dict[str, int]:
        counts = {name: outcome.summary[name] for name in ("listed", "chunked", "empty", "unchanged", "failed")}
        return {name: number for name, number in counts.items() if number}

    def snapshot(self, version: int | None = None) -> Snapshot:
        found = snapshot.load(self.store, version)
        assert found is not None
        return found

    def rows(self, version: int | None = None) -> dict[str, dict[str, Any]]:
        """Chunk rows by id."""
        entries = [shard.chunks for shard in self.snapshot(version).shards]
        rows = pa.concat_tables([shards.read(self.store, entry.path) for entry in entries]).to_pylist()
        found = {row["id"]: row for row in rows}
        assert len(found) == len(rows), "an id is there twice"
        return found

    def states(self) -> dict[str, dict[str, Any]]:
        return {state["id"]: state for state in read_documents(self.store, self.snapshot()).to_pylist()}

    def changes(self, version: int | None = None) -> list[dict[str, Any]]:
        entries = self.snapshot(version).changes
        return [row for entry in entries for row in shards.read(self.store, entry.path).to_pylist()]

    def failures(self) -> list[dict[str, Any]]:
        entries = self.snapshot().failures
        return [row for entry in entries for row in shards.read(self.store, entry.path).to_pylist()]

    def afresh(self, name: str = "afresh") -> dict[str, dict[str, Any]]:
        """What a run of the same configuration into a new table makes of the sources."""
        other = Stored(self.docs, f"{self.table}-{name}", self.options, self.task_bytes)
        other.config = replace(self.config, output=replace(self.config.output, path=other.table))
        other.run()
        return other.rows()

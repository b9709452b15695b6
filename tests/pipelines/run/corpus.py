"""A corpus on disk and its table, as a person works with them: write, run, look."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.config.model import Config, Output, Rule, Source
from pipelines.observe.events import Event
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import Store, open_store
from pipelines.table import shards, snapshot
from pipelines.table.reading import read_documents
from pipelines.table.records import Snapshot
from pipelines.table.schemas import CHANGES, FAILURES

PARAGRAPH = "The harbour froze early that year, and nobody had paid the lamplighter. "


def text(paragraphs: int, tag: str = "") -> str:
    """A document of some paragraphs, each its own chunk under `rule()`, each different."""
    return "\n\n".join(f"{number} {tag}. {PARAGRAPH * 3}".strip() for number in range(paragraphs)) + "\n"


def rule(max_size: int = 300, **options: Any) -> Rule:
    return Rule(strategy="recursive", options={"max_size": max_size, "overlap": 0, **options})


@dataclass
class Corpus:
    """Source folders and a table below `root`."""

    root: Path
    config: Config = field(init=False)
    events: list[Event] = field(default_factory=list)
    _clock: int = 0
    _written: int = 0

    def __post_init__(self) -> None:
        (self.root / "docs").mkdir(parents=True)
        self.config = Config(
            name="test",
            sources=(Source(path=str(self.root / "docs")),),
            output=Output(path=str(self.root / "table")),
            default=rule(),
        )

    # the sources

    def write(self, name: str, content: str | bytes, folder: str = "docs") -> Path:
        """Write a document; every write has its own second, long past, and the next run trusts it."""
        file = self.root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        self._clock += 1
        os.utime(file, (1_600_000_000 + self._clock,) * 2)
        self.wrote()
        return file

    def fill(self, count: int, paragraphs: int = 3, folder: str = "docs") -> None:
        for number in range(count):
            self.write(f"{number:03d}.txt", text(paragraphs, f"of {number}"), folder)

    def remove(self, name: str, folder: str = "docs") -> None:
        (self.root / folder / name).unlink()

    def change(self, **fields: Any) -> None:
        self.config = replace(self.config, **fields)

    def source(self, **fields: Any) -> None:
        """Change the one source."""
        self.change(sources=(replace(self.config.sources[0], **fields),))

    # the job

    def wrote(self) -> None:
        """Note that something was written past `write`: the next run waits until it can be trusted."""
        self._written = time.time_ns()

    def _settle(self) -> None:
        """Wait until what was written is old enough to be trusted: its bytes may have any time, but they came now."""
        time.sleep(max(0, self._written + 25_000_000 - time.time_ns()) / 1e9)

    def run(self, **options: Any) -> Outcome:
        self._settle()
        self.events.clear()
        return run(self.config, RunOptions(**options), self.events.append)

    def counts(self, outcome: Outcome) -> dict[str, int]:
        """Documents by what became of them, only what is not zero; their law is asserted on the way."""
        counts = {name: outcome.summary[name] for name in ("listed", "chunked", "empty", "unchanged", "failed")}
        assert counts["listed"] == counts["chunked"] + counts["empty"] + counts["unchanged"] + counts["failed"]
        return {name: number for name, number in counts.items() if number}

    # the table

    @property
    def store(self) -> Store:
        return open_store(self.config.output.path)

    def snapshot(self, version: int | None = None) -> Snapshot:
        found = snapshot.load(self.store, version)
        assert found is not None
        return found

    def rows(self, version: int | None = None) -> dict[str, dict[str, Any]]:
        """Chunk rows by id, as a reader with a glob finds them."""
        return rows_of(self.root / "table", self.snapshot(version).run_id)

    def ids(self) -> list[str]:
        return list(self.rows())

    def states(self) -> dict[str, dict[str, Any]]:
        return {state["id"]: state for state in read_documents(self.store, self.snapshot()).to_pylist()}

    def changes(self, version: int | None = None) -> list[dict[str, Any]]:
        entries = self.snapshot(version).changes
        return pa.concat_tables(
            [CHANGES.empty_table(), *(shards.read(self.store, entry.path) for entry in entries)]
        ).to_pylist()

    def changed(self) -> list[tuple[str, str, str | None]]:
        """(change, id, reason) of the last commit."""
        return [(row["change"], row["id"], row["reason"]) for row in self.changes()]

    def failures(self) -> list[dict[str, Any]]:
        entries = self.snapshot().failures
        return pa.concat_tables(
            [FAILURES.empty_table(), *(shards.read(self.store, entry.path) for entry in entries)]
        ).to_pylist()

    def afresh(self, name: str = "afresh") -> dict[str, dict[str, Any]]:
        """What a run of the same configuration into a new table makes of the sources."""
        other = replace(self.config, output=replace(self.config.output, path=str(self.root / name)))
        run(other, RunOptions(), lambda event: None)
        found = snapshot.load(open_store(other.output.path))
        assert found is not None
        return rows_of(self.root / name, found.run_id)


def rows_of(table: Path, run_id: str) -> dict[str, dict[str, Any]]:
    """Every row below one run's folder of chunks, by id, in the order of the files."""
    files = sorted((table / "chunks" / run_id).glob("**/*.parquet"))
    rows = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
    found = {row["id"]: row for row in rows}
    assert len(found) == len(rows), "an id is there twice"
    return found


def assert_changes_law(
    old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]], changes: Iterable[dict[str, Any]]
) -> None:
    """old − deletions + upserts == new, as id → (content_hash, row_hash)."""
    replayed = {id_: (row["content_hash"], row["row_hash"]) for id_, row in old.items()}
    for change in changes:
        if change["change"] == "deleted":
            del replayed[change["id"]]
        else:
            row = new[change["id"]]
            assert replayed.get(change["id"]) != (row["content_hash"], row["row_hash"]), "a change that changes nothing"
            replayed[change["id"]] = (row["content_hash"], row["row_hash"])
    assert replayed == {id_: (row["content_hash"], row["row_hash"]) for id_, row in new.items()}


def assert_renames_law(store: Store, found: Snapshot) -> int:
    """What a commit tells of renames holds, and nothing is left that could be one. Returns how many there were."""
    assert found.version is not None
    before = None if found.parent_version is None else snapshot.load(store, found.parent_version)
    old, new = (_alike(store, each) for each in (before, found))
    told = [row for entry in found.renames for row in shards.read(store, entry.path).to_pylist()]
    for row in told:
        assert row["old_id"] not in new
        assert row["new_id"] not in old
        assert old[row["old_id"]] == new[row["new_id"]]
        assert len(new[row["new_id"]][1]) == row["chunk_count"] > 0
    gone = old.keys() - new.keys() - {row["old_id"] for row in told}
    came = new.keys() - old.keys() - {row["new_id"] for row in told}
    assert len({row["old_id"] for row in told}) == len({row["new_id"] for row in told}) == len(told)
    assert not {old[id_] for id_ in gone if old[id_][1]} & {new[id_] for id_ in came}
    return len(told)


def _alike(store: Store, found: Snapshot | None) -> dict[str, tuple[str, tuple[bytes, ...]]]:
    """By id: the bytes of a document (a record has none of its own), and the content of its chunks."""
    states = [] if found is None else read_documents(store, found).to_pylist()
    return {
        state["id"]: (
            "" if state["kind"] == "record" else state["hash"],
            tuple(state["chunk_hashes"][start : start + 32] for start in range(0, len(state["chunk_hashes"]), 64)),
        )
        for state in states
    }

"""A small corpus with everything that can become of a document in a night, its table, and what must always hold."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest

from pipelines.config.model import Config, Hidden, Output, Source
from pipelines.errors import TableStateError
from pipelines.observe.events import Event
from pipelines.operations.changes import changes_since
from pipelines.operations.gc import collect
from pipelines.operations.resume import resume
from pipelines.operations.run import run
from pipelines.operations.verify import verify
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, log, shards, snapshot
from pipelines.table.records import Snapshot
from tests.pipelines.run.corpus import assert_changes_law, rule, text
from tests.pipelines.run.faults.places import Disk, Place

Rows = dict[str, dict[str, Any]]


def records(*numbers: int, edited: int = -1) -> bytes:
    """A container of records; `edited` is one that reads differently."""
    each = [{"id": f"r{number}", "text": text(2, f"record {number}{'!' * (number == edited)}")} for number in numbers]
    return "".join(json.dumps(record) + "\n" for record in each).encode()


FIRST: Mapping[str, bytes] = {
    "files/00 same.txt": text(2, "same").encode(),
    "files/01 grown.txt": text(2, "grown").encode(),
    "files/02 shrunk.txt": text(3, "shrunk").encode(),
    "files/03 emptied.txt": text(2, "emptied").encode(),
    "files/04 removed.txt": text(2, "removed").encode(),
    "files/05 renamed.txt": text(2, "renamed").encode(),
    "files/06 failing.txt": b"\0\1\2\xff" * 50,
    "files/07 healing.txt": b"\0\1\2\xff" * 51,
    "files/08 spoilt.txt": text(2, "spoilt").encode(),
    "files/09 packed.txt.gz": gzip.compress(text(2, "packed").encode(), mtime=0),
    "files/toggle.txt": text(2, "first").encode(),
    "files/zz last.txt": text(2, "last").encode(),
    "records/a.jsonl": records(1, 2, 3),
    "records/b.jsonl": records(7),
}
SECOND: Mapping[str, bytes | None] = {
    "files/01 grown.txt": text(4, "grown").encode(),
    "files/02 shrunk.txt": text(1, "shrunk").encode(),
    "files/03 emptied.txt": b"",
    "files/04 removed.txt": None,
    "files/05 renamed.txt": None,
    "files/50 renamed.txt": text(2, "renamed").encode(),
    "files/51 new.txt": text(2, "new").encode(),
    "files/07 healing.txt": text(2, "healing").encode(),
    "files/08 spoilt.txt": b"\0\1\2\xff" * 52,
    "records/a.jsonl": records(1, 3, 4, edited=1),
}
STAYING = ("08 spoilt.txt",)
"""Documents that are no text any more: their rows stay as they were."""

MEANWHILE: Mapping[str, bytes | None] = {
    "files/toggle.txt": text(3, "second").encode(),
    "files/99 late.txt": text(1, "late").encode(),
}
"""What another run finds while a slow one is at work."""


@dataclass
class World:
    """Two sources, one with a container, and their table."""

    place: Place
    config: Config = field(init=False)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        docs = self.place.docs
        self.config = Config(
            name="test",
            sources=(Source(path=f"{docs}/files"), Source(path=f"{docs}/records", id_prefix="r/")),
            output=Output(path=self.place.table, task_bytes=4000),
            default=rule(),
            storage=Hidden(self.place.options),
        )

    def change(self, documents: Mapping[str, bytes | None]) -> None:
        for name, content in documents.items():
            if content is None:
                self.place.take(name)
            else:
                self.place.put(name, content)

    # the job

    def run(self) -> Outcome:
        self.events.clear()
        return run(self.config, RunOptions(), self.events.append)

    def resume(self) -> Outcome:
        self.events.clear()
        return resume(self.config, None, self.events.append)

    def gc(self, grace: float = 0.0) -> None:
        """A collection long afterwards: nobody reads old versions any more, and no claim is fresh."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pipelines.table.claims.EXPIRES_SECONDS", 0.0)
            collect(self.store, retain=0.0, grace=grace)

    def afresh(self) -> Rows:
        """What a run into a new table makes of the sources."""
        other = World(self.place)
        path = f"{self.place.table}-afresh"
        other.config = replace(self.config, output=replace(self.config.output, path=path))
        other.run()
        found = other.rows()
        store = open_store(path, self.place.options)
        for paths in [page.paths for page in store.list()]:
            for each in paths:
                store.delete(each)
        return found

    # the table

    @property
    def store(self) -> Store:
        return open_store(self.config.output.path, self.place.options)

    def snapshot(self, version: int | None = None) -> Snapshot | None:
        return snapshot.load(self.store, version)

    def version(self) -> int | None:
        found = self.snapshot()
        return None if found is None else found.version

    def rows(self, version: int | None = None) -> Rows:
        """Chunk rows by id; none of a table without commits."""
        found = self.snapshot(version)
        if found is None:
            return {}
        assert found.version is not None
        entries = [shard.chunks for shard in found.shards]
        rows = pa.concat_tables([shards.read(self.store, entry.path) for entry in entries]).to_pylist()
        by_id = {row["id"]: row for row in rows}
        assert len(by_id) == len(rows), "a row is there twice"
        return by_id

    def changes(self, version: int) -> list[dict[str, Any]]:
        found = self.snapshot(version)
        assert found is not None
        return [row for entry in found.changes for row in shards.read(self.store, entry.path).to_pylist()]

    # what must always hold

    def check_history(self, since: int | None, old: Rows, *, may_be_collected: bool = False) -> None:
        """From the commit that a consumer saw, version `since` with the rows `old`: every later one follows.

        That commit reads as it did. Only where it `may_be_collected` it may be gone instead, and then every reader is
        told so.
        """
        newest = self.version()
        before = old
        for version in range(0 if since is None else since + 1, 0 if newest is None else newest + 1):
            after = self.rows(version)
            assert_changes_law(before, after, self.changes(version))
            before = after
        if may_be_collected and since is not None and self._is_collected(since):
            left = f"version {since} was collected or lost; the oldest version still there is {since + 1}"
            for read in (lambda: self.rows(since), lambda: changes_since(self.place.target(), since)):
                with pytest.raises(TableStateError, match=left):
                    read()
        elif since is not None:
            assert self.rows(since) == old, "an older commit reads differently now"
            found = changes_since(self.place.target(), since)
            deleted = {row["id"] for row in found.deleted_rows()}
            assert deleted <= old.keys()
            kept = {id_: row for id_, row in old.items() if id_ not in deleted}
            assert hashes(kept | {row["id"]: row for row in found.upserted_rows()}) == hashes(before)

    def _is_collected(self, version: int) -> bool:
        found = log.head_at(self.store, version)
        assert found is not None
        return not self.store.exists(layout.commit_file(found.run_id))

    def check_table(self) -> None:
        """The newest commit, by our own checks and by a reader that is not ours."""
        if self.version() is None:
            return
        found = verify(self.store, self.events.append, full=True)
        assert found.total == 0, found.problems
        if isinstance(self.place, Disk):
            from deltalake import DeltaTable

            other = DeltaTable(f"{self.place.table}/chunks")
            assert other.version() == log.version_numbers(self.store)[-1]
            seen = other.to_pyarrow_table(columns=["id", "row_hash"]).to_pylist()
            assert len(seen) == len({row["id"] for row in seen})
            assert {row["id"]: row["row_hash"] for row in seen} == {
                id_: row_hash for id_, (_, row_hash) in hashes(self.rows()).items()
            }

    def check_nothing_left(self) -> None:
        """After a collection there is the newest commit and its run's notes, and nothing else but the log."""
        self.gc()  # marks what broke off; it cannot come back once there is a newer commit
        self.change({"files/zz last.txt": text(3, "very last").encode()})
        assert self.run().committed
        self.gc()
        self.gc()
        found = self.snapshot()
        assert found is not None
        named = {entry.path for entry in found.files()}
        notes = {f"runs/{found.run_id}/{name}" for name in ("commit.json", "outcome.json", "stats.json")}
        left = {
            path
            for path in self.place.left_over() - named - notes
            if not path.startswith("chunks/_delta_log/") and not path.endswith(("/outcome.json", "/stats.json"))
        }
        assert not left, left


def hashes(rows: Rows) -> dict[str, tuple[str, str]]:
    """What the changes are about."""
    return {id_: (row["content_hash"], row["row_hash"]) for id_, row in rows.items()}

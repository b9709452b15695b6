"""`--objects`: exactly the listed changes, and nothing that follows from what is not listed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.config.model import Config, Output, Source
from pipelines.errors import UsageError
from pipelines.observe.events import Event, ObjectSkipped
from pipelines.operations.objects import list_objects, read_objects
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import open_store
from pipelines.table import log, snapshot
from pipelines.table.reading import read_chunks
from pipelines.work.standing_failures import last_failures


def test_both_forms_of_a_line_and_the_last_action_counts(tmp_path: Path) -> None:
    file = tmp_path / "objects"
    file.write_text(
        '{"uri": "s3://b/a,1", "action": "upsert"}\n\ns3://b/c\tdelete\ns3://b/d,upsert\ns3://b/c\tupsert\n'
    )
    assert read_objects(str(file)) == {"s3://b/a,1": "upsert", "s3://b/d": "upsert", "s3://b/c": "upsert"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "objects:2: not JSON"),
        ('{"action": "upsert"}', "objects:2: has no address"),
        ("s3://b/c\tremove", "objects:2: the action is 'remove'; allowed: upsert, delete"),
        ("upsert", "objects:2: has no address"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "objects"
    file.write_text(f"s3://b/c,upsert\n{line}\n")
    with pytest.raises(UsageError, match=message):
        read_objects(str(file))


def test_a_list_may_lie_in_a_store() -> None:
    open_store("memory://lists").write("night.tsv", "\ufeffs3://b/é\tupsert\n".encode())
    assert read_objects("memory://lists/night.tsv") == {"s3://b/é": "upsert"}
    with pytest.raises(UsageError, match=r"none\.tsv: cannot be read: there is no such object"):
        read_objects("memory://lists/none.tsv")


def test_a_missing_list_is_an_error_of_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_objects(str(tmp_path / "none"))


class World:
    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        self.docs.mkdir()
        self.list = folder / "objects"
        source = Source(path=str(self.docs), exclude=("**/*.tmp",))
        self.config = Config(name="t", sources=(source,), output=Output(path=str(folder / "table")))
        self.events: list[Event] = []

    def write(self, name: str, text: str) -> None:
        (self.docs / name).write_text(text)

    def run(self, *lines: str) -> Outcome:
        self.list.write_text("".join(f"{line}\n" for line in lines))
        return run(self.config, RunOptions(objects=str(self.list) if lines else None, workers=1), self.events.append)

    def texts(self) -> dict[str, str]:
        store = open_store(self.config.output.path)
        found = snapshot.load(store)
        assert found is not None
        rows = read_chunks(store, found, columns=["parent_id", "text"]).to_pylist()
        return {row["parent_id"]: row["text"] for row in rows}


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    for name in ("a.md", "b.md", "c.md"):
        made.write(name, name)
    made.run()
    return made


def test_what_is_named_is_read_or_goes_and_all_else_stays(world: World) -> None:
    for name in ("a.md", "b.md", "d.md", "e.md"):
        world.write(name, "new")
    (world.docs / "c.md").unlink()
    outcome = world.run(f"{world.docs}/a.md,upsert", f"{world.docs}/d.md\tupsert", f"file://{world.docs}/b.md,delete")
    assert outcome.exit_code == 0
    assert world.texts() == {"a.md": "new", "c.md": "c.md", "d.md": "new"}


def test_a_named_object_that_is_missing_keeps_its_rows(world: World) -> None:
    (world.docs / "c.md").unlink()
    outcome = world.run(f"{world.docs}/c.md,upsert")
    assert [failure["error"] for failure in outcome.summary["failures"]] == ["missing"]
    assert world.texts() == {"a.md": "a.md", "b.md": "b.md", "c.md": "c.md"}


def test_a_named_object_that_never_was_is_told_and_is_no_document(world: World) -> None:
    outcome = world.run(f"{world.docs}/never.md,upsert")
    assert [event.path for event in world.events if isinstance(event, ObjectSkipped)] == [f"{world.docs}/never.md"]
    assert (outcome.exit_code, outcome.committed, outcome.summary["failed"]) == (0, False, 0)
    assert world.texts() == {"a.md": "a.md", "b.md": "b.md", "c.md": "c.md"}


def test_an_object_that_no_source_takes_is_told(world: World) -> None:
    lines = [f"{world.docs}/x.tmp,upsert", "s3://elsewhere/a.md,delete", f"{world.config.output.path}/x,upsert"]
    outcome = world.run(*lines)
    skipped = [event.path for event in world.events if isinstance(event, ObjectSkipped)]
    assert skipped == [line.rpartition(",")[0] for line in lines]
    assert (outcome.exit_code, outcome.committed) == (0, False)


def test_a_container_that_is_deleted_takes_its_records_along(world: World) -> None:
    world.write("d.jsonl", '{"id": "r1", "text": "one"}\n{"id": "r2", "text": "two"}\n')
    world.run(f"{world.docs}/d.jsonl,upsert")
    assert world.texts() == {"a.md": "a.md", "b.md": "b.md", "c.md": "c.md", "r1": "one", "r2": "two"}
    world.run(f"{world.docs}/d.jsonl,delete")
    assert world.texts() == {"a.md": "a.md", "b.md": "b.md", "c.md": "c.md"}


def test_one_object_as_a_source_takes_only_itself(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "objects").write_text(f"{tmp_path}/a.md,upsert\n{tmp_path}/b.md,upsert\n")
    source = Source(path=str(tmp_path / "a.md"))
    config = Config(name="t", sources=(source,), output=Output(path=str(tmp_path / "table")))
    listing, deleted = list_objects(config, str(tmp_path / "objects"), lambda event: None)
    assert (listing.table["path"].to_pylist(), dict(deleted)) == (["a.md"], {})


def test_what_is_said_of_objects_that_are_not_named_stands(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.md").write_text(name)
    sources = (Source(path=str(tmp_path / "a")), Source(path=str(tmp_path / "b")))
    config = Config(name="t", sources=sources, output=Output(path=str(tmp_path / "table")))
    run(config, RunOptions(workers=1), lambda event: None)
    (tmp_path / "a" / "other.md").write_text("other")
    list_file = tmp_path / "objects"

    def failing(line: str) -> list[str]:
        list_file.write_text(line)
        outcome = run(config, RunOptions(objects=str(list_file), workers=1), lambda event: None)
        assert outcome.committed
        return [failure["error"] for failure in outcome.summary["failures"]]

    assert failing(f"{tmp_path}/a/other.md,upsert") == ["duplicate-id"]
    assert failing(f"{tmp_path}/b/same.md,delete") == []


def test_an_object_that_is_named_after_its_ids_changed_is_there_once(world: World) -> None:
    world.write("d.jsonl", '{"id": "r1", "text": "one"}\n{broken\n')
    world.run()
    old = [(failure["position"], failure["error"]) for failure in failures(world)]
    assert old == [("line 2", "malformed")]
    world.config = replace(world.config, sources=(replace(world.config.sources[0], id_prefix="new/"),))
    world.write("d.jsonl", '{"id": "r1", "text": "one"}\n{still broken\n')
    world.run(f"{world.docs}/a.md,upsert", f"{world.docs}/d.jsonl,upsert")
    # The broken line may be a record: so what the container had under its old ids stays, and what is said of it.
    assert set(world.texts()) == {"new/a.md", "b.md", "c.md", "r1", "new/r1"}
    assert [failure["error"] for failure in failures(world)] == ["malformed", "malformed"]
    world.write("d.jsonl", '{"id": "r1", "text": "one"}\n')
    world.run(f"{world.docs}/d.jsonl,upsert")
    assert set(world.texts()) == {"new/a.md", "b.md", "c.md", "new/r1"}
    assert failures(world) == []


def failures(world: World) -> list[dict[str, Any]]:
    store = open_store(world.config.output.path)
    return last_failures(store, log.head(store).version).to_pylist()

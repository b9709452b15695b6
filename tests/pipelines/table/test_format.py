"""Formats of the table: 1 is written, 0 is read and becomes 1, a newer one is refused before anything is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.cli.main import main
from pipelines.errors import TableStateError
from pipelines.operations.verify import verify
from pipelines.storage.local import LocalStore
from pipelines.table import layout, log, schemas, snapshot
from tests.pipelines.table import tables


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(str(tmp_path / "table"))


def made_in(store: LocalStore, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more version, as a rechunk of that format would write it."""
    with monkeypatch.context() as patch:
        patch.setattr(log, "FORMAT", number)
        patch.setattr(snapshot, "FORMAT", number)
        patch.setattr(schemas, "READABLE", (number,))
        tables.run(store, {"a": ["one"], "b": ["two"]}, ["b"])


def formats(store: LocalStore) -> list[int]:
    """What each version says in the log, and in its record."""
    found = []
    for version in log.version_numbers(store):
        mark = log.read_version(store, version)[0]["commitInfo"]["rechunk"]
        record = json.loads(store.read(layout.commit_file(mark["run_id"])))
        assert record["format"] == mark["format"]
        found.append(mark["format"])
    return found


def test_format_1_is_written(store: LocalStore) -> None:
    tables.run(store, {"a": ["one"]})
    assert formats(store) == [1]


def test_format_0_is_read_and_the_next_commit_is_format_1(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    made_in(store, 0, monkeypatch)
    found = snapshot.load(store)
    assert found is not None
    assert [shard.chunks.rows for shard in found.shards] == [1, 1]
    tables.run(store, {"a": ["one"], "b": ["three"]}, ["b"])
    assert formats(store) == [0, 1]
    assert verify(store, lambda event: None, sample=0).total == 1  # its changes, which these tables lack
    assert snapshot.load(store, 0) is not None


@pytest.mark.parametrize("command", ["files", "verify", "gc", "show --chunk a#0", "changes --since 0", "rollback"])
def test_a_newer_format_is_refused_and_nothing_is_touched(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    made_in(store, 2, monkeypatch)
    before = {path: store.stat(path) for page in store.list() for path in page.paths}
    name, *rest = command.split()
    assert main([name, store.address, *rest, *(["0"] if name == "rollback" else [])]) == 6
    told = capsys.readouterr().err
    assert "the table has format 2, which a newer rechunk wrote; use that one" in told
    assert "reads formats 0 and 1; nothing was changed" in told
    after = {path: store.stat(path) for page in store.list() for path in page.paths}
    assert after.keys() == before.keys()


@pytest.mark.parametrize("found", [None, "1", True, 1.0, -1])
def test_what_is_no_format_is_refused(found: object) -> None:
    with pytest.raises(TableStateError, match="which no rechunk has written"):
        schemas.check_format(found, "here")

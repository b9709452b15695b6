"""`rollback`: an older version is the newest again, exactly, and the changes say how to get there."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli.main import main
from pipelines.config.model import Columns, Output, Source
from pipelines.errors import RaceLost, TableStateError
from pipelines.operations import rollback as module
from pipelines.operations.changes import changes_since
from pipelines.operations.gc import collect
from pipelines.operations.rollback import RolledBack, rollback
from pipelines.operations.verify import verify
from pipelines.storage.local import LocalStore
from pipelines.table import differing, layout
from tests.pipelines.run.corpus import Corpus, assert_changes_law, text
from tests.pipelines.run.test_worlds import NIGHTS
from tests.pipelines.worlds import World

deltalake = pytest.importorskip("deltalake")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Three versions: documents come, grow, shrink, go, fail and are emptied."""
    corpus = Corpus(tmp_path_factory.mktemp("rollback"))
    corpus.change(output=Output(path=str(corpus.root / "table"), task_bytes=2000))
    corpus.fill(8)
    corpus.run()
    corpus.write("000.txt", text(5, "grown"))
    corpus.write("003.txt", text(1, "of 3"))
    corpus.remove("005.txt")
    corpus.write("bad.txt", b"\x89PNG\r\n\x1a\n\x00")
    corpus.run()
    corpus.write("new.txt", text(2, "new"))
    corpus.write("006.txt", "\n")
    corpus.write("001.txt", b"%PDF-1.7 \x00\x01")
    corpus.run()
    return corpus


@pytest.fixture
def corpus(made: Corpus, tmp_path: Path) -> Corpus:
    """A copy of the table over the sources of all tests, which none changes."""
    shutil.copytree(made.root / "table", tmp_path / "table")
    corpus = Corpus(tmp_path)
    corpus.change(output=replace(made.config.output, path=str(tmp_path / "table")), sources=made.config.sources)
    return corpus


def touch_source(corpus: Corpus) -> None:
    """Have something to commit: one document more than the sources had."""
    corpus.write("more.txt", text(1, "more"))
    corpus.change(sources=(*corpus.config.sources, Source(path=str(corpus.root / "docs"))))


def back(corpus: Corpus, version: int) -> RolledBack:
    return rollback(corpus.store, version, corpus.events.append)


def clean(corpus: Corpus) -> bool:
    found = verify(corpus.store, lambda event: None, full=True)
    assert list(found.problems) == []
    return True


@pytest.mark.parametrize("version", [0, 1])
def test_rows_states_and_failures_are_exactly_those_of_then(corpus: Corpus, version: int) -> None:
    old, then = corpus.rows(), corpus.snapshot(version)
    done = back(corpus, version)
    now = corpus.snapshot()
    assert (done.version, done.to, done.before, done.committed, done.over_foreign) == (3, version, 2, True, False)
    assert corpus.rows() == corpus.rows(version)
    for one, other in zip(now.shards, then.shards, strict=True):
        assert (one.low, one.high, one.chunks.sha256, one.documents.sha256) == (
            other.low,
            other.high,
            other.chunks.sha256,
            other.documents.sha256,
        )
    assert [entry.sha256 for entry in now.failures] == [entry.sha256 for entry in then.failures]
    assert (now.sources, now.payload, now.config) == (then.sources, then.payload, then.config)
    assert_changes_law(old, corpus.rows(), corpus.changes())
    assert clean(corpus)


def test_changes_say_why(corpus: Corpus) -> None:
    back(corpus, 0)
    told = {row["id"]: (row["change"], row["reason"]) for row in corpus.changes()}
    assert told["new.txt#0"] == ("deleted", "rolled_back")
    assert told["000.txt#4"] == ("deleted", "tail")
    assert told["005.txt#0"] == ("added", None)
    assert told["000.txt#0"] == ("changed", "text")


def test_every_file_of_the_new_version_is_its_own(corpus: Corpus) -> None:
    done = back(corpus, 0)
    assert done.run_id
    assert all(f"/{done.run_id}/" in f"/{entry.path}" for entry in corpus.snapshot().files())


def test_an_index_that_follows_changes_ends_where_the_table_is(corpus: Corpus) -> None:
    target = str(corpus.root / "table")
    back(corpus, 1)
    since = changes_since(target, 1)
    assert (since.upserts, since.deletions) == (0, 0)
    two = changes_since(target, 2)
    old, new = corpus.rows(2), corpus.rows()
    replayed = {id_: row["row_hash"] for id_, row in old.items()}
    for row in two.deleted_rows():
        del replayed[row["id"]]
    replayed |= {row["id"]: row["row_hash"] for row in two.upserted_rows()}
    assert replayed == {id_: row["row_hash"] for id_, row in new.items()}


def test_the_next_run_reads_what_differs_and_nothing_else(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.change(output=replace(corpus.config.output, task_bytes=2000))
    corpus.fill(8)
    corpus.run()
    corpus.write("000.txt", text(5, "grown"))
    corpus.remove("005.txt")
    corpus.write("new.txt", text(2, "new"))
    corpus.run()
    corpus.write("006.txt", "\n")
    corpus.run()
    back(corpus, 0)
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 8, "chunked": 2, "empty": 1, "unchanged": 5}
    assert corpus.rows() == corpus.afresh()
    back(corpus, 1)
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 8, "empty": 1, "unchanged": 7}
    assert corpus.rows() == corpus.afresh("again")
    assert clean(corpus)
    assert not corpus.run().committed


def test_going_back_and_forth(corpus: Corpus) -> None:
    newest = corpus.rows()
    back(corpus, 0)
    back(corpus, 2)
    assert corpus.rows() == newest
    assert back(corpus, 4).committed is False
    assert corpus.snapshot().version == 4


def test_the_difference_is_told_in_passes(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differing, "CHUNKS_AT_ONCE", 5)
    old = corpus.rows()
    back(corpus, 0)
    assert len(corpus.snapshot().changes) > 1
    assert_changes_law(old, corpus.rows(), corpus.changes())
    assert clean(corpus)


# over another tool's changes


def optimize(table: Path) -> None:
    deltalake.DeltaTable(table / "chunks").optimize.compact()


def delete(table: Path) -> None:
    deltalake.DeltaTable(table / "chunks").delete("parent_id = '002.txt'")


def append(table: Path) -> None:
    existing = deltalake.DeltaTable(table / "chunks")
    deltalake.write_deltalake(table / "chunks", existing.to_pyarrow_table().slice(0, 2), mode="append")


@pytest.mark.parametrize("damage", [optimize, delete, append])
@pytest.mark.parametrize("version", [2, 0])
def test_what_another_tool_did_is_replaced(corpus: Corpus, damage: Any, version: int) -> None:
    before = corpus.rows()
    expected = corpus.rows(version)
    table = corpus.root / "table"
    damage(table)
    with pytest.raises(TableStateError, match="written by another tool"):
        corpus.run()
    assert verify(corpus.store, lambda event: None).total > 0
    done = back(corpus, version)
    assert (done.committed, done.over_foreign, done.version) == (True, True, 4)
    assert corpus.rows() == expected
    theirs = deltalake.DeltaTable(table / "chunks").to_pyarrow_table().to_pylist()
    assert len(theirs) == len(expected)
    assert {row["id"]: row["row_hash"] for row in theirs} == {id_: row["row_hash"] for id_, row in expected.items()}
    assert_changes_law(before, expected, corpus.changes())
    assert clean(corpus)
    touch_source(corpus)
    assert corpus.run().committed
    assert clean(corpus)


def test_a_version_of_another_tool_is_none_to_go_back_to(corpus: Corpus) -> None:
    delete(corpus.root / "table")
    with pytest.raises(
        TableStateError, match="version 3 was written by another tool; the newest of rechunk before it is 2"
    ):
        back(corpus, 3)


def test_versions_that_are_not_there(corpus: Corpus) -> None:
    with pytest.raises(TableStateError, match="there is no version 9; the table has versions 0 to 2"):
        back(corpus, 9)
    store = LocalStore(str(corpus.root / "table"))
    collect(store, retain=0)
    with pytest.raises(TableStateError, match="version 0 was collected or lost; the oldest version still there is 2"):
        back(corpus, 0)
    with pytest.raises(TableStateError, match="holds no table"):
        rollback(LocalStore(str(corpus.root / "nothing")), 0, lambda event: None)


def test_collected_while_it_is_rolled_back_to(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version goes between opening it and linking its files: nothing is committed."""
    store = LocalStore(str(corpus.root / "table"))
    original = module._published

    def collected_first(*arguments: Any, **options: Any) -> Any:
        collect(store, retain=0)
        return original(*arguments, **options)

    monkeypatch.setattr(module, "_published", collected_first)
    with pytest.raises(TableStateError, match="was collected or lost; choose a newer version"):
        back(corpus, 0)
    assert corpus.snapshot().version == 2
    assert clean(corpus)


def test_another_run_was_first(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    original = module._changes

    def later(*arguments: Any) -> Any:
        touch_source(corpus)
        assert corpus.run().committed
        return original(*arguments)

    monkeypatch.setattr(module, "_changes", later)
    with pytest.raises(RaceLost, match="committed version 3 first"):
        back(corpus, 0)
    assert clean(corpus)


def test_columns_that_came_since_go_and_come_again(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("a.jsonl", '{"key": "r1", "body": "one", "price": 1.5}\n{"key": "r2", "body": "two", "price": 2}\n')
    source = Source(path=corpus.config.sources[0].path, columns=Columns(id="key", text="body"))
    corpus.change(sources=(source,))
    corpus.run()
    corpus.change(sources=(replace(source, columns=replace(source.columns, payload={"price": "double"})),))
    corpus.run()
    back(corpus, 0)
    assert "price" not in corpus.rows()["r1#0"]
    assert clean(corpus)
    assert "price" not in deltalake.DeltaTable(tmp_path / "table/chunks").to_pyarrow_table().column_names
    assert corpus.run().committed
    assert corpus.rows()["r1#0"]["price"] == 1.5
    assert clean(corpus)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_random_worlds_go_back_and_on(tmp_path: Path, seed: int) -> None:
    from pipelines.config.load import load_config
    from pipelines.operations.run import run
    from pipelines.records import RunOptions

    world = World(tmp_path / "world", seed=seed)
    corpus = Corpus(tmp_path)
    for night in range(NIGHTS):
        if night:
            world.edit()
        config = load_config(world.write_config(tmp_path / "r.yaml", tmp_path / "table"))
        corpus.change(output=config.output)
        run(config, RunOptions(prune=True, approve_deletions=10_000), lambda event: None)
        newest = corpus.snapshot().version or 0
        if night and newest:
            old = corpus.rows()
            version = seed % newest
            back(corpus, version)
            assert corpus.rows() == corpus.rows(version)
            assert_changes_law(old, corpus.rows(), corpus.changes())
            assert clean(corpus)


def test_the_command(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(corpus.root / "table")
    assert main(["rollback", table, "0", "--output", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["to"], told["before"], told["committed"]) == (3, 0, 2, True)
    assert main(["rollback", table, "3"]) == 0
    assert capsys.readouterr().err.endswith("version 3 is the newest: nothing to do\n")
    assert main(["rollback", table, "7"]) == 6
    assert main(["rollback", table, "latest"]) == 2
    outcome = json.loads((corpus.root / "table" / layout.run_file(told["run_id"], "outcome.json")).read_bytes())
    assert (outcome["ending"], outcome["rolled_back_to"]) == ("committed", 0)

"""Records night after night: whose an id is, what a container must have been read for, and what is put back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.config.model import Columns, Output, Source
from pipelines.storage.local import LocalStore
from tests.pipelines.run.corpus import Corpus, assert_changes_law


class Records(Corpus):
    """A corpus of JSON Lines files."""

    def lines(self, name: str, *records: str | dict[str, Any], folder: str = "docs") -> None:
        """Write records, `a` for the record of id a, or what stands there as it is when it is no plain id."""
        made = []
        for record in records:
            if isinstance(record, str) and not record.isalnum():
                made.append(record)
            else:
                values = {"id": record, "text": f"Text of {record}."} if isinstance(record, str) else record
                made.append(json.dumps(values))
        self.write(name, "".join(line + "\n" for line in made), folder)

    def shown(self) -> dict[str, str]:
        """The file that each record's chunks were read from."""
        return {row["parent_id"]: Path(row["source_uri"]).name for row in self.rows().values()}

    def failed(self) -> list[tuple[str, str, str | None, str]]:
        return sorted((row["id"], Path(row["uri"]).name, row["position"], row["error"]) for row in self.failures())

    def containers(self) -> dict[str, dict[str, Any]]:
        return {state["path"]: state for state in self.states().values() if state["kind"] == "container"}


@pytest.fixture(params=[1, 1 << 20], ids=["a shard each", "one shard"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Records:
    made = Records(tmp_path)
    made.change(output=Output(path=str(tmp_path / "table"), task_bytes=request.param))
    return made


def names(start: str, count: int) -> list[str]:
    return [f"{start}{number:02d}" for number in range(count)]


def test_the_first_by_path_and_position_has_an_id_and_the_next_one_takes_over(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y", "x")
    corpus.lines("b.jsonl", "z", "x")
    outcome = corpus.run()
    assert corpus.shown() == {"x": "a.jsonl", "y": "a.jsonl", "z": "b.jsonl"}
    losers = [("x", "a.jsonl", "line 3", "duplicate-id"), ("x", "b.jsonl", "line 2", "duplicate-id")]
    assert corpus.failed() == losers
    assert corpus.counts(outcome) == {"listed": 5, "chunked": 3, "failed": 2}
    assert not corpus.run().committed

    corpus.lines("a.jsonl", "y")
    corpus.run()
    assert corpus.shown() == {"x": "b.jsonl", "y": "a.jsonl", "z": "b.jsonl"}
    assert corpus.changed() == [("changed", "x#0", "metadata")]  # its source_uri
    assert corpus.failed() == []
    assert corpus.rows() == corpus.afresh()


def test_a_record_that_comes_before_one_in_a_shard_nobody_touches_takes_its_id(corpus: Records) -> None:
    corpus.lines("a.jsonl", "y")
    corpus.lines("b.jsonl", "x", "z")
    corpus.run()
    corpus.lines("a.jsonl", "y", "x")
    corpus.run()
    assert corpus.shown() == {"x": "a.jsonl", "y": "a.jsonl", "z": "b.jsonl"}
    assert corpus.changed() == [("changed", "x#0", "metadata")]
    assert corpus.failed() == [("x", "b.jsonl", "line 1", "duplicate-id")]
    assert corpus.rows() == corpus.afresh()
    assert not corpus.run().committed


def test_a_record_that_comes_after_one_in_a_shard_nobody_touches_loses(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x")
    corpus.lines("b.jsonl", "z")
    corpus.run()
    corpus.lines("b.jsonl", "x", "z")
    outcome = corpus.run()
    assert corpus.shown() == {"x": "a.jsonl", "z": "b.jsonl"}
    assert (corpus.changed(), corpus.failed()) == ([], [("x", "b.jsonl", "line 1", "duplicate-id")])
    assert outcome.summary["failed"] == 1
    assert not corpus.run().committed


def test_a_file_and_a_record_of_one_id(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x")
    corpus.write("x", "A file.")
    corpus.run()
    assert corpus.shown() == {"x": "a.jsonl"}
    assert corpus.failed() == [("x", "x", None, "duplicate-id")]
    assert not corpus.run().committed
    corpus.remove("a.jsonl")
    corpus.run(approve_deletions=9)
    assert corpus.shown() == {"x": "x"}
    assert (corpus.changed(), corpus.failed()) == ([("changed", "x#0", "text")], [])


def test_a_file_that_is_read_again_settles_nothing_of_a_record_of_its_id(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x")
    corpus.lines("b.jsonl", "y", "x")
    corpus.write("x", "A file.")
    corpus.run()
    losers = [("x", "b.jsonl", "line 2", "duplicate-id"), ("x", "x", None, "duplicate-id")]
    assert corpus.failed() == losers
    corpus.write("x", "Another file.")
    corpus.run()
    assert corpus.failed() == losers
    assert not corpus.run().committed


def test_a_moved_record_is_no_deletion(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.lines("b.jsonl", "z")
    corpus.run()
    corpus.lines("a.jsonl", "y")
    corpus.lines("b.jsonl", "z", "x")
    corpus.run()
    assert corpus.changed() == [("changed", "x#0", "metadata")]
    assert corpus.rows() == corpus.afresh()


def test_what_a_container_with_a_broken_line_does_not_show_is_not_gone(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y", "z")
    corpus.lines("b.jsonl", "other")
    corpus.run()
    old = corpus.rows()
    corpus.lines("a.jsonl", "x", "{broken", "new")
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 4, "chunked": 1, "unchanged": 2, "failed": 1}
    assert corpus.changed() == [("added", "new#0", None)]
    assert set(corpus.shown()) == {"x", "y", "z", "new", "other"}
    assert corpus.failed() == [("", "a.jsonl", "line 2", "malformed")]
    assert_changes_law(old, corpus.rows(), corpus.changes())
    assert not corpus.run().committed

    corpus.lines("a.jsonl", "x", "y", "new")
    corpus.run()
    assert corpus.changed() == [("deleted", "z#0", "removed")]
    assert corpus.failed() == []
    assert corpus.rows() == corpus.afresh()


def test_a_record_kept_on_faith_keeps_its_id_too(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.lines("b.jsonl", "z")
    corpus.run()
    corpus.lines("a.jsonl", "{broken", "y")
    corpus.lines("b.jsonl", "z", "x")
    corpus.run()
    assert corpus.shown() == {"x": "a.jsonl", "y": "a.jsonl", "z": "b.jsonl"}
    assert corpus.failed() == [("", "a.jsonl", "line 1", "malformed"), ("x", "b.jsonl", "line 2", "duplicate-id")]
    corpus.lines("a.jsonl", "y")
    corpus.run()
    assert corpus.shown() == {"x": "b.jsonl", "y": "a.jsonl", "z": "b.jsonl"}
    assert corpus.failed() == []


def test_a_record_that_fails_under_its_id_keeps_its_rows(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.run()
    old = corpus.rows()
    corpus.lines("a.jsonl", {"id": "x", "text": None}, "y")
    corpus.run()
    assert (corpus.rows(), corpus.changes()) == (old, [])
    assert corpus.failed() == [("x", "a.jsonl", "line 1", "malformed")]
    assert corpus.states()["x"]["status"] == "failed"


def test_a_record_that_moves_and_fails_keeps_the_rows_it_had(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.lines("b.jsonl", "z")
    corpus.run()
    old = corpus.rows()
    corpus.lines("a.jsonl", "y")
    corpus.lines("b.jsonl", "z", {"id": "x", "text": 5})
    corpus.run()
    assert (corpus.rows(), corpus.changes()) == (old, [])
    assert (corpus.states()["x"]["status"], corpus.states()["x"]["path"]) == ("failed", "b.jsonl")
    corpus.lines("a.jsonl", "y", "new")
    corpus.run()
    assert corpus.changed() == [("added", "new#0", None)]
    corpus.lines("b.jsonl", "z")
    corpus.run()
    assert corpus.changed() == [("deleted", "x#0", "removed")]


@pytest.mark.parametrize("after", [["x", "z"], ["new", "x", "z"], [{"id": "x", "text": "Another text of x."}, "z"]])
def test_a_record_that_fails_keeps_the_rows_of_the_one_it_takes_the_id_from(corpus: Records, after: list[Any]) -> None:
    corpus.lines("a.jsonl", "y")
    corpus.lines("b.jsonl", "x", "z")
    corpus.run()
    old = corpus.rows()
    corpus.lines("a.jsonl", "y", {"id": "x", "text": 5})
    corpus.lines("b.jsonl", *after)
    corpus.run()
    assert {id_: row for id_, row in corpus.rows().items() if id_ != "new#0"} == old
    assert [change for change in corpus.changed() if change[1] != "new#0"] == []
    assert (corpus.states()["x"]["status"], corpus.states()["x"]["chunk_count"]) == ("failed", 1)
    corpus.lines("a.jsonl", "y")
    corpus.run()
    assert corpus.rows() == corpus.afresh()


def test_a_record_kept_on_faith_has_its_rows_once_although_another_of_its_id_fails(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.lines("b.jsonl", "z", {"id": "x", "text": 5})
    corpus.run()
    old = corpus.rows()
    corpus.lines("a.jsonl", "y", "{broken")
    corpus.lines("b.jsonl", "z", {"id": "x", "text": 5}, "new")
    assert corpus.run().summary["chunks"] == 4
    assert {id_: row for id_, row in corpus.rows().items() if id_ != "new#0"} == old
    assert corpus.states()["x"]["path"] == "a.jsonl"


def test_what_has_no_id_of_its_own_is_a_failure_once_and_gone_with_its_object(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.lines("b.jsonl", {"id": "y", "text": 5}, "z")
    corpus.write("x", b"\x89PNG\r\n\x1a\n\x00")
    outcome = corpus.run()
    assert corpus.failed() == [("x", "x", None, "duplicate-id"), ("y", "b.jsonl", "line 1", "duplicate-id")]
    assert corpus.counts(outcome) == {"listed": 5, "chunked": 3, "failed": 2}
    assert not corpus.run().committed
    corpus.remove("x")
    corpus.lines("b.jsonl", "z")
    corpus.run()
    assert corpus.failed() == []


def test_a_file_that_no_glob_takes_any_more_loses_its_id_without_a_failure(corpus: Records) -> None:
    corpus.write("x", "A file.")
    corpus.lines("b.jsonl", "y")
    corpus.run()
    corpus.source(include=("*.jsonl",))
    corpus.lines("a.jsonl", "x", "z")
    outcome = corpus.run()
    assert corpus.shown() == {"x": "a.jsonl", "y": "b.jsonl", "z": "a.jsonl"}
    assert (corpus.failed(), corpus.counts(outcome)) == ([], {"listed": 3, "chunked": 2, "unchanged": 1})
    assert not corpus.run().committed


def test_documents_gone_are_records_and_files(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y", {"id": "empty", "text": ""})
    corpus.lines("b.jsonl", "z", "other")
    corpus.write("note.txt", "A note.")
    corpus.write("blank.txt", "")
    corpus.run()
    corpus.lines("b.jsonl", "z")
    for name in ("a.jsonl", "note.txt", "blank.txt"):
        corpus.remove(name)
    assert corpus.run().summary["removed"] == 6
    corpus.remove("b.jsonl")
    withheld = corpus.run()
    assert (withheld.summary["removed"], withheld.summary["withheld"]) == (0, 1)


def test_the_guard_withholds_records_until_they_are_approved(corpus: Records) -> None:
    corpus.lines("a.jsonl", *names("a", 30))
    corpus.lines("b.jsonl", *names("b", 10))
    corpus.run()
    old = corpus.rows()
    corpus.lines("a.jsonl", *names("a", 10), "new")
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.summary["withheld"], outcome.committed) == (4, 20, True)
    assert corpus.changed() == [("added", "new#0", None)]
    again = corpus.run()  # still withheld: read again, and nothing else
    assert (again.exit_code, again.summary["withheld"], again.committed) == (4, 20, False)
    assert len(corpus.rows()) == 41
    approved = corpus.run(approve_deletions=20)
    assert (approved.exit_code, corpus.changed()) == (0, [("deleted", f"a{n}#0", "removed") for n in range(10, 30)])
    assert corpus.rows() == corpus.afresh()
    assert not corpus.run().committed
    assert set(old) - set(corpus.rows()) == {f"a{n}#0" for n in range(10, 30)}


def test_a_container_whose_deletion_is_withheld_stays_with_its_failures(corpus: Records) -> None:
    corpus.lines("a.jsonl", *names("a", 30), "{broken")
    corpus.lines("b.jsonl", *names("b", 10))
    corpus.run()
    old, failures = corpus.rows(), corpus.failed()
    corpus.remove("a.jsonl")
    corpus.lines("b.jsonl", *names("b", 10), "new")
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.summary["withheld"]) == (4, 30)
    assert set(corpus.rows()) == {*old, "new#0"}
    assert corpus.failed() == failures
    assert set(corpus.containers()) == {"a.jsonl", "b.jsonl"}
    again = corpus.run()
    assert (again.exit_code, again.committed) == (4, False)
    assert corpus.run(approve_deletions=30).exit_code == 0
    assert set(corpus.containers()) == {"b.jsonl"}
    assert (corpus.rows(), corpus.failed()) == (corpus.afresh(), [])


def test_a_container_that_cannot_be_read_is_as_it_was_until_it_can(
    corpus: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.lines("a.jsonl", "x", "y", "{broken")
    corpus.lines("b.jsonl", "z")
    corpus.run()
    old = corpus.rows()
    corpus.lines("a.jsonl", "x")
    original = LocalStore.opened

    def failing(self: LocalStore, path: str) -> Any:
        if path == "a.jsonl":
            raise OSError("the disk is away")
        return original(self, path)

    with monkeypatch.context() as broken:
        broken.setattr(LocalStore, "opened", failing)
        outcome = corpus.run()
        assert corpus.rows() == old
        assert corpus.counts(outcome) == {"listed": 2, "unchanged": 1, "failed": 1}
        assert corpus.failed() == [("a.jsonl", "a.jsonl", None, "read")]
        assert [failure["fail_streak"] for failure in corpus.failures()] == [2]
        first = corpus.containers()["a.jsonl"]
        assert (first["status"], first["error"], first["fail_streak"]) == ("failed", "read", 2)
        corpus.run()
        assert corpus.containers()["a.jsonl"]["fail_streak"] == 3
        assert [failure["fail_streak"] for failure in corpus.failures()] == [3]
    corpus.run()
    assert (corpus.changed(), corpus.failed()) == ([("deleted", "y#0", "removed")], [])


def test_another_prefix_rekeys_records(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.write("note.txt", "A note.")
    corpus.run()
    corpus.source(id_prefix="new/")
    corpus.run(approve_deletions=3)
    assert corpus.changed() == [
        ("added", "new/note.txt#0", None),
        ("added", "new/x#0", None),
        ("added", "new/y#0", None),
        ("deleted", "note.txt#0", "rekeyed"),
        ("deleted", "x#0", "rekeyed"),
        ("deleted", "y#0", "rekeyed"),
    ]
    assert corpus.rows() == corpus.afresh()


def test_a_rekeyed_container_that_is_not_read_whole_keeps_its_old_records(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.run()
    corpus.lines("a.jsonl", "x", "{broken")
    corpus.source(id_prefix="new/")
    corpus.run(approve_deletions=3)
    assert set(corpus.shown()) == {"x", "y", "new/x"}
    assert not corpus.run(approve_deletions=3).committed
    corpus.lines("a.jsonl", "x")
    corpus.run(approve_deletions=3)
    assert set(corpus.shown()) == {"new/x"}


def test_rows_that_are_put_back_get_the_columns_of_now(corpus: Records) -> None:
    corpus.lines("a.jsonl", "x", "y")
    corpus.run()
    corpus.lines("a.jsonl", {"id": "x", "text": "Text of x.", "price": 1.5}, "{broken")
    corpus.source(columns=Columns(payload={"price": "double"}))
    corpus.run()
    assert {id_: row["price"] for id_, row in corpus.rows().items()} == {"x#0": 1.5, "y#0": None}
    assert corpus.snapshot().payload == {"price": "double"}


def test_sources_are_asked_in_their_order(corpus: Records) -> None:
    (corpus.root / "first").mkdir()
    corpus.lines("z.jsonl", "x", folder="first")
    corpus.lines("a.jsonl", "x")
    corpus.change(sources=(Source(path=str(corpus.root / "first")), *corpus.config.sources))
    corpus.run()
    assert corpus.shown() == {"x": "z.jsonl"}

"""Documents that come under another id: told as renames, while their chunks go and come as ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipelines.__main__ import main
from pipelines.config.model import Guard, Output, Rule, Source
from pipelines.operations.changes import changes_since
from pipelines.operations.plan import look_ahead
from pipelines.operations.rollback import rollback
from pipelines.operations.verify import verify
from pipelines.records import RunOptions
from pipelines.table import shards
from tests.pipelines.run.buckets import Options, Stored
from tests.pipelines.run.corpus import Corpus, assert_changes_law, assert_renames_law, rule, text


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Six documents in three shards."""
    corpus = Corpus(tmp_path)
    corpus.change(output=Output(path=str(tmp_path / "table"), task_bytes=1600))
    corpus.fill(6)
    return corpus


def move(corpus: Corpus, old: str, new: str) -> None:
    target = corpus.root / "docs" / new
    target.parent.mkdir(parents=True, exist_ok=True)
    (corpus.root / "docs" / old).rename(target)


def rename_rows(corpus: Corpus) -> list[dict[str, Any]]:
    entries = corpus.snapshot().renames
    return [row for entry in entries for row in shards.read(corpus.store, entry.path).to_pylist()]


def renamed(corpus: Corpus) -> list[tuple[str, str]]:
    """Those of the last commit."""
    return [(row["old_id"], row["new_id"]) for row in rename_rows(corpus)]


def since(corpus: Corpus, version: int) -> list[tuple[str, str]]:
    changes = changes_since(corpus.config.output.path, version)
    return [(row["old_id"], row["new_id"]) for row in changes.renamed_documents()]


def embedded_anew(corpus: Corpus, version: int) -> set[str]:
    """The ids whose contents an index at `version` has to embed; it copies the vectors of renames, and checks them.

    An index of content hashes stands for one of vectors.
    """
    index = {id_: row["content_hash"] for id_, row in corpus.rows(version).items()}
    changes = changes_since(corpus.config.output.path, version)
    copied = {
        f"{row['new_id']}#{n}": index[f"{row['old_id']}#{n}"]
        for row in changes.renamed_documents()
        for n in range(row["chunk_count"])
    }
    anew = set()
    upserts, deletions = list(changes.upserted_rows()), list(changes.deleted_rows())
    for row in deletions:
        del index[row["id"]]
    for row in upserts:
        known = copied.get(row["id"], index.get(row["id"]))
        if known != row["content_hash"]:
            assert row["id"] not in copied, "a vector that does not fit"
            anew.add(row["id"])
        index[row["id"]] = row["content_hash"]
    assert index == {id_: row["content_hash"] for id_, row in corpus.rows().items()}
    return anew


@pytest.mark.parametrize("task_bytes", [1, 1 << 20], ids=["a shard each", "one shard"])
def test_a_renamed_document_is_told_and_its_chunks_go_and_come(corpus: Corpus, task_bytes: int) -> None:
    corpus.change(output=Output(path=corpus.config.output.path, task_bytes=task_bytes))
    corpus.run()
    old = corpus.rows()
    move(corpus, "004.txt", "deep/er/new.txt")
    outcome = corpus.run()
    docs, new = corpus.root / "docs", corpus.rows()
    assert rename_rows(corpus) == [
        {
            "old_id": "004.txt",
            "new_id": "deep/er/new.txt",
            "old_uri": str(docs / "004.txt"),
            "new_uri": str(docs / "deep/er/new.txt"),
            "hash": new["deep/er/new.txt#0"]["document_hash"],
            "chunk_count": 3,
        }
    ]
    assert corpus.changed() == [("deleted", f"004.txt#{n}", "removed") for n in range(3)] + [
        ("added", f"deep/er/new.txt#{n}", None) for n in range(3)
    ]
    assert_changes_law(old, new, corpus.changes())
    assert new == corpus.afresh()
    assert (outcome.summary["removed"], outcome.summary["renamed"]) == (1, 1)
    stats = json.loads(corpus.store.read(f"runs/{outcome.run_id}/stats.json"))
    assert (stats["renamed"], corpus.snapshot().stats["renamed"]) == (1, 1)
    assert embedded_anew(corpus, 0) == set()
    assert list(verify(corpus.store, lambda event: None, full=True).problems) == []


def test_a_copy_and_a_removal_of_other_bytes_are_no_renames(corpus: Corpus) -> None:
    corpus.run()
    corpus.write("copy.txt", text(3, "of 1"))
    corpus.remove("004.txt")
    move(corpus, "005.txt", "edited.txt")
    corpus.write("edited.txt", text(3, "of 5 and more"))
    outcome = corpus.run()
    assert (renamed(corpus), corpus.snapshot().renames, outcome.summary["renamed"]) == ([], (), 0)


def test_a_name_that_another_document_takes_at_once_has_not_vanished(corpus: Corpus) -> None:
    corpus.run()
    move(corpus, "004.txt", "new.txt")
    corpus.write("004.txt", text(2, "another"))
    corpus.run()
    assert renamed(corpus) == []
    move(corpus, "001.txt", "spare.txt")  # two that swap their names
    move(corpus, "002.txt", "001.txt")
    move(corpus, "spare.txt", "002.txt")
    corpus.run()
    assert renamed(corpus) == []
    assert corpus.rows() == corpus.afresh()


def test_another_rule_for_the_new_name_makes_other_chunks_and_no_rename(corpus: Corpus) -> None:
    small = Rule(strategy="recursive", match="small/**", options={"max_size": 100, "overlap": 0})
    same = Rule(strategy="recursive", match="same/**", options={"max_size": 310, "overlap": 0})
    corpus.change(rules=(small, same))
    corpus.run()
    move(corpus, "003.txt", "same/003.txt")
    move(corpus, "004.txt", "small/004.txt")
    corpus.run()
    assert renamed(corpus) == [("003.txt", "same/003.txt")]  # another rule, and the same chunks for all that
    assert embedded_anew(corpus, 0) == {id_ for id_ in corpus.ids() if id_.startswith("small/")}


def test_a_folder_that_moved_is_renamed_document_by_document(corpus: Corpus) -> None:
    corpus.change(guard=Guard(documents=100))
    for name in ("x/a.txt", "x/b.txt", "x/c.txt"):
        corpus.write(name, text(2, "the same"))  # copies of each other
    corpus.run()
    move(corpus, "x", "y")
    outcome = corpus.run()
    assert renamed(corpus) == [("x/a.txt", "y/a.txt"), ("x/b.txt", "y/b.txt"), ("x/c.txt", "y/c.txt")]
    assert (outcome.exit_code, outcome.summary["renamed"]) == (0, 3)
    assert embedded_anew(corpus, 0) == set()


def test_a_folder_that_moved_is_withheld_by_the_guard_and_told_once_approved(corpus: Corpus) -> None:
    corpus.change(guard=Guard(documents=2, percent=20.0))
    corpus.run()
    for number in range(4):
        move(corpus, f"{number:03d}.txt", f"moved/{number:03d}.txt")
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.summary["withheld"], renamed(corpus)) == (4, 4, [])
    assert {"000.txt#0", "moved/000.txt#0"} <= corpus.rows().keys()  # both, until somebody approves
    assert since(corpus, 0) == []
    outcome = corpus.run(approve_deletions=4)
    assert (outcome.exit_code, outcome.summary["renamed"]) == (0, 0)  # the new ones came a commit earlier
    assert since(corpus, 0) == [(f"{n:03d}.txt", f"moved/{n:03d}.txt") for n in range(4)]
    assert embedded_anew(corpus, 0) == set()


def test_approved_at_once_a_move_of_all_documents_is_all_renames(corpus: Corpus) -> None:
    corpus.run()
    for number in range(6):
        move(corpus, f"{number:03d}.txt", f"moved/{number:03d}.txt")
    corpus.run(approve_deletions=6)
    assert renamed(corpus) == [(f"{n:03d}.txt", f"moved/{n:03d}.txt") for n in range(6)]


def test_another_prefix_renames_every_document(corpus: Corpus) -> None:
    corpus.run()
    corpus.source(id_prefix="new/")
    corpus.run(approve_deletions=6)
    assert renamed(corpus) == [(f"{n:03d}.txt", f"new/{n:03d}.txt") for n in range(6)]
    assert {reason for _, _, reason in corpus.changed()} == {"rekeyed", None}
    assert embedded_anew(corpus, 0) == set()


def test_what_stays_is_no_rename(corpus: Corpus) -> None:
    """Out of scope, and a document whose new name cannot be read."""
    corpus.run()
    corpus.source(exclude=("004.txt",))
    corpus.write("copy of 4.txt", text(3, "of 4"))
    corpus.run()
    assert (renamed(corpus), "004.txt#0" in corpus.rows()) == ([], True)
    corpus.run(prune=True)
    assert renamed(corpus) == []  # the copy came a commit earlier
    assert since(corpus, 0) == [("004.txt", "copy of 4.txt")]
    corpus.write("001.txt", b"%PDF-1.7 \x00\x01")
    corpus.run()
    move(corpus, "001.txt", "broken.txt")  # what cannot be read makes no chunks
    corpus.run()
    assert (renamed(corpus), corpus.states()["broken.txt"]["status"]) == ([], "failed")


def test_over_several_commits_only_the_ends_count(corpus: Corpus) -> None:
    corpus.run()
    move(corpus, "001.txt", "b.txt")
    move(corpus, "002.txt", "there.txt")
    corpus.run()
    assert renamed(corpus) == [("001.txt", "b.txt"), ("002.txt", "there.txt")]
    move(corpus, "b.txt", "c.txt")
    move(corpus, "there.txt", "002.txt")
    corpus.run()
    assert renamed(corpus) == [("b.txt", "c.txt"), ("there.txt", "002.txt")]
    assert since(corpus, 0) == [("001.txt", "c.txt")]
    assert since(corpus, 1) == [("b.txt", "c.txt"), ("there.txt", "002.txt")]
    corpus.write("c.txt", text(1, "other"))
    corpus.run()
    assert since(corpus, 0) == []
    assert embedded_anew(corpus, 0) == {"c.txt#0"}


def test_a_rollback_renames_back(corpus: Corpus) -> None:
    corpus.run()
    move(corpus, "001.txt", "b.txt")
    corpus.run()
    rollback(corpus.store, 0, corpus.events.append)
    assert renamed(corpus) == [("b.txt", "001.txt")]
    assert corpus.snapshot().stats["renamed"] == 1
    assert list(verify(corpus.store, lambda event: None, full=True).problems) == []


def test_records_under_other_ids_are_renames_by_their_chunks(corpus: Corpus) -> None:
    def records(*ids: str) -> str:
        return "".join(json.dumps({"id": id_, "text": f"Text {id_[-1]}"}) + "\n" for id_ in ids)

    corpus.write("r.jsonl", records("a1", "a2"))
    corpus.run()
    move(corpus, "r.jsonl", "moved.jsonl")
    corpus.run()
    assert (renamed(corpus), since(corpus, 0)) == ([], [])  # the ids are what they were
    corpus.write("moved.jsonl", records("a1", "b2"))
    corpus.run()
    assert renamed(corpus) == [("a2", "b2")]
    corpus.source(id_prefix="p/")
    corpus.run(approve_deletions=100)
    assert renamed(corpus)[-2:] == [("a1", "p/a1"), ("b2", "p/b2")]
    assert embedded_anew(corpus, 0) == set()


def test_nothing_gone_looks_for_no_renames(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> list[pa.Table]:
        raise AssertionError("was asked")

    monkeypatch.setattr("pipelines.work.decide.renames_between", never)
    corpus.run()
    corpus.write("more.txt", text(3, "more"))
    corpus.write("001.txt", text(4, "more"))
    assert corpus.run().committed
    corpus.remove("002.txt")
    assert corpus.run().committed


def test_the_command_tells_renames_first(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    corpus.run()
    move(corpus, "001.txt", "b\x1b.txt")
    corpus.run()
    table = corpus.config.output.path
    assert main(["changes", table, "--since", "0"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "rename  001.txt → b\\x1b.txt"
    assert [line.split()[0] for line in shown.out.splitlines()] == ["rename"] + ["upsert"] * 3 + ["delete"] * 3
    assert shown.err == (
        "3 to upsert and 3 to delete from version 0 to version 1; 1 document is there under another id\n"
    )
    assert main(["changes", table, "--since", "0", "--output", "json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == {"op": "rename", **rename_rows(corpus)[0]}
    assert [line["op"] for line in lines] == ["rename"] + ["upsert"] * 3 + ["delete"] * 3


def test_a_plan_foresees_renames(corpus: Corpus) -> None:
    corpus.run()
    move(corpus, "001.txt", "b.txt")
    assert look_ahead(corpus.config, RunOptions(), corpus.events.append).report["renamed"] == 1
    assert corpus.snapshot().version == 0


def test_two_sources_rename_into_each_other(corpus: Corpus) -> None:
    corpus.write("x.txt", text(2, "x"), folder="more")
    corpus.change(sources=(*corpus.config.sources, Source(path=str(corpus.root / "more"), id_prefix="m/")))
    corpus.change(default=rule())
    corpus.run()
    (corpus.root / "docs/001.txt").rename(corpus.root / "more/001.txt")
    corpus.run()
    assert renamed(corpus) == [("001.txt", "m/001.txt")]


@pytest.mark.usefixtures("s3")
def test_on_an_object_store_a_move_is_a_copy_and_a_deletion(s3_options: Options) -> None:
    stored = Stored("s3://bucket/docs", "s3://bucket/table", s3_options)
    for number in range(5):
        stored.write(f"{number}.txt", text(2, f"of {number}"))
    stored.run()
    stored.write("moved/3.txt", text(2, "of 3"))
    stored.source.delete("3.txt")
    assert stored.run().summary["renamed"] == 1
    assert assert_renames_law(stored.store, stored.snapshot()) == 1

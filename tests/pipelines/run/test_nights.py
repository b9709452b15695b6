"""One night after another on a small corpus: what is read, published, and told to be stale."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines.config.model import Source
from pipelines.errors import SourcesUnreachable, TableStateError
from pipelines.storage.base import Fetched
from pipelines.storage.local import LocalStore
from tests.pipelines.run.corpus import Corpus, assert_changes_law, rule, text


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


def test_first_run_publishes_every_document_and_adds_every_chunk(corpus: Corpus) -> None:
    corpus.write("a.txt", text(3))
    corpus.write("deep/er/b.md", text(2, "b"))
    corpus.write("empty.txt", " \n\n")
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.version, outcome.committed) == (0, 0, True)
    assert corpus.counts(outcome) == {"listed": 3, "chunked": 2, "empty": 1}
    assert corpus.ids() == ["a.txt#0", "a.txt#1", "a.txt#2", "deep/er/b.md#0", "deep/er/b.md#1"]
    assert corpus.changed() == [("added", id_, None) for id_ in corpus.ids()]
    row = corpus.rows()["a.txt#1"]
    document = (corpus.root / "docs/a.txt").read_text()
    assert row["text"] == document[row["start_index"] : row["end_index"]]
    assert row["source_uri"] == str(corpus.root / "docs/a.txt")
    assert row["chunk_count"] == 3


def test_unchanged_night_reads_no_document_and_commits_nothing(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.fill(5)
    corpus.run()
    read: list[str] = []
    original = LocalStore.fetch

    def counting(self: LocalStore, path: str) -> Fetched:
        read.append(f"{self.address}/{path}")
        return original(self, path)

    monkeypatch.setattr(LocalStore, "fetch", counting)
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.version, outcome.committed) == (0, 0, False)
    assert corpus.counts(outcome) == {"listed": 5, "unchanged": 5}
    assert [path for path in read if path.startswith(str(corpus.root / "docs"))] == []
    assert outcome.message == "nothing changed"


def test_unchanged_night_does_not_import_beam(corpus: Corpus) -> None:
    corpus.fill(2)
    corpus.run()
    script = f"""
import sys
from pathlib import Path
from pipelines.config.model import Config, Output, Rule, Source
from pipelines.operations.run import run
from pipelines.records import RunOptions
config = Config(
    name="test",
    sources=(Source(path={str(corpus.root / "docs")!r}),),
    output=Output(path={corpus.config.output.path!r}),
    default=Rule(strategy="recursive", options={{"max_size": 300, "overlap": 0}}),
)
outcome = run(config, RunOptions(), lambda event: None)
assert outcome.message == "nothing changed", outcome
assert not any(name.startswith("apache_beam") for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[3])


def test_shorter_document_makes_its_tail_stale(corpus: Corpus) -> None:
    corpus.fill(3)
    corpus.run()
    old = corpus.rows()
    corpus.write("001.txt", text(1, "of 1"))
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 3, "chunked": 1, "unchanged": 2}
    assert corpus.changed() == [
        ("changed", "001.txt#0", "metadata"),  # its cut is the document's end now
        ("deleted", "001.txt#1", "tail"),
        ("deleted", "001.txt#2", "tail"),
    ]
    assert corpus.rows() == corpus.afresh()
    assert_changes_law(old, corpus.rows(), corpus.changes())


def test_removed_document_loses_every_chunk(corpus: Corpus) -> None:
    corpus.fill(6, paragraphs=1)
    corpus.run()
    corpus.remove("004.txt")
    outcome = corpus.run()
    assert outcome.exit_code == 0
    assert corpus.changed() == [("deleted", "004.txt#0", "removed")]
    assert corpus.rows() == corpus.afresh()
    assert "004.txt" not in corpus.states()


def test_emptied_document_keeps_its_state_and_loses_its_chunks(corpus: Corpus) -> None:
    corpus.fill(6, paragraphs=1)
    corpus.run()
    corpus.write("004.txt", "\n")
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 6, "empty": 1, "unchanged": 5}
    assert corpus.changed() == [("deleted", "004.txt#0", "emptied")]
    assert corpus.states()["004.txt"]["status"] == "empty"


def test_renamed_document_is_removed_and_added(corpus: Corpus) -> None:
    corpus.fill(6, paragraphs=1)
    corpus.run()
    (corpus.root / "docs/004.txt").rename(corpus.root / "docs/new.txt")
    corpus.run()
    assert corpus.changed() == [("deleted", "004.txt#0", "removed"), ("added", "new.txt#0", None)]
    assert corpus.rows() == corpus.afresh()


def test_unreadable_document_keeps_its_rows_and_heals(corpus: Corpus) -> None:
    corpus.fill(3, paragraphs=1)
    corpus.run()
    old = corpus.rows()
    original = (corpus.root / "docs/001.txt").read_bytes()
    corpus.write("001.txt", b"%PDF-1.7 \x00\x01")
    outcome = corpus.run()
    assert outcome.exit_code == 0
    assert corpus.counts(outcome) == {"listed": 3, "unchanged": 2, "failed": 1}
    assert corpus.rows() == old
    assert corpus.changes() == []
    (failure,) = corpus.failures()
    assert (failure["id"], failure["stage"], failure["error"]) == ("001.txt", "decode", "binary")
    assert (failure["kept_chunks"], failure["fail_streak"]) == (1, 1)
    assert "extract its text first" in failure["message"]

    again = corpus.run()  # cannot heal by itself: not read again, still told
    assert (again.committed, corpus.counts(again)) == (False, {"listed": 3, "unchanged": 2, "failed": 1})

    corpus.write("001.txt", original)
    healed = corpus.run()
    assert corpus.counts(healed) == {"listed": 3, "chunked": 1, "unchanged": 2}
    assert (corpus.rows(), corpus.changes(), corpus.failures()) == (old, [], [])


def test_transient_failure_is_tried_every_night(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.fill(2, paragraphs=1)
    original = LocalStore.fetch

    def failing(self: LocalStore, path: str) -> Fetched:
        if path == "001.txt":
            raise OSError("connection reset")
        return original(self, path)

    monkeypatch.setattr(LocalStore, "fetch", failing)
    for streak in (1, 2):
        corpus.run()
        (failure,) = corpus.failures()
        assert (failure["error"], failure["fail_streak"], failure["kept_chunks"]) == ("read", streak, 0)
    monkeypatch.undo()
    corpus.run()
    assert corpus.rows() == corpus.afresh()
    assert corpus.failures() == []


def test_failure_of_a_file_from_the_future_is_not_tried_again(corpus: Corpus) -> None:
    os.utime(corpus.write("000.txt", b"%PDF-1.7 \x00\x01"), (4e9, 4e9))
    time.sleep(0.03)
    corpus.run()
    again = corpus.run()
    assert (again.committed, again.summary["bytes_read"]) == (False, 0)


def test_failure_of_an_untouched_shard_stays_in_the_failures(corpus: Corpus) -> None:
    corpus.change(output=type(corpus.config.output)(path=corpus.config.output.path, task_bytes=1000))
    corpus.fill(8)
    corpus.write("000.txt", b"\x89PNG\r\n\x1a\n\x00")
    corpus.run()
    corpus.write("007.txt", text(5, "new"))
    corpus.run()
    assert [failure["id"] for failure in corpus.failures()] == ["000.txt"]


def test_same_bytes_with_a_new_time_commit_state_only(corpus: Corpus) -> None:
    corpus.fill(3, paragraphs=1)
    corpus.run()
    before = corpus.snapshot()
    corpus.write("001.txt", (corpus.root / "docs/001.txt").read_bytes())
    outcome = corpus.run()
    assert (outcome.committed, outcome.version) == (True, 1)
    assert corpus.counts(outcome) == {"listed": 3, "unchanged": 3}
    after = corpus.snapshot()
    assert after.changes == ()
    assert [shard.chunks.sha256 for shard in after.shards] == [shard.chunks.sha256 for shard in before.shards]
    assert corpus.run().committed is False


def test_full_run_chunks_everything_again_and_commits_only_what_differs(corpus: Corpus) -> None:
    corpus.fill(3, paragraphs=1)
    corpus.run()
    outcome = corpus.run(full=True)
    assert (outcome.exit_code, outcome.committed) == (0, False)
    assert corpus.counts(outcome) == {"listed": 3, "chunked": 3}


def test_changed_rule_chunks_its_documents_only(corpus: Corpus) -> None:
    corpus.write("law/a.txt", text(4))
    corpus.write("notes/b.txt", text(4))
    law = rule(300)
    corpus.change(rules=(type(law)(match="law/**", strategy=law.strategy, options=law.options),))
    corpus.run()
    corpus.change(rules=(type(law)(match="law/**", strategy=law.strategy, options={**law.options, "max_size": 600}),))
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 2, "chunked": 1, "unchanged": 1}
    assert {change["parent_id"] for change in corpus.changes()} == {"law/a.txt"}
    assert corpus.rows() == corpus.afresh()


def test_narrowed_globs_keep_documents_until_pruned(corpus: Corpus) -> None:
    corpus.fill(6, paragraphs=1)
    corpus.write("old/a.txt", text(1, "a"))
    corpus.run()
    corpus.source(exclude=("old/**",))
    kept = corpus.run()
    assert (kept.exit_code, kept.committed) == (0, False)
    assert "old/a.txt#0" in corpus.rows()
    pruned = corpus.run(prune=True)
    assert pruned.committed
    assert corpus.changed() == [("deleted", "old/a.txt#0", "out_of_scope")]
    assert corpus.rows() == corpus.afresh()


def test_guard_withholds_many_deletions_until_they_are_approved(corpus: Corpus) -> None:
    corpus.fill(30, paragraphs=1)
    corpus.run()
    old = corpus.rows()
    for number in range(12):
        corpus.remove(f"{number:03d}.txt")
    only_withheld = corpus.run()
    assert (only_withheld.exit_code, only_withheld.committed, only_withheld.summary["withheld"]) == (4, False, 12)
    assert corpus.rows() == old

    corpus.write("020.txt", text(2, "more"))
    partly = corpus.run()
    assert (partly.exit_code, partly.committed) == (4, True)
    assert [change[1] for change in corpus.changed()] == ["020.txt#0", "020.txt#1"]
    assert set(old) | {"020.txt#1"} == set(corpus.rows())
    assert {id_: row for id_, row in corpus.rows().items() if row["parent_id"] != "020.txt"} == {
        id_: row for id_, row in old.items() if row["parent_id"] != "020.txt"
    }

    too_low = corpus.run(approve_deletions=11)
    assert (too_low.exit_code, too_low.committed) == (4, False)
    approved = corpus.run(approve_deletions=12)
    assert (approved.exit_code, approved.committed) == (0, True)
    assert corpus.changed() == [("deleted", f"{number:03d}.txt#0", "removed") for number in range(12)]
    assert corpus.rows() == corpus.afresh()


def test_guard_and_commit_count_the_documents_of_shards_that_no_task_touches(corpus: Corpus) -> None:
    corpus.change(output=type(corpus.config.output)(path=corpus.config.output.path, task_bytes=1000))
    corpus.fill(56, paragraphs=1)
    corpus.run()
    corpus.write("000.txt", text(1, "new"))
    corpus.run()
    assert [source.documents for source in corpus.snapshot().sources] == [56]
    for number in range(20, 31):  # 11 of 56 are less than 20 %; of those in the shards they are in they are nearly all
        corpus.remove(f"{number:03d}.txt")
    assert corpus.run().exit_code == 0
    assert [source.documents for source in corpus.snapshot().sources] == [45]


def test_source_that_became_empty_is_withheld(corpus: Corpus) -> None:
    corpus.fill(2, paragraphs=1)
    corpus.run()
    old = corpus.rows()
    corpus.remove("000.txt")
    corpus.remove("001.txt")
    assert (corpus.run().exit_code, corpus.rows()) == (4, old)
    assert corpus.run(approve_deletions=2).exit_code == 0
    assert corpus.rows() == {}


def test_two_sources_with_one_id_keep_the_first(corpus: Corpus) -> None:
    corpus.write("a.txt", text(1, "first"))
    corpus.write("a.txt", text(1, "second"), folder="more")
    corpus.write("b.txt", text(1, "b"), folder="more")
    corpus.change(sources=(*corpus.config.sources, Source(path=str(corpus.root / "more"))))
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 3, "chunked": 2, "failed": 1}
    assert corpus.ids() == ["a.txt#0", "b.txt#0"]
    assert "first" in corpus.rows()["a.txt#0"]["text"]
    (failure,) = corpus.failures()
    assert (failure["error"], failure["stage"], failure["uri"]) == (
        "duplicate-id",
        "id",
        str(corpus.root / "more/a.txt"),
    )
    assert corpus.run().committed is False


def test_new_duplicate_is_told_although_no_chunk_changes(corpus: Corpus) -> None:
    corpus.write("a.txt", text(1, "first"))
    corpus.write("b.txt", text(1, "b"), folder="more")
    corpus.change(sources=(*corpus.config.sources, Source(path=str(corpus.root / "more"))))
    corpus.run()
    corpus.write("a.txt", text(1, "second"), folder="more")
    outcome = corpus.run()
    assert (outcome.committed, corpus.changes()) == (True, [])
    assert [failure["error"] for failure in corpus.failures()] == ["duplicate-id"]


def test_two_fresh_tables_are_byte_identical(corpus: Corpus) -> None:
    corpus.change(output=type(corpus.config.output)(path=corpus.config.output.path, task_bytes=2000))
    corpus.fill(12)
    corpus.run()
    first = [shard.chunks.sha256 for shard in corpus.snapshot().shards]
    states = [shard.documents.sha256 for shard in corpus.snapshot().shards]
    corpus.change(output=type(corpus.config.output)(path=str(corpus.root / "other"), task_bytes=2000))
    corpus.run()
    assert len(first) > 3
    assert [shard.chunks.sha256 for shard in corpus.snapshot().shards] == first
    assert [shard.documents.sha256 for shard in corpus.snapshot().shards] == states


def test_source_that_is_one_file(corpus: Corpus) -> None:
    corpus.write("a.txt", text(2))
    corpus.write("b.txt", text(2))
    corpus.source(path=str(corpus.root / "docs/a.txt"))
    corpus.run()
    assert corpus.ids() == ["a.txt#0", "a.txt#1"]
    assert corpus.run().committed is False


def test_table_inside_its_own_source_is_never_chunked(corpus: Corpus) -> None:
    corpus.change(output=type(corpus.config.output)(path=str(corpus.root / "docs/table")))
    corpus.write("a.txt", text(1))
    corpus.run()
    assert corpus.counts(corpus.run()) == {"listed": 1, "unchanged": 1}


def test_empty_corpus_is_one_shard_without_rows(corpus: Corpus) -> None:
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.version) == (0, 0)
    assert [(shard.low, shard.high, shard.chunks.rows) for shard in corpus.snapshot().shards] == [("", None, 0)]
    assert corpus.run().committed is False


def test_unreachable_source_keeps_its_documents(corpus: Corpus) -> None:
    corpus.fill(2, paragraphs=1)
    corpus.write("m.txt", text(1, "m"), folder="more")
    corpus.change(sources=(*corpus.config.sources, Source(path=str(corpus.root / "more"))))
    corpus.run()
    (corpus.root / "more").rename(corpus.root / "away")
    corpus.write("000.txt", text(2, "new"))
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.committed) == (4, True)
    assert "m.txt#0" in corpus.rows()
    assert [event.kind for event in corpus.events].count("SourceUnreachable") == 1
    (corpus.root / "docs").rename(corpus.root / "away too")
    with pytest.raises(SourcesUnreachable) as caught:
        corpus.run()
    assert caught.value.exit_code == 5


def test_only_source_that_is_listed_in_part_is_used_as_far_as_it_goes(corpus: Corpus) -> None:
    corpus.fill(2, paragraphs=1)
    corpus.run()
    (corpus.root / "docs" / "link").symlink_to("x" * 300)
    corpus.remove("001.txt")
    corpus.write("000.txt", text(2, "new"))
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.committed) == (4, True)
    assert corpus.ids() == ["000.txt#0", "000.txt#1", "001.txt#0"]


def test_source_that_moved_gives_its_rows_their_new_address(corpus: Corpus) -> None:
    corpus.fill(2, paragraphs=1)
    corpus.run()
    (corpus.root / "docs").rename(corpus.root / "moved")
    corpus.source(path=str(corpus.root / "moved"))
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 2, "chunked": 2}
    assert corpus.changed() == [("changed", "000.txt#0", "metadata"), ("changed", "001.txt#0", "metadata")]
    assert corpus.rows() == corpus.afresh()
    assert corpus.run().committed is False


def test_foreign_commit_on_top_is_refused(corpus: Corpus) -> None:
    corpus.fill(1)
    corpus.run()
    foreign = corpus.root / "table/chunks/_delta_log/00000000000000000001.json"
    foreign.write_text('{"commitInfo":{"operation":"WRITE"}}\n{"remove":{"path":"x","dataChange":true}}\n')
    with pytest.raises(TableStateError) as caught:
        corpus.run()
    assert caught.value.exit_code == 6


def test_removed_and_changed_across_many_shards(corpus: Corpus) -> None:
    corpus.change(output=type(corpus.config.output)(path=corpus.config.output.path, task_bytes=2000))
    corpus.fill(40)
    corpus.run()
    old, shards = corpus.rows(), len(corpus.snapshot().shards)
    assert shards > 10
    corpus.write("000.txt", text(20, "grown"))
    corpus.write("0005.txt", text(2, "between"))
    corpus.write("zzz.txt", text(2, "last"))
    corpus.remove("020.txt")
    corpus.write("030.txt", "")
    corpus.run()
    assert corpus.rows() == corpus.afresh()
    assert_changes_law(old, corpus.rows(), corpus.changes())

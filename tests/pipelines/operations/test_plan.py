"""`plan`: the numbers of the run that follows, and not a trace of having looked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.config.model import Gates, Limits, Output, Tokens
from pipelines.operations.plan import Foresight, look_ahead
from pipelines.records import RunOptions
from tests.pipelines.run.corpus import Corpus, text


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


def plan(corpus: Corpus, **options: Any) -> Foresight:
    return look_ahead(corpus.config, RunOptions(**options), corpus.events.append)


def below(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and modification time of everything below a folder."""
    return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(folder.rglob("*"))}


def test_a_first_run_is_foreseen_and_no_folder_is_made(corpus: Corpus) -> None:
    corpus.write("a.txt", text(3))
    corpus.write("empty.txt", " ")
    corpus.write("image.png", b"\x89PNG\r\n\x1a\n\x00")
    found = plan(corpus)
    assert (found.changes, found.gated) == (True, False)
    report = found.report
    assert report["documents"] == {"listed": 3, "chunked": 1, "empty": 1, "unchanged": 0, "failed": 1}
    assert report["chunks"] == {"total": 3, "added": 3, "changed": 0, "moved": 0, "deleted": 0}
    assert report["version"] is None
    assert report["failures"]["classes"] == {"binary": 1}
    assert report["failures"]["shown"][0]["id"] == "image.png"
    assert not (corpus.root / "table").exists()


def test_a_night_is_foreseen_in_the_numbers_of_the_run_and_nothing_is_touched(corpus: Corpus) -> None:
    corpus.fill(12)
    corpus.run()
    corpus.write("001.txt", text(1, "of 1"))
    corpus.remove("004.txt")
    corpus.write("new.txt", text(2, "new"))
    before = below(corpus.root)
    report = plan(corpus).report
    assert below(corpus.root) == before
    outcome = corpus.run()
    assert report["changes"] is outcome.committed is True
    assert report["documents"] == corpus.counts(outcome) | {"empty": 0, "failed": 0}
    assert report["chunks"] == {"total": 33, "added": 2, "changed": 1, "moved": 0, "deleted": 5}
    assert {name: outcome.summary[name] for name in ("added", "changed", "moved", "deleted")} == {
        name: report["chunks"][name] for name in ("added", "changed", "moved", "deleted")
    }
    assert outcome.summary["chunks"] == report["chunks"]["total"]
    assert report["reasons"] == {"metadata": 1, "removed": 3, "tail": 2}
    assert report["version"] == 0


def test_rows_that_a_failed_record_takes_over_from_another_container_are_counted(corpus: Corpus) -> None:
    corpus.change(output=Output(path=str(corpus.root / "table"), task_bytes=1))  # a shard for each
    corpus.write("a.jsonl", '{"id": "x", "text": "X."}\n{"id": "y", "text": "Y."}\n')
    corpus.write("b.jsonl", '{"id": "z", "text": "Z."}\n')
    corpus.run()
    corpus.write("a.jsonl", '{"id": "y", "text": "Y."}\n')
    corpus.write("b.jsonl", '{"id": "z", "text": "Z."}\n{"id": "x", "text": 5}\n')
    foreseen = plan(corpus).report["chunks"]
    assert (foreseen["total"], corpus.run().summary["chunks"]) == (3, 3)


def test_an_unchanged_night_changes_nothing(corpus: Corpus) -> None:
    corpus.fill(2)
    corpus.run()
    before = below(corpus.root)
    found = plan(corpus)
    assert (found.changes, found.report["documents"]["unchanged"]) == (False, 2)
    assert below(corpus.root) == before


def test_withheld_deletions_are_foreseen(corpus: Corpus) -> None:
    corpus.fill(12, paragraphs=1)
    corpus.run()
    for number in range(12):
        corpus.remove(f"{number:03d}.txt")
    found = plan(corpus)
    assert (found.changes, found.report["withheld"]) == (False, 12)
    assert found.report["guard"][0]["why"] == "emptied-source"
    approved = plan(corpus, approve_deletions=12)
    assert (approved.changes, approved.report["chunks"]["deleted"]) == (True, 12)


def test_a_hard_gate_is_foreseen(corpus: Corpus) -> None:
    corpus.write("image.png", b"\x89PNG\r\n\x1a\n\x00")
    corpus.change(gates=Gates(failed_documents=Limits(hard=50.0)))
    found = plan(corpus)
    assert (found.gated, found.changes) == (True, False)
    assert "100.0 %" in found.report["gate"]["message"]


def test_characters_and_tokens_of_new_chunks_are_counted(corpus: Corpus) -> None:
    corpus.write("a.txt", "One two three.\n")
    assert (plan(corpus).report["characters"], plan(corpus).report["tokens"]) == (14, None)
    corpus.change(tokens=Tokens(encoding_name="cl100k_base"))
    assert plan(corpus).report["tokens"] == 4

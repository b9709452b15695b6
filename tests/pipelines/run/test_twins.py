"""Documents whose names are easily taken for one another: kept apart, and a person is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.__main__ import main
from pipelines.observe.events import TwinIds
from tests.pipelines.run.corpus import Corpus, text

PAIR = ("cafe\u0301.txt", "caf\u00e9.txt")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    corpus = Corpus(tmp_path)
    for name in (*PAIR, "A.txt", "a.txt"):
        corpus.write(name, text(1, name))
    if len(list((tmp_path / "docs").iterdir())) < 4:
        pytest.skip("this disk takes such names for one")
    return corpus


def told(corpus: Corpus) -> list[str]:
    return [event.text for event in corpus.events if isinstance(event, TwinIds)]


def test_twins_are_kept_apart_and_told(corpus: Corpus) -> None:
    outcome = corpus.run()
    assert {row["parent_id"] for row in corpus.rows().values()} == {*PAIR, "A.txt", "a.txt"}
    assert told(corpus) == [
        (
            "4 documents have ids that differ from another one's only in case or Unicode normalization, "
            "such as 'A.txt' and 'a.txt'; they are kept apart"
        )
    ]
    stats = json.loads(corpus.store.read(f"runs/{outcome.run_id}/stats.json"))
    assert stats["twins"] == {"documents": 4, "example": ["A.txt", "a.txt"]}


def test_an_unchanged_night_says_nothing(corpus: Corpus) -> None:
    corpus.run()
    assert corpus.run().committed is False
    assert told(corpus) == []


def test_a_name_that_changes_its_case_is_a_rename_and_no_twin(corpus: Corpus) -> None:
    for name in ("a.txt", PAIR[0]):
        corpus.remove(name)
    corpus.run()
    assert told(corpus) == []
    (corpus.root / "docs/A.txt").rename(corpus.root / "docs/a.txt")
    (corpus.root / "docs" / PAIR[1]).rename(corpus.root / "docs" / PAIR[0])
    outcome = corpus.run(approve_deletions=2)
    assert (told(corpus), outcome.summary["renamed"]) == ([], 2)
    assert set(corpus.ids()) == {"a.txt#0", f"{PAIR[0]}#0"}
    stats = json.loads(corpus.store.read(f"runs/{outcome.run_id}/stats.json"))
    assert stats["twins"] == {"documents": 0, "example": []}


def test_containers_are_named_without_what_stands_for_their_source(corpus: Corpus) -> None:
    for name in ("r.jsonl", "R.jsonl"):
        corpus.write(name, json.dumps({"id": f"of {name}", "text": "A record."}))
    for name in (*PAIR, "A.txt", "a.txt"):
        corpus.remove(name)
    corpus.run()
    assert "such as 'R.jsonl' and 'r.jsonl'" in told(corpus)[0]


def test_the_command_warns(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("A.txt", "a.txt"):
        corpus.remove(name)
    config = corpus.root / "c.yaml"
    config.write_text(
        f"name: n\nsource:\n  - path: {corpus.root / 'docs'}\n"
        f"output:\n  path: {corpus.root / 'table'}\nchunking:\n  default: {{strategy: recursive}}\n"
    )
    assert main(["run", str(config)]) == 0
    assert (
        "warning: 2 documents have ids that differ from another one's only in case or Unicode normalization, "
        "such as 'cafe\\u0301.txt' and 'caf\\xe9.txt'; they are kept apart\n"
    ) in capsys.readouterr().err

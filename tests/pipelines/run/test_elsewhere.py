"""Runs on a store that is no disk, through gates, with workers, tokens, and over the sample corpus."""

from __future__ import annotations

import io
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipelines.config.model import Config, Gates, Limits, Output, Rule, Source, Tokens
from pipelines.errors import TableStateError, UsageError
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.base import Fetched
from pipelines.storage.local import LocalStore
from pipelines.storage.store import Store, open_store
from pipelines.table import snapshot
from tests.pipelines.run.corpus import Corpus, rule, text

CORPUS = Path(os.environ.get("RECHUNK_CORPUS", Path(__file__).parents[4] / "shared" / "corpus"))


def go(config: Config, **options: Any) -> Outcome:
    return run(config, RunOptions(**options), lambda event: None)


@pytest.fixture
def memory() -> Iterator[str]:
    address = f"memory://{uuid.uuid4().hex}"
    yield address
    store = open_store(address)
    for page in list(store.list()):
        for path in page.paths:
            store.delete(path)


def rows_in(store: Store, prefix: str) -> list[dict[str, Any]]:
    paths = sorted(path for page in store.list(prefix) for path in page.paths)
    return [row for path in paths for row in pq.read_table(io.BytesIO(store.read(path))).to_pylist()]


def test_source_and_table_in_memory(memory: str) -> None:
    source = open_store(f"{memory}/docs")
    source.write("a [1]#50%.txt", text(2, "a").encode())
    source.write("ü/b.txt", text(1, "b").encode())
    config = Config(
        name="test", sources=(Source(path=f"{memory}/docs"),), output=Output(path=f"{memory}/table"), default=rule()
    )
    first = go(config)
    assert (first.exit_code, first.version) == (0, 0)
    source.write("ü/b.txt", text(2, "b").encode())
    second = go(config)
    assert (second.exit_code, second.version) == (0, 1)
    found = snapshot.load(open_store(f"{memory}/table"))
    assert found is not None
    rows = rows_in(open_store(f"{memory}/table"), f"chunks/{found.run_id}/")
    assert [row["id"] for row in rows] == ["a [1]#50%.txt#0", "a [1]#50%.txt#1", "ü/b.txt#0", "ü/b.txt#1"]
    assert {row["source_uri"] for row in rows} == {f"{memory}/docs/a [1]#50%.txt", f"{memory}/docs/ü/b.txt"}


def test_hard_gate_publishes_nothing_and_soft_gate_fails_after_publishing(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(3, paragraphs=1)
    corpus.write("bad.txt", b"%PDF-1.7")
    corpus.change(gates=Gates(failed_documents=Limits(soft=10.0, hard=20.0)))
    hard = corpus.run()
    assert (hard.exit_code, hard.committed, hard.version) == (5, False, None)
    assert snapshot.load(corpus.store) is None
    corpus.change(gates=Gates(failed_documents=Limits(soft=10.0, hard=25.0)))
    soft = corpus.run()
    assert (soft.exit_code, soft.committed, soft.version) == (1, True, 0)


def test_a_soft_gate_does_not_hide_withheld_deletions(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(30, paragraphs=1)
    corpus.run()
    for number in range(12):
        corpus.remove(f"{number:03d}.txt")
    corpus.write("bad.txt", b"%PDF-1.7")
    corpus.change(gates=Gates(failed_documents=Limits(soft=1.0)))
    both = corpus.run()
    assert (both.exit_code, both.version) == (1, 1)
    assert "gates.failed_documents.soft: 1 of 19 documents failed" in both.message
    assert both.message.endswith("pass --approve-deletions 12")


def test_more_workers_write_the_same_bytes(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.change(output=Output(path=corpus.config.output.path, task_bytes=2000))
    corpus.fill(12)
    corpus.run(workers=2)
    parallel = [shard.chunks.sha256 for shard in corpus.snapshot().shards]
    corpus.change(output=Output(path=str(tmp_path / "other"), task_bytes=2000))
    corpus.run()
    assert [shard.chunks.sha256 for shard in corpus.snapshot().shards] == parallel


@pytest.mark.parametrize("workers", [1, 2])
def test_damaged_table_is_a_table_error_whoever_finds_it(tmp_path: Path, workers: int) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(3, paragraphs=1)
    corpus.run()
    (shard,) = corpus.snapshot().shards
    (tmp_path / "table" / shard.chunks.path).write_bytes(b"PAR1 not any more PAR1")
    corpus.write("001.txt", text(2, "more"))
    with pytest.raises(TableStateError, match=r"part-00000-of-00001\.parquet: .*Parquet") as caught:
        corpus.run(workers=workers)
    assert (type(caught.value), caught.value.exit_code) == (TableStateError, 6)


def test_workers_cannot_share_memory() -> None:
    config = Config(name="m", sources=(Source(path="memory://none/docs"),), output=Output(path="memory://none/table"))
    open_store("memory://none/docs").write("a.txt", b"a")
    with pytest.raises(UsageError, match="use one worker"):
        go(config, workers=2)


def test_tokens_are_counted_when_the_configuration_names_a_tokenizer(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("a.txt", "hello world")
    corpus.run()
    assert corpus.rows()["a.txt#0"]["token_count"] is None
    corpus.change(tokens=Tokens(encoding_name="cl100k_base"))
    corpus.run()
    assert corpus.rows()["a.txt#0"]["token_count"] == 2
    assert corpus.changed() == [("changed", "a.txt#0", "metadata")]


def test_document_that_vanishes_between_listing_and_reading_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(2, paragraphs=1)
    original = LocalStore.fetch

    def late(self: LocalStore, path: str) -> Fetched:
        if path == "001.txt":
            (Path(self.address) / path).unlink(missing_ok=True)
        return original(self, path)

    monkeypatch.setattr(LocalStore, "fetch", late)
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 2, "chunked": 1, "failed": 1}
    assert [(failure["error"], failure["stage"]) for failure in corpus.failures()] == [("missing", "read")]
    monkeypatch.undo()
    corpus.run()
    assert corpus.rows() == corpus.afresh()


def test_document_that_grows_between_listing_and_reading_is_known_as_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(2, paragraphs=1)
    original = LocalStore.fetch

    def late(self: LocalStore, path: str) -> Fetched:
        if path == "001.txt":
            corpus.write("001.txt", text(3, "grown"))
            time.sleep(0.1)  # the clock ticks before it is read
        return original(self, path)

    monkeypatch.setattr(LocalStore, "fetch", late)
    corpus.run()
    monkeypatch.undo()
    assert len([id_ for id_ in corpus.ids() if id_.startswith("001.txt")]) == 3
    assert corpus.rows() == corpus.afresh()
    again = corpus.run()
    assert corpus.counts(again) == {"listed": 2, "unchanged": 2}
    assert (again.committed, again.summary["bytes_read"]) == (False, 0)


@pytest.mark.slow
def test_sample_corpus_is_accounted_for_and_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not CORPUS.exists():
        pytest.skip("no corpus")
    config = Config(
        name="corpus",
        sources=(Source(path=str(CORPUS)),),
        output=Output(path=str(tmp_path / "table")),
        default=Rule(strategy="recursive", options={"max_size": 2000}),
    )
    first = go(config)
    files = sum(1 for path in CORPUS.rglob("*") if path.is_file())
    summary = first.summary
    assert first.exit_code == 0
    assert summary["listed"] == files
    assert summary["chunked"] + summary["empty"] + summary["failed"] == files
    read: list[str] = []
    original = LocalStore.fetch

    def counting(self: LocalStore, path: str) -> Fetched:
        read.append(self.address)
        return original(self, path)

    monkeypatch.setattr(LocalStore, "fetch", counting)
    second = go(config)
    assert not second.committed
    assert str(CORPUS) not in read

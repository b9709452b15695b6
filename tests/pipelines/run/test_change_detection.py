"""Nights on which something only looks unchanged, or only looks changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chunkers
from chunkers.strategies.recursive import Recursive
from pipelines.config.model import Decoding, Extractor, Rule, Source, Tokens
from pipelines.storage import local
from tests.pipelines.run.buckets import Options, Stored
from tests.pipelines.run.corpus import Corpus, assert_changes_law, rule, text
from tests.servers.s3 import S3Server


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


def states_but_times(corpus: Corpus | Stored) -> dict[str, dict[str, Any]]:
    return {
        id_: {name: value for name, value in state.items() if name not in ("validator", "modified")}
        for id_, state in corpus.states().items()
    }


# on a disk


def test_a_backup_that_is_restored_with_its_times_is_read(corpus: Corpus) -> None:
    """Back and forth between two contents of one size and one time."""
    corpus.write("a.txt", text(2, "b"))
    file, backup = corpus.root / "docs/a.txt", corpus.root / "backup"
    shutil.copy2(file, backup)
    corpus.write("other.txt", text(1))
    corpus.run()
    first = corpus.rows()
    os.utime(corpus.write("a.txt", text(2, "c")), ns=(backup.stat().st_mtime_ns,) * 2)
    assert corpus.counts(corpus.run()) == {"listed": 2, "chunked": 1, "unchanged": 1}
    changed = corpus.rows()
    assert changed != first
    shutil.copy2(backup, file)
    corpus.wrote()
    assert corpus.counts(corpus.run()) == {"listed": 2, "chunked": 1, "unchanged": 1}
    assert corpus.rows() == first
    assert corpus.run().committed is False


def test_a_document_that_comes_back_with_old_times_is_new(corpus: Corpus) -> None:
    corpus.fill(6, paragraphs=1)
    corpus.run()
    (corpus.root / "docs/003.txt").rename(corpus.root / "away")
    corpus.run()
    (corpus.root / "away").rename(corpus.root / "docs/003.txt")
    assert corpus.counts(corpus.run()) == {"listed": 6, "chunked": 1, "unchanged": 5}
    assert corpus.rows() == corpus.afresh()


@pytest.mark.parametrize("ahead", [-3600, 3600], ids=["the disk's clock is ahead", "the disk's clock is behind"])
def test_clocks_that_differ_hide_no_change(corpus: Corpus, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a server whose clock is not ours: everything is found, and nothing is committed that did not change."""
    true = local.time.time_ns

    class Clock:
        @staticmethod
        def time_ns() -> int:
            return true() + ahead * 1_000_000_000

    monkeypatch.setattr(local, "time", Clock)
    for number in range(3):
        (corpus.root / f"docs/{number}.txt").write_text(text(2, f"of {number}"))
    corpus.wrote()
    corpus.run()
    for paragraphs in (3, 1, 2):
        (corpus.root / "docs/1.txt").write_text(text(paragraphs, "new"))
        corpus.wrote()
        outcome = corpus.run()
        assert corpus.counts(outcome) == {"listed": 3, "chunked": 1, "unchanged": 2}
        assert corpus.rows() == corpus.afresh(f"afresh {paragraphs}")
        assert corpus.run().committed is False
    assert (outcome.summary["bytes_read"] > len(text(2, "new"))) is (ahead < 0)  # of the future: read every night


def test_a_write_in_the_tick_of_the_listing_is_found(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the filesystem does not tick between the listing and a second write."""
    file = corpus.root / "docs/a.txt"
    file.write_text(text(1, "b"))
    moment = file.stat()

    class Frozen:
        @staticmethod
        def time_ns() -> int:
            return moment.st_mtime_ns + 1_000_000

    with monkeypatch.context() as patch:
        patch.setattr(local, "time", Frozen)
        corpus.run()
    assert corpus.states()["a.txt"]["validator"] is None
    file.write_text(text(1, "c"))
    os.utime(file, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    corpus.run()
    assert "c. The harbour" in corpus.rows()["a.txt#0"]["text"]


# on S3: validators are what the store says


@pytest.fixture
def stored(s3: S3Server, s3_options: Options) -> Stored:
    stored = Stored("s3://bucket/docs", "s3://bucket/table", s3_options)
    for number in range(4):
        stored.write(f"{number}.txt", text(3, f"of {number}"))
    return stored


def test_another_etag_of_the_same_bytes_is_confirmed(s3: S3Server, stored: Stored) -> None:
    """As a multipart upload or another encryption gives."""
    stored.run()
    before, states = stored.rows(), states_but_times(stored)
    s3.bucket("bucket").put("docs/1.txt", text(3, "of 1").encode(), etag='"0123456789abcdef-2"')
    outcome = stored.run()
    assert (stored.counts(outcome), outcome.version) == ({"listed": 4, "unchanged": 4}, 1)
    assert outcome.summary["bytes_read"] == len(text(3, "of 1"))
    assert (stored.snapshot().changes, stored.rows(), states_but_times(stored)) == ((), before, states)
    assert [shard.chunks.sha256 for shard in stored.snapshot().shards] == [
        shard.chunks.sha256 for shard in stored.snapshot(0).shards
    ]
    assert stored.states()["1.txt"]["validator"] == '"0123456789abcdef-2"'
    assert stored.run().committed is False


def test_contents_that_come_back_are_found_each_time(stored: Stored) -> None:
    """A, B, A: etags are digests, so the third is the first."""
    stored.run()
    first = stored.rows()
    for content, same in ((text(3, "B"), False), (text(3, "of 1"), True)):
        old = stored.rows()
        stored.write("1.txt", content)
        assert stored.counts(stored.run())["chunked"] == 1
        assert (stored.rows() == first) is same
        assert_changes_law(old, stored.rows(), stored.changes())
    stored.write("1.txt", text(3, "B"))
    stored.write("1.txt", text(3, "of 1"))
    assert stored.run().committed is False  # there and back between two nights is nothing


@pytest.mark.parametrize("seconds", [-10 * 365 * 86400, 86400], ids=["of the past", "of the future"])
def test_times_of_a_store_decide_nothing(s3: S3Server, stored: Stored, seconds: int) -> None:
    objects = s3.bucket("bucket").objects

    def set_times() -> None:
        for key in [key for key in objects if key.startswith("docs/")]:
            objects[key] = replace(objects[key], modified=objects[key].modified + seconds)

    set_times()
    stored.run()
    assert stored.run().committed is False
    set_times()
    assert stored.run().committed is False  # the etags are the same
    stored.write("2.txt", text(3, "X"))
    set_times()
    assert stored.counts(stored.run()) == {"listed": 4, "chunked": 1, "unchanged": 3}


def test_other_bytes_under_the_same_etag_are_found_by_a_full_run(s3: S3Server, stored: Stored) -> None:
    """Silent corruption, or a store that makes its etags of something else."""
    stored.run()
    before, bucket = stored.rows(), s3.bucket("bucket")
    damaged = text(3, "of 1").replace("harbour", "harb0ur", 1).encode()
    bucket.put("docs/1.txt", damaged, etag=bucket.objects["docs/1.txt"].etag)
    assert stored.run().committed is False
    outcome = stored.run(full=True)
    assert outcome.summary["bytes_read"] == sum(len(text(3, f"of {n}")) for n in range(4))
    assert {row["id"] for row in stored.changes()} == {"1.txt#0"}
    assert stored.rows() == stored.afresh() != before
    assert stored.run(full=True).committed is False


def test_another_size_under_the_same_etag_is_read(s3: S3Server, stored: Stored) -> None:
    stored.run()
    bucket = s3.bucket("bucket")
    bucket.put("docs/1.txt", text(2, "of 1").encode(), etag=bucket.objects["docs/1.txt"].etag)
    assert stored.counts(stored.run()) == {"listed": 4, "chunked": 1, "unchanged": 3}
    assert stored.rows() == stored.afresh()


# what decides chunks besides bytes


Patch = pytest.MonkeyPatch


def config_change(**fields: Any) -> Callable[[Corpus, Patch], None]:
    return lambda corpus, patch: corpus.change(**fields)


def second_source(**fields: Any) -> Callable[[Corpus, Patch], None]:
    def change(corpus: Corpus, patch: Patch) -> None:
        first, second = corpus.config.sources
        corpus.change(sources=(first, replace(second, **fields)))

    return change


def sentence(**options: Any) -> Rule:
    return Rule(strategy="sentence", match="s/**", options={"max_size": 300, **options})


def version(target: Any) -> Callable[[Corpus, Patch], None]:
    return lambda corpus, patch: patch.setattr(target, "version", target.version + 1)


S, PLAIN, MORE = {"s/1.txt", "s/2.txt"}, {"1.txt", "2.txt"}, {"m/1.txt", "m/2.txt"}
EXTRACTOR = "tests.pipelines.run.test_change_detection:extract"


def extract(data: bytes) -> str:
    return data.decode()


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (config_change(rules=(sentence(target_size=100),)), S),
        (config_change(rules=(sentence(min_size=0),)), S),
        (config_change(rules=()), S),
        (config_change(rules=(sentence(), Rule(strategy="fixed", match="**/2.txt"))), {"2.txt", "m/2.txt"} - S),
        (config_change(default=rule(max_size=400)), PLAIN | MORE),
        (version(Recursive), PLAIN | MORE),
        (config_change(tokens=Tokens(encoding_name="cl100k_base")), S | PLAIN | MORE),
        (config_change(metadata_values="strings"), S | PLAIN | MORE),
        (lambda corpus, patch: patch.setattr(chunkers, "KERNEL_VERSION", -1), S | PLAIN | MORE),
        (second_source(decoding=Decoding(encoding="utf-8")), MORE),
        (second_source(decoding=Decoding(errors="replace")), MORE),
        (second_source(extractor=Extractor(function=EXTRACTOR, version="1")), MORE),
        (config_change(rules=(sentence(),)), set()),
        (config_change(name="another"), set()),
        (second_source(exclude=("nothing/**",)), set()),
    ],
    ids=[
        *("strategy option", "another option", "rule gone", "rule added", "default", "strategy version", "tokenizer"),
        *("metadata", "kernel", "encoding", "errors", "extractor", "same rule", "name", "globs"),
    ],
)
def test_exactly_the_documents_that_a_change_concerns_are_chunked_again(
    corpus: Corpus, change: Callable[[Corpus, Patch], None], again: set[str], monkeypatch: Patch
) -> None:
    for name in ("1.txt", "2.txt", "s/1.txt", "s/2.txt"):
        corpus.write(name, text(2, name))
    for name in ("1.txt", "2.txt"):
        corpus.write(name, text(2, name), folder="more")
    corpus.change(
        sources=(*corpus.config.sources, Source(path=str(corpus.root / "more"), id_prefix="m/")), rules=(sentence(),)
    )
    corpus.run()
    before = corpus.states()
    change(corpus, monkeypatch)
    outcome = corpus.run()
    read = {name: number for name, number in corpus.counts(outcome).items() if name not in ("listed", "unchanged")}
    assert read == ({"chunked": len(again)} if again else {})
    after = corpus.states()
    assert {id_ for id_ in after if after[id_]["fingerprint"] != before[id_]["fingerprint"]} == again
    assert corpus.rows() == corpus.afresh()
    assert corpus.run().committed is False


def test_another_version_of_an_extractor_reads_its_documents_again(corpus: Corpus) -> None:
    corpus.write("1.txt", text(2))
    corpus.source(extractor=Extractor(function=EXTRACTOR, version="1"))
    corpus.run()
    corpus.source(extractor=Extractor(function=EXTRACTOR, version="2"))
    assert corpus.counts(corpus.run()) == {"listed": 1, "chunked": 1}
    assert (corpus.changes(), corpus.run().committed) == ([], False)

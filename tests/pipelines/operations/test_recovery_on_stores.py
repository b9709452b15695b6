"""The recovery commands where the table is no folder: one round on each store."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.config.model import Hidden, Output
from pipelines.errors import StorageError
from pipelines.operations.gc import collect
from pipelines.operations.resume import resume
from pipelines.operations.rollback import rollback
from pipelines.operations.verify import verify
from pipelines.storage.store import open_store
from pipelines.table import snapshot
from pipelines.table.reading import read_chunks
from pipelines.work import here
from tests.pipelines.run.corpus import Corpus, text
from tests.servers.s3 import S3Server


class Broken(Exception):
    """Ends a run in the middle."""


Options = dict[str, dict[str, Any]]


def corpus_on(folder: Path, address: str, options: Options) -> Corpus:
    corpus = Corpus(folder)
    corpus.change(output=Output(path=f"{address}/table", task_bytes=2000), storage=Hidden(options))
    corpus.fill(6)
    return corpus


@pytest.fixture(params=["memory", "moto", *(pytest.param(each, marks=pytest.mark.slow) for each in ("gcs", "azure"))])
def corpus(tmp_path: Path, request: pytest.FixtureRequest) -> Corpus:
    if request.param == "memory":
        return corpus_on(tmp_path, f"memory://{uuid.uuid4().hex}", {})
    if request.param == "gcs":
        return corpus_on(tmp_path, "gs://bucket", request.getfixturevalue("gcs_options"))
    return corpus_on(tmp_path, *request.getfixturevalue(request.param))


def break_off(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends between its tasks and its commit."""

    def breaking(*arguments: Any) -> Any:
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(here, "decide", breaking)
        with pytest.raises(Broken):
            corpus.run()


def test_nothing_is_written_where_two_could_win_one_race(
    tmp_path: Path, s3: S3Server, s3_options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_on(tmp_path, "s3://bucket", s3_options)
    assert corpus.run().committed
    corpus.write("000.txt", text(5, "grown"))
    assert corpus.run().committed
    corpus.write("000.txt", text(6, "grown more"))
    break_off(corpus, monkeypatch)
    before = dict(s3.bucket("bucket").objects)
    s3.exclusive = False
    with pytest.raises(StorageError, match="the store ignores create-if-absent"):
        resume(corpus.config, None, lambda event: None)
    with pytest.raises(StorageError, match="the store ignores create-if-absent"):
        rollback(open_store(corpus.config.output.path, s3_options), 0, lambda event: None)
    assert s3.bucket("bucket").objects == before


def test_one_round(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(corpus.config.output.path, corpus.config.storage.reveal())

    def rows(version: int | None = None) -> dict[str, str]:
        found = snapshot.load(store, version)
        assert found is not None
        table = read_chunks(store, found, columns=["id", "row_hash"])
        return dict(zip(table["id"].to_pylist(), table["row_hash"].to_pylist(), strict=True))

    assert corpus.run().committed
    corpus.write("000.txt", text(5, "grown"))
    corpus.remove("005.txt")
    break_off(corpus, monkeypatch)
    assert resume(corpus.config, None, lambda event: None).version == 1
    assert verify(store, lambda event: None, full=True).problems == []
    done = rollback(store, 0, lambda event: None)
    assert (done.version, rows()) == (2, rows(0))
    assert verify(store, lambda event: None, full=True).problems == []
    found = collect(store, retain=0, grace=0)
    assert (found.versions, found.oldest) == ([0, 1], 2)
    assert verify(store, lambda event: None, full=True).problems == []
    assert corpus.run().committed
    fresh = corpus.config.output
    corpus.change(output=replace(fresh, path=f"{fresh.path}-afresh"))
    corpus.run()
    other = open_store(corpus.config.output.path, corpus.config.storage.reveal())
    again = snapshot.load(other)
    assert again is not None
    table = read_chunks(other, again, columns=["id", "row_hash"])
    assert rows() == dict(zip(table["id"].to_pylist(), table["row_hash"].to_pylist(), strict=True))

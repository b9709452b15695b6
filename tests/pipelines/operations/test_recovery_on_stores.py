"""The recovery commands where the table is no folder: one round on each store."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.config.model import Hidden, Output
from pipelines.operations.gc import collect
from pipelines.operations.resume import resume
from pipelines.operations.rollback import rollback
from pipelines.operations.verify import verify
from pipelines.storage.store import open_store
from pipelines.table import snapshot
from pipelines.table.reading import read_chunks
from tests.pipelines.run import direct
from tests.pipelines.run.corpus import Corpus, text
from tests.pipelines.run.direct import without_beam  # noqa: F401


class Broken(Exception):
    """Ends a run in the middle."""


@pytest.fixture(params=["memory", "s3"])
def corpus(tmp_path: Path, request: pytest.FixtureRequest, without_beam: None) -> Corpus:  # noqa: F811
    corpus = Corpus(tmp_path)
    address, options = f"memory://{uuid.uuid4().hex}", {}
    if request.param == "s3":
        address, options = request.getfixturevalue("moto")
    corpus.change(output=Output(path=f"{address}/table", task_bytes=2000), storage=Hidden(options))
    corpus.fill(6)
    return corpus


def test_one_round(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(corpus.config.output.path, corpus.config.storage.reveal())

    def rows(version: int | None = None) -> dict[str, str]:
        found = snapshot.load(store, version)
        assert found is not None
        table = read_chunks(store, found, columns=["id", "row_hash"])
        return dict(zip(table["id"].to_pylist(), table["row_hash"].to_pylist(), strict=True))

    def breaking(*arguments: Any) -> Any:
        raise Broken

    assert corpus.run().committed
    corpus.write("000.txt", text(5, "grown"))
    corpus.remove("005.txt")
    with monkeypatch.context() as patch:
        patch.setattr(direct, "decide", breaking)
        with pytest.raises(Broken):
            corpus.run()
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

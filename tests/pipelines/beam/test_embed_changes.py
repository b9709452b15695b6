"""The example that keeps a vector index: after any nights it is what an index made afresh would be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipelines.beam.quiet import quiet_beam
from pipelines.config.load import load_config
from pipelines.errors import TableStateError
from pipelines.operations.changes import changes_since
from pipelines.operations.files import live_files
from pipelines.operations.run import run
from pipelines.records import RunOptions
from tests.pipelines.worlds import World

SEED = 6
"""A world in which a row stays as it is while its document gets more chunks, and some are deleted."""

FOLDER = Path(__file__).parents[3] / "examples/beam"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example's modules."""
    monkeypatch.syspath_prepend(str(FOLDER))
    with quiet_beam():
        import embed_changes
    return embed_changes


def night(config: Path, world: World, table: Path) -> None:
    """One run of the job over the world as it is now."""
    world.write_config(config, table=table)
    run(load_config(config), RunOptions(workers=1, approve_deletions=10_000), lambda event: None)


def afresh(example: Any, table: Path) -> list[tuple[str, str, str, bytes]]:
    """What the index of the table has to hold, without Beam."""
    rows = [row for file in live_files(str(table)) for row in pq.read_table(file.address).to_pylist()]
    found = []
    for row in rows:
        chunk = example.chunk_of_row(row)
        text = row["context"] + row["text"]
        vector = np.float32(sys.modules["vector_index"].embed(text)).tobytes()
        found.append((row["id"], text, json.dumps(chunk.metadata, default=str), vector))
    return sorted(found)


def check_nights(example: Any, folder: Path, seed: int, nights: int) -> None:
    """Random edits, a run and an update a night; now and then the index sleeps over a few nights."""
    world = World(folder / "world", seed=seed)
    table, index = folder / "table", folder / "vectors.db"
    upserted = deleted = 0
    for number in range(nights):
        if number:
            world.edit()
        night(folder / "rechunk.yaml", world, table)
        if number % 4 != 1:
            with quiet_beam():
                done = example.update(str(table), str(index))
            assert sorted(example.VectorIndex(str(index)).rows()) == afresh(example, table)
            upserted, deleted = upserted + done.upserts, deleted + done.deletions
    assert upserted > len(afresh(example, table)) / 2
    assert deleted > 0


def test_after_some_nights_the_index_is_as_if_made_afresh(example: Any, tmp_path: Path) -> None:
    check_nights(example, tmp_path, seed=SEED, nights=3)


@pytest.mark.slow
def test_in_worker_processes_it_is_the_same(example: Any, tmp_path: Path) -> None:
    world = World(tmp_path / "world", seed=1)
    night(tmp_path / "rechunk.yaml", world, tmp_path / "table")
    index = tmp_path / "v.db"
    command = [sys.executable, str(FOLDER / "embed_changes.py"), str(tmp_path / "table"), str(index)]
    workers = ["--direct_num_workers=2", "--direct_running_mode=multi_processing"]
    path = str(FOLDER.parents[1])
    done = subprocess.run([*command, *workers], capture_output=True, text=True, env={"PYTHONPATH": path})
    expected = afresh(example, tmp_path / "table")
    assert done.stdout == f"version 0: {len(expected)} upserted, 0 deleted\n", done.stderr
    assert list(example.VectorIndex(str(index)).rows()) == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_after_many_nights_the_index_is_as_if_made_afresh(example: Any, tmp_path: Path, seed: int) -> None:
    check_nights(example, tmp_path, seed=seed, nights=10)


def test_what_an_update_that_broke_off_left_behind_is_put_right(example: Any, tmp_path: Path) -> None:
    documents, table, path = tmp_path / "documents", tmp_path / "table", str(tmp_path / "vectors.db")
    documents.mkdir()
    config = tmp_path / "rechunk.yaml"
    config.write_text(f"name: t\nsource: [{{path: '{documents}'}}]\noutput: {{path: '{table}'}}\n")

    def write(**texts: str | None) -> None:
        for name, text in texts.items():
            (documents / f"{name}.txt").unlink(missing_ok=True)
            if text is not None:
                (documents / f"{name}.txt").write_text(text)
        run(load_config(config), RunOptions(workers=1, approve_deletions=99), lambda event: None)

    index = example.VectorIndex(path)
    with quiet_beam():
        write(stays="One.", changes="Two.")
        example.update(str(table), path)
        write(ghost="Three.", changes="Two and a half.")
        index.begin(1)  # and then it wrote everything, and did not live to say so
        written = list(example.upserted(str(table), [0], 1))
        for each in written:
            each.embedding = sys.modules["apache_beam.ml.rag.types"].Embedding(dense_embedding=[0.0])
        index.upsert(written)
        write(ghost=None, changes="Two.")
        changes = changes_since(str(table), 0)
        assert (changes.upserts, changes.deletions) == (0, 0)
        done = example.update(str(table), path)
    assert (done.upserts, done.deletions) == (1, 1)
    assert list(index.rows()) == afresh(example, table)
    assert index.versions() == [2]


def test_nothing_is_done_for_an_index_that_is_up_to_date(example: Any, tmp_path: Path) -> None:
    world = World(tmp_path / "world", seed=1)
    night(tmp_path / "rechunk.yaml", world, tmp_path / "table")
    with quiet_beam():
        first = example.update(str(tmp_path / "table"), str(tmp_path / "v.db"))
        assert example.update(str(tmp_path / "table"), str(tmp_path / "v.db")) == (0, 0, 0)
    assert first.upserts == len(afresh(example, tmp_path / "table"))
    chunk = afresh(example, tmp_path / "table")[0]
    assert example.VectorIndex(str(tmp_path / "v.db")).nearest(chunk[1], 1)[0][0] == pytest.approx(1.0)


def test_an_index_of_a_version_that_is_gone_is_told_and_left_alone(example: Any, tmp_path: Path) -> None:
    night(tmp_path / "rechunk.yaml", World(tmp_path / "world", seed=1), tmp_path / "table")
    index = example.VectorIndex(str(tmp_path / "v.db"))
    index.begin(7)
    index.finish(7)
    with pytest.raises(TableStateError, match="there is no version 7"):
        example.update(str(tmp_path / "table"), index.path)
    assert (index.versions(), list(index.rows())) == ([7], [])


def test_the_command_says_what_it_did(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["embed_changes.py", *arguments])
        monkeypatch.setenv("PYTHONPATH", "")  # the example sets it
        with quiet_beam():
            example.main()
        return capsys.readouterr().out

    with pytest.raises(SystemExit, match="0"):
        command("--help")
    assert capsys.readouterr().out.startswith("usage: embed_changes.py")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/a.txt").write_text("High tide at noon.")
    config, index = tmp_path / "rechunk.yaml", str(tmp_path / "vectors.db")
    config.write_text(f"name: t\nsource: [{{path: '{tmp_path}/documents'}}]\noutput: {{path: '{tmp_path}/table'}}\n")
    with pytest.raises(SystemExit, match="6"):
        command(str(config), index)
    assert capsys.readouterr().err.endswith("holds no table: nothing was committed there yet\n")
    run(load_config(config), RunOptions(workers=1), lambda event: None)
    assert command(str(config), index) == "version 0: 1 upserted, 0 deleted\n"
    assert command(str(config), index) == "version 0: 0 upserted, 0 deleted\n"
    assert command(str(config), index, "--query", "high tide") == "0.71  a.txt#0  'High tide at noon.'\n"

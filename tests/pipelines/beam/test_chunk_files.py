"""The example with the steps one by one: rows, failures, and exactly the stale ids."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from chunkers import chunk
from pipelines.beam.quiet import quiet_beam

FOLDER = Path(__file__).parents[3] / "examples/beam"
PARAGRAPHS = [f"Paragraph {number} is here." for number in range(8)]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example as a command."""
    monkeypatch.syspath_prepend(str(FOLDER))
    with quiet_beam():
        import chunk_files

    def run(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["chunk_files.py", *arguments])
        with quiet_beam():
            chunk_files.main()

    return run


def test_two_runs_say_exactly_what_is_stale(command: Any, tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    (documents / "über uns").mkdir(parents=True)
    names = ["shorter.txt", "gone [1].txt", "über uns/same.txt", "breaks.txt", "longer.txt"]
    for name in names:
        (documents / name).write_text("\n\n".join(PARAGRAPHS[:6]))
    options = ["--max-size", "50"]
    command(str(documents), str(tmp_path / "1"), *options)
    (documents / "shorter.txt").write_text("\n\n".join(PARAGRAPHS[:2]))
    (documents / "gone [1].txt").unlink()
    (documents / "breaks.txt").write_bytes(bytes(range(256)))
    (documents / "longer.txt").write_text("\n\n".join(PARAGRAPHS))
    (documents / "new.txt").write_text(PARAGRAPHS[0])
    command(str(documents), str(tmp_path / "2"), "--previous", str(tmp_path / "1"), *options)
    (first,) = (tmp_path / "1").glob("chunks*.parquet")
    (second,) = (tmp_path / "2").glob("chunks*.parquet")
    old, new = set(pq.read_table(first)["id"].to_pylist()), set(pq.read_table(second)["id"].to_pylist())
    per_document = len(chunk("\n\n".join(PARAGRAPHS[:6]), max_size=50))
    assert len(old) == per_document * len(names)
    (stale,) = (tmp_path / "2").glob("stale*")
    listed = stale.read_text().splitlines()
    assert sorted(listed) == sorted(old - new - {id_ for id_ in old if id_.startswith("breaks.txt#")})
    assert len(listed) > per_document
    (failures,) = (tmp_path / "2").glob("failures*")
    assert [json.loads(line)["id"] for line in failures.read_text().splitlines()] == ["breaks.txt"]


def test_help(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command("--help")
    assert capsys.readouterr().out.startswith("usage: chunk_files.py")

"""`rechunk plan`: its exit codes, and what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.cli.main import main


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_text("One.\n\nTwo.\n")
    (tmp_path / "docs/b.jsonl").write_text('{"id": "x", "text": "Three."}\n{broken\n')
    file = tmp_path / "rechunk.yaml"
    file.write_text(
        f"name: test\nsource:\n  - path: {tmp_path}/docs\n"
        "chunking:\n  default: {strategy: recursive, max_size: 100}\n"
        f"output: {{path: {tmp_path}/table}}\n"
    )
    return file


def test_exit_codes(config: Path) -> None:
    assert main(["plan", str(config)]) == 0
    assert main(["plan", str(config), "--detailed-exitcode"]) == 3
    assert main(["run", str(config)]) == 0
    assert main(["plan", str(config), "--detailed-exitcode"]) == 0
    written = config.read_text()
    config.write_text(written + "guard: {documents: 0, percent: 10}\n")
    (config.parent / "docs/a.txt").rename(config.parent / "kept")
    assert main(["plan", str(config), "--detailed-exitcode"]) == 4
    assert main(["plan", str(config)]) == 0
    assert main(["plan", str(config), "--detailed-exitcode", "--approve-deletions", "1"]) == 3
    (config.parent / "kept").rename(config.parent / "docs/a.txt")
    config.write_text(written + "gates: {failed_documents: {hard: 1%}}\n")
    assert main(["plan", str(config), "--detailed-exitcode", "--full"]) == 5
    assert main(["plan", str(config.parent / "none.yaml")]) == 2


def test_what_it_says_to_a_person(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", str(config)])
    said = capsys.readouterr()
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines == [
        "plan",
        "documents listed 3",
        "chunked 2",
        "empty 0",
        "unchanged 0",
        "failed 1",
        "chunks 2",
        "added 2",
        "changed 0",
        "moved 0",
        "deleted 0",
        "characters chunked 16",
        "failures: malformed 1",
    ]
    fault = "malformed: not JSON: expecting property name enclosed in double quotes at character 1\n"
    assert f"fails: {config.parent}/docs/b.jsonl (line 2): {fault}" in said.err
    assert said.err.endswith(f"{config.parent}/table: a run would change it\n")


def test_plan_and_run_name_what_fails_alike(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = config.parent / "docs"
    (docs / "c.pdf").write_bytes(b"%PDF-1.7\n")
    (docs / "d.jsonl").write_text('{"id": "d", "text": 5}\n')
    (docs / "e.parquet").write_text("PAR1")
    main(["plan", str(config)])
    planned = capsys.readouterr().err
    main(["run", str(config)])
    ran = capsys.readouterr().err
    found = [[line.split(": ")[1] for line in said.splitlines() if line.startswith("fail")] for said in (planned, ran)]
    assert found[0] == found[1] == [f"{docs}/b.jsonl (line 2)", "c.pdf", "d (line 1)", "e.parquet"]


def test_what_it_says_to_a_program(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", str(config), "--output", "json"])
    said = json.loads(capsys.readouterr().out)
    assert (said["changes"], said["chunks"]["added"], said["tokens"]) == (True, 2, None)
    assert said["failures"]["shown"][0]["position"] == "line 2"

"""Faults that were answered wrongly once, each where it was found."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from pipelines.__main__ import main
from tests.pipelines.run.faults.injection import Call, Fault, Kind, injected
from tests.pipelines.run.faults.places import Disk
from tests.pipelines.run.faults.points import try_point
from tests.pipelines.run.faults.scenes import SCENES

IN_A_RUN: list[tuple[Kind, str, str, int]] = [
    ("raises", "write", "runs/[^/]+/outcome.json", 0),  # it has committed
    ("reply lost", "write", "runs/[^/]+/outcome.json", 0),
    ("raises", "read", "runs/[^/]+/outcome.json", 0),
    ("short", "read", "runs/[^/]+/outcome.json", 0),
    ("raises", "write", "runs/[^/]+/stats.json", 0),
    ("short", "range", "runs/[^/]+/failures/.*", 6),  # damage was a bug of ours
    ("short", "range", "runs/[^/]+/documents/.*", 6),
    ("short", "read", "runs/[^/]+/plan/plan.json", 6),
    ("short", "read", "runs/[^/]+/plan/duplicates.parquet", 6),
    ("short", "range", "runs/[^/]+/plan/documents-00000.parquet", 6),
    ("short", "range", "a.jsonl", 0),  # records that a reader had cut off counted as removed
    ("short", "fetch", "01 grown.txt", 0),
]


def test_faults_in_a_run(quick_disk: Path) -> None:
    scene = SCENES["next run"](Disk(quick_disk))
    for kind, operation, path, code in IN_A_RUN:
        fault = Fault(kind, at_first=partial(_is, operation, path))
        assert try_point(scene, fault) is not None, (kind, operation, path)
        assert fault.code == code, (kind, operation, path)


def _is(operation: str, path: str, call: Call) -> bool:
    return call.operation == operation and bool(re.fullmatch(path, call.path))


def test_a_run_that_cannot_write_down_its_outcome_says_that_it_committed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_text("One sentence.\n")
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps({"source": [{"path": f"{tmp_path}/docs"}], "output": {"path": f"{tmp_path}/table"}}))
    with injected(Fault("raises", at_first=lambda call: call.operation == "write" and "/outcome.json" in call.path)):
        assert main(["run", str(config)]) == 0
    said = capsys.readouterr().err
    assert "committed version 0; but what the run says of itself could not be written or read" in said
    assert main(["run", str(config)]) == 0
    assert "nothing changed" in capsys.readouterr().err


def test_rollback_that_cannot_write_down_its_outcome_is_done(quick_disk: Path) -> None:
    scene = SCENES["rollback"](Disk(quick_disk))
    fault = Fault("raises", at_first=lambda call: call.operation == "write" and call.path.endswith("/outcome.json"))
    assert try_point(scene, fault) is not None

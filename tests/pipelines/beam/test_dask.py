"""On DaskRunner, which merges tagged outputs, results and failures stay apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.fetching import ROOT, dask


@pytest.mark.engines
def test_failures_stay_apart_from_results_on_dask(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), str(dask())])
    command = [sys.executable, "-m", "tests.pipelines.beam.dask_documents", str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(file.read_text() for file in tmp_path.iterdir()) == [
        "a.txt#0: row",
        "a.txt#1: row",
        "a.txt: 2 chunks",
        "b.bin: binary",
        "b.bin: no rows, binary",
        "c.md#0: row",
        "c.md#1: row",
        "c.md: 2 chunks",
    ]

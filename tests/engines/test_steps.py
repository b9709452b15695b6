"""The steps for other people's pipelines, on other engines: results and failures stay apart, chunks are sent whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.engines import engine
from tests.engines.fetching import ROOT

pytestmark = pytest.mark.engines


@pytest.mark.parametrize("name", ["prism", "flink", "spark", "dask"])
def test_failures_stay_apart_from_results(name: str, folder: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    command = [sys.executable, "-m", "tests.engines.good_and_bad", str(answers)]
    with engine(name, folder) as running:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **running.environment}
        done = subprocess.run([*command, *running.options], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(file.read_text() for file in answers.iterdir()) == [
        "a.txt#0: row []",
        "a.txt#1: row []",
        "a.txt: ['One.', 'Two.']",
        "b.bin: binary",
        "b.bin: no rows, binary",
        "c.md#0: row ['T']",
        "c.md#1: row ['T']",
        "c.md: ['# T', 'x']",
    ]

"""A folder to try a page's commands in, and the table that the sample corpus makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables under which `rechunk` is this tree's command, whatever is installed."""
    folder = tmp_path_factory.mktemp("bin")
    shim = folder / "rechunk"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pipelines "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    path = f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"}


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A folder with the sample corpus in `documents/`, `nightly.yaml`, and the `table/` that one run makes of them."""
    folder = tmp_path_factory.mktemp("table")
    prepare(folder)
    subprocess.run(["rechunk", "run", "nightly.yaml"], cwd=folder, env=environment, check=True, capture_output=True)
    return folder


def prepare(folder: Path) -> None:
    """Put the sample corpus and its configuration into a folder."""
    shutil.copytree(ROOT / "examples/corpus", folder / "documents")
    shutil.copy(ROOT / "examples/nightly.yaml", folder)

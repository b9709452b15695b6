"""The command as a page's reader has it, and the table that the sample corpus makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.workspace import make_environment, prepare


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables under which `rechunk` is this tree's command."""
    return make_environment(tmp_path_factory.mktemp("bin"))


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A folder with the sample corpus in `documents/`, `nightly.yaml`, and the `table/` that one run makes of them."""
    folder = tmp_path_factory.mktemp("table")
    prepare(folder)
    subprocess.run(["rechunk", "run", "nightly.yaml"], cwd=folder, env=environment, check=True, capture_output=True)
    return folder

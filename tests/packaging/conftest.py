"""Distributions, and environments that have nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging import venvs
from tests.packaging.venvs import Venv


@pytest.fixture(scope="session")
def distributions() -> Path:
    """The folder of the sdist and the wheel."""
    return venvs.built()


@pytest.fixture(scope="session")
def wheel_venv() -> Venv:
    """The wheel and what it needs."""
    return venvs.venv_with("wheel")


@pytest.fixture(scope="session")
def sdist_venv() -> Venv:
    """The sdist and what it needs: what a worker has."""
    return venvs.venv_with("sdist")


@pytest.fixture(scope="session")
def full_venv() -> Venv:
    """The wheel with every extra that users may ask for."""
    return venvs.venv_with("wheel", extras=("azure", "code", "fast", "gcp", "gcs", "s3"))

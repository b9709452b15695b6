"""What the engine tests share: one world at one place, since addresses are in the rows, and what this machine makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.world import Made, World, corpus


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"), corpus())


@pytest.fixture(scope="session")
def expected(world: World) -> tuple[Made, Made]:
    """The first run and the one after a night's edits, in one process of this machine."""
    world.reset()
    first = world.run([], "--workers", "1")
    world.edit()
    return first, world.run([], "--workers", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an engine keeps its logs and settings."""
    return tmp_path / "engine"

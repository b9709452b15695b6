"""Whatever the engine, the table is the same, byte for byte, and so is what the command says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.engines import engine
from tests.engines.world import DOCUMENTS, UNREADABLE, Made, World

pytestmark = pytest.mark.engines


def test_what_the_others_are_compared_with(expected: tuple[Made, Made]) -> None:
    """A comparison of empty or broken tables would find nothing."""
    first, second = expected
    assert first.said["summary"]["listed"] == second.said["summary"]["listed"] == DOCUMENTS + 2
    assert {row["id"]: row["error"] for row in first.tables["failures"]}.items() >= {
        ("garbage.md", "binary"),
        (UNREADABLE, "read"),
    }
    assert len(first.shards) > 20
    kept = first.shards.items() & second.shards.items()
    assert 0 < len(kept) < len(second.shards)
    kinds = {row["change"] for row in second.tables["changes"]}
    assert kinds >= {"added", "changed", "deleted"}
    assert len(second.tables["renames"]) >= 10


@pytest.mark.parametrize("name", ["prism", "flink", "spark", "dask"])
def test_the_table_is_that_of_this_machine(name: str, world: World, expected: tuple[Made, Made], folder: Path) -> None:
    with engine(name, folder) as running:
        world.reset()
        first = world.run(running.options, environment=running.environment, logs=running.logs)
        assert first.shards == expected[0].shards
        assert first == expected[0]
        world.edit()
        second = world.run(running.options, environment=running.environment, logs=running.logs)
        assert second.shards == expected[1].shards
        assert second == expected[1]

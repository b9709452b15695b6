"""Random worlds, night after night: what a reader finds is what chunking everything afresh would give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.config.load import load_config
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import open_store
from pipelines.table import shards, snapshot
from pipelines.table.records import Snapshot
from tests.pipelines.run.corpus import assert_changes_law, assert_renames_law, rows_of
from tests.pipelines.worlds import World

NIGHTS = 5
Rows = dict[str, dict[str, Any]]


@pytest.mark.parametrize("seed", range(2))
def test_nights_of_a_random_world(tmp_path: Path, seed: int) -> None:
    live(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_nights_of_many_random_worlds(tmp_path: Path, seed: int) -> None:
    live(tmp_path, seed)


def live(folder: Path, seed: int) -> None:
    """Some nights in one world; odd nights let the guard and the globs keep what they keep, the last cleans up."""
    world = World(folder / "world", seed=seed)
    table = folder / "table"
    rows: Rows = {}
    for night in range(NIGHTS):
        edits = world.edit() if night else []
        last = night == NIGHTS - 1
        options = RunOptions(prune=last, approve_deletions=10_000) if last or night % 2 == 0 else RunOptions()
        try:
            rows = one_night(world, folder, table, rows, options, exact=last)
        except Exception as error:
            raise AssertionError(f"seed {seed}, night {night}, after {edits}") from error


def one_night(world: World, folder: Path, table: Path, old: Rows, options: RunOptions, *, exact: bool) -> Rows:
    config = load_config(world.write_config(folder / "rechunk.yaml", table))
    outcome = run(config, options, lambda event: None)
    found = current(table)
    new = rows_of(table, found.run_id)
    check_counts(outcome, world)
    if outcome.committed:
        assert_changes_law(old, new, changes_of(table, found))
        assert outcome.summary["renamed"] == assert_renames_law(open_store(str(table)), found)
    else:
        assert new == old
    fresh_config = replace(config, output=replace(config.output, path=str(folder / f"fresh {found.run_id}")))
    run(fresh_config, RunOptions(), lambda event: None)
    fresh = rows_of(Path(fresh_config.output.path), current(Path(fresh_config.output.path)).run_id)
    listed, failing = set(world.documents()), world.failing()
    for parent in listed - failing - (set() if exact else emptied(listed, fresh)):
        assert of(new, parent) == of(fresh, parent), f"{parent} is not as if chunked afresh"
    for parent in listed & failing:
        assert of(new, parent) == of(old, parent), f"{parent} failed and must keep its rows"
    if exact:
        assert {row["parent_id"] for row in new.values()} <= listed
    quiet = run(config, options, lambda event: None)
    assert not quiet.committed, "a second run in the same night found something to do"
    return new


def emptied(listed: set[str], fresh: Rows) -> set[str]:
    """Documents without a chunk: their old rows may be withheld."""
    return listed - {row["parent_id"] for row in fresh.values()}


def of(rows: Rows, parent: str) -> list[dict[str, Any]]:
    return [row for row in rows.values() if row["parent_id"] == parent]


def current(table: Path) -> Snapshot:
    found = snapshot.load(open_store(str(table)))
    assert found is not None
    return found


def changes_of(table: Path, found: Snapshot) -> list[dict[str, Any]]:
    store = open_store(str(table))
    return [row for entry in found.changes for row in shards.read(store, entry.path).to_pylist()]


def check_counts(outcome: Outcome, world: World) -> None:
    summary = outcome.summary
    assert summary["listed"] == sum(summary[name] for name in ("chunked", "empty", "unchanged", "failed"))
    listed = sum(source.selects(path) for source in world.sources if source.enabled for path in world.files(source))
    assert summary["listed"] == listed

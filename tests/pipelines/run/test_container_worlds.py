"""Containers that change at random, night after night: the table holds what the model says, and what it told is exact."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipelines.config.model import Config
from pipelines.documents.formats import format_of, place_of
from pipelines.operations.plan import look_ahead
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions
from pipelines.storage.store import open_store
from pipelines.table import shards, snapshot
from pipelines.table.records import Snapshot
from tests.pipelines.container_worlds import ContainerWorld, Model, chunked
from tests.pipelines.run.corpus import assert_changes_law, assert_renames_law, rows_of

NIGHTS = 5
TASK_BYTES = (1024, 4096, 1 << 20)
"""Every container in many parts, in few, and everything in one task."""
APPROVED = RunOptions(approve_deletions=1_000_000, workers=1)
Rows = dict[str, dict[str, Any]]
SAME_STATE = ("uri", "key", "kind", "position", "hash", "chunk_count", "chunk_hashes", "status", "error", "fingerprint")


@pytest.mark.parametrize("seed", range(1))
def test_nights_of_a_random_world_of_containers(tmp_path: Path, seed: int) -> None:
    live(tmp_path, seed)


def test_ids_in_many_places_are_settled_in_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.work.deciding.identities.IDS_AT_ONCE", 3)
    monkeypatch.setattr("pipelines.work.deciding.places.MANY_NEW", 2)
    monkeypatch.setattr("pipelines.work.deciding.ledger.ROWS_PER_FILE", 10)
    live(tmp_path, seed=141)


@pytest.mark.slow
def test_nights_of_a_random_world_of_containers_as_a_graph(tmp_path: Path) -> None:
    live(tmp_path, seed=50)


@pytest.mark.parametrize("seed", range(70, 71))
def test_a_plan_says_what_the_run_then_does(tmp_path: Path, seed: int) -> None:
    live(tmp_path, seed, plans=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 201))
def test_nights_of_many_random_worlds_of_containers(tmp_path: Path, seed: int) -> None:
    live(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(500, 550))
def test_many_plans_say_what_the_run_then_does(tmp_path: Path, seed: int) -> None:
    live(tmp_path, seed, plans=True)


SETTLED = 0.025
"""Seconds after which what was written is trusted; before, containers with failures are read, and committed, again."""


def live(folder: Path, seed: int, *, plans: bool = False) -> None:
    """Some nights in one world; before the last everything is healed."""
    world = ContainerWorld(folder / "world", seed=seed)
    config = world.config(folder / "table", task_bytes=TASK_BYTES[seed % len(TASK_BYTES)])
    model, rows = Model(), dict[str, dict[str, Any]]()
    for night in range(NIGHTS):
        edits = world.edit() if night else []
        last = night == NIGHTS - 1
        if last:
            world.heal()
        try:
            rows = one_night(world, config, model, rows, folder / f"fresh {night}", last=last, plans=plans)
        except Exception as error:
            raise AssertionError(f"seed {seed}, night {night}, after {edits}") from error


def one_night(
    world: ContainerWorld, config: Config, model: Model, old: Rows, fresh_table: Path, *, last: bool, plans: bool
) -> Rows:
    table = Path(config.output.path)
    before = documents_of(table)
    time.sleep(SETTLED)
    foreseen = look_ahead(config, APPROVED, lambda event: None).report if plans else None
    outcome = run(config, APPROVED, lambda event: None)
    found = current(table)
    new = rows_of(table, found.run_id)
    if foreseen is not None:
        check_foreseen(foreseen, outcome, table)
    check_counts(outcome)
    assert outcome.summary["removed"] == len(before - documents_of(table))
    if outcome.committed:
        assert_changes_law(old, new, read(table, found, "changes"))
        assert outcome.summary["renamed"] == assert_renames_law(open_store(str(table)), found)
    else:
        assert new == old
    model.night(world)
    assert {row["parent_id"] for row in new.values()} == {id_ for id_, claim in model.table.items() if chunked(claim)}
    fresh_config = replace(config, output=replace(config.output, path=str(fresh_table)))
    run(fresh_config, APPROVED, lambda event: None)
    fresh_found = current(fresh_table)
    fresh = rows_of(fresh_table, fresh_found.run_id)
    afresh = Model()
    afresh.night(world)
    for id_, claim in model.table.items():
        made = afresh.table.get(id_)
        source = fresh if made is not None and (made, made.item) == (claim, claim.item) else old
        assert of(new, id_) == of(source, id_), f"{id_} of {claim}"
        texts = [claim.item.text[row["start_index"] : row["end_index"]] for row in of(new, id_)]
        assert [row["text"] for row in of(new, id_)] == texts
    assert duplicates(table, found) == losers(world, config, model)
    quiet = run(config, APPROVED, lambda event: None)
    assert not quiet.committed, "a second run in the same night found something to do"
    if last:
        assert new == fresh
        assert states_of(table, found) == states_of(fresh_table, fresh_found)
        assert failures(table, found) == failures(fresh_table, fresh_found)
    return new


def of(rows: Rows, parent: str) -> list[dict[str, Any]]:
    return [row for row in rows.values() if row["parent_id"] == parent]


def documents_of(table: Path) -> set[str]:
    """The ids of all documents, with chunks or without."""
    found = snapshot.load(open_store(str(table)))
    states = [] if found is None else states_of(table, found).items()
    return {id_ for id_, state in states if state[SAME_STATE.index("kind")] != "container"}


def current(table: Path) -> Snapshot:
    found = snapshot.load(open_store(str(table)))
    assert found is not None
    return found


def read(table: Path, found: Snapshot, kind: str) -> list[dict[str, Any]]:
    store = open_store(str(table))
    entries = getattr(found, kind)
    return [row for entry in entries for row in shards.read(store, entry.path).to_pylist()]


def failures(table: Path, found: Snapshot) -> set[tuple[Any, ...]]:
    rows = read(table, found, "failures")
    assert len({tuple(row.values()) for row in rows}) == len(rows)
    return {(row["id"], row["uri"], row["position"], row["stage"], row["error"]) for row in rows}


def duplicates(table: Path, found: Snapshot) -> set[tuple[str, str, str | None]]:
    return {(id_, uri, place) for id_, uri, place, stage, _ in failures(table, found) if stage == "id"}


def losers(world: ContainerWorld, config: Config, model: Model) -> set[tuple[str, str, str | None]]:
    found = set()
    for id_, source, path, position in model.losers:
        configured = config.sources[source]
        place = None if position < 0 else place_of(format_of(configured, path), position)
        found.add((id_, f"{configured.path}/{path}", place))
    return found


def states_of(table: Path, found: Snapshot) -> dict[str, tuple[Any, ...]]:
    store = open_store(str(table))
    states = pa.concat_tables(shards.read(store, shard.documents.path) for shard in found.shards).to_pylist()
    assert len({state["id"] for state in states}) == len(states)
    return {state["id"]: tuple(state[name] for name in SAME_STATE) for state in states}


def check_counts(outcome: Outcome) -> None:
    summary = outcome.summary
    assert summary["listed"] == sum(summary[name] for name in ("chunked", "empty", "unchanged", "failed"))


def check_foreseen(foreseen: Mapping[str, Any], outcome: Outcome, table: Path) -> None:
    summary = outcome.summary
    assert foreseen["changes"] == outcome.committed
    names = ("listed", "chunked", "empty", "unchanged", "failed")
    assert foreseen["documents"] == {name: summary[name] for name in names}
    assert foreseen["chunks"] == {"total": summary["chunks"]} | {
        name: summary[name] for name in ("added", "changed", "moved", "deleted")
    }
    assert sum(foreseen["gone"].values()) == summary["removed"]
    assert foreseen["failures"]["total"] == len(read(table, current(table), "failures"))

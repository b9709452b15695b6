"""A process of an engine is killed in the middle of a run: the run ends all the same, and the table is the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.engines import Engine, engine, executors
from tests.engines.world import Made, World

pytestmark = pytest.mark.engines

Victims = Callable[[Engine], list[int]]


def python_worker(running: Engine) -> list[int]:
    return running.python_workers()


def task_manager(running: Engine) -> list[int]:
    return running.workers


def executor(running: Engine) -> list[int]:
    return executors(running.servers)


@pytest.mark.parametrize(
    ("name", "victims"),
    [
        ("flink-cluster", task_manager),
        ("flink-cluster", python_worker),
        ("spark-cluster", executor),
        ("spark-cluster", python_worker),
    ],
)
def test_a_worker_that_is_killed(
    name: str, victims: Victims, world: World, expected: tuple[Made, Made], folder: Path
) -> None:
    with engine(name, folder) as running:
        world.reset()
        process = world.start(*world.command(running.options))
        total = len(expected[0].shards)
        _wait_for_tasks(world, 3)
        victim = victims(running)[0]
        os.kill(victim, signal.SIGKILL)
        done = _done(world)
        assert 0 < done < total, "the run was over before anything was killed"
        made = world.made(process)
        assert made.shards == expected[0].shards
        assert made == expected[0]


def test_a_job_that_is_lost_with_its_engine_goes_on_elsewhere(
    world: World, expected: tuple[Made, Made], folder: Path
) -> None:
    with engine("flink", folder) as running:
        world.reset()
        process = world.start(*world.command(running.options))
        _wait_for_tasks(world, 3)
        for name, server in running.servers.processes():
            if name == "jobserver":
                os.kill(server, signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 5, said
        assert "FlinkRunner does not answer any more (UNAVAILABLE: " in said
        assert "rechunk resume" in said
        assert len(said.splitlines()) == 1
    done = _done(world)
    assert 0 < done < len(expected[0].shards)
    resumed = world.made(world.start("resume", "c.yaml", "--workers", "1", "--output", "json"))
    assert resumed.shards == expected[0].shards
    assert resumed == expected[0]
    assert _started_once(world) >= done  # finished tasks were not done again


def _wait_for_tasks(world: World, number: int) -> None:
    until = time.monotonic() + 240
    while _done(world) < number:
        assert time.monotonic() < until, "no task was done"
        time.sleep(0.02)


def _done(world: World) -> int:
    """Tasks that are done."""
    return sum(1 for _ in (world.root / "table" / "runs").glob("*/tasks/*.json"))


def _started_once(world: World) -> int:
    """Tasks that began once only."""
    folders = (world.root / "table" / "runs").glob("*/starts/*")
    return sum(1 for folder in folders if sum(1 for _ in folder.iterdir()) == 1)

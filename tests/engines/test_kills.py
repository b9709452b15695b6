"""A process of an engine is killed in the middle of a run: the run ends all the same, and the table is the same."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from pipelines.beam.quiet import quiet_beam
from tests.engines.engines import Engine, engine, executors
from tests.engines.world import Made, World

with quiet_beam():
    from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc

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
        _wait_for_tasks(world, process, 3)
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
        _wait_for_tasks(world, process, 3)
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


def test_an_interrupt_cancels_the_job(world: World, folder: Path) -> None:
    with engine("flink", folder) as running:
        world.reset()
        process = world.start(*world.command(running.options))
        _wait_for_tasks(world, process, 3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 130
        until = time.monotonic() + 60
        while (states := _job_states(running)) != ["CANCELLED"]:
            assert time.monotonic() < until, states
            time.sleep(0.2)
    assert not (world.root / "table" / "chunks").exists()


def _job_states(running: Engine) -> list[str]:
    """What the job server says of all its jobs."""
    endpoint = running.options[running.options.index("--job_endpoint") + 1]
    with grpc.insecure_channel(endpoint) as channel:
        jobs = beam_job_api_pb2_grpc.JobServiceStub(channel).GetJobs(beam_job_api_pb2.GetJobsRequest(), timeout=30)
    return [beam_job_api_pb2.JobState.Enum.Name(job.state) for job in jobs.job_info]


def _wait_for_tasks(world: World, process: subprocess.Popen[str], number: int) -> None:
    until = time.monotonic() + 240
    while _done(world) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "no task was done"
        time.sleep(0.02)


def _done(world: World) -> int:
    """Tasks that are done."""
    return sum(1 for _ in (world.root / "table" / "runs").glob("*/tasks/*.json"))


def _started_once(world: World) -> int:
    """Tasks that began once only."""
    folders = (world.root / "table" / "runs").glob("*/starts/*")
    return sum(1 for folder in folders if sum(1 for _ in folder.iterdir()) == 1)

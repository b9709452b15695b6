"""A local run in worker processes, watched: what dies is started again. Imports no Beam, which costs half a second."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from dataclasses import dataclass

from pipelines import errors
from pipelines.allocation import give_back
from pipelines.beam.engine import Engine
from pipelines.config.addresses import protocol_of
from pipelines.config.model import Config
from pipelines.errors import RechunkError, UsageError, WorkersDied
from pipelines.processes import command_of, environment, how_it_ended
from pipelines.table import layout
from pipelines.work.job import Job

WORKER_DIED = 75
"""Exit code of a driver that lost a worker."""

IN_VAIN = 6
"""How often in a row a run may break off without having finished a task: it takes two, and some where several are at
work, until a document that kills its process is isolated."""

BYTES_PER_WORKER = 300_000_000
"""Bytes to read that take ten seconds of CPU: with less, a process of its own costs more time than it saves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """What the driver is told."""

    job: Job
    engine: Engine
    publish: bool


def workers_for(config: Config, workers: int | None, *, tasks: int, read_bytes: int) -> int:
    """In how many processes to work, one being this one. None: as many as `read_bytes` are worth.

    Raises UsageError for worker processes that could not see the data.
    """
    addresses = [config.output.path, *(source.path for source in config.sources)]
    in_memory = [address for address in addresses if protocol_of(address) == "memory"]
    if workers is None:
        worth = read_bytes >= BYTES_PER_WORKER and not in_memory
        return max(1, min(_cores(), tasks)) if worth else 1
    if workers > 1 and in_memory:
        raise UsageError(f"{in_memory[0]} is in this process's memory; other workers cannot see it: use one worker")
    return workers


def run_watched(job: Job, engine: Engine, tasks: int, *, publish: bool = True) -> None:
    """`run_graph` in the worker processes of a local engine, driven by a process of their own.

    Raises what the run raised, and WorkersDied when workers die again and again.
    """
    give_back()
    told = pickle.dumps(Driven(job=job, engine=engine, publish=publish))
    left, in_vain = _undone(job, tasks), 0
    while in_vain < IN_VAIN:
        driver = subprocess.Popen(
            command_of("pipelines.beam.driver"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        )
        try:
            said, _ = driver.communicate(told)
        except BaseException:
            driver.kill()
            driver.wait()
            raise
        if driver.returncode == 0:
            _raise(json.loads(said))
            return
        if driver.returncode == 1:
            raise RuntimeError("the driver of the worker processes could not start; its traceback is above")
        before, left = left, _undone(job, tasks)
        in_vain = in_vain + 1 if len(left) == len(before) else 0
    shown = ", ".join(map(str, left[:10])) + (" …" if len(left) > 10 else "")
    raise WorkersDied(
        f"worker processes died {IN_VAIN} times in a row (the last time the driver ended by "
        f"{how_it_ended(driver.returncode)}); nothing was published. Not done: "
        f"{f'tasks {shown}' if left else 'what comes after the tasks'}. Is there enough memory for so many workers?"
    )


def _raise(answer: dict[str, str]) -> None:
    """Raise what the driver says went wrong, if anything did."""
    if not answer:
        return
    cls = getattr(errors, answer["error"], None)
    if cls is None or not issubclass(cls, RechunkError):
        raise RuntimeError(answer["message"])
    error: RechunkError = cls.__new__(cls)
    Exception.__init__(error, answer["message"])
    raise error


def _undone(job: Job, tasks: int) -> list[int]:
    """The tasks that have no marker."""
    found = {path for page in job.table().list(layout.task_markers(job.run_id)) for path in page.paths}
    return [task for task in range(tasks) if layout.task_marker(job.run_id, task) not in found]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""Which Beam runner a configuration gets, and with which options."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import SubprocessSDKEnvironment

from pipelines.config.addresses import protocol_of
from pipelines.config.model import Config
from pipelines.errors import UsageError
from pipelines.records import RunOptions

TASKS_PER_WORKER = 8
"""A process of its own takes a second of CPU to start: fewer tasks than this are not worth one."""


def runner_for(config: Config, options: RunOptions, tasks: int) -> tuple[Any, list[str]]:
    """The runner for a run of that many tasks, and Beam's command line options.

    `DirectRunner` is run as FnApiRunner, which it resolves to: asked for by its own name it first tries to download
    another runner. Raises UsageError for worker processes that could not see the data.
    """
    workers = _workers(config, options, tasks)
    arguments = [f"--direct_num_workers={workers}", "--default_sdk_harness_log_level=ERROR"]
    arguments += [f"--{name}={value}" for name, value in config.beam.items() if name != "runner"]
    return FnApiRunner(default_environment=_processes() if workers > 1 else None), arguments


def _workers(config: Config, options: RunOptions, tasks: int) -> int:
    addresses = [config.output.path, *(source.path for source in config.sources)]
    in_memory = [address for address in addresses if protocol_of(address) == "memory"]
    if options.workers is None:
        return 1 if in_memory else max(1, min(len(os.sched_getaffinity(0)), tasks // TASKS_PER_WORKER))
    if options.workers > 1 and in_memory:
        raise UsageError(f"{in_memory[0]} is in this process's memory; other workers cannot see it: use one worker")
    return options.workers


def _processes() -> Any:
    """Worker processes that can import whatever this one can (custom chunkers are named by import path)."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    command = f"PYTHONPATH={shlex.quote(path)} exec {shlex.quote(sys.executable)} -m pipelines.beam.worker"
    return SubprocessSDKEnvironment.from_command_string(command)

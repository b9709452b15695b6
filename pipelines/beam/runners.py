"""Which Beam runner a configuration gets, and with which options."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import SubprocessSDKEnvironment

from pipelines.config.model import Config
from pipelines.processes import python_path


def runner_for(config: Config, workers: int) -> tuple[Any, list[str]]:
    """The runner for so many worker processes (one: this process itself), and Beam's command line options.

    `DirectRunner` is run as FnApiRunner, which it resolves to: asked for by its own name it first tries to download
    another runner.
    """
    arguments = [f"--direct_num_workers={workers}", "--default_sdk_harness_log_level=ERROR"]
    arguments += [f"--{name}={value}" for name, value in config.beam.items() if name != "runner"]
    return FnApiRunner(default_environment=_processes() if workers > 1 else None), arguments


def _processes() -> Any:
    """Worker processes that can import whatever this one can."""
    command = f"PYTHONPATH={shlex.quote(python_path())} exec {shlex.quote(sys.executable)} -m pipelines.beam.worker"
    return SubprocessSDKEnvironment.from_command_string(command)

"""Which Beam runner a configuration gets, and with which options."""

from __future__ import annotations

from typing import Any

from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from pipelines.config.model import Config
from pipelines.records import RunOptions


def runner_for(config: Config, options: RunOptions) -> tuple[Any, list[str]]:
    """The runner and Beam's command line options.

    `DirectRunner` is run as FnApiRunner, which it resolves to: asked for by its own name it first tries to download
    another runner.
    """
    workers = options.workers or 1
    arguments = ["--no_save_main_session", f"--direct_num_workers={workers}"]
    arguments.append(f"--direct_running_mode={'multi_processing' if workers > 1 else 'in_memory'}")
    for name, value in config.beam.items():
        if name != "runner":
            arguments.append(f"--{name}={value}")
    return FnApiRunner(), arguments

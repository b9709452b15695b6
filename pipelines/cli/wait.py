"""Wait for the end of a run that was started with `run --no-wait`, and tell it as `run` would have."""

from __future__ import annotations

import argparse

from pipelines.cli.run import as_json, print_outcome
from pipelines.cli.running import Reporter
from pipelines.cli.values import duration
from pipelines.observe.console import Console
from pipelines.operations.tables import open_table
from pipelines.operations.wait import wait

HELP = "wait for the end of a run that was started with --no-wait"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="CONFIG|TABLE", help="a configuration, or the address of a table")
    parser.add_argument("run", metavar="RUN", nargs="?", help="the id of a run (default: the newest)")
    parser.add_argument(
        "--timeout",
        type=duration,
        metavar="TIME",
        help="end with 124 after so long (as 90s, 15m or 12h); the run goes on (default: wait for ever)",
    )


def command(arguments: argparse.Namespace, console: Console) -> int:
    outcome = wait(open_table(arguments.table), arguments.run, Reporter(console), timeout=arguments.timeout)
    if console.as_json:
        console.json_line(as_json(outcome))
    elif outcome.exit_code == 0 and not outcome.summary:
        console.message(f"run {outcome.run_id}: {outcome.message}")
    else:
        print_outcome(outcome, console, listed=False)
    return outcome.exit_code

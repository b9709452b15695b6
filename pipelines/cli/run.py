"""Chunk what is new or changed, and publish the whole corpus and the exact list of stale chunks as one commit."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pipelines.cli.running import Reporter, add_run_arguments, failed_at, left_behind, options_of
from pipelines.config.load import load_config
from pipelines.observe.console import Console
from pipelines.operations.run import run
from pipelines.operations.submit import Submitted, submit
from pipelines.records import Outcome

HELP = "chunk what is new or changed and publish it"

DOCUMENTS = ("chunked", "empty", "unchanged", "failed")
"""Every listed document is counted as one of these."""

CHUNKS = ("added", "changed", "moved", "deleted")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="end once another engine has the run; `rechunk wait` tells how it ends",
    )


def command(arguments: argparse.Namespace, console: Console) -> int:
    config = load_config(arguments.config)
    for warning in config.warnings:
        console.warning(warning)
    outcome: Outcome | Submitted
    if arguments.no_wait:
        outcome = submit(config, options_of(arguments), Reporter(console))
    else:
        outcome = run(config, options_of(arguments), Reporter(console))
    if isinstance(outcome, Submitted):
        return _print_submitted(outcome, console)
    if console.as_json:
        console.json_line(as_json(outcome))
    else:
        print_outcome(outcome, console, listed=arguments.objects is None)
    return outcome.exit_code


def _print_submitted(submitted: Submitted, console: Console) -> int:
    if console.as_json:
        console.json_line(asdict(submitted))
        return 0
    console.pairs({"run": submitted.run_id, "runner": submitted.runner, "job": submitted.job_id})
    console.message(f"{submitted.table}: submitted; `rechunk wait` with its configuration and id tells how it ends")
    return 0


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as `--output json` prints it."""
    return {
        "exit_code": outcome.exit_code,
        "run_id": outcome.run_id,
        "version": outcome.version,
        "committed": outcome.committed,
        "message": outcome.message,
        "summary": dict(outcome.summary),
    }


def print_outcome(outcome: Outcome, console: Console, *, listed: bool = True) -> None:
    """The outcome for a person; `listed`: the sources were listed, so that no document at all is worth a warning.

    A run that committed and could not write down what it did has nothing but a message.
    """
    summary: Mapping[str, Any] = outcome.summary
    if not summary:
        console.warning(outcome.message)
        return
    rows: list[tuple[str, Any]] = [("documents listed", summary["listed"])]
    rows += [(f"  {name}", summary[name]) for name in DOCUMENTS]
    if summary["removed"]:
        rows.append(("documents gone", summary["removed"]))
    if summary["renamed"]:
        rows.append(("  there under another id", summary["renamed"]))
    if summary["withheld"]:
        rows.append(("  deletions withheld", summary["withheld"]))
    rows.append(("chunks", summary["chunks"]))
    rows += [(f"  {name}", summary[name]) for name in CHUNKS]
    rows.append(("table version", outcome.version))
    rows.append(("bytes read", summary["bytes_read"]))
    rows.append(("seconds", round(summary["seconds"], 2)))
    console.table((f"run {outcome.run_id}", ""), rows)
    for failure in summary["failures"]:
        console.message(f"failed: {failed_at(failure)}: {failure['error']}: {failure['message']}")
    if (more := summary["failed"] - len(summary["failures"])) > 0 and summary["failures"]:
        console.message(f"failed: {more} more; the table's failures name every one")
    if summary["out_of_scope"]:
        console.message(left_behind(summary["out_of_scope"]))
    if listed and not summary["listed"]:
        console.warning("no document was found: no object of a source matches its include and exclude")
    say = (
        console.message if outcome.exit_code == 0 else console.warning if outcome.exit_code in (1, 4) else console.error
    )
    say(f"{summary['table']}: {outcome.message}")

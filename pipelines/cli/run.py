"""Chunk what is new or changed, and publish the whole corpus and the exact list of stale chunks as one commit."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pipelines.config.load import load_config
from pipelines.observe.console import Console
from pipelines.observe.events import Event, Finished, GateFailed, ObjectSkipped, SourceUnreachable, Withheld
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions

HELP = "chunk what is new or changed and publish it"

DOCUMENTS = ("chunked", "empty", "unchanged", "failed")
"""Every listed document is counted as one of these."""

CHUNKS = ("added", "changed", "moved", "deleted")
_SHOWN_SKIPPED = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", help="the configuration, a YAML file")
    parser.add_argument(
        "--prune",
        action="store_true",
        help="let go of documents that no source's globs take any more (they are kept otherwise)",
    )
    parser.add_argument(
        "--approve-deletions",
        type=_count,
        metavar="N",
        help="delete up to N vanished documents although the guard would withhold them",
    )
    parser.add_argument("--full", action="store_true", help="read and chunk every document again")
    parser.add_argument(
        "--workers", type=_workers, default="auto", metavar="auto|N", help="processes to chunk in (default: auto)"
    )


def command(arguments: argparse.Namespace, console: Console) -> int:
    config = load_config(arguments.config)
    for warning in config.warnings:
        console.warning(warning)
    options = RunOptions(
        prune=arguments.prune,
        approve_deletions=arguments.approve_deletions,
        full=arguments.full,
        workers=None if arguments.workers == "auto" else arguments.workers,
    )
    outcome = run(config, options, _Reporter(console))
    if console.as_json:
        console.json_line(as_json(outcome))
    else:
        _print(outcome, console)
    return outcome.exit_code


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


class _Reporter:
    """The sink of a run's events: what a person should know is a warning, the rest moves the progress line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._skipped = 0

    @property
    def wants_progress(self) -> bool:
        """Whether a person is looking."""
        return self._console.shows_progress

    def __call__(self, event: Event) -> None:
        if isinstance(event, ObjectSkipped):
            self._skipped += 1
            if self._skipped <= _SHOWN_SKIPPED:
                self._console.warning(event.text)
            elif self._skipped == _SHOWN_SKIPPED + 1:
                self._console.warning("more objects were left out; only the first are shown")
        elif isinstance(event, SourceUnreachable):
            self._console.warning(event.text)
        elif not isinstance(event, Finished | Withheld | GateFailed):  # the outcome's message says these again
            self._console.progress(event.text)


def _print(outcome: Outcome, console: Console) -> None:
    summary: Mapping[str, Any] = outcome.summary
    rows: list[tuple[str, Any]] = [("documents listed", summary["listed"])]
    rows += [(f"  {name}", summary[name]) for name in DOCUMENTS]
    if summary["removed"]:
        rows.append(("documents gone", summary["removed"]))
    if summary["withheld"]:
        rows.append(("  deletions withheld", summary["withheld"]))
    rows.append(("chunks", summary["chunks"]))
    rows += [(f"  {name}", summary[name]) for name in CHUNKS]
    rows.append(("table version", outcome.version))
    rows.append(("bytes read", summary["bytes_read"]))
    rows.append(("seconds", round(summary["seconds"], 1)))
    console.table((f"run {outcome.run_id}", ""), rows)
    for failure in summary["failures"]:
        console.message(f"failed: {failure['id']}: {failure['error']}: {failure['message']}")
    if (more := summary["failed"] - len(summary["failures"])) > 0 and summary["failures"]:
        console.message(f"failed: {more} more; the table's failures name every one")
    if not summary["listed"]:
        console.warning("no document was found: no object of a source matches its include and exclude")
    say = (
        console.message if outcome.exit_code == 0 else console.warning if outcome.exit_code in (1, 4) else console.error
    )
    say(f"{summary['table']}: {outcome.message}")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


def _workers(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a whole number above 0")
    return int(text)

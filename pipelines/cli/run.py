"""Chunk what is new or changed, and publish the whole corpus and the exact list of stale chunks as one commit."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pipelines.config.load import load_config
from pipelines.observe.console import Console
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions

HELP = "chunk what is new or changed and publish it"

DOCUMENT_ROWS = (
    ("listed", ""),
    ("chunked", "  chunked"),
    ("empty", "+ empty"),
    ("unchanged", "+ unchanged"),
    ("failed", "+ failed"),
)
CHUNK_ROWS = ("chunks", "added", "changed", "moved", "deleted")


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
        "--workers", type=_workers, default="auto", metavar="auto|N", help="processes to use (default: auto)"
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
    outcome = run(config, options, lambda event: console.progress(str(event)))
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


def _print(outcome: Outcome, console: Console) -> None:
    summary: Mapping[str, Any] = outcome.summary
    if outcome.message:
        console.message(outcome.message)
    console.table(("documents", ""), [(label or name, summary.get(name)) for name, label in DOCUMENT_ROWS])
    console.line()
    console.table(("chunks", ""), [(name, summary.get(name)) for name in CHUNK_ROWS])


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

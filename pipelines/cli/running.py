"""What the commands have in common that run the job: options, and what they say while it goes on."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pipelines.observe.console import Console
from pipelines.observe.events import (
    Event,
    Finished,
    GateFailed,
    ObjectSkipped,
    OtherRun,
    SourceListed,
    SourceUnreachable,
    TwinIds,
    Withheld,
)
from pipelines.records import RunOptions
from pipelines.table.keys import name_of

_SHOWN_SKIPPED = 10
_MORE_SKIPPED = "more objects were left out; only the first are shown"


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """CONFIG and the options of one run."""
    add_standing_arguments(parser)
    add_approval(parser)
    parser.add_argument("--full", action="store_true", help="read and chunk every document again")
    parser.add_argument(
        "--objects",
        metavar="FILE",
        help="look at the objects of this list only (lines of URI, tab, upsert or delete); no source is listed, and "
        "nothing is inferred to be gone",
    )


def add_standing_arguments(parser: argparse.ArgumentParser) -> None:
    """CONFIG and the options that may hold for any number of runs."""
    parser.add_argument("config", metavar="CONFIG", help="the configuration, a YAML file")
    parser.add_argument(
        "--prune",
        action="store_true",
        help="let go of documents that no source's globs take any more (they are kept otherwise)",
    )
    add_workers(parser)


PIPELINE_OPTIONS = (
    "after -- any pipeline option of Beam may follow, as in: -- --runner FlinkRunner --flink_master host:8081"
)


def add_approval(parser: argparse.ArgumentParser) -> None:
    """`--approve-deletions`."""
    parser.add_argument(
        "--approve-deletions",
        type=_count,
        metavar="N",
        help="delete up to N vanished documents although the guard would withhold them",
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """`--workers`."""
    parser.add_argument(
        "--workers",
        type=_workers,
        default="auto",
        metavar="auto|N",
        help="processes to chunk in; auto: this one alone below some ten seconds of work, else one a core",
    )


def options_of(arguments: argparse.Namespace) -> RunOptions:
    """The options of a run as the command line has them."""
    return RunOptions(
        prune=arguments.prune,
        approve_deletions=getattr(arguments, "approve_deletions", None),
        full=getattr(arguments, "full", False),
        workers=workers_of(arguments),
        objects=getattr(arguments, "objects", None),
        pipeline=tuple(arguments.pipeline),
    )


def workers_of(arguments: argparse.Namespace) -> int | None:
    """How many processes were asked for, None: as many as the work is worth."""
    return None if arguments.workers == "auto" else int(arguments.workers)


class Reporter:
    """The sink of a run's events: what a person should know is a warning, the rest moves the progress line.

    In many runs it says nothing twice that has not changed.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._skipped: set[str] = set()
        self._unreachable: dict[str, str] = {}
        self._others: set[str] = set()
        self._twins = ""

    @property
    def wants_progress(self) -> bool:
        """Whether a person is looking."""
        return self._console.shows_progress

    def __call__(self, event: Event) -> None:
        if isinstance(event, ObjectSkipped):
            if event.text not in self._skipped and len(self._skipped) <= _SHOWN_SKIPPED:
                said = event.text if len(self._skipped) < _SHOWN_SKIPPED else _MORE_SKIPPED
                self._skipped.add(event.text)
                self._console.warning(said)
        elif isinstance(event, OtherRun):
            if event.claim not in self._others:
                self._others.add(event.claim)
                self._console.warning(event.text)
        elif isinstance(event, TwinIds):
            if event.text != self._twins:
                self._twins = event.text
                self._console.warning(event.text)
        elif isinstance(event, SourceUnreachable):
            if self._unreachable.get(event.source) != event.text:
                self._unreachable[event.source] = event.text
                self._console.warning(event.text)
        elif not isinstance(event, Finished | Withheld | GateFailed):  # the outcome's message says these again
            if isinstance(event, SourceListed):
                self._unreachable.pop(event.source, None)
            self._console.progress(event.text)


def failed_at(failure: Mapping[str, Any]) -> str:
    """The document of a failure row, and which record it is; one without an id is named by where it lies.

    An offset into a text is left to the message, which says more.
    """
    position = failure["position"] or ""
    place = f" ({position})" if position and not position.isdecimal() else ""
    return (name_of(failure["id"]) or failure["uri"]) + place


def left_behind(number: int) -> str:
    """What to say of so many files and containers of the table that no source takes any more."""
    objects, keep = ("object", "keeps its") if number == 1 else ("objects", "keep their")
    return f"{number:,} {objects} that no source takes any more {keep} chunks; --prune lets them go"


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

"""Run again and again until stopped: one round at a time, and one commit for each that found something changed."""

from __future__ import annotations

import argparse
import re
import signal
import threading
from datetime import UTC, datetime

from pipelines.cli.run import as_json
from pipelines.cli.running import Reporter, add_standing_arguments, options_of
from pipelines.config.load import load_config
from pipelines.errors import RechunkError
from pipelines.observe.console import Console
from pipelines.operations.watch import watch
from pipelines.records import Outcome

HELP = "run again and again until stopped"

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_PERIOD = re.compile(r"(\d+(?:\.\d+)?)([smh])", re.ASCII)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_standing_arguments(parser)
    parser.add_argument(
        "--every",
        type=_period,
        default=300.0,
        metavar="PERIOD",
        help="from the start of a round to that of the next, as 30s, 5m or 1h (default: 5m)",
    )
    parser.add_argument("--rounds", type=_rounds, metavar="N", help="stop after N rounds")


def command(arguments: argparse.Namespace, console: Console) -> int:
    config = load_config(arguments.config)
    for warning in config.warnings:
        console.warning(warning)
    stop = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    try:
        watch(
            config,
            options_of(arguments),
            Reporter(console),
            every=arguments.every,
            stop=stop,
            rounds=arguments.rounds,
            ended=_Rounds(console),
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


class _Rounds:
    """Says how rounds went: a line for each commit, and what is wrong once, until it is over."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._wrong = ""

    def __call__(self, ended: Outcome | RechunkError) -> None:
        if isinstance(ended, Outcome) and ended.committed:
            self._committed(ended)
        wrong = str(ended) if isinstance(ended, RechunkError) else ended.message if ended.exit_code else ""
        if wrong and (wrong != self._wrong or (isinstance(ended, Outcome) and ended.committed)):
            self._console.warning(wrong)
        elif self._wrong and not wrong:
            self._console.message("all is well again")
        self._wrong = wrong
        self._console.flush()

    def _committed(self, outcome: Outcome) -> None:
        if self._console.as_json:
            self._console.json_line(as_json(outcome))
            return
        counts = outcome.summary
        changes = ", ".join(f"{counts[name]} {name}" for name in ("added", "changed", "moved", "deleted"))
        when = datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        read = counts["chunked"] + counts["empty"]
        self._console.line(
            f"{when}  version {outcome.version}  {read} documents chunked, {counts['failed']} failed, "
            f"{counts['removed']} gone; chunks: {changes}"
        )


def _period(text: str) -> float:
    found = _PERIOD.fullmatch(text)
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if seconds < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no period of 1s or more; write 30s, 5m or 1h")
    return seconds


def _rounds(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)

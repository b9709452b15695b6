"""Show what `run` would do now, and what it would fail at, without writing anything.

Documents are read and chunked as in a run, so the numbers are those of the run that follows; only nothing is kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pipelines.cli.running import Reporter, add_run_arguments, failed_at, left_behind, options_of
from pipelines.config.load import load_config
from pipelines.observe.console import Console
from pipelines.operations.plan import CHANGES, look_ahead

HELP = "show what a run would do, without writing anything"

CHANGED = 3
WITHHELD = 4
GATED = 5

_DOCUMENTS = ("chunked", "empty", "unchanged", "failed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "--detailed-exitcode",
        action="store_true",
        help="instead of 0 exit with 3 when a run would change the table, with 4 when it would end with that",
    )


def command(arguments: argparse.Namespace, console: Console) -> int:
    config = load_config(arguments.config)
    for warning in config.warnings:
        console.warning(warning)
    found = look_ahead(config, options_of(arguments), Reporter(console))
    if console.as_json:
        console.json_line(found.report)
    else:
        _print(found.report, console)
    if found.gated:
        return GATED
    if not arguments.detailed_exitcode:
        return 0
    if found.report["partial"] or any(source["withheld"] for source in found.report["guard"]):
        return WITHHELD
    return CHANGED if found.changes else 0


def _print(report: Mapping[str, Any], console: Console) -> None:
    rows: list[tuple[str, Any]] = [("documents listed", report["documents"]["listed"])]
    rows += [(f"  {name}", report["documents"][name]) for name in _DOCUMENTS]
    rows += [(f"  gone: {reason.replace('_', ' ')}", number) for reason, number in report["gone"].items()]
    if report["renamed"]:
        rows.append(("  there under another id", report["renamed"]))
    rows.append(("chunks", report["chunks"]["total"]))
    rows += [(f"  {name}", report["chunks"][name]) for name in CHANGES]
    rows += [("characters chunked", report["characters"])]
    if report["tokens"] is not None:
        rows.append(("tokens", report["tokens"]))
    rows += [(f"failures: {name}", number) for name, number in report["failures"]["classes"].items()]
    console.table(("plan", ""), rows)
    for failure in report["failures"]["shown"]:
        console.message(f"fails: {failed_at(failure)}: {failure['error']}: {failure['message']}")
    if (more := report["failures"]["total"] - len(report["failures"]["shown"])) > 0:
        console.message(f"fails: {more} more")
    if left := report["plan"].get("keep", {}).get("out_of_scope", 0):
        console.message(left_behind(left))
    for source in report["guard"]:
        (console.warning if source["withheld"] else console.message)(source["message"])
    if report["gate"]["level"] != "pass":
        console.warning(report["gate"]["message"])
    if report["partial"]:
        console.warning("a source could not be listed whole")
    what = "a run would change it" if report["changes"] else "a run would change nothing"
    console.message(f"{report['table']}: {what}")

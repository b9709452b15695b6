"""Delete what no version within the retention needs: older versions, runs that broke off, what finished runs left.

A run that broke off is marked first and deleted by a later gc, when the grace period is over. The log is never touched,
nor anything that rechunk did not write.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from pipelines.cli.values import duration
from pipelines.observe.console import Console
from pipelines.observe.events import size_text
from pipelines.operations.gc import GRACE_SECONDS, RETAIN_SECONDS, Collected, collect
from pipelines.operations.tables import open_table

HELP = "delete old versions and what broken runs left"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="CONFIG|TABLE", help="a configuration, or the address of a table")
    parser.add_argument(
        "--retain",
        type=duration,
        default=RETAIN_SECONDS,
        metavar="TIME",
        help="keep versions for so long after another took their place, and runs that broke off (default: 30d)",
    )
    parser.add_argument(
        "--grace",
        type=duration,
        default=GRACE_SECONDS,
        metavar="TIME",
        help="between marking a run and deleting it (default: 1h)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be deleted; write nothing")


def command(arguments: argparse.Namespace, console: Console) -> int:
    found = collect(
        open_table(arguments.table), retain=arguments.retain, grace=arguments.grace, dry_run=arguments.dry_run
    )
    if console.as_json:
        console.json_line(asdict(found))
    else:
        _print(found, console)
    return 0


def _print(found: Collected, console: Console) -> None:
    rows: dict[str, object] = {
        "versions deleted": ", ".join(map(str, found.versions)) or None,
        "oldest version left": found.oldest,
        "runs deleted": len(found.runs),
        "runs marked": len(found.marked),
        "runs waiting": len(found.waiting),
        "files": found.files,
        "bytes": found.bytes,
    }
    if found.uploads:
        rows["unfinished uploads"] = found.uploads
    console.pairs(rows if found.dry_run else rows | {"bytes freed": found.freed})
    for note in found.notes:
        console.warning(note)
    done = "would delete" if found.dry_run else "deleted"
    console.message(f"{found.table}: {done} {found.files:,} files, {size_text(found.bytes)}")

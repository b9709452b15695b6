"""Make an older version the newest again, as a new version that tells its changes like any run.

Also what repairs a table that another tool has changed. Exit 6 if the version was collected, or another run was first.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from pipelines.cli.running import Reporter
from pipelines.cli.values import version_number
from pipelines.observe.console import Console
from pipelines.operations.rollback import RolledBack, rollback
from pipelines.operations.tables import open_table

HELP = "make an older version the newest again"

CHANGES = ("added", "changed", "moved", "deleted")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="CONFIG|TABLE", help="a configuration, or the address of a table")
    parser.add_argument("version", type=version_number, metavar="N", help="the version to go back to")


def command(arguments: argparse.Namespace, console: Console) -> int:
    done = rollback(open_table(arguments.table), arguments.version, Reporter(console))
    if console.as_json:
        console.json_line(asdict(done))
    else:
        _print(done, console)
    return 0


def _print(done: RolledBack, console: Console) -> None:
    if not done.committed:
        console.message(f"{done.table}: version {done.to} is the newest: nothing to do")
        return
    console.pairs({"table version": done.version, "holds what was version": done.to})
    console.pairs({f"chunks {name}": done.changes.get(name, 0) for name in CHANGES})
    what = " and what another tool did to it" if done.over_foreign else ""
    console.message(f"{done.table}: version {done.version} is version {done.to} again; it replaces {done.before}{what}")

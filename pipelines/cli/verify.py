"""Check that a table is what its log says: files, rows, hashes, and the changes since the commit before.

A sample of the shards is read row by row, all of them with --full. Nothing is written. Exit 6 if anything is wrong.
"""

from __future__ import annotations

import argparse

from pipelines.cli.values import version_number, whole_number
from pipelines.observe.console import Console
from pipelines.operations.tables import open_table
from pipelines.operations.verify import SAMPLE, Verification, verify

HELP = "check that a table is what its log says"

DAMAGED = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="CONFIG|TABLE", help="a configuration, or the address of a table")
    parser.add_argument(
        "--version", type=version_number, metavar="N", help="the version to check (default: the newest)"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--full", action="store_true", help="read every shard row by row, and the whole log")
    how.add_argument(
        "--sample",
        type=whole_number,
        default=SAMPLE,
        metavar="N",
        help=f"how many shards to read row by row (default: {SAMPLE})",
    )


def command(arguments: argparse.Namespace, console: Console) -> int:
    found = verify(
        open_table(arguments.table),
        lambda event: console.progress(event.text),
        version=arguments.version,
        full=arguments.full,
        sample=arguments.sample,
    )
    if console.as_json:
        console.json_line(
            {
                "table": found.table,
                "version": found.version,
                "problems": [{"file": where, "problem": what} for where, what in found.problems],
                "total": found.total,
                "checked": {
                    "files": found.files,
                    "shards": found.shards,
                    "of_shards": found.of_shards,
                    "documents": found.documents,
                    "rows": found.rows,
                    "compared_with": found.compared_with,
                },
            }
        )
    else:
        _print(found, console)
    return DAMAGED if found.total else 0


def _print(found: Verification, console: Console) -> None:
    for where, what in found.problems:
        console.error(f"{where}: {what}")
    if (more := found.total - len(found.problems)) > 0:
        console.error(f"{more:,} more of the same kind")
    if found.version is None:
        console.message(f"{found.table}: no commit can be read")
        return
    if found.parent_collected:
        console.message("the commit before was collected: the changes were not compared with it")
    rows: list[tuple[str, object]] = [
        ("version", found.version),
        ("files", found.files),
        ("shards read", f"{found.shards} of {found.of_shards}"),
        ("documents read", found.documents),
        ("rows read", found.rows),
        ("changes compared with version", found.compared_with),
        ("problems", found.total),
    ]
    console.pairs(dict(rows))
    console.message(f"{found.table}: {'is damaged' if found.total else 'nothing is wrong with what was checked'}")

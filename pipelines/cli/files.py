"""Print the addresses of the live Parquet files: together they are the whole corpus as of the last commit."""

from __future__ import annotations

import argparse
import dataclasses

from pipelines.observe.console import Console, printable
from pipelines.operations.files import live_files, live_folders

HELP = "print the live Parquet files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="CONFIG|TABLE", help="a configuration, or the address of a table")
    parser.add_argument("--folder", action="store_true", help="print the folder of the files instead")


def command(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.folder:
        for folder in live_folders(arguments.table):
            _print(folder, {"folder": folder}, console)
        return 0
    for live in live_files(arguments.table):
        _print(live.address, dataclasses.asdict(live), console)
    return 0


def _print(address: str, record: dict[str, object], console: Console) -> None:
    if console.as_json:
        console.json_line(record)
    else:
        console.line(printable(address))

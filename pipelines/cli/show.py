"""Show how a run ended, the chunks of one document, or one whole chunk."""

from __future__ import annotations

import argparse
from typing import Any

from pipelines.cli.values import version_number
from pipelines.observe.console import Console, preview, printable_lines
from pipelines.operations.show import LATEST, run_outcome, show_chunk, show_document, snapshot_of
from pipelines.operations.tables import load_snapshot, open_table

HELP = "show a run, a document's chunks, or one chunk"
_TEXT_COLUMNS = 48


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="CONFIG|TABLE", help="a configuration, or the address of a table")
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        "--run",
        metavar="RUN|latest",
        help="a run's outcome, or with --document and --chunk the table as that run committed it (default: latest)",
    )
    when.add_argument(
        "--version", type=version_number, metavar="N", help="the same of the run that committed version N"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--document", metavar="ID", help="one document: its state and its chunks")
    what.add_argument("--chunk", metavar="ID", help="one chunk, whole")


def command(arguments: argparse.Namespace, console: Console) -> int:
    store = open_table(arguments.table)
    version = None if arguments.version is None else load_snapshot(store, arguments.version)
    if arguments.document is None and arguments.chunk is None:
        outcome = run_outcome(store, (arguments.run or LATEST) if version is None else version.run_id)
        if console.as_json:
            console.json_line(outcome)
        else:
            console.pairs(dict(flattened(outcome)))
        return 0
    table = snapshot_of(store, arguments.run) if version is None else version
    if arguments.chunk is not None:
        _print_chunk(show_chunk(store, table, arguments.chunk), console)
        return 0
    found = show_document(store, table, arguments.document)
    if console.as_json:
        console.json_line({"document": found.state, "failure": found.failure, "chunks": found.chunks})
    else:
        shown = {**found.state, "message": found.failure}
        console.pairs({name: value for name, value in shown.items() if value is not None})
        console.line()
        if not found.chunks:
            console.line("no chunks")
            return 0
        header = ("chunk", "start", "end", "cut", "tokens", "headings", "text")
        console.table(header, [_chunk_row(chunk) for chunk in found.chunks])
    return 0


def flattened(record: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Nested values as (`summary.chunks`, 3) pairs, in their order."""
    pairs: list[tuple[str, object]] = []
    for key, value in record.items():
        name = key.replace("\t", ".")  # counters have names of several parts
        if isinstance(value, list):
            value = {f"[{number}]": item for number, item in enumerate(value)}
            pairs.extend(flattened(value, f"{prefix}{name}"))
        elif isinstance(value, dict):
            pairs.extend(flattened(value, f"{prefix}{name}."))
        else:
            pairs.append((prefix + name, value))
    return pairs


def _chunk_row(chunk: dict[str, Any]) -> tuple[object, ...]:
    headings = " > ".join(chunk["headings"] or ())
    return (
        chunk["chunk_index"],
        chunk["start_index"],
        chunk["end_index"],
        chunk["cut"],
        chunk["token_count"],
        preview(headings, _TEXT_COLUMNS),
        preview(chunk["text"], _TEXT_COLUMNS),
    )


def _print_chunk(row: dict[str, Any], console: Console) -> None:
    if console.as_json:
        console.json_line(row)
        return
    body = ("context", "text")
    shown = {name: value for name, value in row.items() if name not in body and value is not None}
    if "headings" in shown:
        shown["headings"] = " > ".join(row["headings"]) or None
    console.pairs(shown)
    for name in body:
        if row[name]:
            console.line()
            console.line(console.style("bold", f"{name}:"))
            console.line(printable_lines(row[name]))

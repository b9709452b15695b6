"""Print the net changes after a version: the chunks an index has to upsert, with their rows, and those to delete.

Whatever happened in between is already netted out. With --output json each line is one object:
{"op": "upsert", "id": …, and every other column} or {"op": "delete", "id": …, "parent_id": …, "chunk_index": …}.
Before them come {"op": "rename", "old_id": …, "new_id": …, "old_uri": …, "new_uri": …, "hash": …, "chunk_count": …}:
documents that are there under another id. Whoever keeps vectors can copy that of `old_id#n` to `new_id#n`, for each n
below `chunk_count`; whoever does not can leave these lines out, since upserts and deletions say everything.
"""

from __future__ import annotations

import argparse
from typing import Any

from pipelines.observe.console import Console, preview, printable
from pipelines.operations.changes import changes_since

HELP = "print the net upserts and deletions after a version"
_TEXT_COLUMNS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="CONFIG|TABLE", help="a configuration, or the address of a table")
    parser.add_argument("--since", type=_version, required=True, metavar="N", help="the version that the index is at")


def command(arguments: argparse.Namespace, console: Console) -> int:
    changes = changes_since(arguments.table, arguments.since)
    renamed = 0
    for document in changes.renamed_documents():
        if console.closed:
            return 0
        renamed += 1
        _print_rename(document, console)
    for row in changes.upserted_rows():
        if console.closed:
            return 0
        _print("upsert", row, console)
    for row in changes.deleted_rows():
        if console.closed:
            return 0
        _print("delete", row, console)
    documents = "document is" if renamed == 1 else "documents are"
    console.message(
        f"{changes.upserts:,} to upsert and {changes.deletions:,} to delete "
        f"from version {changes.since} to version {changes.until}"
        + (f"; {renamed:,} {documents} there under another id" if renamed else "")
    )
    return 0


def _print_rename(document: dict[str, Any], console: Console) -> None:
    if console.as_json:
        console.json_line({"op": "rename", **document})
    else:
        console.line(f"rename  {printable(document['old_id'])} → {printable(document['new_id'])}")


def _print(operation: str, row: dict[str, Any], console: Console) -> None:
    if console.as_json:
        console.json_line({"op": operation, **row})
    else:
        text = f"  {preview(row['text'], _TEXT_COLUMNS)}" if "text" in row else ""
        console.line(f"{operation}  {printable(row['id'])}{text}")


def _version(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a version; versions are whole numbers from 0")
    return int(text)

"""Rows made one by one are those that Arrow makes of the same documents."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from chunkers import build
from pipelines.table.schemas import chunks_schema
from pipelines.work.chunk_document import Document, chunk_document
from pipelines.work.rows import ChunkRows
from pipelines.work.single_rows import single_rows
from pipelines.work.token_counter import token_counter

CORPUS = Path(__file__).parents[3] / "examples/corpus"
UTC = datetime.UTC


def both(rows: ChunkRows, payload: dict[str, str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows made one by one, and those of the table."""
    one_by_one = list(single_rows(rows))
    return one_by_one, rows.finish(chunks_schema(payload)).table.to_pylist()


@pytest.mark.parametrize(("strategy", "options"), [("auto", {"max_size": 800}), ("pages", {})])
def test_rows_of_files_are_those_of_the_table(strategy: str, options: dict[str, Any]) -> None:
    rows = ChunkRows()
    built = build(strategy, **options)
    count_tokens = token_counter("cl100k_base")
    for path in sorted(CORPUS.rglob("*.*")):
        name = path.relative_to(CORPUS).as_posix()
        text = path.read_bytes().decode("utf-8", "replace")
        chunk_document(text, Document(name, name, f"file:///{name}", "0" * 64), built, rows, count_tokens=count_tokens)
    ours, table = both(rows, {})
    assert len(ours) > 100
    assert ours == table
    assert [list(row) for row in ours[:1]] == [list(row) for row in table[:1]]


def test_payload_of_every_type_is_hashed_and_kept_as_in_the_table() -> None:
    payload = {
        "Name": "string",
        "count": "int64",
        "price": "double",
        "sold": "bool",
        "day": "date",
        "at": "timestamp",
        "raw": "binary",
    }
    rows = ChunkRows(tuple(payload.items()))
    values = [
        ('Bö"\\\n', 2**62, 0.1, True, datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, tzinfo=UTC), b"\x00"),
        ("", -1, 1e300, False, datetime.date(1, 1, 1), datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), b""),
        (None,) * 7,
    ]
    for number, each in enumerate(values):
        about = Document(f'a"{number}', None, "uri\x1f", "0" * 64)
        chunk_document(
            "One.\n\nTwo.", about, build("recursive", max_size=6), rows, title="T", metadata={"b": 1}, payload=each
        )
    ours, table = both(rows, payload)
    assert len(ours) == 6
    assert ours == table


def test_a_text_that_is_not_in_the_document_has_no_offsets() -> None:
    rows = ChunkRows()
    built = build("custom", chunker="tests.chunkers.strategies.chunker_samples:shouted")
    chunk_document("abc", Document("a", "a", "a", ""), built, rows)
    ours, table = both(rows, {})
    assert ours == table
    assert ours[0]["start_index"] is None

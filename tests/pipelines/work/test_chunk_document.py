"""Rows of one document: columns, hashes by their published recipe, and all or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import chunkers
from chunkers import Split
from chunkers.records import Drop, Span
from pipelines.documents.failures import DocumentFailure
from pipelines.table.schemas import CHUNKS
from pipelines.work.chunk_document import Document, chunk_document
from pipelines.work.rows import ChunkRows
from pipelines.work.token_counter import token_counter

DOCUMENT = Document(id='a "b"/ü#1.md', path='a "b"/ü#1.md', uri='/docs/a "b"/ü#1.md', hash="d" * 64)
NOT_IN_ROW_HASH = {"text", "content_hash", "row_hash", "chunk_count", "document_hash"}


@dataclass
class Given:
    """A strategy whose spans are given."""

    spans: list[Span]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None
    notes: tuple[str, ...] = ()

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        return Split(
            spans=self.spans,
            strategy="given",
            drops=[Drop(0, 1, "separator")],
            metadata=self.metadata,
            title=self.title,
            notes=self.notes,
        )


def rows_of(text: str, strategy: Any, **options: Any) -> list[dict[str, Any]]:
    rows = ChunkRows()
    chunk_document(text, DOCUMENT, strategy, rows, **options)
    return rows.finish(CHUNKS).table.to_pylist()


def check_hashes(row: dict[str, Any]) -> None:
    content = (row["context"] + row["text"]).encode()
    assert row["content_hash"] == hashlib.sha256(content).hexdigest()
    rest = {name: value for name, value in row.items() if name not in NOT_IN_ROW_HASH}
    canonical = json.dumps(rest, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    assert row["row_hash"] == hashlib.sha256(canonical).hexdigest()


def test_a_row_has_every_column() -> None:
    text = "héllo wörld"
    span = Span(0, 5, "word", ("A", 'B "q"'), "A > B\n\n", None, 2, {"lang": "fr", "page": 3})
    given = Given([span, Span(6, 11, "document-end")], {"author": "me", "lang": "en", "none": None}, "Title\n\t\\")
    first, second = rows_of(text, given)
    content_hash, row_hash = first.pop("content_hash"), first.pop("row_hash")
    assert first == {
        "id": 'a "b"/ü#1.md#0',
        "parent_id": 'a "b"/ü#1.md',
        "chunk_index": 0,
        "chunk_count": 2,
        "text": "héllo",
        "context": "A > B\n\n",
        "start_index": 0,
        "end_index": 5,
        "headings": ["A", 'B "q"'],
        "title": "Title\n\t\\",
        "token_count": None,
        "strategy": "given",
        "cut": "word",
        "overlap": 2,
        "section_id": None,
        "document_hash": "d" * 64,
        "source_uri": '/docs/a "b"/ü#1.md',
        "metadata": '{"author":"me","lang":"fr","page":3}',
    }
    check_hashes({**first, "content_hash": content_hash, "row_hash": row_hash})
    assert (second["text"], second["metadata"]) == ("wörld", '{"author":"me","lang":"en"}')
    check_hashes(second)


@pytest.mark.parametrize(
    "text", ["plain " * 300, "naïve café 日本語。" * 100, '\x00\x01\x7f\u2028" \\ / </script>' * 40]
)
def test_hashes_follow_the_published_recipe(text: str) -> None:
    strategy = chunkers.build("recursive", max_size=200)
    rows = ChunkRows()
    chunked = chunk_document(text, DOCUMENT, strategy, rows, count_tokens=token_counter("cl100k_base"))
    finished = rows.finish(CHUNKS)
    table = finished.table.to_pylist()
    assert chunked.chunks == len(table) > 3
    for row in table:
        check_hashes(row)
        assert row["text"] == text[row["start_index"] : row["end_index"]]
    digests = "".join(row["content_hash"] + row["row_hash"] for row in table)
    assert b"".join(finished.chunk_hashes).hex() == digests


def test_rendered_text_is_stored_instead_of_the_slice() -> None:
    (row,) = rows_of("<p>&amp;</p>", Given([Span(0, 12, "document-end", rendered="&")]))
    assert (row["text"], row["start_index"], row["end_index"]) == ("&", 0, 12)
    check_hashes(row)


def test_tokens_count_context_and_text() -> None:
    span = Span(0, 11, "document-end", context="A title\n\n")
    (row,) = rows_of("hello world", Given([span]), count_tokens=token_counter("cl100k_base"))
    assert row["token_count"] == 5
    (row,) = rows_of("hello world", Given([span._replace(context="")]), count_tokens=token_counter("cl100k_base"))
    assert row["token_count"] == 2


def test_metadata_as_strings() -> None:
    given = Given([Span(0, 1, "document-end")], {"a": 1, "b": True, "c": 1.5, "d": "x", "e": None})
    (row,) = rows_of("x", given, metadata_as_strings=True)
    assert row["metadata"] == '{"a":"1","b":"true","c":"1.5","d":"x"}'
    check_hashes(row)


@pytest.mark.parametrize("value", [["nested"], {"a": 1}, float("nan")])
def test_metadata_that_no_column_can_hold_fails_the_document(value: Any) -> None:
    rows = ChunkRows()
    with pytest.raises(DocumentFailure) as caught:
        chunk_document("x", DOCUMENT, Given([Span(0, 1, "document-end")], {"key": value}), rows)
    assert caught.value.error == "metadata"
    assert len(rows) == 0


@pytest.mark.parametrize(
    "given",
    [
        Given([Span(0, 1, "word"), Span(1, 2, "document-end", rendered="\ud800")]),
        Given([Span(0, 1, "word", ("\ud800",))]),
        Given([Span(0, 1, "word", context="\ud800")]),
        Given([Span(0, 1, "word")], title="\ud800"),
        Given([Span(0, 1, "word")], {"a": "\ud800"}),
    ],
)
def test_lone_surrogate_anywhere_fails_the_document_and_leaves_no_row(given: Given) -> None:
    rows = ChunkRows()
    with pytest.raises(UnicodeEncodeError):
        chunk_document("ab", DOCUMENT, given, rows)
    assert rows.finish(CHUNKS).table.num_rows == 0


def test_document_without_a_chunk_adds_no_row() -> None:
    rows = ChunkRows()
    chunked = chunk_document(" ", DOCUMENT, Given([]), rows)
    assert (chunked.chunks, chunked.drops) == (0, [Drop(0, 1, "separator")])
    assert rows.finish(CHUNKS).table.num_rows == 0


def test_a_context_may_name_what_is_known_besides_the_text() -> None:
    strategy = chunkers.build("markdown", context="{title} ({metadata[lang]}, {metadata[by]}): ")
    text = "---\nby: text\n---\n# Found\n\nbody\n"
    rows = rows_of(text, strategy, title="Given", metadata={"lang": "de", "by": "column"})
    assert [row["context"] for row in rows] == ["Given (de, text): "]
    assert rows_of(text, strategy)[0]["context"] == "Found (, text): "

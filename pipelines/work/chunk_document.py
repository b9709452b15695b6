"""One document to chunk rows: a pure function of the document's bytes and the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from chunkers.composing.context import split_with
from chunkers.records import NOWHERE, Drop, Split
from pipelines.documents.failures import DocumentFailure
from pipelines.work.rows import ChunkRows


class Splitter(Protocol):
    """What a built strategy offers (chunkers.strategies.base.Strategy)."""

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """The spans of `text`."""


TokenCounter = Callable[[str], Callable[[int, int, str, str | None], int]]
"""For a text: the tokens of (start, end, context, rendered)."""


class Document(NamedTuple):
    """What a document's rows say about where they come from.

    `path` is what a strategy may go by, if there is any; `hash` the SHA-256 of its bytes as they were read, or of a
    record's values.
    """

    id: str
    path: str | None
    uri: str
    hash: str


class Chunked(NamedTuple):
    """One chunked document: its number of rows, the strategy that did it, what was left out, what is worth counting."""

    chunks: int
    strategy: str
    drops: Sequence[Drop]
    notes: Sequence[str]


def chunk_document(
    text: str,
    document: Document,
    splitter: Splitter,
    rows: ChunkRows,
    *,
    encoded: bytes | None = None,
    count_tokens: TokenCounter | None = None,
    metadata_as_strings: bool = False,
    media_type: str | None = None,
    title: str | None = None,
    metadata: Mapping[str, Any] = MappingProxyType({}),
    payload: tuple[Any, ...] | None = None,
) -> Chunked:
    """Append the rows of `text` to `rows`, all of them or, when anything raises, none.

    `encoded` is what `text` was decoded from, if that is UTF-8: it may spare encoding it again. What is known of the
    document besides its text: `title`, which wins over one that is found in it, `metadata`, over which front matter
    wins, and then what the strategy finds, and the values of the `payload` columns of `rows`. A `context` may name
    title and metadata.

    Raises what the strategy raises; UnicodeEncodeError for text that Parquet cannot hold (a lone surrogate);
    DocumentFailure `metadata` for metadata that is no string, number or boolean.
    """
    split = split_with(splitter, text, path=document.path, media_type=media_type, metadata=metadata, title=title)
    count = len(split.spans)
    if not count:
        return Chunked(0, split.strategy, split.drops, split.notes)
    starts, ends, cuts, headings, contexts, rendered, overlaps, found, _ = zip(*split.spans, strict=True)
    bodies = _bodies(text, encoded, starts, ends, rendered)
    if any(contexts):
        context_bytes = [context.encode() for context in contexts]
        contents = [sha256(context + body).digest() for context, body in zip(context_bytes, bodies, strict=True)]
    else:
        context_bytes = [b""] * count
        contents = [sha256(body).digest() for body in bodies]
    if metadata or split.metadata or any(found):
        described = _metadata_column({**metadata, **split.metadata}, found, metadata_as_strings)
    else:
        described = ["{}"] * count
    title = split.title if title is None else title
    tokens = [None] * count if count_tokens is None else _token_column(count_tokens(text), split)
    _check_storable(title, headings)

    # Nothing raises from here on.
    shared = (document.id, count, title, split.strategy, None, document.hash, document.uri)
    if rows.payload:
        shared += (None,) * len(rows.payload) if payload is None else payload
    rows.documents.append(shared)
    rows.contents += contents
    rows.text += bodies
    rows.context += context_bytes
    rows.start_index += _offsets(split, starts)
    rows.end_index += _offsets(split, ends)
    rows.headings += headings
    rows.token_count += tokens
    rows.cut += cuts
    rows.overlap += overlaps
    rows.metadata += described
    return Chunked(count, split.strategy, split.drops, split.notes)


def _offsets(split: Split, found: Sequence[int]) -> Sequence[int | None]:
    """Offsets as they are written: null for a text that is not in the document, which only `custom` may return."""
    if split.strategy != "custom" or NOWHERE not in found:
        return found
    return [None if offset == NOWHERE else offset for offset in found]


def _bodies(
    text: str, encoded: bytes | None, starts: Sequence[int], ends: Sequence[int], rendered: Sequence[str | None]
) -> list[bytes]:
    """The chunks' texts in UTF-8."""
    if any(rendered):
        return [
            (text[start:end] if other is None else other).encode()
            for start, end, other in zip(starts, ends, rendered, strict=True)
        ]
    if text.isascii():  # then offsets are byte offsets too, but for a byte order mark
        data = encoded if encoded is not None and len(encoded) == len(text) else text.encode()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]
    return [text[start:end].encode() for start, end in zip(starts, ends, strict=True)]


def _token_column(count: Callable[[int, int, str, str | None], int], split: Split) -> list[int]:
    return [count(span.start, span.end, span.context, span.rendered) for span in split.spans]


def _check_storable(title: str | None, headings: Sequence[tuple[str, ...]]) -> None:
    """UnicodeEncodeError if title or headings are not UTF-8; texts and contexts were encoded already."""
    if title is not None and not title.isascii():
        title.encode()
    if any(headings):
        for path in set(headings):
            "".join(path).encode()


def _metadata_column(document: Mapping[str, Any], found: Sequence[Mapping[str, Any]], as_strings: bool) -> list[str]:
    """The metadata of each row as JSON. What the strategy found in a chunk wins over the document's."""
    shared = _metadata(document, as_strings)
    if any(found):
        column = [_canonical({**shared, **_metadata(values, as_strings)}) for values in found]
    else:
        column = [_canonical(shared)] * len(found)
    for values in set(column):
        values.encode()  # UnicodeEncodeError for what is not UTF-8
    return column


def _metadata(values: Mapping[str, Any], as_strings: bool) -> dict[str, Any]:
    """`values` as the column holds them: None left out, scalars only."""
    kept: dict[str, Any] = {}
    for key, value in values.items():
        if value is None:
            continue
        if not isinstance(value, (str, int, float)):
            kind = type(value).__name__
            raise DocumentFailure("metadata", f"metadata {key!r} is a {kind}, not a string, number or boolean")
        kept[str(key)] = _as_string(value) if as_strings else value
    return kept


def _as_string(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _canonical(values: Mapping[str, Any]) -> str:
    if not values:
        return "{}"
    try:
        return json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise DocumentFailure("metadata", "a metadata number is not finite, which JSON cannot hold") from None

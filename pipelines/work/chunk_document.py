"""One document to chunk rows: a pure function of the document's bytes and the configuration.

**The hashes**, all SHA-256 in lower-case hexadecimal:

`content_hash`   of the UTF-8 bytes of `context` followed by those of `text`: what a vector depends on.
`row_hash`       of the rest of the row as canonical JSON: one object with the columns chunk_index, context, cut,
                 end_index, headings, id, metadata, overlap, parent_id, section_id, source_uri, start_index, strategy,
                 title and token_count (and payload columns), keys sorted, `,` and `:` without spaces, null for null,
                 headings an array of strings, `metadata` the string that the column holds, nothing but `"`, `\\` and
                 control characters escaped, in UTF-8. In Python:
                 json.dumps(columns, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
                 chunk_count and document_hash are left out: a new tail would otherwise re-send a whole document.
`document_hash`  of the document's bytes as they were read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, repeat
from json.encoder import encode_basestring
from typing import Any, Protocol

from chunkers.records import Drop, Split
from pipelines.documents.failures import DocumentFailure
from pipelines.work.rows import ChunkRows, DocumentColumns


class Splitter(Protocol):
    """What a built strategy offers (chunkers.strategies.base.Strategy)."""

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """The spans of `text`."""


TokenCounter = Callable[[str], Callable[[int, int, str, str | None], int]]
"""For a text: the tokens of (start, end, context, rendered)."""


Offsets = Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a document's rows say about where they come from. `hash` as in the module's docstring."""

    id: str
    path: str
    uri: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """One chunked document. `chunk_hashes`: 64 bytes a chunk, its content digest and its row digest, in order."""

    chunks: int
    chunk_hashes: bytes
    strategy: str
    drops: tuple[Drop, ...] = ()
    notes: tuple[str, ...] = ()


def chunk_document(
    text: str,
    document: Document,
    splitter: Splitter,
    rows: ChunkRows,
    *,
    count_tokens: TokenCounter | None = None,
    metadata_as_strings: bool = False,
) -> Chunked:
    """Append the rows of `text` to `rows`, all of them or, when anything raises, none.

    Raises what the strategy raises; UnicodeEncodeError for text that Parquet cannot hold (a lone surrogate);
    DocumentFailure `metadata` for metadata that is no string, number or boolean.
    """
    split = splitter.split(text, path=document.path)
    count = len(split.spans)
    if count:
        starts, ends, cuts, headings, contexts, rendered, overlaps, found, _ = zip(*split.spans, strict=True)
    else:
        starts = ends = cuts = headings = contexts = rendered = overlaps = found = ()
    bodies = _bodies(text, starts, ends, rendered)
    context_bytes, contents = _contents(bodies, contexts)
    metadata, metadata_json = _metadata_columns(split, found, metadata_as_strings)
    tokens, tokens_json = _token_columns(text, split, count_tokens)

    quoted_id = encode_basestring(document.id)[:-1]  # goes on with #n and the closing quote
    before_start = (
        f'"parent_id":{encode_basestring(document.id)},"section_id":null,'
        f'"source_uri":{encode_basestring(document.uri)},"start_index":'
    )
    title = "null" if split.title is None else encode_basestring(split.title)
    before_tokens = f'"strategy":{encode_basestring(split.strategy)},"title":{title},"token_count":'
    row_digests = [
        sha256(
            (
                f'{{"chunk_index":{index},"context":{context},"cut":"{cut}","end_index":{end},"headings":{path},'
                f'"id":{quoted_id}#{index}","metadata":{values},"overlap":{overlap},'
                f"{before_start}{start},{before_tokens}{number}}}"
            ).encode()
        ).digest()
        for index, context, cut, end, path, values, overlap, start, number in zip(
            range(count),
            map(encode_basestring, contexts) if any(contexts) else repeat('""'),
            cuts,
            ends,
            _headings_json(headings) if any(headings) else repeat("[]"),
            metadata_json,
            overlaps,
            starts,
            tokens_json,
            strict=False,  # some repeat for ever
        )
    ]
    chunk_hashes = b"".join(chain.from_iterable(zip(contents, row_digests, strict=True)))

    # Nothing raises from here on.
    rows.documents.append(
        DocumentColumns(document.id, count, split.title, split.strategy, None, document.hash, document.uri)
    )
    rows.hashes.append(chunk_hashes)
    rows.text += bodies
    rows.context += context_bytes
    rows.start_index += starts
    rows.end_index += ends
    rows.headings += headings
    rows.token_count += tokens
    rows.cut += cuts
    rows.overlap += overlaps
    rows.metadata += metadata
    return Chunked(
        chunks=count,
        chunk_hashes=chunk_hashes,
        strategy=split.strategy,
        drops=tuple(split.drops),
        notes=split.notes,
    )


def _bodies(text: str, starts: Offsets, ends: Offsets, rendered: Sequence[str | None]) -> list[bytes]:
    """The chunks' texts in UTF-8."""
    if any(rendered):
        return [
            (text[start:end] if other is None else other).encode()
            for start, end, other in zip(starts, ends, rendered, strict=True)
        ]
    if text.isascii():  # then offsets are byte offsets too
        data = text.encode()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]
    return [text[start:end].encode() for start, end in zip(starts, ends, strict=True)]


def _contents(bodies: list[bytes], contexts: Sequence[str]) -> tuple[list[bytes], list[bytes]]:
    """The contexts in UTF-8, and the digests of what is embedded."""
    if not any(contexts):
        return [b""] * len(bodies), [sha256(body).digest() for body in bodies]
    encoded = [context.encode() for context in contexts]
    return encoded, [sha256(context + body).digest() for context, body in zip(encoded, bodies, strict=True)]


def _metadata_columns(
    split: Split, found: Sequence[Mapping[str, Any]], as_strings: bool
) -> tuple[list[str], Iterable[str]]:
    """The metadata column, and its values as JSON strings. What the strategy found in a chunk wins."""
    shared = _metadata(split.metadata, as_strings)
    if not any(found):
        column = _canonical(shared)
        return [column] * len(split.spans), repeat(encode_basestring(column))
    columns = [_canonical({**shared, **_metadata(values, as_strings)}) for values in found]
    return columns, map(encode_basestring, columns)


def _token_columns(
    text: str, split: Split, count_tokens: TokenCounter | None
) -> tuple[Sequence[int | None], Iterable[str]]:
    if count_tokens is None:
        return [None] * len(split.spans), repeat("null")
    count = count_tokens(text)
    counts = [count(span.start, span.end, span.context, span.rendered) for span in split.spans]
    return counts, map(str, counts)


def _headings_json(headings: Sequence[tuple[str, ...]]) -> Iterator[str]:
    known: dict[tuple[str, ...], str] = {}
    for path in headings:
        if path not in known:
            known[path] = "[" + ",".join(map(encode_basestring, path)) + "]"
        yield known[path]


def _metadata(values: Mapping[str, Any], as_strings: bool) -> dict[str, Any]:
    """`values` as the column holds them: None left out, scalars only."""
    kept: dict[str, Any] = {}
    for key, value in values.items():
        if value is None:
            continue
        if not isinstance(value, (str, int, float)):
            raise DocumentFailure(
                "metadata", f"metadata {key!r} is a {type(value).__name__}, not a string, number or boolean"
            )
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

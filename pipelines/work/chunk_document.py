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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any, Protocol

from chunkers.records import Drop, Split
from pipelines.documents.failures import DocumentFailure
from pipelines.work.rows import ChunkRows


class Splitter(Protocol):
    """What a built strategy offers (chunkers.strategies.base.Strategy)."""

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """The spans of `text`."""


TokenCounter = Callable[[str], Callable[[int, int, str, str | None], int]]
"""For a text: the tokens of (start, end, context, rendered)."""


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
    spans = split.spans
    shared = _metadata(split.metadata, metadata_as_strings)
    shared_json = _canonical(shared)
    shared_quoted = encode_basestring(shared_json)
    quoted_id = encode_basestring(document.id)[:-1]  # goes on with #n and the closing quote
    before_start = (
        f'"parent_id":{encode_basestring(document.id)},"section_id":null,'
        f'"source_uri":{encode_basestring(document.uri)},"start_index":'
    )
    title = "null" if split.title is None else encode_basestring(split.title)
    before_tokens = f'"strategy":{encode_basestring(split.strategy)},"title":{title},"token_count":'
    counter = count_tokens(text) if count_tokens is not None else None
    encoded = text.encode() if text.isascii() else None  # then offsets are byte offsets too

    bodies: list[bytes] = []
    contexts: list[bytes] = []
    metadata: list[str] = []
    content_hashes: list[str] = []
    row_hashes: list[str] = []
    tokens: list[int | None] = []
    digests: list[bytes] = []
    headings_json: dict[tuple[str, ...], str] = {(): "[]"}
    for index, (start, end, cut, headings, context, rendered, overlap, found, _) in enumerate(spans):
        if rendered is not None:
            body = rendered.encode()
        elif encoded is not None:
            body = encoded[start:end]
        else:
            body = text[start:end].encode()
        if context:
            context_bytes = context.encode()
            context_json = encode_basestring(context)
            content = sha256(context_bytes + body).digest()
        else:
            context_bytes, context_json = b"", '""'
            content = sha256(body).digest()
        if found:
            row_metadata = _canonical({**shared, **_metadata(found, metadata_as_strings)})
            metadata_json = encode_basestring(row_metadata)
        else:
            row_metadata, metadata_json = shared_json, shared_quoted
        path_json = headings_json.get(headings)
        if path_json is None:
            path_json = headings_json[headings] = "[" + ",".join(map(encode_basestring, headings)) + "]"
        if counter is None:
            count, count_json = None, "null"
        else:
            count = counter(start, end, context, rendered)
            count_json = str(count)
        row = sha256(
            (
                f'{{"chunk_index":{index},"context":{context_json},"cut":"{cut}","end_index":{end},'
                f'"headings":{path_json},"id":{quoted_id}#{index}","metadata":{metadata_json},"overlap":{overlap},'
                f"{before_start}{start},{before_tokens}{count_json}}}"
            ).encode()
        ).digest()
        bodies.append(body)
        contexts.append(context_bytes)
        metadata.append(row_metadata)
        tokens.append(count)
        digests.append(content)
        digests.append(row)
        content_hashes.append(content.hex())
        row_hashes.append(row.hex())

    count = len(spans)
    rows.rows += count
    rows.id += [f"{document.id}#{index}" for index in range(count)]
    rows.chunk_index += range(count)
    rows.text += bodies
    rows.context += contexts
    rows.start_index += [span[0] for span in spans]
    rows.end_index += [span[1] for span in spans]
    rows.cut += [span[2] for span in spans]
    rows.headings += [span[3] for span in spans]
    rows.overlap += [span[6] for span in spans]
    rows.token_count += tokens
    rows.content_hash += content_hashes
    rows.row_hash += row_hashes
    rows.metadata += metadata
    rows.parent_id.add(document.id, count)
    rows.chunk_count.add(count, count)
    rows.title.add(split.title, count)
    rows.strategy.add(split.strategy, count)
    rows.section_id.add(None, count)
    rows.document_hash.add(document.hash, count)
    rows.source_uri.add(document.uri, count)
    return Chunked(
        chunks=count,
        chunk_hashes=b"".join(digests),
        strategy=split.strategy,
        drops=tuple(split.drops),
        notes=split.notes,
    )


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

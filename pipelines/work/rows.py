"""The chunk rows of one task: collected as lists, document by document, then made into columns and hashed at once.

**The hashes** of a row, SHA-256 in lower-case hexadecimal:

`content_hash`   of the UTF-8 bytes of `context` followed by those of `text`: what a vector depends on.
`row_hash`       of the rest of the row as canonical JSON: one object with the columns chunk_index, context, cut,
                 end_index, headings, id, metadata, overlap, parent_id, section_id, source_uri, start_index, strategy,
                 title, token_count and the payload columns, keys sorted, `,` and `:` without spaces, null for null,
                 headings an array of strings, `metadata` the string that the column holds, nothing but `"`, `\\` and
                 control characters escaped, in UTF-8; of payload, dates are YYYY-MM-DD, times
                 YYYY-MM-DDThh:mm:ss.ffffffZ, bytes base64. In Python:
                 json.dumps(columns, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
                 chunk_count and document_hash are left out: a new tail would otherwise re-send a whole document.

Making the JSON of all rows in Arrow costs a quarter of making it row by row in Python (benchmarks/job.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.documents.formats.payload import json_form

MAX_COLUMN_BYTES = 2**31 - 1
"""Bytes of text in one Arrow string array; a column with more is made of several."""

DIGEST = 32
"""Bytes of a SHA-256."""

HASHED_ROWS = 65_536
"""Rows whose JSON is in memory at a time."""


DOCUMENT_COLUMNS = ("parent_id", "chunk_count", "title", "strategy", "section_id", "document_hash", "source_uri")
"""What all rows of one document share."""


class FinishedRows(NamedTuple):
    """All rows, and the `chunk_hashes` of each document in the order they were added: 64 bytes a chunk."""

    table: pa.Table
    chunk_hashes: list[bytes]


class ChunkRows:
    """Rows under construction. Text and context are UTF-8 already: encoding them once serves hash and column.

    `documents` has DOCUMENT_COLUMNS of each document and then its `payload` columns (names and types), `contents` the
    content digest of each row. Every list but `documents` has one entry a row.
    """

    def __init__(self, payload: Sequence[tuple[str, str]] = ()) -> None:
        self.payload = tuple(name for name, _ in payload)
        self.documents: list[tuple[Any, ...]] = []
        self.contents: list[bytes] = []
        self.text: list[bytes] = []
        self.context: list[bytes] = []
        self.start_index: list[int | None] = []
        self.end_index: list[int | None] = []
        self.headings: list[tuple[str, ...]] = []
        self.token_count: list[int | None] = []
        self.cut: list[str] = []
        self.overlap: list[int] = []
        self.metadata: list[str] = []

    def __len__(self) -> int:
        return len(self.text)

    def extend(self, other: ChunkRows) -> None:
        """Append the rows of `other`, in their order."""
        for name, values in vars(other).items():
            if name != "payload":
                getattr(self, name).extend(values)

    def finish(self, schema: pa.Schema) -> FinishedRows:
        """The rows with the columns of `schema`, in its order."""
        names = (*DOCUMENT_COLUMNS, *self.payload)
        shared = table_of(self.documents, pa.schema([schema.field(name) for name in names]))
        counts = shared["chunk_count"].to_numpy().astype(np.int64)
        document = pa.array(np.repeat(np.arange(len(counts)), counts))
        index = np.arange(len(self)) - np.repeat(np.cumsum(counts) - counts, counts)
        columns: dict[str, Any] = {name: shared[name].combine_chunks().take(document) for name in shared.column_names}
        columns["chunk_index"] = pa.array(index.astype(np.int32))
        columns["id"] = pc.binary_join_element_wise(columns["parent_id"], _text_of(columns["chunk_index"]), "#")
        columns["text"] = _utf8(self.text)
        columns["context"] = _utf8(self.context)
        for name in ("start_index", "end_index", "headings", "token_count", "cut", "overlap", "metadata"):
            columns[name] = pa.array(getattr(self, name), schema.field(name).type)
        digests = np.frombuffer(b"".join(self.contents), np.uint8).reshape(-1, DIGEST)
        row_digests = np.frombuffer(b"".join(self._row_digests(shared, document, columns)), np.uint8)
        row_digests = row_digests.reshape(-1, DIGEST)
        columns["content_hash"] = _hex(digests)
        columns["row_hash"] = _hex(row_digests)
        hashes = np.hstack([digests, row_digests]).tobytes()
        ends = np.cumsum(counts) * 2 * DIGEST
        starts = ends - counts * 2 * DIGEST
        return FinishedRows(
            table=pa.table([columns[name] for name in schema.names], schema=schema),
            chunk_hashes=[hashes[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)],
        )

    def _row_digests(self, shared: pa.Table, document: Any, columns: dict[str, Any]) -> Iterable[bytes]:
        """Digest of each row's canonical JSON."""
        payload = {
            name: pa.array([_payload_json(value) for value in shared[name].to_pylist()], pa.string())
            for name in self.payload
        }
        of_document = [
            _each_json(shared[name].to_pylist(), _json) for name in ("parent_id", "source_uri", "strategy", "title")
        ]
        opened = pc.utf8_slice_codeunits(
            _column(of_document[0], len(shared)), 0, -1
        )  # goes on with #n and the closing quote
        for start in range(0, len(self), HASHED_ROWS):
            stop = min(start + HASHED_ROWS, len(self))
            where = document.slice(start, stop - start)
            rows = {name: _number_json(columns[name].slice(start, stop - start)) for name in _NUMBERS}
            fields: dict[str, list[Any]] = {name: [rows[name]] for name in _NUMBERS}
            fields["context"] = [_each_json(self.context[start:stop], lambda value: _json(value.decode()))]
            fields["cut"] = [_each_json(self.cut[start:stop], _json)]
            fields["headings"] = [
                _each_json(self.headings[start:stop], lambda path: "[" + ",".join(map(_json, path)) + "]")
            ]
            fields["id"] = [opened.take(where), "#", rows["chunk_index"], '"']
            fields["metadata"] = [_each_json(self.metadata[start:stop], _json)]
            fields["section_id"] = ["null"]
            for name, values in zip(("parent_id", "source_uri", "strategy", "title"), of_document, strict=True):
                fields[name] = [_taken(values, where)]
            for name, values in payload.items():
                fields[name] = [values.take(where)]
            parts: list[Any] = ["{"]
            for name in sorted(fields):
                parts += ["" if len(parts) == 1 else ",", f"{_json(name)}:", *fields[name]]
            joined = _joined(*parts, "}")
            offsets = np.frombuffer(joined.buffers()[1], np.int32)[joined.offset :][: len(joined) + 1].tolist()
            data = memoryview(joined.buffers()[2])
            for low, high in pairwise(offsets):
                yield sha256(data[low:high]).digest()


_NUMBERS = ("chunk_index", "end_index", "overlap", "start_index", "token_count")


def table_of(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """A table from rows in the order of `schema`'s columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def _json(value: str | None) -> str:
    return "null" if value is None else encode_basestring(value)


def _payload_json(value: Any) -> str:
    form = json_form(value)
    return _json(form) if isinstance(form, str) else json.dumps(form, allow_nan=False)


def _each_json(values: Sequence[Any], to_json: Callable[[Any], str]) -> Any:
    """A column of JSON; each distinct value is made once, and one that is everywhere is a scalar."""
    distinct = {value: to_json(value) for value in set(values)}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    return pa.array([distinct[value] for value in values], pa.string())


def _taken(values: Any, where: Any) -> Any:
    return values if isinstance(values, str) else values.take(where)


def _column(values: Any, rows: int) -> Any:
    return pa.array([values] * rows, pa.string()) if isinstance(values, str) else values


def _joined(*parts: Any) -> Any:
    """The parts of every row one after the other; strings that stand next to each other are one part."""
    merged: list[Any] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return pc.binary_join_element_wise(*merged, "")


def _number_json(numbers: Any) -> Any:
    return "null" if numbers.null_count == len(numbers) else _text_of(numbers)


def _text_of(numbers: Any) -> Any:
    return pc.fill_null(numbers.cast(pa.string()), "null")


def _utf8(values: list[bytes]) -> Any:
    """A string column of what is known to be UTF-8: joined once, instead of grown value by value."""
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, values), dtype=np.int64, count=len(values)), out=offsets[1:])
    if offsets[-1] > MAX_COLUMN_BYTES:
        half = len(values) // 2
        first, second = _utf8(values[:half]), _utf8(values[half:])
        return pa.chunked_array([*_chunks(first), *_chunks(second)], pa.string())
    return _strings(len(values), offsets, b"".join(values))


def _hex(digests: npt.NDArray[np.uint8]) -> Any:
    """Rows of bytes as hexadecimal strings, without making a Python string of each."""
    text = digests.tobytes().hex().encode("ascii")
    return _strings(len(digests), np.arange(len(digests) + 1) * (2 * DIGEST), text)


def _strings(count: int, offsets: npt.NDArray[np.int64], data: bytes) -> Any:
    buffers = [None, pa.py_buffer(offsets.astype(np.int32).tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def _chunks(array: Any) -> list[Any]:
    return array.chunks if isinstance(array, pa.ChunkedArray) else [array]

"""Chunk rows under construction: what a task collects, as lists, before it becomes one Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MAX_COLUMN_BYTES = 2**31 - 1
"""Bytes of text in one Arrow string array; a column with more is made of several."""

DIGEST = 32
"""Bytes of a SHA-256."""


class DocumentColumns(NamedTuple):
    """What all rows of one document share."""

    parent_id: str
    chunk_count: int
    title: str | None
    strategy: str
    section_id: None
    document_hash: str
    source_uri: str


class ChunkRows:
    """The chunk rows of one task, in the order they are added, document by document.

    Text and context are UTF-8 bytes already: encoding them once serves the hash and the column. `hashes` has the
    `chunk_hashes` of each document: 64 bytes a chunk.
    """

    def __init__(self) -> None:
        self.documents: list[DocumentColumns] = []
        self.hashes: list[bytes] = []
        self.text: list[bytes] = []
        self.context: list[bytes] = []
        self.start_index: list[int] = []
        self.end_index: list[int] = []
        self.headings: list[tuple[str, ...]] = []
        self.token_count: list[int | None] = []
        self.cut: list[str] = []
        self.overlap: list[int] = []
        self.metadata: list[str] = []

    def __len__(self) -> int:
        return len(self.text)

    def table(self, schema: pa.Schema) -> pa.Table:
        """All rows with the columns of `schema`, in its order."""
        columns = self._document_columns(schema)
        digests = np.frombuffer(b"".join(self.hashes), np.uint8).reshape(-1, 2 * DIGEST)
        columns["content_hash"] = _hex(digests[:, :DIGEST])
        columns["row_hash"] = _hex(digests[:, DIGEST:])
        columns["text"] = _utf8(self.text)
        columns["context"] = _utf8(self.context)
        arrays = [
            columns[field.name] if field.name in columns else pa.array(getattr(self, field.name), field.type)
            for field in schema
        ]
        return pa.table(arrays, schema=schema)

    def _document_columns(self, schema: pa.Schema) -> dict[str, Any]:
        """The columns that are the same in all rows of a document, and those that count within it."""
        shared = table_of(self.documents, pa.schema([schema.field(name) for name in DocumentColumns._fields]))
        counts = shared["chunk_count"].to_numpy().astype(np.int64)
        document = np.repeat(np.arange(len(counts)), counts)
        columns: dict[str, Any] = {name: shared[name].take(pa.array(document)) for name in shared.column_names}
        index = pa.array((np.arange(len(document)) - (np.cumsum(counts) - counts)[document]).astype(np.int32))
        columns["chunk_index"] = index
        columns["id"] = pc.binary_join_element_wise(columns["parent_id"], index.cast(pa.string()), "#")
        return columns


def table_of(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """A table from rows in the order of `schema`'s columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


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
    return pa.Array.from_buffers(
        pa.string(), count, [None, pa.py_buffer(offsets.astype(np.int32).tobytes()), pa.py_buffer(data)]
    )


def _chunks(array: Any) -> list[Any]:
    return array.chunks if isinstance(array, pa.ChunkedArray) else [array]

"""Columns under construction: what a task collects, as lists, before it becomes one Arrow table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

MAX_COLUMN_BYTES = 2**31 - 1
"""Bytes of text in one Arrow string array; a column with more is made of several."""


class Column:
    """Values of one column, each repeated for as many rows as its document has chunks."""

    __slots__ = ("_repeats", "_type", "_values")

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._values: list[Any] = []
        self._repeats: list[int] = []

    def add(self, value: Any, rows: int) -> None:
        """`value` in each of the next `rows` rows."""
        self._values.append(value)
        self._repeats.append(rows)

    def array(self) -> pa.Array:
        """The whole column."""
        values = pa.array(self._values, self._type)
        repeats = np.asarray(self._repeats, dtype=np.int64)
        return values.take(pa.array(np.repeat(np.arange(len(repeats)), repeats)))


class ChunkRows:
    """The chunk rows of one task, in the order they are added.

    Text and context are UTF-8 bytes already: encoding them once serves the hash and the column.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.id: list[str] = []
        self.chunk_index: list[int] = []
        self.text: list[bytes] = []
        self.context: list[bytes] = []
        self.start_index: list[int] = []
        self.end_index: list[int] = []
        self.headings: list[tuple[str, ...]] = []
        self.token_count: list[int | None] = []
        self.cut: list[str] = []
        self.overlap: list[int] = []
        self.content_hash: list[str] = []
        self.row_hash: list[str] = []
        self.metadata: list[str] = []
        self.parent_id = Column(pa.string())
        self.chunk_count = Column(pa.int32())
        self.title = Column(pa.string())
        self.strategy = Column(pa.string())
        self.section_id = Column(pa.string())
        self.document_hash = Column(pa.string())
        self.source_uri = Column(pa.string())

    def table(self, schema: pa.Schema) -> pa.Table:
        """All rows with the columns of `schema`, in its order."""
        return pa.table([self._array(field) for field in schema], schema=schema)

    def _array(self, field: pa.Field) -> pa.Array:
        values = getattr(self, field.name)
        if isinstance(values, Column):
            return values.array()
        if field.name in ("text", "context"):
            return _utf8(values)
        return pa.array(values, field.type)


class StateRows:
    """Document states of one task: one list a column of the `documents` schema."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[tuple[Any, ...]] = []
        self._names = schema.names

    def add(self, **values: Any) -> None:
        """One state; every column by name."""
        self._rows.append(tuple(values[name] for name in self._names))

    def table(self) -> pa.Table:
        """All states, in the order they were added."""
        return table_of(self._rows, self._schema)


def table_of(rows: Iterable[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """A table from rows in the order of `schema`'s columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def _utf8(values: list[bytes]) -> pa.Array:
    """A string column of what is known to be UTF-8: joined once, instead of grown value by value."""
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, values), dtype=np.int64, count=len(values)), out=offsets[1:])
    if offsets[-1] > MAX_COLUMN_BYTES:
        half = len(values) // 2
        first, second = _utf8(values[:half]), _utf8(values[half:])
        return pa.chunked_array([*_chunks(first), *_chunks(second)], pa.string())
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def _chunks(array: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return array.chunks if isinstance(array, pa.ChunkedArray) else [array]

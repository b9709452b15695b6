"""The table's columns as Beam has them, for rows that SqlTransform, WriteToParquet and the like understand."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.typehints.row_type import RowTypeConstraint
from apache_beam.utils.timestamp import Timestamp

from pipelines.table.schemas import CHUNKS, chunks_schema
from pipelines.work.one_document import Failed

NULLABLE = frozenset({"start_index", "end_index", "title", "token_count", "section_id"})
"""Columns of a chunk that may be null. Those of a payload all may."""

_TYPES: Mapping[pa.DataType, Any] = {
    pa.string(): str,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.float64(): float,
    pa.bool_(): bool,
    pa.binary(): bytes,
    pa.date32(): datetime.date,
    pa.timestamp("us", tz="UTC"): Timestamp,
}


def chunk_row_type(payload: Mapping[str, str] | None = None) -> Any:
    """The type of a chunk's row: every column of the table, then those of the payload with their declared types."""
    fields = []
    for field in chunks_schema(payload or {}):
        type_ = Sequence[str] if pa.types.is_list(field.type) else _TYPES[field.type]
        is_nullable = field.name in NULLABLE or field.name not in CHUNKS.names
        fields.append((field.name, Optional[type_] if is_nullable else type_))  # noqa: UP045  # Beam reads it
    return RowTypeConstraint.from_fields(fields)


def failure_type() -> Any:
    """The type of a failure's row."""
    always = ("stage", "error", "message")
    names = [(name, str if name in always else Optional[str]) for name in Failed._fields[:-1]]  # noqa: UP045
    return RowTypeConstraint.from_fields([*names, ("document", Optional[bytes])])  # noqa: UP045


def chunk_row(values: dict[str, Any]) -> Any:
    """A row of `chunk_row_type`. Times become Beam's own."""
    for name in values.keys() - _FIXED:
        if isinstance(values[name], datetime.datetime):
            values[name] = Timestamp.from_utc_datetime(values[name])
    return beam.Row(**values)


_FIXED = frozenset(CHUNKS.names)


def failure_row(failed: Failed) -> Any:
    """A row of `failure_type`."""
    return beam.Row(**failed._asdict())

"""Parquet: one record a row. Only the columns that are needed are read, a few hundred rows or megabytes at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.documents.compression import Noting
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.records import BadRecord, ReadContext, Record, RecordMaker, bad
from pipelines.documents.formats.streams import columns_of, read_whole

BATCH = 256
BATCH_BYTES = 8 * 1024 * 1024
"""Rows decoded at a time, and about how many bytes that may be."""

BUFFER = 1024 * 1024


def open_parquet(
    file: BinaryIO, context: ReadContext, start: int | None, stop: int | None, *, compressed: bool
) -> Iterator[Record | BadRecord]:
    """The records of the rows from `start` to `stop`. Raises DocumentFailure for what is not readable as Parquet.

    `compressed`: `file` is a compression's stream, which Parquet cannot seek in, so it is held whole.
    """
    noting = Noting(io.BytesIO(read_whole(file, context)) if compressed else file)
    try:
        parquet = pq.ParquetFile(pa.PythonFile(noting, "r"), pre_buffer=False, buffer_size=BUFFER)
        names = parquet.schema_arrow.names
        wanted = columns_of(names, context)
        groups, first = _groups(parquet, start or 0, stop)
        rows = _batch_rows(parquet, groups)
        batches = parquet.iter_batches(rows, row_groups=groups, columns=wanted, use_threads=False)
    except DocumentFailure:
        raise
    except Exception as error:
        raise _failure(error, noting, "not readable as Parquet") from None
    return _records(batches, wanted, rows, first, noting, context, start or 0, stop)


def _records(
    batches: Iterator[pa.RecordBatch],
    wanted: list[str],
    rows: int,
    position: int,
    noting: Noting,
    context: ReadContext,
    start: int,
    stop: int | None,
) -> Iterator[Record | BadRecord]:
    make = RecordMaker(context, "parquet").make
    while stop is None or position < stop:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            if position + batch.num_rows <= start:
                position += batch.num_rows
                continue
            columns = [_values(batch.column(name)) for name in wanted]
        except Exception as error:
            raise _failure(error, noting, f"damaged at row {position + 1} or in the {rows} after it") from None
        for row in zip(*columns, strict=True):
            if position >= start and (stop is None or position < stop):
                if _UNREADABLE in row:
                    yield bad("parquet", position, "decode", "text in it is not UTF-8")
                else:
                    yield make(dict(zip(wanted, row, strict=True)), position)
            position += 1


def _groups(parquet: pq.ParquetFile, start: int, stop: int | None) -> tuple[list[int], int]:
    """The row groups that hold the rows from `start` to `stop`, and the number of the first row in the first."""
    groups: list[int] = []
    first = row = 0
    for index in range(parquet.metadata.num_row_groups):
        rows = parquet.metadata.row_group(index).num_rows
        if row + rows > start and (stop is None or row < stop):
            first = first if groups else row
            groups.append(index)
        row += rows
    return groups, first


def _batch_rows(parquet: pq.ParquetFile, groups: list[int]) -> int:
    """So many rows that no row group's have more than BATCH_BYTES, on average and with all their columns.

    (Asking for one column's size ends the process when a damaged footer describes it: Arrow does not catch it.)
    """
    largest = 1.0
    for index in groups:
        group = parquet.metadata.row_group(index)
        largest = max(largest, group.total_byte_size / max(group.num_rows, 1))
    return max(1, min(BATCH, int(BATCH_BYTES / largest)))


class _Unreadable:
    """Stands for a string that is no UTF-8."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


_UNREADABLE = _Unreadable()


def _values(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's times have microseconds.
        column = pc.cast(column, pa.timestamp("us", column.type.tz), safe=False)
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError:
        return [_value(column, row) for row in range(len(column))]


def _value(column: pa.Array, row: int) -> Any:
    try:
        return column[row].as_py()
    except UnicodeDecodeError:
        return _UNREADABLE


def _failure(error: Exception, noting: Noting, what: str) -> Exception:
    """What reading raised, as a failure of the container unless storage raised it."""
    if noting.error is not None:
        return noting.error
    if isinstance(error, MemoryError) and not isinstance(error, pa.ArrowException):
        return error
    return DocumentFailure("malformed", f"{what}: {error}")

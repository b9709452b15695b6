"""Parquet files of the table: rows to bytes and back. The same rows always make the same bytes."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.errors import StorageError, TableStateError
from pipelines.storage.store import Store
from pipelines.table.layout import Kind
from pipelines.table.records import FileEntry
from pipelines.table.schemas import FORMAT, IDS, SORTED_BY, schema_of

ROWS_PER_GROUP = 32_768
BYTES_PER_GROUP = 64 << 20
LONGEST_BOUND = 256
"""Characters of the longest id that is repeated as a bound; longer ones leave the bounds out (never truncated)."""

SHORTEST_RUN = 1_000
"""Neighbouring rows, on average, from which on slices are cheaper than copying every row by itself."""

FOOTER = {"rechunk.format": str(FORMAT)}

_HIGH_CARDINALITY = {"id", "text", "content_hash", "row_hash", "chunk_hashes", "hash", "uri", "path", "validator"}
"""Columns a dictionary would only slow down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """One Parquet file as bytes, with all that a commit says of it but its path."""

    data: memoryview
    rows: int
    sha256: str
    min_id: str | None
    max_id: str | None

    def entry(self, path: str) -> FileEntry:
        """The file's entry once it is stored at `path`."""
        return FileEntry(
            path=path, rows=self.rows, bytes=len(self.data), sha256=self.sha256, min_id=self.min_id, max_id=self.max_id
        )


def encode(rows: pa.Table, kind: Kind, payload: Mapping[str, str] | None = None) -> Encoded:
    """Sort `rows` and write them as one Parquet file of `kind`.

    The columns may come in any order and any type that casts losslessly; a missing one is a KeyError. Bytes depend on
    the rows and the versions of pyarrow and of the format only, not on how `rows` is chunked in memory.
    """
    schema = schema_of(kind, payload)
    table = _sorted(_plain(rows.select(schema.names)).cast(schema), SORTED_BY[kind])
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, **_options(schema, kind, table.num_rows)) as writer:
        writer.write_table(table, row_group_size=_rows_per_group(table))
        writer.add_key_value_metadata(FOOTER)
    data = memoryview(sink.getvalue()).cast("B")
    low, high = bounds(table.column(0))
    return Encoded(data=data, rows=table.num_rows, sha256=hashlib.sha256(data).hexdigest(), min_id=low, max_id=high)


def write(store: Store, path: str, rows: pa.Table, kind: Kind, payload: Mapping[str, str] | None = None) -> FileEntry:
    """Encode `rows` and store them at `path`."""
    encoded = encode(rows, kind, payload)
    store.write(path, encoded.data)
    return encoded.entry(path)


def read(
    store: Store,
    path: str,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    dictionaries: Sequence[str] = (),
) -> pa.Table:
    """Rows of one file, in its order. `filters` is an expression over `id` and `parent_id`.

    A whole file is fetched at once; with `columns` only the parts that are needed. `dictionaries` names columns that
    stay as they are stored, which saves most of reading those with few values.
    """
    with readable(store, path):
        if columns is None:
            table = parquet_file(pa.BufferReader(store.read(path))).read(use_threads=False)
        else:
            with store.open(path) as file:
                table = _some_columns(parquet_file(file, dictionaries), columns, filtered=filters is not None)
        table = table if filters is None else table.filter(filters)
        return _plain(table if columns is None else table.select(list(columns)))


@contextmanager
def readable(store: Store, path: str) -> Iterator[None]:
    """Around reading one of the table's Parquet files: what goes wrong comes out as an error of the job.

    TableStateError for a file that is missing or damaged, StorageError for one that the system cannot read.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise TableStateError(f"{store.child(path)}: the table names this file but it is missing") from error
    except OSError as error:
        if error.errno is not None:
            reason = error.strerror or str(error)
            raise StorageError(f"cannot be read: {reason}", address=store.child(path)) from error
        # (Arrow's own: the file ends early, or its parts are not what they should be)
        raise TableStateError(f"{store.child(path)}: not a readable Parquet file: {error}") from error
    except pa.ArrowException as error:
        raise TableStateError(f"{store.child(path)}: not a readable Parquet file: {error}") from error


def rows_at(table: pa.Table, rows: npt.NDArray[Any]) -> pa.Table:
    """The rows of `table` at the given positions, in that order. Long runs of neighbours are not copied."""
    starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    if len(starts) * SHORTEST_RUN > len(rows):
        return table.combine_chunks().take(pa.array(rows))
    lengths = np.diff(starts, append=len(rows))
    runs = [table.slice(first, length) for first, length in zip(rows[starts].tolist(), lengths.tolist(), strict=True)]
    return pa.concat_tables([table.slice(0, 0), *runs])


def in_order(table: pa.Table, rows: npt.NDArray[Any], kind: Kind) -> pa.Table:
    """The rows of `table` at the given positions, as a file of `kind` has them: sorted. They are copied once."""
    keys = SORTED_BY[kind]
    return rows_at(table, rows[_order(table.select(keys).take(pa.array(rows)))])


def parquet_file(source: Any, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    """A file to read in this thread alone.

    What Arrow's own threads hold of a Python object they may let go of after the interpreter has ended, which aborts
    the process. So nothing is read ahead here, and callers read with `use_threads=False`, which costs less CPU too.
    """
    return pq.ParquetFile(source, pre_buffer=False, read_dictionary=list(dictionaries))


def _some_columns(file: pq.ParquetFile, columns: Sequence[str], *, filtered: bool) -> pa.Table:
    wanted = set(columns)
    if filtered:
        wanted |= {"id", "parent_id"}
    return file.read(columns=[name for name in file.schema_arrow.names if name in wanted], use_threads=False)


def _plain(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata(None)


def _options(schema: pa.Schema, kind: Kind, rows: int) -> dict[str, Any]:
    leaves = [f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name for field in schema]
    options: dict[str, Any] = {
        "compression": "zstd",
        "use_dictionary": [leaf for leaf in leaves if leaf not in _HIGH_CARDINALITY],
        "write_statistics": list(IDS[kind]),
        "write_page_index": True,
        "store_schema": False,
        "sorting_columns": pq.SortingColumn.from_ordering(schema, [(name, "ascending") for name in SORTED_BY[kind]]),
    }
    if kind == "chunks" and rows and _can_write_bloom_filters():
        options["bloom_filter_options"] = {"id": {"ndv": min(rows, ROWS_PER_GROUP), "fpp": 0.01}}
    return options


def _can_write_bloom_filters() -> bool:
    return "bloom_filter_options" in inspect.signature(pq.write_table).parameters


def _sorted(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    table = table.combine_chunks()
    if _is_sorted(table, keys):  # as a first run makes all it writes
        return table
    return rows_at(table, _order(table.select(keys))).combine_chunks()


def _order(keys: pa.Table) -> npt.NDArray[Any]:
    """The positions of rows in the order of all their columns."""
    names = [(name, "ascending") for name in keys.column_names]
    order: npt.NDArray[Any] = pc.sort_indices(keys, sort_keys=names).to_numpy()
    return order


def _is_sorted(table: pa.Table, keys: Sequence[str]) -> bool:
    """Whether it is certain that every row belongs after the one before; a null is not."""
    before, after = table.slice(0, max(table.num_rows - 1, 0)), table.slice(1)
    sorted_: Any = True
    for key in reversed(keys):
        equal = pc.and_(pc.equal(before[key], after[key]), sorted_)
        sorted_ = pc.or_(pc.less(before[key], after[key]), equal)
    return bool(pc.all(pc.fill_null(sorted_, False)).as_py())


def _rows_per_group(table: pa.Table) -> int:
    rows: int = table.num_rows
    size: int = table.nbytes
    return ROWS_PER_GROUP if size <= BYTES_PER_GROUP else max(1, min(ROWS_PER_GROUP, rows * BYTES_PER_GROUP // size))


def bounds(ids: Any) -> tuple[str | None, str | None]:
    """The smallest and the largest id of a file, as its entry has them."""
    found: Any = pc.min_max(ids).as_py()
    low, high = found["min"], found["max"]
    if low is None or max(len(low), len(high)) > LONGEST_BOUND:
        return None, None
    return low, high

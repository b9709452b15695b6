"""Files against what the commit says of them: there, as long, as many rows, the same bytes, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.operations.verifying.problems import Problem
from pipelines.storage.store import Store
from pipelines.table import layout
from pipelines.table.publish import in_parallel
from pipelines.table.records import FileEntry, Snapshot
from pipelines.table.schemas import SORTED_BY, schema_of
from pipelines.table.shards import bounds, parquet_file


def check_presence(store: Store, snapshot: Snapshot) -> Iterator[Problem]:
    """Every file of the commit is there with its size, and nothing else lies in the run's folder of chunks.

    A glob over that folder must be the whole corpus.
    """
    entries = list(snapshot.files())
    for entry, size in zip(entries, in_parallel(lambda entry: _size(store, entry), entries), strict=True):
        if size is None:
            yield Problem(entry.path, "is missing")
        elif size != entry.bytes:
            yield Problem(entry.path, f"has {size} bytes instead of {entry.bytes}")
    named = {entry.path for entry in entries}
    for page in store.list(layout.published_chunks(snapshot.run_id)):
        for path in page.paths:
            if path not in named:
                yield Problem(path, "no commit names it, and readers of the folder read it")


def read_checked(
    store: Store, entry: FileEntry, kind: layout.Kind, payload: Mapping[str, str], problems: list[Problem]
) -> pa.Table | None:
    """The rows of a file; what is wrong with it is added to `problems`. None when it cannot be read."""
    try:
        data = store.read(entry.path)
    except FileNotFoundError:
        problems.append(Problem(entry.path, "is missing"))
        return None
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        problems.append(Problem(entry.path, "is not what was committed; checksum differs"))
    try:
        table = parquet_file(pa.BufferReader(data)).read(use_threads=False).replace_schema_metadata(None)
        table.validate(full=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        problems.append(Problem(entry.path, f"is not a readable Parquet file: {str(error).splitlines()[0]}"))
        return None
    problems += [Problem(entry.path, what) for what in _shape(table, entry, kind, payload)]
    return table if table.schema.equals(schema_of(kind, payload)) else None


def _shape(table: pa.Table, entry: FileEntry, kind: layout.Kind, payload: Mapping[str, str]) -> Iterator[str]:
    schema = schema_of(kind, payload)
    if not table.schema.equals(schema):
        differing = {str(field) for field in table.schema} ^ {str(field) for field in schema}
        yield f"has other columns than the commit says: {', '.join(sorted(differing)) or 'another order'}"
        return
    if table.num_rows != entry.rows:
        yield f"has {table.num_rows} rows instead of {entry.rows}"
    if bounds(table.column(0)) != (entry.min_id, entry.max_id):
        yield f"its ids do not go from {entry.min_id!r} to {entry.max_id!r}"
    row = first_disorder(table, SORTED_BY[kind])
    if row is not None:
        yield f"is not sorted by {', '.join(SORTED_BY[kind])}: row {row} belongs before the one above it"


def first_disorder(table: pa.Table, keys: Sequence[str]) -> int | None:
    """The first row (from 0) that should stand before the one above it; nulls come last."""
    if table.num_rows < 2:
        return None
    before: Any = pa.repeat(pa.scalar(False), table.num_rows - 1)
    equal: Any = pa.repeat(pa.scalar(True), table.num_rows - 1)
    for key in keys:
        column = table[key].combine_chunks()
        missing = pc.is_null(column).cast(pa.int8())
        filled = pc.fill_null(column, "" if pa.types.is_string(column.type) else 0)
        for values in (missing, filled):
            above, below = values.slice(0, len(values) - 1), values.slice(1)
            before = pc.or_(before, pc.and_(equal, pc.less(below, above)))
            equal = pc.and_(equal, pc.equal(below, above))
    row = pc.index(before, True).as_py()
    return None if row < 0 else row + 1


def _size(store: Store, entry: FileEntry) -> int | None:
    found = store.stat(entry.path)
    return None if found is None else found.size

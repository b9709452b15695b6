"""Columns of every kind of file in a table, in Arrow's terms and in Delta's.

Columns and types depend on the configuration alone, never on the data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from pipelines.errors import TableStateError
from pipelines.table.layout import Kind

FORMAT = 1
"""Version of the table's format: what every commit is written in."""

READABLE = (0, 1)
"""Formats that are read. Format 0 was the same layout before it was promised; the next commit makes such a table 1."""

PAYLOAD_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "binary": pa.binary(),
}
"""What a payload column can be declared as."""

_STRINGS: Any = pa.list_(pa.field("element", pa.string()))


def _columns(**types: Any) -> pa.Schema:
    return pa.schema([pa.field(name, type_) for name, type_ in types.items()])


CHUNKS = _columns(
    id=pa.string(),
    parent_id=pa.string(),
    chunk_index=pa.int32(),
    chunk_count=pa.int32(),
    text=pa.string(),
    context=pa.string(),
    start_index=pa.int64(),
    end_index=pa.int64(),
    headings=_STRINGS,
    title=pa.string(),
    token_count=pa.int32(),
    strategy=pa.string(),
    cut=pa.string(),
    overlap=pa.int32(),
    section_id=pa.string(),
    content_hash=pa.string(),
    row_hash=pa.string(),
    document_hash=pa.string(),
    source_uri=pa.string(),
    metadata=pa.string(),
)
"""Chunks without payload columns. Offsets are code points into the document; hashes are hexadecimal SHA-256."""

DOCUMENTS = _columns(
    id=pa.string(),
    uri=pa.string(),
    source=pa.string(),
    path=pa.string(),
    validator=pa.string(),
    size=pa.int64(),
    modified=pa.timestamp("us", tz="UTC"),
    encoding=pa.string(),
    confidence=pa.float32(),
    hash=pa.string(),
    fingerprint=pa.string(),
    strategy=pa.string(),
    chunk_count=pa.int32(),
    chunk_hashes=pa.binary(),
    status=pa.string(),
    error=pa.string(),
    fail_streak=pa.int32(),
    kind=pa.string(),
    key=pa.string(),
    position=pa.int64(),
)
"""One state a document, and one a container, whose id is its key and which has no chunk.

`chunk_hashes` has 64 bytes a chunk, in order: the content digest, then the row digest. `kind` is file, container or
record; `key` is that of the object, see keys.py, `position` the number of a record in its container, from 0. What was
listed of an object (validator, size, modified) is in its own row: records leave it null.
"""

CHANGES = _columns(
    id=pa.string(),
    parent_id=pa.string(),
    chunk_index=pa.int32(),
    change=pa.string(),
    reason=pa.string(),
    moved_from=pa.string(),
    content_hash=pa.string(),
)
"""What one run changed: `change` is added, changed, moved or deleted."""

FAILURES = _columns(
    id=pa.string(),
    uri=pa.string(),
    position=pa.string(),
    stage=pa.string(),
    error=pa.string(),
    message=pa.string(),
    fail_streak=pa.int32(),
    kept_chunks=pa.int32(),
)
"""Documents and records that could not be chunked in one run, and why."""

RENAMES = _columns(
    old_id=pa.string(),
    new_id=pa.string(),
    old_uri=pa.string(),
    new_uri=pa.string(),
    hash=pa.string(),
    chunk_count=pa.int32(),
)
"""Documents that vanished under one id and came, byte for byte and chunk for chunk, under another in one commit."""

SORTED_BY: Mapping[Kind, tuple[str, ...]] = {
    "chunks": ("parent_id", "chunk_index"),
    "documents": ("id",),
    "changes": ("parent_id", "chunk_index"),
    "failures": ("id", "position"),
    "renames": ("old_id",),
}
"""The order of rows in a file of each kind; strings by code point."""

IDS: Mapping[Kind, tuple[str, ...]] = {
    "chunks": ("id", "parent_id"),
    "documents": ("id",),
    "changes": ("id", "parent_id"),
    "failures": ("id",),
    "renames": ("old_id", "new_id"),
}
"""The columns worth statistics: the ones that lookups filter by."""

_FIXED: Mapping[Kind, pa.Schema] = {
    "documents": DOCUMENTS,
    "changes": CHANGES,
    "failures": FAILURES,
    "renames": RENAMES,
}


def check_format(found: object, where: str) -> None:
    """TableStateError for a format that cannot be read; `where` names what says so."""
    if found in READABLE and type(found) is int:
        return
    newer = isinstance(found, int) and found > FORMAT
    what = "which a newer rechunk wrote; use that one" if newer else "which no rechunk has written"
    raise TableStateError(
        f"{where}: the table has format {found}, {what}. This rechunk reads formats "
        f"{' and '.join(map(str, READABLE))}; nothing was changed"
    )


def schema_of(kind: Kind, payload: Mapping[str, str] | None = None) -> pa.Schema:
    """The columns of a kind of file; `payload` (name → declared type, in order) follows those of chunks."""
    return chunks_schema(payload or {}) if kind == "chunks" else _FIXED[kind]


def chunks_schema(payload: Mapping[str, str]) -> pa.Schema:
    """The columns of a chunk. ValueError for a payload column of a bad type or a name already taken.

    Names must be unique regardless of case: Delta and Spark compare them so.
    """
    taken = {name.lower(): f"the table's own column {name!r}" for name in [*CHUNKS.names, "embedding"]}
    fields = list(CHUNKS)
    for name, type_name in payload.items():
        if type_name not in PAYLOAD_TYPES:
            raise ValueError(f"payload column {name!r} is {type_name!r}; allowed: {', '.join(PAYLOAD_TYPES)}")
        if name.lower() in taken:
            raise ValueError(f"payload column {name!r} collides with {taken[name.lower()]}")
        taken[name.lower()] = f"payload column {name!r}"
        fields.append(pa.field(name, PAYLOAD_TYPES[type_name]))
    return pa.schema(fields)


def delta_schema(schema: pa.Schema) -> str:
    """The schema as Delta's `schemaString`, every column nullable."""
    fields = [
        {"name": field.name, "type": _delta_type(field.type), "nullable": True, "metadata": {}} for field in schema
    ]
    return json.dumps({"type": "struct", "fields": fields})


_DELTA: Mapping[pa.DataType, str] = {
    pa.string(): "string",
    pa.int32(): "integer",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us", tz="UTC"): "timestamp",
    pa.binary(): "binary",
}


def _delta_type(type_: pa.DataType) -> object:
    if pa.types.is_list(type_):
        return {"type": "array", "elementType": _delta_type(type_.value_type), "containsNull": True}
    return _DELTA[type_]

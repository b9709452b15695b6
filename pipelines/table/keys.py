"""Sort keys: where a document state belongs in the table. Shards own ranges of them.

A file's key is its id. The key of a container (one object, many records) is `id_prefix` + path, a NUL and a short
digest of its source's path, because two sources may both have a `data.jsonl`; its records follow it in their order. No
path holds a NUL, so nothing else sorts between a container and its last record.
"""

from __future__ import annotations

from hashlib import sha256

import pyarrow as pa
import pyarrow.compute as pc

FILE, CONTAINER, RECORD = "file", "container", "record"
"""What a document state stands for (its `kind`): an object that is one document, an object of many, one of the many."""

DIGITS = 16
"""Digits of a record's position in its sort key."""


def container_key(id_prefix: str, path: str, source_path: str) -> str:
    """The key, and the id, of the container at `path` of the source that is configured as `source_path`."""
    return f"{id_prefix}{path}{source_suffix(source_path)}"


def name_of(key: str) -> str:
    """The `id_prefix` + path that a container's key begins with."""
    return key.partition("\0")[0]


def source_suffix(source_path: str) -> str:
    """What the keys of all containers of a source end in."""
    return "\0" + sha256(source_path.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def sort_key(key: str, position: int | None) -> str:
    """The sort key of the record at `position` (0-based) of the container `key`; None: of `key` itself."""
    return key if position is None else f"{key}\0{position:0{DIGITS}d}"


def end_of(key: str) -> str:
    """The first sort key after the container `key` and all of its records."""
    return key + "\x01"


def sort_keys(states: pa.Table) -> pa.Array | pa.ChunkedArray:
    """The sort key of every row; `states` has the columns key and position of the documents table."""
    keys, positions = states["key"], states["position"]
    if positions.null_count == len(positions):
        return keys
    numbers = pc.utf8_lpad(positions.cast(pa.string()), DIGITS, "0")
    return pc.coalesce(pc.binary_join_element_wise(keys, numbers, "\0"), keys)

"""`commit.json`: the record of everything a commit names, and where our own readers start."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from pipelines.errors import TableStateError
from pipelines.storage.store import Store
from pipelines.table import log
from pipelines.table.layout import commit_file
from pipelines.table.log import Head
from pipelines.table.records import FileEntry, Shard, Snapshot, SourceCount
from pipelines.table.schemas import FORMAT, check_format

__all__ = ["FileEntry", "Shard", "Snapshot", "SourceCount", "dumps", "load", "load_head", "loads"]


def load(store: Store, version: int | None = None) -> Snapshot | None:
    """The table as of `version` (None: now), or None for a table without commits.

    A version that only logs another tool's harmless operation is the commit below it. TableStateError when the version
    does not exist, its files were collected, or the table is not as its log says.
    """
    if version is not None:
        numbers = log.version_numbers(store)
        if version not in numbers:
            known = f"versions {numbers[0]} to {numbers[-1]}" if numbers else "no version"
            raise TableStateError(f"{store.address}: there is no version {version}; the table has {known}")
    found = log.head_at(store, version)
    return None if found is None else load_head(store, found)


def load_head(store: Store, head: Head) -> Snapshot:
    """The snapshot that one commit of the log points to."""
    path = commit_file(head.run_id)
    try:
        data = store.read(path)
    except FileNotFoundError as error:
        raise TableStateError(_gone(store, head, path)) from error
    if hashlib.sha256(data).hexdigest() != head.checksum:
        raise TableStateError(f"{store.child(path)}: is not what version {head.version} committed; checksum differs")
    return replace(loads(data, store.child(path)), version=head.version)


def _gone(store: Store, head: Head, path: str) -> str:
    readable = (
        str(each.version) for each in log.versions(store) if each.run_id and store.exists(commit_file(each.run_id))
    )
    oldest = next(readable, None)
    rest = f"the oldest version still there is {oldest}" if oldest else "no version is left"
    return f"{store.child(path)}: version {head.version} was collected or lost; {rest}"


def dumps(snapshot: Snapshot) -> bytes:
    """The snapshot as `commit.json`. Its version is not in it: the log says that."""
    record = asdict(snapshot) | {"created": snapshot.created.isoformat()}
    del record["version"]
    return (json.dumps({"format": FORMAT, **record}, ensure_ascii=False, indent=1) + "\n").encode()


def loads(data: bytes, address: str) -> Snapshot:
    """The snapshot in a `commit.json`; `address` is for the errors."""
    try:
        record = json.loads(data)
        check_format(record.pop("format"), address)
        return _snapshot(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TableStateError(f"{address}: not a readable commit record: {error}") from error


def _snapshot(record: dict[str, Any]) -> Snapshot:
    for kind in ("changes", "failures", "renames"):
        record[kind] = tuple(FileEntry(**entry) for entry in record[kind])
    record["shards"] = tuple(_shard(**entry) for entry in record["shards"])
    record["sources"] = tuple(SourceCount(**entry) for entry in record["sources"])
    record["created"] = datetime.fromisoformat(record["created"])
    return Snapshot(**record)


def _shard(chunks: dict[str, Any], documents: dict[str, Any], **rest: Any) -> Shard:
    return Shard(chunks=FileEntry(**chunks), documents=FileEntry(**documents), **rest)

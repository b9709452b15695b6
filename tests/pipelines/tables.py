"""Listings and document states for tests of the pure decisions, with only the interesting values spelled out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from pipelines.planning import LISTING, PlanSource
from pipelines.table.schemas import DOCUMENTS

DAY = datetime(2024, 5, 1, tzinfo=UTC)


def everything(path: str) -> bool:
    return True


def source(
    path: str = "s3://docs",
    *,
    id_prefix: str = "",
    completed: bool = True,
    fingerprints: tuple[str, ...] = ("f0",),
    selects: Callable[[str], bool] = everything,
) -> PlanSource:
    return PlanSource(path=path, id_prefix=id_prefix, completed=completed, fingerprints=fingerprints, selects=selects)


def listed(
    path: str, *, source: int = 0, root: str = "s3://docs", size: int = 100, validator: str | None = "v1"
) -> dict[str, Any]:
    return {
        "source": source,
        "path": path,
        "uri": f"{root}/{path}",
        "size": size,
        "modified": DAY,
        "validator": validator,
        "kind": "file",
    }


def listing(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=LISTING)


def hashes(*chunks: str) -> bytes:
    """chunk_hashes of chunks written `content` or `content|row`."""
    parts = []
    for chunk in chunks:
        content, _, row = chunk.partition("|")
        parts += [hashlib.sha256(content.encode()).digest(), hashlib.sha256(f"row {row}".encode()).digest()]
    return b"".join(parts)


def content_hash(chunk: str) -> str:
    return hashlib.sha256(chunk.encode()).hexdigest()


def state(id_: str, *chunks: str, path: str | None = None, root: str = "s3://docs", **values: Any) -> dict[str, Any]:
    """One documents row: chunked if it has chunks, else empty, unless `values` say otherwise."""
    path = id_ if path is None else path
    row: dict[str, Any] = dict.fromkeys(DOCUMENTS.names)
    row |= {"id": id_, "uri": f"{root}/{path}", "source": root, "path": path, "validator": "v1", "size": 100}
    row |= {
        "kind": "file",
        "key": id_,
        "modified": DAY,
        "hash": f"bytes of {id_}",
        "fingerprint": "f0",
        "fail_streak": 0,
    }
    row |= {"status": "chunked" if chunks else "empty", "chunk_count": len(chunks), "chunk_hashes": hashes(*chunks)}
    return row | values


def states(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["id"]), schema=DOCUMENTS)


def first_rule(ids: Sequence[str]) -> list[int]:
    return [0] * len(ids)

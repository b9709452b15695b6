"""One shard's rows against its states, its range, and the hashes that the rows themselves give.

Nothing here shares code with what makes the rows: `row_hash` is computed as docs/outputs.md states it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.documents.formats.payload import json_form
from pipelines.operations.verifying.problems import Problem
from pipelines.table.keys import CONTAINER, sort_keys
from pipelines.table.records import Shard

HASHED = (
    "chunk_index",
    "context",
    "cut",
    "end_index",
    "headings",
    "id",
    "metadata",
    "overlap",
    "parent_id",
    "section_id",
    "source_uri",
    "start_index",
    "strategy",
    "title",
    "token_count",
)
"""The columns that `row_hash` is of, besides the payload."""

Payloads = Callable[[], Sequence[Sequence[str]]]
"""The payload columns of the table, newest first, each set as often as it came back."""

_ROWS_AT_ONCE = 1_000
_DIGEST = 32


class _Expected(NamedTuple):
    """What a state says of its rows."""

    chunks: int
    hashes: bytes
    document_hash: str
    uri: str
    strategy: str | None
    chunked: bool


def check_states(shard: Shard, states: pa.Table) -> Iterator[Problem]:
    """The states of one shard: in its range, each once, and true to their own status."""
    where = shard.documents.path
    keys = sort_keys(states)
    outside = pc.less(keys, shard.low)
    if shard.high is not None:
        outside = pc.or_(outside, pc.greater_equal(keys, shard.high))
    for id_ in states.filter(outside)["id"].to_pylist():
        yield Problem(where, f"{id_!r} is not in the shard's range of keys")
    columns = ("id", "kind", "status", "error", "chunk_count", "chunk_hashes", "key", "position")
    previous = None
    for id_, kind, status, error, count, hashes, key, position in zip(
        *(states[name].to_pylist() for name in columns), strict=True
    ):
        if id_ == previous:
            yield Problem(where, f"{id_!r} is there twice")
        previous = id_
        if count is None or len(hashes or b"") != 2 * _DIGEST * count:
            yield Problem(where, f"{id_!r} has {len(hashes or b'')} bytes of chunk hashes for {count} chunks")
        if (status == "failed") != (error is not None):
            yield Problem(where, f"{id_!r} is {status} and its error is {error!r}")
        if status not in ("chunked", "empty", "failed"):
            yield Problem(where, f"{id_!r} has the status {status!r}")
        elif (kind == CONTAINER and count) or (
            kind != CONTAINER and status != "failed" and (status == "empty") != (not count)
        ):
            yield Problem(where, f"{id_!r} is a {kind}, {status}, and has {count} chunks")
        if (position is None) != (kind != "record") or (kind != "record" and key != id_):
            yield Problem(where, f"{id_!r} is a {kind} with the key {key!r} and the position {position}")


def check_rows(
    shard: Shard, states: pa.Table, rows: pa.Table, payload: Sequence[str], ever: Payloads
) -> Iterator[Problem]:
    """The chunk rows of one shard, document by document."""
    where = shard.chunks.path
    expected = _expected(states)
    hasher = _RowHash(payload, ever)
    done: set[str] = set()
    document: _Document | None = None
    for batch in rows.to_batches(_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            if document is None or row["parent_id"] != document.id:
                if document is not None:
                    yield from (Problem(where, what) for what in document.end())
                document = _Document(row["parent_id"], expected.get(row["parent_id"]), hasher)
                if document.id in done:
                    yield Problem(where, f"the rows of {document.id!r} are in two places")
                done.add(document.id)
            yield from (Problem(where, what) for what in document.row(row))
    if document is not None:
        yield from (Problem(where, what) for what in document.end())
    for id_ in expected:
        if id_ not in done:
            yield Problem(where, f"has no row of {id_!r}, which has {expected[id_].chunks} chunks")


def _expected(states: pa.Table) -> dict[str, _Expected]:
    chosen = states.filter(pc.greater(states["chunk_count"], 0))
    names = ("id", "chunk_count", "chunk_hashes", "hash", "uri", "strategy", "status")
    return {
        id_: _Expected(count, hashes or b"", hashed, uri, strategy, status == "chunked")
        for id_, count, hashes, hashed, uri, strategy, status in zip(
            *(chosen[name].to_pylist() for name in names), strict=True
        )
    }


class _Document:
    """The rows of one document, in their order."""

    def __init__(self, id_: str, expected: _Expected | None, hasher: _RowHash) -> None:
        self.id = id_
        self._expected = expected
        self._hasher = hasher
        self._rows = 0
        self._start = 0
        self._hashes: list[str] = []

    def row(self, row: dict[str, Any]) -> Iterator[str]:
        """What is wrong with the next row."""
        id_ = row["id"]
        if row["chunk_index"] != self._rows or id_ != f"{self.id}#{self._rows}":
            yield f"chunk {id_!r}, number {row['chunk_index']}, stands where number {self._rows} should be"
        self._rows += 1
        yield from self._offsets(row)
        if row["text"] is None or row["context"] is None:
            yield f"chunk {id_!r} has no text"
        elif sha256((row["context"] + row["text"]).encode()).hexdigest() != row["content_hash"]:
            yield f"chunk {id_!r}: its content_hash is not that of its context and text"
        if not self._hasher.matches(row):
            yield f"chunk {id_!r}: its row_hash is not that of its columns"
        self._hashes.append(f"{row['content_hash']}{row['row_hash']}")
        of = self._expected
        if of is None:
            return
        if row["chunk_count"] != of.chunks:
            yield f"chunk {id_!r}: its chunk_count is {row['chunk_count']}; the document has {of.chunks}"
        if row["document_hash"] != of.document_hash:
            yield f"chunk {id_!r}: its document_hash is not that of the document's state"
        if of.chunked and (row["source_uri"], row["strategy"]) != (of.uri, of.strategy):
            yield f"chunk {id_!r} comes from {row['source_uri']!r} by {row['strategy']!r}; the state says otherwise"

    def _offsets(self, row: dict[str, Any]) -> Iterator[str]:
        start, end = row["start_index"], row["end_index"]
        if (start is None) != (end is None) or (start is not None and not 0 <= start <= end):
            yield f"chunk {row['id']!r} goes from {start} to {end}"
        elif start is not None:
            if start < self._start:
                yield f"chunk {row['id']!r} starts at {start}, before the chunk above it"
            self._start = start

    def end(self) -> Iterator[str]:
        """What is wrong with all of them together."""
        if self._expected is None:
            yield f"has {self._rows} rows of {self.id!r}, which has no chunks by its state"
        elif self._rows != self._expected.chunks:
            yield f"has {self._rows} rows of {self.id!r} instead of {self._expected.chunks}"
        elif "".join(self._hashes) != self._expected.hashes.hex():
            yield f"the rows of {self.id!r} have other hashes than the document's state"


class _RowHash:
    """Recomputes `row_hash`.

    Rows that were kept while columns came or went (of documents that failed, or that no source takes any more) have
    the hash that they were made with: over the payload columns of then. What was in a dropped column is not known.
    """

    def __init__(self, payload: Sequence[str], ever: Payloads) -> None:
        self._payload = payload
        self._ever = ever

    def matches(self, row: dict[str, Any]) -> bool:
        if _row_hash(row, self._payload) == row["row_hash"]:
            return True
        ever = self._ever()
        if any(_row_hash(row, columns) == row["row_hash"] for columns in ever if set(columns) <= set(self._payload)):
            return True
        return any(set(before) - set(after) for after, before in pairwise(ever))


def _row_hash(row: dict[str, Any], payload: Sequence[str]) -> str:
    columns = {name: row[name] for name in HASHED} | {name: json_form(row[name]) for name in payload}
    text = json.dumps(columns, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()

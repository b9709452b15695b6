"""The records of a table: a file, a shard, a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One Parquet file. `path` is relative to the table.

    `min_id` and `max_id` are the exact smallest and largest id in it, by code point; both None when the file has no
    rows, or an id too long to repeat in the log.
    """

    path: str
    rows: int
    bytes: int
    sha256: str
    min_id: str | None = None
    max_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Everything of the documents whose key is in `low <= key < high` (`high` None: no end).

    `input_bytes` is the size of their objects. `documents` holds one state a document, and may lie in an older run's
    folder when nothing in the shard changed since.
    """

    low: str
    high: str | None
    input_bytes: int
    chunks: FileEntry
    documents: FileEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCount:
    """How many documents of the snapshot came from one configured source."""

    path: str
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The whole table as of one commit.

    `shards` are sorted by `low` and own every key once. `changes`, `failures` and `renames` are the run's own.
    `payload` names the payload columns and their types, in column order. `config` says what the run was configured as
    (name, fingerprints); `stats` is a small free-form summary. `parent_version` is the version it was computed from,
    None for a table's first. `version` is known once committed.
    """

    run_id: str
    parent_version: int | None
    created: datetime
    shards: tuple[Shard, ...]
    changes: tuple[FileEntry, ...] = ()
    failures: tuple[FileEntry, ...] = ()
    renames: tuple[FileEntry, ...] = ()
    sources: tuple[SourceCount, ...] = ()
    payload: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    stats: Mapping[str, Any] = field(default_factory=dict)
    version: int | None = None

    def __post_init__(self) -> None:
        lows: list[str | None] = [shard.low for shard in self.shards]
        highs = [shard.high for shard in self.shards]
        if not self.shards or lows[0] != "" or highs != [*lows[1:], None]:
            raise ValueError(f"shards must own every key once, in order; they start at {lows} and end at {highs}")

    def files(self) -> Iterator[FileEntry]:
        """Every file of the snapshot, of every kind."""
        for shard in self.shards:
            yield shard.chunks
            yield shard.documents
        yield from self.changes
        yield from self.failures
        yield from self.renames

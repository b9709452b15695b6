"""What planning takes and gives: plain records around Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import pyarrow as pa
import pyarrow.compute as pc

LISTING = pa.schema(
    [
        ("source", pa.int32()),
        ("path", pa.string()),
        ("uri", pa.string()),
        ("size", pa.int64()),
        ("modified", pa.timestamp("us", "UTC")),
        ("validator", pa.string()),
        ("kind", pa.string()),
    ]
)
"""One row per object that a source's globs select, any order. `source` indexes the configured sources, `path` is
relative to the source's root, `validator` is null where size and time cannot be trusted yet. `kind`: file, or container
for an object of many records."""

STATES = pa.schema(
    [
        ("id", pa.string()),
        ("uri", pa.string()),
        ("source", pa.string()),
        ("path", pa.string()),
        ("validator", pa.string()),
        ("size", pa.int64()),
        ("modified", pa.timestamp("us", "UTC")),
        ("fingerprint", pa.string()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("kind", pa.string()),
    ]
)
STATE_COLUMNS: tuple[str, ...] = tuple(STATES.names)
"""The columns of the documents table that planning reads; the rest (chunk hashes above all) may stay unread.
Planning takes files and containers; their records are in HELD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSlice:
    """The states of all ids below `high` (None: of all) that are in no slice before.

    `rows` has STATE_COLUMNS, of which those with few values may be dictionary-encoded.
    """

    high: str | None
    rows: pa.Table


HELD = pa.schema(
    [
        ("key", pa.string()),
        ("shard", pa.int32()),
        ("records", pa.int64()),
        ("failed", pa.int64()),
        ("retry", pa.bool_()),
    ]
)
"""The records of the last commit, counted by container and shard. `retry`: one of them failed as may heal by itself."""

CONTESTED = pa.schema([("uri", pa.string()), ("key", pa.string())])
"""Objects (`uri`) with a record whose id another object had, and the `key` of that object: if that one changes, the
record may have its id now."""

PLAN_DOCUMENTS = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.int32()),
        ("path", pa.string()),
        ("uri", pa.string()),
        ("size", pa.int64()),
        ("modified", pa.timestamp("us", "UTC")),
        ("validator", pa.string()),
        ("rule", pa.int32()),
        ("fingerprint", pa.string()),
        ("action", pa.string()),
        ("reason", pa.string()),
        ("kind", pa.string()),
        ("part", pa.int32()),
        ("parts", pa.int32()),
        ("start", pa.int64()),
        ("stop", pa.int64()),
        ("first", pa.int64()),
    ]
)
"""One row per file and per part of a container, sorted by sort key (table/keys.py: code points). An object that no
source lists has its old state's values, `source` -1 and `rule` -1. `rule` indexes the configuration's rules, the
default last. `id` is a file's id, a container's key.

A container that is read has a row for each of its `parts`: bytes (JSON Lines) or rows (Parquet) from `start` up to
`stop`, whose first record is number `first`; both null: all of it. One that is kept has a row for each shard that holds
something of it. `size` is always that of the whole object.
"""

DUPLICATES = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.int32()),
        ("path", pa.string()),
        ("uri", pa.string()),
        ("kept_uri", pa.string()),
    ]
)
"""Objects that would make a document id that another object, `kept_uri`, already makes. They leave no chunk."""

Action = Literal["keep", "read", "vanish"]
KEEP_REASONS = ("unchanged", "failed", "unreachable", "unlisted", "out_of_scope", "unreplaced")
READ_REASONS = ("new", "retry", "changed", "rule", "untrusted", "full")
VANISH_REASONS = ("removed", "rekeyed", "out_of_scope")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Part of a container that can be read by itself: bytes or rows `start` up to `stop`.

    `first` numbers its first record in the whole container, from 0; `bytes` is its share of the input.
    """

    start: int
    stop: int
    first: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What to do with every object, before any shard is laid out: PLAN_DOCUMENTS with one row an object, by id.

    Columns with few values may be dictionary-encoded.
    """

    documents: pa.Table
    duplicates: pa.Table

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Objects by action and reason."""
        counts: dict[str, dict[str, int]] = {"keep": {}, "read": {}, "vanish": {}}
        grouped = self.documents.group_by(["action", "reason"], use_threads=False).aggregate([([], "count_all")])
        for row in sorted(grouped.to_pylist(), key=lambda row: (row["action"], row["reason"])):
            counts[row["action"]][row["reason"]] = row["count_all"]
        return counts


class ShardRange(Protocol):
    """A shard of the last commit, as far as planning cares. Owns the keys `low <= key < high`; high None: no end."""

    @property
    def low(self) -> str: ...
    @property
    def high(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSource:
    """A configured source and how its listing went.

    `path` is the source's path as the documents table stores it; `fingerprints` has one entry per rule, the default
    last. `selects` says whether the globs take a path. `completed` is False when the listing broke off or never
    began: what it does not show is then unknown, not gone.
    """

    path: str
    id_prefix: str = ""
    completed: bool = True
    fingerprints: tuple[str, ...]
    selects: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One shard to write. Owns the keys `low <= key < high` and the rows `start:stop` of the plan's documents.

    `old_shards` are the shards of the last commit that overlap these keys; `input_bytes` is the size
    of its documents, those that vanish left out; `reads` counts the ones to read.
    """

    index: int
    region: int
    low: str
    high: str | None
    start: int
    stop: int
    old_shards: tuple[int, ...]
    input_bytes: int
    reads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Old shards and the tasks that replace them: together they own one range of keys."""

    index: int
    low: str
    high: str | None
    old_shards: tuple[int, ...]
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run will do. Deterministic: the same listing, states and configuration give an equal plan.

    Tasks and `untouched` (indexes of old shards to take as they are) own every key once. `layout` names both in key
    order. `counts` is objects by action and reason.
    """

    documents: pa.Table
    duplicates: pa.Table
    tasks: tuple[Task, ...]
    untouched: tuple[int, ...]
    regions: tuple[Region, ...]
    layout: tuple[tuple[Literal["task", "shard"], int], ...]
    counts: Mapping[str, Mapping[str, int]]

    @property
    def nothing_to_do(self) -> bool:
        """Whether no document is to be read or to vanish. A first run always has something to do."""
        return not self.tasks

    def task_documents(self, task: Task) -> pa.Table:
        """The task's rows of `documents`, as PLAN_DOCUMENTS."""
        return self.documents.slice(task.start, task.stop - task.start).cast(PLAN_DOCUMENTS)

    def vanishing(self) -> dict[str, str]:
        """Why each document that no longer exists is to vanish, by id. The guard may still withhold it."""
        rows = self.documents.filter(pc.equal(self.documents["action"], "vanish"))
        return dict(zip(rows["id"].to_pylist(), rows["reason"].to_pylist(), strict=True))


class Strings(Sequence[str]):
    """Arrow strings as a sequence, without making Python strings of those that nobody looks at."""

    def __init__(self, values: pa.Array | pa.ChunkedArray) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._values[index].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values.to_pylist())


Route = Callable[[Sequence[str]], Sequence[int]]
"""Document ids to the indexes of the rules that apply to them."""

"""What one task hands back: a small record, stored as the task's marker and passed through the graph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pipelines.table.records import FileEntry


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counts of one or more tasks; they add up.

    `documents` counts the documents read by source and outcome (`source\\toutcome`: chunked, empty, unchanged, failed);
    `bytes_read` their bytes by source. `drops` counts characters by kind. `cuts`, `characters` and `tokens` are
    those of new rows; without a tokenizer there are no tokens.
    """

    documents: Counter[str] = field(default_factory=Counter)
    bytes_read: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    strategies: Counter[str] = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)
    drops: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    encodings: Counter[str] = field(default_factory=Counter)
    new_rows: int = 0
    carried_rows: int = 0
    characters: int = 0
    tokens: int = 0

    def document(self, source: str, outcome: str, number: int) -> None:
        """So many more documents of `source` that were read."""
        self.documents[f"{source}\t{outcome}"] += number

    def by_source(self) -> dict[str, dict[str, int]]:
        """`documents` as {source: {outcome: n}}."""
        nested: dict[str, dict[str, int]] = {}
        for key, number in self.documents.items():
            source, _, outcome = key.rpartition("\t")
            nested.setdefault(source, {})[outcome] = number
        return nested

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        counters = {name: dict(sorted(getattr(self, name).items())) for name in _COUNTERS}
        return counters | {name: getattr(self, name) for name in _NUMBERS}

    @staticmethod
    def total(parts: Iterable[Counts]) -> Counts:
        """The sum of `parts`."""
        whole = Counts()
        for part in parts:
            for name in _COUNTERS:
                getattr(whole, name).update(getattr(part, name))
            for name in _NUMBERS:
                setattr(whole, name, getattr(whole, name) + getattr(part, name))
        return whole


_COUNTERS = ("documents", "bytes_read", "failures", "strategies", "cuts", "drops", "notes", "encodings")
_NUMBERS = ("new_rows", "carried_rows", "characters", "tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """What became of one part of a container.

    `key` is the container's, `source` its source's path. `whole`: every record of the part is known by its id.
    `records` counts those that were read, good ones and ones that fail under their id; `bad` those without an id.
    `error` is the failure class of the part itself (it could not be read, or not to its end), None when there is none.
    """

    key: str
    source: str
    uri: str
    part: int
    parts: int
    whole: bool
    records: int
    bad: int
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What the winning attempt of a task wrote.

    `chunks` is the old shard's own file when `reused`. `withheld` holds the old rows of documents that would vanish, or
    that were not seen in their container, `failures` the failure rows; None when there are none. `containers` are the
    parts of containers that were read. `states_changed` counts documents of the range whose state differs from the last
    commit's, `rows_changed` says whether any row does.
    """

    index: int
    chunks: FileEntry
    documents: FileEntry
    failures: FileEntry | None
    withheld: FileEntry | None
    reused: bool
    counts: Counts
    containers: tuple[PartResult, ...] = ()
    states_changed: int = 0
    rows_changed: bool = True

    def to_json(self) -> bytes:
        """The task's marker."""
        files = ("chunks", "documents", "failures", "withheld")
        record: dict[str, Any] = {"index": self.index, "reused": self.reused, "counts": self.counts.as_dict()}
        record |= {"states_changed": self.states_changed, "rows_changed": self.rows_changed}
        record["containers"] = [asdict(part) for part in self.containers]
        for name in files:
            entry = getattr(self, name)
            record[name] = None if entry is None else asdict(entry)
        return json.dumps(record, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> TaskResult:
        """The result in a marker."""
        values = json.loads(data)
        counts = values["counts"]
        numbers: dict[str, Any] = {name: counts[name] for name in _NUMBERS}
        return cls(
            index=values["index"],
            chunks=FileEntry(**values["chunks"]),
            documents=FileEntry(**values["documents"]),
            failures=_entry(values["failures"]),
            withheld=_entry(values["withheld"]),
            reused=values["reused"],
            counts=Counts(**({name: Counter(counts[name]) for name in _COUNTERS} | numbers)),
            containers=tuple(PartResult(**part) for part in values["containers"]),
            states_changed=values["states_changed"],
            rows_changed=values["rows_changed"],
        )


def _entry(values: Mapping[str, Any] | None) -> FileEntry | None:
    return None if values is None else FileEntry(**values)

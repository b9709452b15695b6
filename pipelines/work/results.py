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
    `bytes_read` their bytes by source. `drops` counts characters by kind. `cuts` are those of new rows.
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
        return counters | {"new_rows": self.new_rows, "carried_rows": self.carried_rows}

    @staticmethod
    def total(parts: Iterable[Counts]) -> Counts:
        """The sum of `parts`."""
        whole = Counts()
        for part in parts:
            for name in _COUNTERS:
                getattr(whole, name).update(getattr(part, name))
            whole.new_rows += part.new_rows
            whole.carried_rows += part.carried_rows
        return whole


_COUNTERS = ("documents", "bytes_read", "failures", "strategies", "cuts", "drops", "notes", "encodings")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What the winning attempt of a task wrote.

    `chunks` is the old shard's own file when `reused`. `withheld` holds the old rows of documents that would vanish,
    `failures` the failure rows; None when there are none.
    """

    index: int
    chunks: FileEntry
    documents: FileEntry
    failures: FileEntry | None
    withheld: FileEntry | None
    reused: bool
    counts: Counts

    def to_json(self) -> bytes:
        """The task's marker."""
        files = ("chunks", "documents", "failures", "withheld")
        record: dict[str, Any] = {"index": self.index, "reused": self.reused, "counts": self.counts.as_dict()}
        for name in files:
            entry = getattr(self, name)
            record[name] = None if entry is None else asdict(entry)
        return json.dumps(record, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> TaskResult:
        """The result in a marker."""
        values = json.loads(data)
        counts = values["counts"]
        return cls(
            index=values["index"],
            chunks=FileEntry(**values["chunks"]),
            documents=FileEntry(**values["documents"]),
            failures=_entry(values["failures"]),
            withheld=_entry(values["withheld"]),
            reused=values["reused"],
            counts=Counts(
                **{name: Counter(counts[name]) for name in _COUNTERS},
                new_rows=counts["new_rows"],
                carried_rows=counts["carried_rows"],
            ),
        )


def _entry(values: Mapping[str, Any] | None) -> FileEntry | None:
    return None if values is None else FileEntry(**values)

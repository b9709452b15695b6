"""What the tasks of a run left behind, and where its decision writes: shared by all steps of deciding."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.storage.store import Store
from pipelines.table import layout, schemas, shards
from pipelines.table.keys import CONTAINER
from pipelines.table.records import FileEntry, Shard
from pipelines.work.job import Job
from pipelines.work.old_rows import OldShards
from pipelines.work.results import TaskResult
from pipelines.work.stored_plan import DECISIONS, StoredPlan, load_decisions

INCOMPLETE = "incomplete"
"""The failure class of a container that was read to its end, with records that have no id."""

UNLISTED = pa.array(["unreachable", "unreplaced", "unlisted", "out_of_scope"])
"""Why the plan keeps objects that are not listed."""

ROWS_PER_FILE = 100_000
"""Rows of `changes`, `failures` or `renames` held in memory before they are written."""


class Ledger:
    """The tasks' results in key order, with what they replace.

    `places` are positions in `results`. Nothing here holds the states of more than one task.
    """

    def __init__(self, job: Job, plan: StoredPlan, results: Sequence[TaskResult]) -> None:
        self.job = job
        self.plan = plan
        self.store: Store = job.table()
        self.results = sorted(results, key=lambda result: result.index)
        self.payload: Mapping[str, str] = dict(plan.payload)
        self._attempt = uuid.uuid4().hex

    def decisions(self, which: Callable[[pa.Table], Any]) -> pa.Table:
        """What the plan says of objects: id (a container's key), action, reason, kind, uri. Only rows that `which`
        picks are ever together in memory.
        """
        tables = load_decisions(self.store, self.job.run_id, self.plan)
        return pa.concat_tables([_NO_DECISIONS, *(table.filter(which(table)) for table in tables)])

    @cached_property
    def _not_listed(self) -> pa.Table:
        if not self.plan.old_shards:  # then whatever there is is listed
            return _NO_DECISIONS
        return self.decisions(
            lambda rows: pc.or_(pc.equal(rows["action"], "vanish"), pc.is_in(rows["reason"], value_set=UNLISTED))
        )

    @cached_property
    def vanished(self) -> dict[str, str]:
        """Why objects vanish, by key."""
        rows = self._not_listed.filter(pc.equal(self._not_listed["action"], "vanish"))
        return dict(zip(rows["id"].to_pylist(), rows["reason"].to_pylist(), strict=True))

    @cached_property
    def unlisted(self) -> pa.Array:
        """The keys of objects in the tasks' ranges that stay although no listing shows them."""
        return self._not_listed.filter(pc.equal(self._not_listed["action"], "keep"))["id"].combine_chunks()

    @cached_property
    def unread(self) -> dict[str, str]:
        """Containers of which some record is not known, and their addresses: what they do not show is not gone."""
        return {part.key: part.uri for result in self.results for part in result.containers if not part.whole}

    @cached_property
    def broken(self) -> dict[str, str]:
        """The failure classes of containers that are not known whole: the first part's that failed, or INCOMPLETE."""
        parts = [part for result in self.results for part in result.containers]
        return dict.fromkeys(self.unread, INCOMPLETE) | {
            part.key: part.error for part in reversed(parts) if part.error is not None
        }

    @cached_property
    def untouched(self) -> list[int]:
        """The old shards that no task replaces."""
        return [index for kind, index in self.plan.layout if kind == "shard"]

    def new_states(self, place: int, columns: Sequence[str] | None = None) -> pa.Table:
        """The states that a task wrote, in the order of the file."""
        return shards.read(self.store, self.results[place].documents.path, columns)

    def old(self, place: int) -> OldShards:
        """What the last commit has in the range of a task."""
        task = self.plan.tasks[self.results[place].index]
        shards_of_task = [self.plan.old_shards[i] for i in task.old_shards]
        return OldShards(self.store, shards_of_task, task.low, task.high, self.plan.payload)

    def old_shard(self, shard: int) -> OldShards:
        """All of an old shard, whoever replaces it."""
        found = self.plan.old_shards[shard]
        return OldShards(self.store, [found], found.low, found.high, self.plan.payload)

    def untouched_states(self, shard: int, columns: Sequence[str] | None = None) -> pa.Table:
        """The states of an old shard that no task replaces."""
        return shards.read(self.store, self.plan.old_shards[shard].documents.path, columns)

    def untouched_documents(self, shard: int) -> Mapping[str, int]:
        """How many documents such a shard has, by source: as planning counted them, or else it is read."""
        if self.plan.old_documents:
            return self.plan.old_documents[shard]
        return count(documents_only(self.untouched_states(shard, ["source", "kind"]))["source"])

    def untouched_chunked(self, shard: int) -> dict[str, int]:
        """How many documents with chunks such a shard has, by source."""
        states = documents_only(self.untouched_states(shard, ["source", "chunk_count", "kind"]))
        return count(states.filter(pc.greater(states["chunk_count"], 0))["source"])

    def reusable(self, place: int) -> Shard | None:
        """The one old shard that a task's would replace."""
        task = self.plan.tasks[self.results[place].index]
        return self.plan.old_shards[task.old_shards[0]] if self.plan.may_reuse(task) else None

    def put(self, rows: pa.Table, kind: layout.Kind) -> FileEntry:
        """Write rows where the run keeps what is not published yet. A dry run only counts most of them."""
        if self.job.scratch is not None and kind in ("chunks", "changes", "renames"):
            return FileEntry(path="", rows=rows.num_rows, bytes=0, sha256="")
        folder = f"{layout.attempts_folder(self.job.run_id)}/decide/{self._attempt}"
        return shards.write(self.store, f"{folder}/{kind}-{uuid.uuid4().hex}.parquet", rows, kind, self.payload)

    def name(self, entries: Sequence[FileEntry], kind: layout.Kind) -> tuple[FileEntry, ...]:
        """Give all files of one kind their final names."""
        if self.job.scratch is not None:
            return tuple(entries)
        named = []
        for index, entry in enumerate(entries):
            path = layout.final_file(self.job.run_id, kind, index, len(entries))
            self.store.link(entry.path, path)
            named.append(replace(entry, path=path))
        return tuple(named)


class Rows:
    """Rows of one kind on their way to files of bounded size."""

    def __init__(self, ledger: Ledger, kind: layout.Kind) -> None:
        self._ledger = ledger
        self._kind = kind
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._entries: list[FileEntry] = []

    def add(self, rows: pa.Table) -> None:
        """More rows, in order after those before."""
        if rows.num_rows:
            self._waiting.append(rows)
            self._rows += rows.num_rows
        if self._rows >= ROWS_PER_FILE:
            self._flush()

    def entries(self) -> tuple[FileEntry, ...]:
        """Every file under its final name; no file when there were no rows."""
        if self._rows:
            self._flush()
        return self._ledger.name(self._entries, self._kind)

    def _flush(self) -> None:
        self._entries.append(self._ledger.put(pa.concat_tables(self._waiting), self._kind))
        self._waiting, self._rows = [], 0


def documents_only(states: pa.Table) -> pa.Table:
    """The states without those of containers, which are no documents."""
    return states.filter(pc.not_equal(states["kind"], CONTAINER))


def count(values: pa.ChunkedArray) -> dict[str, int]:
    """How often each value is there."""
    return {each["values"]: each["counts"] for each in pc.value_counts(values).to_pylist()}


def failures_of(ledger: Ledger) -> Iterator[pa.Table]:
    """The failure rows that the tasks wrote."""
    for result in ledger.results:
        if result.failures is not None:
            yield shards.read(ledger.store, result.failures.path)


EMPTY_STATES = schemas.DOCUMENTS.empty_table()
_NO_DECISIONS = DECISIONS.empty_table()

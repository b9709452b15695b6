"""What a run may publish: its tasks' states against the last commit's, the guard's and the gates' verdicts.

The one place where old and new are compared. It goes over the tasks twice, one at a time, because the guard must know
all that would vanish before any change is final.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.gates import GateVerdict, verdict
from pipelines.guard import Verdict, documents_by_source, judge, unreplaced, would_vanish
from pipelines.reconcile import reconcile, settle, states_changed
from pipelines.storage.store import Store
from pipelines.table import layout, log, schemas, shards
from pipelines.table.records import FileEntry, Shard
from pipelines.work.job import Job
from pipelines.work.old_rows import OldShards, same_rows
from pipelines.work.results import Counts, TaskResult
from pipelines.work.standing_failures import last_failures, next_failures, same_duplicates
from pipelines.work.stored_plan import StoredPlan, load_decisions, load_duplicates

ROWS_PER_CHANGES_FILE = 100_000
"""Rows of `changes` held in memory before they are written."""

_SLIM = ["id", "uri", "source", "status", "chunk_count"]

Action = Literal["publish", "nothing", "gate", "race"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do with what the tasks wrote. `shards` is the whole next snapshot, files named where they lie now.

    `action`: publish; nothing (no row and no state changed, or only deletions that are withheld); gate (a hard gate
    failed); race (another run committed meanwhile).
    """

    action: Action
    shards: tuple[Shard, ...] = ()
    changes: tuple[FileEntry, ...] = ()
    failures: tuple[FileEntry, ...] = ()
    documents: Mapping[str, int] = field(default_factory=dict)
    by_change: Mapping[str, int] = field(default_factory=dict)
    by_reason: Mapping[str, int] = field(default_factory=dict)
    states_changed: int = 0
    failed: int = 0
    guard: Verdict = field(default_factory=lambda: Verdict(sources=(), total=0))
    gate: GateVerdict = field(default_factory=lambda: GateVerdict(level="pass"))
    counts: Counts = field(default_factory=Counts)


def decide(job: Job, plan: StoredPlan, results: Sequence[TaskResult]) -> Decision:
    """Compare, judge, and write `changes` and `failures`; nothing the table names is touched."""
    return _Deciding(job, plan, results).decision()


class _Deciding:
    def __init__(self, job: Job, plan: StoredPlan, results: Sequence[TaskResult]) -> None:
        self._job = job
        self._plan = plan
        self._store: Store = job.table()
        self._results = {result.index: result for result in results}
        self._counts = Counts.total(result.counts for result in results)
        self._attempt = uuid.uuid4().hex
        decisions = load_decisions(self._store, job.run_id)
        vanishing = decisions.filter(pc.equal(decisions["action"], "vanish"))
        self._vanished = dict(zip(vanishing["id"].to_pylist(), vanishing["reason"].to_pylist(), strict=True))
        self._read_ids = decisions.filter(pc.equal(decisions["action"], "read"))["id"].combine_chunks()
        self._duplicates = load_duplicates(self._store, job.run_id)

    def decision(self) -> Decision:
        head = log.head(self._store)
        if (None if head is None else head.version) != self._plan.base:
            return Decision(action="race", counts=self._counts)
        failed = self._counts.failures.total() + self._plan.known_failures + self._duplicates.num_rows
        gate = verdict(self._job.config.gates, failed=failed, documents=self._plan.listed)
        guard, kept = self._guard()
        outcome = Decision(action="gate", gate=gate, guard=guard, failed=failed, counts=self._counts)
        if gate.level == "hard":
            return outcome
        outcome = self._compare(outcome, kept)
        new_failures, old_failures = self._failures(kept)
        changed = (
            self._plan.base is None
            or sum(outcome.by_change.values()) > 0
            or outcome.states_changed > 0
            or not same_duplicates(old_failures, new_failures)
        )
        if not changed:
            return replace(outcome, action="nothing")
        return replace(outcome, action="publish", failures=self._put(new_failures, "failures"))

    def _failures(self, kept: frozenset[str]) -> tuple[pa.Table, pa.Table]:
        """The failure rows of the next snapshot and of the last one."""
        old = last_failures(self._store, self._plan.base)
        found = [shards.read(self._store, each.failures.path) for each in self._in_order() if each.failures is not None]
        gone = pa.array(sorted(set(self._vanished) - kept), pa.string())
        return next_failures(old, found, self._duplicates, self._read_ids, gone), old

    # the guard

    def _guard(self) -> tuple[Verdict, frozenset[str]]:
        """The verdict, and the documents whose old rows and states stay."""
        before, after = Counter[str](), Counter[str]()
        old_slim, new_slim = [schemas.DOCUMENTS.empty_table().select(_SLIM)], []
        for result in self._in_order():
            old_slim.append(self._old(result).slim(_SLIM))
            new_slim.append(shards.read(self._store, result.documents.path, columns=_SLIM))
        before.update(self._untouched_documents[1])
        after.update(self._untouched_documents[1])
        old = pa.concat_tables(old_slim)
        new = pa.concat_tables([schemas.DOCUMENTS.empty_table().select(_SLIM), *new_slim])
        before.update(documents_by_source(old))
        after.update(documents_by_source(new))
        vanishing = would_vanish(old, new, self._vanished)
        judged = judge(
            vanishing=vanishing,
            before=before,
            after=after,
            limits=self._job.config.guard,
            approved=self._job.approve_deletions,
        )
        return judged, judged.withheld_ids(vanishing) | unreplaced(old, new, self._vanished)

    @cached_property
    def _untouched_documents(self) -> tuple[dict[str, int], dict[str, int]]:
        """By source, the documents of the shards that stay as they are: all of them, and those with chunks."""
        states = pa.concat_tables(
            [
                schemas.DOCUMENTS.empty_table().select(["source", "chunk_count"]),
                *(
                    shards.read(self._store, self._plan.old_shards[index].documents.path, ["source", "chunk_count"])
                    for kind, index in self._plan.layout
                    if kind == "shard"
                ),
            ]
        )
        return _count(states["source"]), _count(states.filter(pc.greater(states["chunk_count"], 0))["source"])

    # the comparison

    def _compare(self, outcome: Decision, kept: frozenset[str]) -> Decision:
        """Final shards of every task, what changed in them, and the documents of the snapshot by source."""
        by_change, by_reason, sources = Counter[str](), Counter[str](), Counter[str]()
        changed_states = 0
        final: dict[int, Shard] = {}
        changes = _Parts(self, "changes")
        for result in self._in_order():
            task = self._plan.tasks[result.index]
            old = self._old(result)
            new_states = shards.read(self._store, result.documents.path)
            kept_here = kept.intersection(old.state_rows) if kept else frozenset()
            states = settle(old.states, new_states, kept_here) if kept_here else new_states
            found = reconcile(old.states, states, self._vanished)
            changes.add(found.table)
            by_change.update(found.by_change)
            by_reason.update(found.by_reason)
            differing = states_changed(old.states, states)
            changed_states += differing
            sources.update(_count(states["source"]))
            reusable = self._plan.old_shards[task.old_shards[0]] if self._plan.may_reuse(task) else None
            final[task.index] = Shard(
                low=task.low,
                high=task.high,
                input_bytes=task.input_bytes,
                chunks=reusable.chunks
                if reusable is not None and same_rows(old.states, states)
                else self._restored(result, kept_here),
                documents=reusable.documents
                if reusable is not None and differing == 0
                else (self._put_states(states) if kept_here else result.documents),
            )
        sources.update(self._untouched_documents[0])
        return replace(
            outcome,
            shards=tuple(
                final[index] if kind == "task" else self._plan.old_shards[index] for kind, index in self._plan.layout
            ),
            changes=changes.entries(),
            documents=dict(sorted(sources.items())),
            by_change=dict(by_change),
            by_reason=dict(by_reason),
            states_changed=changed_states,
        )

    def _restored(self, result: TaskResult, kept: frozenset[str]) -> FileEntry:
        """The task's chunk file, with the rows of documents that stay put back."""
        if not kept or result.withheld is None:
            return result.chunks
        withheld = shards.read(self._store, result.withheld.path)
        rows = withheld.filter(pc.is_in(withheld["parent_id"], value_set=pa.array(sorted(kept), pa.string())))
        if not rows.num_rows:
            return result.chunks
        return self.put(pa.concat_tables([shards.read(self._store, result.chunks.path), rows]), "chunks")

    def _put_states(self, states: pa.Table) -> FileEntry:
        return self.put(states, "documents")

    # plumbing

    def _in_order(self) -> Iterator[TaskResult]:
        for index in sorted(self._results):
            yield self._results[index]

    def _old(self, result: TaskResult) -> OldShards:
        task = self._plan.tasks[result.index]
        return OldShards(self._store, [self._plan.old_shards[i] for i in task.old_shards], task.low, task.high)

    def put(self, rows: pa.Table, kind: layout.Kind) -> FileEntry:
        """Write rows where the run keeps what is not published yet."""
        folder = f"{layout.attempts_folder(self._job.run_id)}/decide/{self._attempt}"
        return shards.write(self._store, f"{folder}/{kind}-{uuid.uuid4().hex}.parquet", rows, kind)

    def _put(self, rows: pa.Table, kind: layout.Kind) -> tuple[FileEntry, ...]:
        parts = _Parts(self, kind)
        parts.add(rows)
        return parts.entries()

    def finish(self, entries: Sequence[FileEntry], kind: layout.Kind) -> tuple[FileEntry, ...]:
        """Give the parts of one kind their final names."""
        named = []
        for index, entry in enumerate(entries):
            path = layout.final_file(self._job.run_id, kind, index, len(entries))
            self._store.link(entry.path, path)
            named.append(replace(entry, path=path))
        return tuple(named)


class _Parts:
    """Rows of one kind on their way to files of bounded size."""

    def __init__(self, deciding: _Deciding, kind: layout.Kind) -> None:
        self._deciding = deciding
        self._kind = kind
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._entries: list[FileEntry] = []

    def add(self, rows: pa.Table) -> None:
        """More rows, in order after those before."""
        if rows.num_rows:
            self._waiting.append(rows)
            self._rows += rows.num_rows
        if self._rows >= ROWS_PER_CHANGES_FILE:
            self._flush()

    def entries(self) -> tuple[FileEntry, ...]:
        """Every part under its final name; no part when there were no rows."""
        if self._rows:
            self._flush()
        return self._deciding.finish(self._entries, self._kind)

    def _flush(self) -> None:
        self._entries.append(self._deciding.put(pa.concat_tables(self._waiting), self._kind))
        self._waiting, self._rows = [], 0


def _count(values: pa.ChunkedArray) -> dict[str, int]:
    return {each["values"]: each["counts"] for each in pc.value_counts(values).to_pylist()}

"""The plan as a run stores it: what its tasks, and whoever resumes it, start from.

`plan.json` holds the tasks, the layout and the shards they start from. The documents lie in files of TASKS_PER_FILE
tasks, in small row groups, so that a task reads few but its own, and a footer that does not grow with the plan.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.errors import TableStateError
from pipelines.planning import PLAN_DOCUMENTS, Plan, Region, Task
from pipelines.storage.store import Store
from pipelines.table import layout
from pipelines.table.publish import in_parallel
from pipelines.table.records import FileEntry, Shard
from pipelines.table.shards import parquet_file, read, readable

TASKS_PER_FILE = 128
"""Every task of a file reads what its footer says of all row groups: some 10 µs each."""

ROWS_PER_GROUP = 1_024
"""Writing a row group takes a millisecond, whatever is in it, and reading one that is not needed as long."""

ROWS_AT_ONCE = 1 << 15
"""Rows that are copied to be written; the tasks of one file may have a million."""

DECISIONS = pa.schema([PLAN_DOCUMENTS.field(name) for name in ("id", "action", "reason", "kind", "uri")])
"""What deciding asks of the plan's documents."""

_REPEATED = ["source", "rule", "fingerprint", "action", "reason", "kind", "part", "parts"]
"""Columns of few different values. A dictionary of the others costs as much as the rest of storing a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPlan:
    """A stored plan without its documents.

    `base` is the version it starts from, None for a first run. `listed` counts the documents listed, `known_failures`
    those among them that failed before and are not tried again. `partial`: some source was not listed whole.
    `has_records`: there are records, in the last commit or in a container that is listed now. `payload` names the
    payload columns and their types; `rewrite`: they are others than the last commit's, so every shard is written anew.
    `old_documents` counts the documents of each of `old_shards` by source; empty if nobody counted.
    """

    base: int | None
    tasks: tuple[Task, ...]
    regions: tuple[Region, ...]
    layout: tuple[tuple[str, int], ...]
    old_shards: tuple[Shard, ...]
    listed: int
    known_failures: int
    partial: bool
    has_records: bool = False
    payload: tuple[tuple[str, str], ...] = ()
    rewrite: bool = False
    old_documents: tuple[Mapping[str, int], ...] = ()

    def may_reuse(self, task: Task) -> bool:
        """Whether the task's shard would replace exactly one old one, and hold the same columns."""
        if self.rewrite or len(task.old_shards) != 1:
            return False
        old = self.old_shards[task.old_shards[0]]
        return (old.low, old.high) == (task.low, task.high)


def store_plan(
    store: Store,
    run_id: str,
    plan: Plan,
    *,
    base: int | None,
    old_shards: Sequence[Shard],
    listed: int,
    known_failures: int,
    partial: bool,
    has_records: bool = False,
    payload: Sequence[tuple[str, str]] = (),
    rewrite: bool = False,
    old_documents: Sequence[Mapping[str, int]] = (),
) -> StoredPlan:
    """Write `plan` under the run's folder; `plan.json` last, so that a plan with it is complete."""
    stored = StoredPlan(
        base=base,
        tasks=plan.tasks,
        regions=plan.regions,
        layout=plan.layout,
        old_shards=tuple(old_shards),
        listed=listed,
        known_failures=known_failures,
        partial=partial,
        has_records=has_records,
        payload=tuple(payload),
        rewrite=rewrite,
        old_documents=tuple(old_documents),
    )
    in_parallel(
        lambda first: store.write(_documents(run_id, first), _task_documents(plan, first)),
        range(0, len(plan.tasks), TASKS_PER_FILE),
        store.in_flight,
    )
    store.write(_duplicates(run_id), _parquet(plan.duplicates))
    store.write(_plan(run_id), json.dumps(asdict(stored), ensure_ascii=False).encode())
    return stored


def _task_documents(plan: Plan, first: int) -> bytes:
    """The file of the tasks from number `first` on."""
    buffer = io.BytesIO()
    options: dict[str, Any] = {"compression": "zstd", "write_statistics": False, "use_dictionary": _REPEATED}
    waiting = [PLAN_DOCUMENTS.empty_table()]
    with pq.ParquetWriter(buffer, PLAN_DOCUMENTS, **options) as writer:
        for task in plan.tasks[first : first + TASKS_PER_FILE]:
            waiting.append(plan.task_documents(task))
            if sum(each.num_rows for each in waiting) >= ROWS_AT_ONCE:
                rows = pa.concat_tables(waiting).combine_chunks()
                whole = rows.num_rows - rows.num_rows % ROWS_PER_GROUP
                writer.write_table(rows.slice(0, whole), row_group_size=ROWS_PER_GROUP)
                waiting = [rows.slice(whole)]
        writer.write_table(pa.concat_tables(waiting).combine_chunks(), row_group_size=ROWS_PER_GROUP)
    return buffer.getvalue()


def load_plan(store: Store, run_id: str) -> StoredPlan:
    """The plan of a run. TableStateError when it is missing or damaged."""
    path = _plan(run_id)
    try:
        return _loaded(json.loads(store.read(path)))
    except FileNotFoundError as error:
        raise TableStateError(f"{store.child(path)}: the plan of the run is missing; start a new run") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TableStateError(f"{store.child(path)}: is not readable: {error}; start a new run") from error


def _loaded(values: dict[str, Any]) -> StoredPlan:
    return StoredPlan(
        base=values["base"],
        tasks=tuple(Task(**_tuples(task)) for task in values["tasks"]),
        regions=tuple(Region(**_tuples(region)) for region in values["regions"]),
        layout=tuple((kind, index) for kind, index in values["layout"]),
        old_shards=tuple(_shard(shard) for shard in values["old_shards"]),
        payload=tuple((name, type_) for name, type_ in values["payload"]),
        old_documents=tuple(values["old_documents"]),
        **{name: values[name] for name in ("listed", "known_failures", "partial", "has_records", "rewrite")},
    )


def load_task_documents(store: Store, run_id: str, plan: StoredPlan, task: Task) -> pa.Table:
    """The plan's rows of one task."""
    if task.start == task.stop:
        return PLAN_DOCUMENTS.empty_table()
    first = task.index - task.index % TASKS_PER_FILE
    start = sum(earlier.stop - earlier.start for earlier in plan.tasks[first : task.index])
    rows = task.stop - task.start
    groups = range(start // ROWS_PER_GROUP, (start + rows - 1) // ROWS_PER_GROUP + 1)
    path = _documents(run_id, first)
    with readable(store, path), store.open(path) as file:
        found = parquet_file(file).read_row_groups(list(groups), use_threads=False)
        return found.slice(start % ROWS_PER_GROUP, rows).combine_chunks()


def load_duplicates(store: Store, run_id: str) -> pa.Table:
    """The objects whose document id another object has (planning.DUPLICATES)."""
    return read(store, _duplicates(run_id))


def load_decisions(store: Store, run_id: str, plan: StoredPlan) -> Iterator[pa.Table]:
    """DECISIONS of every file, and of every part of a container, of some tasks at a time."""
    for first in range(0, len(plan.tasks), TASKS_PER_FILE):
        yield read(store, _documents(run_id, first), columns=DECISIONS.names)


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _plan(run_id: str) -> str:
    return f"{layout.plan_folder(run_id)}/plan.json"


def _documents(run_id: str, first: int) -> str:
    """The file of the documents of the tasks from number `first` on."""
    return f"{layout.plan_folder(run_id)}/documents-{first // TASKS_PER_FILE:05d}.parquet"


def _duplicates(run_id: str) -> str:
    return f"{layout.plan_folder(run_id)}/duplicates.parquet"


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _shard(values: dict[str, Any]) -> Shard:
    return Shard(**{**values, "chunks": FileEntry(**values["chunks"]), "documents": FileEntry(**values["documents"])})

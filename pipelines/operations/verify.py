"""`verify`: whether a table is what its log says, down to the hashes of its rows. Reads only.

One shard is in memory at a time. Without `full`, a random sample of shards is read row by row; the log's last entry,
the presence and sizes of all files, and the changes and renames since the commit before are checked always.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.errors import TableStateError
from pipelines.observe.events import Sink, Verifying
from pipelines.operations.verifying import deltas, files, logged
from pipelines.operations.verifying.identities import Identities
from pipelines.operations.verifying.problems import Problem, Problems
from pipelines.operations.verifying.rows import check_rows, check_states
from pipelines.storage.store import Store
from pipelines.table import layout, log, snapshot
from pipelines.table.keys import CONTAINER
from pipelines.table.records import Snapshot

SAMPLE = 3
"""Shards that are read row by row unless all are."""

_DAMAGED = (TableStateError, ValueError, KeyError, TypeError, OSError, pa.ArrowException)
"""What reading or comparing damaged files may raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found. `problems` has at most problems.SHOWN of one object, `total` counts all.

    `version` is None when no commit can be read. `files` counts those whose presence was checked, `shards` those read
    row by row, `of_shards` all. `compared_with` is the version whose difference to this one was held against the
    changes; None for a first commit, and where that version was collected (`parent_collected`).
    """

    table: str
    version: int | None
    problems: Sequence[Problem] = ()
    total: int = 0
    files: int = 0
    shards: int = 0
    of_shards: int = 0
    documents: int = 0
    rows: int = 0
    compared_with: int | None = None
    parent_collected: bool = False


def verify(
    store: Store, emit: Sink, *, version: int | None = None, full: bool = False, sample: int = SAMPLE
) -> Verification:
    """Check the table as of `version` (None: now); with `full` all of its rows, and the whole log.

    TableStateError when there is no table, no such version, or that version was collected. Everything else that is
    wrong is a problem of the result.
    """
    problems = Problems()
    found, numbers = _opened(store, version, problems)
    if found is None:
        return Verification(table=store.address, version=None, problems=problems.shown, total=problems.total)
    assert found.version is not None
    problems.take(logged.check_entry(store, found))
    problems.take(logged.check_history(store, numbers, since=None if full else found.parent_version or 0))
    problems.take(files.check_presence(store, found))
    parent, collected = _parent(store, found, problems)
    if not collected:
        changes = deltas.check_changes(store, parent, found)
        problems.take(_guarded(changes, layout.commit_file(found.run_id), "the changes cannot be compared"))
        renames = deltas.check_renames(store, parent, found)
        problems.take(_guarded(renames, layout.commit_file(found.run_id), "the renames cannot be compared"))
    chosen = list(range(len(found.shards)))
    if not full:
        chosen = sorted(random.sample(chosen, min(sample, len(chosen))))
    reading = _Reading(store, found, numbers, problems, emit)
    for done, index in enumerate(chosen):
        emit(Verifying(done=done, shards=len(chosen)))
        reading.shard(index)
    reading.rest(full=full)
    return Verification(
        table=store.address,
        version=found.version,
        problems=problems.shown,
        total=problems.total,
        files=sum(1 for _ in found.files()),
        shards=len(chosen),
        of_shards=len(found.shards),
        documents=reading.documents,
        rows=reading.rows,
        compared_with=None if parent is None else parent.version,
        parent_collected=collected,
    )


def _opened(store: Store, version: int | None, problems: Problems) -> tuple[Snapshot | None, list[int]]:
    """The snapshot to check and the log's versions up to it; no snapshot where the reason is among the problems."""
    if version is None:
        try:
            found = snapshot.load(store)
        except TableStateError as error:
            place, _, what = str(error).removeprefix(store.child("")).partition(": ")
            problems.take([Problem(place, what)])
            return None, []
        if found is None:
            raise TableStateError(f"{store.address}: holds no table: nothing was committed there yet")
    else:
        found = snapshot.load(store, version)
        if found is None:
            raise TableStateError(f"{store.address}: version {version} is no commit of rechunk, nor is any before it")
    assert found.version is not None
    return found, [number for number in log.version_numbers(store) if number <= found.version]


def _parent(store: Store, found: Snapshot, problems: Problems) -> tuple[Snapshot | None, bool]:
    """The commit that `found` was computed from, and whether it cannot be read any more."""
    if found.parent_version is None:
        return None, False
    try:
        return snapshot.load(store, found.parent_version), False
    except TableStateError as error:
        problems.take(_damaged_parent(store, found.parent_version, str(error)))
        return None, True


def _damaged_parent(store: Store, version: int, error: str) -> Iterator[Problem]:
    """That a commit cannot be read, unless it was collected."""
    try:
        entry = log.head_at(store, version, over_foreign=True)
    except TableStateError as worse:
        yield Problem(layout.version_file(version), str(worse))
        return
    if entry is None or store.exists(layout.commit_file(entry.run_id)):
        yield Problem(layout.version_file(version), error)


def _guarded(found: Iterable[Problem], where: str, what: str) -> Iterator[Problem]:
    """The problems found, and a last one instead of what damage makes reading raise."""
    try:
        yield from found
    except _DAMAGED as error:
        yield Problem(where, f"{what}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")


class _Reading:
    """Reads shards row by row, and remembers what can only be said of all of them."""

    def __init__(self, store: Store, found: Snapshot, numbers: Sequence[int], problems: Problems, emit: Sink) -> None:
        self._store = store
        self._found = found
        self._problems = problems
        self._emit = emit
        self._ids = Identities()
        self._sources: Counter[str] = Counter()
        self._failed: set[str] = set()
        self._payloads = lru_cache(maxsize=1)(lambda: logged.payloads_in_log(store, numbers))
        self.documents = 0
        self.rows = 0

    def shard(self, index: int) -> None:
        """One shard: its two files, and each against the other."""
        shard, payload = self._found.shards[index], self._found.payload
        damage: list[Problem] = []
        states = files.read_checked(self._store, shard.documents, "documents", payload, damage)
        rows = files.read_checked(self._store, shard.chunks, "chunks", payload, damage)
        self._problems.take(damage)
        if states is not None:
            self._ids.add(states["id"])
            documents = states.filter(pc.not_equal(states["kind"], CONTAINER))
            self._sources.update(documents["source"].to_pylist())
            self.documents += documents.num_rows
            self._problems.take(_guarded(check_states(shard, states), shard.documents.path, "cannot be checked"))
        if rows is not None:
            self.rows += rows.num_rows
        if states is not None and rows is not None:
            checked = check_rows(shard, states, rows, tuple(payload), self._payloads)
            self._problems.take(_guarded(checked, shard.chunks.path, "cannot be checked"))

    def rest(self, *, full: bool) -> None:
        """What is not of one shard: the run's own files, and with `full` what all shards are together."""
        found = self._found
        for kind, entries in (("changes", found.changes), ("failures", found.failures), ("renames", found.renames)):
            for entry in entries:
                damage: list[Problem] = []
                files.read_checked(self._store, entry, kind, found.payload, damage)  # type: ignore[arg-type]
                self._problems.take(damage)
        if not full:
            return
        where = layout.commit_file(found.run_id)
        self._problems.take(_guarded(self._ids.check(self._store, found), where, "ids cannot be compared"))
        said = {source.path: source.documents for source in found.sources if source.documents}
        if said != dict(self._sources):
            self._problems.take(
                [Problem(where, f"counts {said} documents by source; the states have {dict(self._sources)}")]
            )

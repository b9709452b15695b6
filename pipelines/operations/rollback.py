"""`rollback`: an older version becomes the newest one, as a run of its own that tells its changes like any other.

The new version names copies of its own (hard links on a disk) of everything: nothing of an older run's, which might be
collected meanwhile. It may replace what another tool did to the table.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pyarrow.compute as pc

from pipelines.errors import RaceLost, StorageError, TableStateError
from pipelines.observe.events import OtherRun, RunStarted, Sink
from pipelines.reconcile import reconcile
from pipelines.storage.probe import prove_exclusive
from pipelines.storage.store import Store
from pipelines.table import layout, log, shards, snapshot
from pipelines.table.claims import claimed, fresh_claims
from pipelines.table.commit import LostRace, commit
from pipelines.table.differing import StatePairs
from pipelines.table.log import Head
from pipelines.table.publish import check_file, in_parallel
from pipelines.table.records import FileEntry, Shard, Snapshot
from pipelines.table.renaming import renames_between

REASON = "rolled_back"
"""Why chunks of documents are deleted that the older version does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """The table's `version` now holds what version `to` held. `committed` is false where it did already.

    `changes` counts chunks against `before`, the version that was the newest. `over_foreign`: what another tool did
    since was replaced.
    """

    table: str
    run_id: str | None
    version: int
    to: int
    before: int
    committed: bool
    over_foreign: bool = False
    changes: Mapping[str, int] = field(default_factory=dict)


def rollback(store: Store, version: int, emit: Sink) -> RolledBack:
    """Publish `version` again. TableStateError when it is no version of ours, was collected, or the newest is damaged.

    RaceLost when another run commits first.
    """
    head = log.head(store, over_foreign=True)
    if head is None:
        raise TableStateError(f"{store.address}: holds no table: nothing was committed there yet")
    target = _target(store, version)
    assert target.version is not None
    foreign = _is_changed_by_others(store)
    if target.version == head.version and not foreign:
        return RolledBack(
            table=store.address, run_id=None, version=head.version, to=version, before=head.version, committed=False
        )
    before = snapshot.load_head(store, head)
    run_id = layout.new_run_id()
    emit(RunStarted(run_id=run_id, table=store.address))
    if store.must_prove:
        prove_exclusive(store, layout.run_file(run_id, ""))
    with claimed(store, run_id):
        for other in fresh_claims(store, own=run_id):
            emit(OtherRun(claim=str(other)))
        return _published(store, run_id, head, before, target, foreign=foreign)


def _published(
    store: Store, run_id: str, head: Head, before: Snapshot, target: Snapshot, *, foreign: bool
) -> RolledBack:
    assert target.version is not None
    count = len(target.shards)
    owned = in_parallel(lambda job: _own_shard(store, run_id, job[0], count, job[1]), enumerate(target.shards))
    changes, counts, reasons = _changes(store, run_id, before, target)
    renames = _renames(store, run_id, before, target)
    renamed = sum(entry.rows for entry in renames)
    new = replace(
        target,
        run_id=run_id,
        parent_version=head.version,
        created=datetime.now(tz=UTC),
        shards=tuple(owned),
        changes=changes,
        failures=tuple(_own_files(store, run_id, target.failures)),
        renames=renames,
        stats={**target.stats, "changes": dict(counts), "renamed": renamed, "rolled_back_to": target.version},
        version=None,
    )
    result = commit(store, new, head, over_foreign=True)
    if isinstance(result, LostRace):
        raise RaceLost(f"{store.address}: run {result.winner} committed version {result.version} first")
    outcome = {
        "run_id": run_id,
        "ending": "committed",
        "version": result.version,
        "winner": None,
        "rolled_back_to": target.version,
        "changes": counts,
        "reasons": reasons,
        "renamed": renamed,
        "chunks": sum(shard.chunks.rows for shard in owned),
        "shards": count,
    }
    with suppress(StorageError):  # it is done, whether that can be written down or not
        store.write(layout.run_file(run_id, "outcome.json"), json.dumps(outcome, ensure_ascii=False, indent=1).encode())
    return RolledBack(
        table=store.address,
        run_id=run_id,
        version=result.version,
        to=target.version,
        before=head.version,
        committed=True,
        over_foreign=foreign,
        changes=dict(counts),
    )


def _target(store: Store, version: int) -> Snapshot:
    try:
        found = snapshot.load(store, version)
    except TableStateError:
        ours = log.head_at(store, version, over_foreign=True)
        if ours is not None and version in log.version_numbers(store) and ours.version < version:
            raise TableStateError(
                f"{store.address}: version {version} was written by another tool; "
                f"the newest of rechunk before it is {ours.version}"
            ) from None
        raise
    if found is None:
        raise TableStateError(f"{store.address}: version {version} is no commit of rechunk, nor is any before it")
    return found


def _is_changed_by_others(store: Store) -> bool:
    """Whether there is anything above our newest commit that changed the table."""
    try:
        log.head(store)
    except TableStateError:
        return True  # that it can be read otherwise is known
    return False


def _own_shard(store: Store, run_id: str, index: int, count: int, shard: Shard) -> Shard:
    chunks = _own(store, shard.chunks, layout.final_file(run_id, "chunks", index, count))
    store.touch(chunks.path)  # other tools' VACUUM goes by the modification time
    return replace(
        shard,
        chunks=chunks,
        documents=_own(store, shard.documents, layout.final_file(run_id, "documents", index, count)),
    )


def _own_files(store: Store, run_id: str, entries: Sequence[FileEntry]) -> list[FileEntry]:
    return [
        _own(store, entry, layout.final_file(run_id, "failures", index, len(entries)))
        for index, entry in enumerate(entries)
    ]


def _own(store: Store, entry: FileEntry, path: str) -> FileEntry:
    try:
        store.link(entry.path, path)
    except FileNotFoundError as error:
        raise TableStateError(f"{store.child(entry.path)}: was collected or lost; choose a newer version") from error
    mine = replace(entry, path=path)
    check_file(store, mine)
    return mine


def _changes(
    store: Store, run_id: str, before: Snapshot, target: Snapshot
) -> tuple[tuple[FileEntry, ...], Counter[str], Counter[str]]:
    """The files of changes from `before` to `target`, and how many there are by change and by reason."""
    pairs = StatePairs(store, before, target)
    files: list[FileEntry] = []
    counts, reasons = Counter[str](), Counter[str]()
    for number, (old, new) in enumerate(pairs):
        gone = old["id"].filter(pc.invert(pc.is_in(old["id"], value_set=new["id"].combine_chunks())))
        found = reconcile(old, new, dict.fromkeys(gone.to_pylist(), REASON))
        counts.update(found.by_change)
        reasons.update(found.by_reason)
        if found.table.num_rows:
            path = layout.final_file(run_id, "changes", number, pairs.passes)
            files.append(shards.write(store, path, found.table, "changes"))
    return tuple(files), counts, reasons


def _renames(store: Store, run_id: str, before: Snapshot, target: Snapshot) -> tuple[FileEntry, ...]:
    """The files of renames from `before` to `target`."""
    found = list(renames_between(store, before.shards, target.shards))
    return tuple(
        shards.write(store, layout.final_file(run_id, "renames", number, len(found)), rows, "renames")
        for number, rows in enumerate(found)
    )

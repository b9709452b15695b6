"""Make a snapshot the table: one exclusive create decides, and losing it is a value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from pipelines.errors import StorageError, TableStateError
from pipelines.storage.store import Store
from pipelines.table import log
from pipelines.table.layout import commit_file, expired_file, version_file
from pipelines.table.log import Head
from pipelines.table.publish import check_files
from pipelines.table.records import Snapshot
from pipelines.table.snapshot import dumps, loads


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The run is the table's `version`. `snapshot` is what was committed (by its first attempt, if there were more)."""

    version: int
    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRace:
    """Another run committed since this one began: `winner` (its run id) made `version`. This run changed nothing."""

    version: int
    winner: str


def commit(
    store: Store, snapshot: Snapshot, expected: Head | None, *, over_foreign: bool = False
) -> Committed | LostRace:
    """Commit `snapshot` on top of `expected`, the head it was computed from (None: the table's first commit).

    Its files must be under their final names. Safe to repeat, and to run twice at once for one run: whoever comes
    second finds the run committed. Until the last step, the create of the log's next version, readers see the old
    commit whole. TableStateError when a file is missing, the run was collected, or another tool changed the table;
    with `over_foreign` what that tool did is replaced.
    """
    base = -1 if expected is None else expected.version
    if snapshot.parent_version != (None if expected is None else expected.version):
        raise ValueError(f"the snapshot was computed from version {snapshot.parent_version}, not from {base}")
    while True:
        if (done := log.find_run(store, snapshot.run_id, base)) is not None:
            return Committed(version=done, snapshot=replace(_recorded(store, snapshot)[0], version=done))
        head = log.head(store, over_foreign=over_foreign)
        if head is not None and head.version != base:
            return LostRace(version=head.version, winner=head.run_id)
        if head is None and expected is not None:
            raise TableStateError(f"{store.address}: version {base} was there when the run began and is gone")
        recorded, checksum = _record(store, snapshot)
        _check(store, recorded)
        version = 0 if head is None else head.next_version
        if _create(store, version, recorded, checksum, head):
            return Committed(version=version, snapshot=replace(recorded, version=version))
        if version not in log.version_numbers(store):
            where = store.child(version_file(version))
            raise TableStateError(f"{where}: is no log entry and in the way of version {version}; remove it")


def _create(store: Store, version: int, snapshot: Snapshot, checksum: str, head: Head | None) -> bool:
    try:
        return log.create_version(store, version, log.build_actions(snapshot, checksum, head))
    except StorageError:
        # The error may have come after the deed.
        if log.find_run(store, snapshot.run_id, version - 1) == version:
            return True
        raise


def _record(store: Store, snapshot: Snapshot) -> tuple[Snapshot, str]:
    """Write `commit.json` unless an earlier attempt did, whose word then stands; its content and checksum."""
    data = dumps(snapshot)
    if store.create(commit_file(snapshot.run_id), data):
        return snapshot, hashlib.sha256(data).hexdigest()
    recorded, checksum = _recorded(store, snapshot)
    if recorded.parent_version != snapshot.parent_version:
        raise TableStateError(
            f"{store.child(commit_file(snapshot.run_id))}: run {snapshot.run_id} was already prepared on top of "
            f"version {recorded.parent_version}, not of {snapshot.parent_version}; start a new run"
        )
    return recorded, checksum


def _recorded(store: Store, snapshot: Snapshot) -> tuple[Snapshot, str]:
    path = commit_file(snapshot.run_id)
    data = store.read(path)
    return loads(data, store.child(path)), hashlib.sha256(data).hexdigest()


def _check(store: Store, snapshot: Snapshot) -> None:
    """Everything the commit will name is there, durably."""
    if store.exists(expired_file(snapshot.run_id)):
        raise TableStateError(
            f"{store.address}: the files of run {snapshot.run_id} are being collected; start a new run"
        )
    files = list(snapshot.files())
    check_files(store, files)
    for folder in sorted({entry.path.rpartition("/")[0] for entry in files}):
        store.sync(folder)

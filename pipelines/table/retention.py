"""Which versions are kept, and every file that they name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.errors import TableStateError
from pipelines.storage.store import Store
from pipelines.table import layout, log
from pipelines.table.log import Version
from pipelines.table.publish import in_parallel
from pipelines.table.records import FileEntry, Snapshot
from pipelines.table.snapshot import loads


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The log's commits, oldest first: `collected` are superseded for longer than the retention, `kept` are not.

    `named` has every file that a kept commit names, by path.
    """

    collected: Sequence[Version]
    kept: Sequence[Version]
    named: Mapping[str, FileEntry]

    @property
    def head(self) -> int:
        """The newest version, -1 for a table without any."""
        return self.kept[-1].version if self.kept else -1


def kept_versions(store: Store, *, now: int, retain: float) -> Kept:
    """Judge the log at `now` (UTC ns by the store's clock); `retain` is in seconds.

    A version is kept while it is less than `retain` since another took its place: somebody may still read it. The
    newest is kept always. TableStateError for a log with foreign changes on top, or a kept commit whose record is
    damaged: then it is not known what it names.
    """
    log.head(store)
    times = {entry.path: entry.modified for page in store.list(layout.LOG) for entry in page.entries()}
    commits = [version for version in log.versions(store) if version.run_id is not None]
    first = len(commits) - 1
    for place in range(len(commits) - 2, -1, -1):
        replaced = times.get(layout.version_file(commits[place + 1].version))
        if replaced is not None and now - replaced >= retain * 1e9:  # stores may count in whole seconds
            continue
        first = place
    first = max(first, 0)
    named: dict[str, FileEntry] = {}
    for snapshot in in_parallel(lambda version: _snapshot(store, version), commits[first:]):
        if snapshot is not None:
            named.update((entry.path, entry) for entry in snapshot.files())
    return Kept(collected=commits[:first], kept=commits[first:], named=named)


def _snapshot(store: Store, version: Version) -> Snapshot | None:
    """What a version named; None when it was collected before, under a shorter retention."""
    assert version.run_id is not None
    path = layout.commit_file(version.run_id)
    try:
        data = store.read(path)
    except FileNotFoundError:
        return None
    if hashlib.sha256(data).hexdigest() != version.checksum:
        raise TableStateError(
            f"{store.child(path)}: is not what version {version.version} committed; checksum differs. "
            "Nothing is collected while it is not known what a version names"
        )
    return loads(data, store.child(path))

"""`gc`: delete what no version within the retention needs. Never the log, never what is not ours.

What makes it safe while runs, readers and other collectors are at work:

- A run that has not committed is only deleted once its `_expired` mark is older than the grace period. A run writes
  `commit.json` before it looks for the mark and commits; the collector leaves the mark before it looks for
  `commit.json`. So one of the two sees the other, however slow either is.
- A run that may still be committing (it has `commit.json`, and the version it starts from is the newest) is left alone
  until there is a newer version: then it can only lose. The mark stays until then too.
- A run never names files of others but those of the newest version, which is kept always.
- All times are those that the store gives its objects; the store's own clock says what time it is.

Killed anywhere, it is simply run again: a version's `commit.json` goes first, so it is unreadable as a whole.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.errors import StorageError, TableStateError
from pipelines.storage.store import Store, Upload
from pipelines.table import layout, log
from pipelines.table.claims import is_held
from pipelines.table.inventory import NOTES, RunFiles, owner, take_inventory
from pipelines.table.retention import Kept, kept_versions

RETAIN_SECONDS = log.RETENTION_DAYS * 86_400.0
GRACE_SECONDS = 3_600.0


@dataclass(slots=True, kw_only=True)
class Collected:
    """What was deleted, or would be (`dry_run`).

    `versions` can no longer be read; `oldest` is the oldest that can, None for a table without any. `marked` runs will
    be deleted by a later collection, `waiting` ones were marked before and it is too early. `runs` were deleted whole.
    `bytes` are those of the deleted objects. `freed` is less on a disk, where versions share files as hard links; a dry
    run does not know it. `uploads` in parts that broke off were let go; `notes` say what could not be collected.
    """

    table: str
    dry_run: bool
    versions: list[int] = field(default_factory=list)
    oldest: int | None = None
    marked: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    files: int = 0
    bytes: int = 0
    freed: int = 0
    uploads: int = 0
    notes: list[str] = field(default_factory=list)


def collect(
    store: Store, *, retain: float = RETAIN_SECONDS, grace: float = GRACE_SECONDS, dry_run: bool = False
) -> Collected:
    """Collect; times in seconds.

    Versions go that were replaced more than `retain` ago, and runs that broke off and wrote nothing for as long. What
    a run needs only while it works goes `grace` after its end. TableStateError when there is no table, another tool
    changed it, or a record is damaged; StorageError for a store that does not say when objects were written.
    """
    if not log.version_numbers(store) and not take_inventory(store):
        raise TableStateError(f"{store.address}: holds no table: nothing was ever written there")
    now = time.time_ns() if dry_run else _store_time(store)
    runs = take_inventory(store)  # before the log is read: what commits in between is known to have
    claims = {
        entry.path: entry for page in store.list(layout.CLAIMS) for entry in page.entries() if _is_sign(entry.path)
    }
    temporaries = [entry for entry in store.temporaries() if _is_past(entry.modified, now, grace)]
    kept = kept_versions(store, now=now, retain=retain)
    work = _Collection(store, runs, kept, now, retain, grace, dry_run)
    held = {path for path, entry in claims.items() if is_held(store, entry, now)}
    for run in sorted(runs.values(), key=work.place):
        work.judge(run, at_work=layout.claim_file(run.run_id) in held)
    told = {layout.claim_file(run_id) for run_id in work.broken_off()}  # the next run asks what became of them
    stale = [entry for path, entry in claims.items() if path not in held | told]
    work.delete({entry.path: entry.size for entry in (*stale, *temporaries) if _is_past(entry.modified, now, grace)})
    try:
        work.abort(store.uploads(), held)
    except StorageError as error:  # it takes rights of its own, and costs nothing but room
        work.found.notes.append(f"unfinished uploads are left: {error}")
    return work.found


def _store_time(store: Store) -> int:
    """What time it is by the store's clock, UTC ns."""
    path = layout.clock_file(uuid.uuid4().hex)
    store.write(path, b"")
    try:
        entry = store.stat(path)
    finally:
        store.delete(path)
    if entry is None or entry.modified is None:
        raise StorageError("does not say when objects were written: nothing can be collected", address=store.address)
    return entry.modified


def _is_sign(path: str) -> bool:
    """Whether a file among the claims is one of ours."""
    return layout.claimed_run(path) is not None or path.startswith(layout.clock_file(""))


def _is_past(modified: int | None, now: int, seconds: float) -> bool:
    return modified is not None and now - modified >= seconds * 1e9


class _Collection:
    """Decides about one run after the other, and deletes."""

    def __init__(
        self,
        store: Store,
        runs: dict[str, RunFiles],
        kept: Kept,
        now: int,
        retain: float,
        grace: float,
        dry_run: bool,
    ) -> None:
        self._store = store
        self._runs = runs
        self._kept = kept
        self._now = now
        self._retain = retain
        self._grace = grace
        self._dry_run = dry_run
        self._versions = {version.run_id: version.version for version in (*kept.collected, *kept.kept)}
        self._collected = {version.run_id for version in kept.collected}
        readable = [
            version.version
            for version in kept.kept
            if version.run_id in runs and layout.commit_file(version.run_id) in runs[version.run_id].entries
        ]
        self.found = Collected(table=store.address, dry_run=dry_run, oldest=min(readable, default=None))

    def place(self, run: RunFiles) -> tuple[int, str]:
        """Versions are deleted oldest first."""
        return self._versions.get(run.run_id, -1), run.run_id

    def judge(self, run: RunFiles, *, at_work: bool) -> None:
        """Delete what of a run is not needed any more."""
        idle = run.last_sign
        if run.run_id in self._collected:
            self._delete_version(run)
        elif run.run_id in self._versions:
            if not at_work and _is_past(idle, self._now, self._grace):
                self._delete_some(run, [path for path in run.entries if run.is_work(path)])
        elif run.expired is not None:
            self._delete_expired(run, run.expired.modified)
        elif not at_work and (
            (run.ended and _is_past(idle, self._now, self._grace)) or _is_past(idle, self._now, self._retain)
        ):
            self._mark(run)

    def broken_off(self) -> list[str]:
        """The runs that neither ended nor are being collected."""
        return [
            run.run_id
            for run in self._runs.values()
            if not (run.ended or run.expired or run.run_id in self._versions or run.run_id in self.found.marked)
        ]

    def _delete_version(self, run: RunFiles) -> None:
        gone = [path for path in run.entries if path not in self._kept.named]
        record = layout.commit_file(run.run_id)
        if record in run.entries:
            self.found.versions.append(self._versions[run.run_id])
            self._delete_some(run, [record])
        self._delete_some(run, [path for path in gone if path != record])

    def _mark(self, run: RunFiles) -> None:
        self.found.marked.append(run.run_id)
        if self._dry_run:
            return
        path = layout.expired_file(run.run_id)
        self._store.create(path, json.dumps({"head": self._kept.head}).encode())
        if self._grace <= 0:
            self._delete_expired(run, self._now)

    def _delete_expired(self, run: RunFiles, marked: int | None) -> None:
        if not _is_past(marked, self._now, self._grace) or self._may_commit(run.run_id):
            self.found.waiting.append(run.run_id)
            return
        tombstone = layout.expired_file(run.run_id)
        gone = [path for path in run.entries if path != tombstone]
        if run.ended and not _is_past(run.last_sign, self._now, self._retain):
            notes = {layout.run_file(run.run_id, name) for name in NOTES}
            self._delete_some(run, [path for path in gone if path not in notes])
            return
        if gone:
            self.found.runs.append(run.run_id)
            self._delete_some(run, gone)
        if tombstone in run.entries and self._has_lost(run.run_id):
            self._delete_some(run, [tombstone])

    def _may_commit(self, run_id: str) -> bool:
        """Whether the run may have looked for its mark before that was there. Asked after the mark was left."""
        if log.find_run(self._store, run_id, above=-1) is not None:
            return True  # it has
        if not self._store.exists(layout.commit_file(run_id)):
            return False
        return not self._has_lost(run_id)

    def _has_lost(self, run_id: str) -> bool:
        """Whether there is a version newer than any that the run can start from: then it never commits."""
        try:
            head = json.loads(self._store.read(layout.expired_file(run_id)))["head"]
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return False
        return isinstance(head, int) and self._kept.head > head

    def _delete_some(self, run: RunFiles, paths: Sequence[str]) -> None:
        self.delete({path: run.entries[path].size for path in paths})

    def delete(self, sizes: Mapping[str, int]) -> None:
        """Delete objects, given with their sizes."""
        doomed = {path: size for path, size in sizes.items() if path not in self._kept.named}
        self.found.files += len(doomed)
        self.found.bytes += sum(doomed.values())
        if not self._dry_run:
            self.found.freed += self._store.delete_many(doomed)

    def abort(self, uploads: Sequence[Upload], held: Collection[str]) -> None:
        """Let go of uploads that broke off: of a run that is not at work, begun before the grace period."""
        for upload in uploads:
            run_id = owner(upload.path)
            if run_id is None or layout.claim_file(run_id) in held:
                continue
            if _is_past(upload.begun, self._now, self._grace):
                if not self._dry_run:
                    self._store.abort(upload)
                self.found.uploads += 1

"""Claims: a run says that it is at work on the table, so that another one that begins can warn of it.

Advisory: nothing waits for a claim and nothing is refused because of one; the exclusive create of the log's next
version decides. A claim is refreshed while its run works and expires when that stops. A run that was only submitted has
nobody who refreshes by the clock: its claim lasts longer, and its workers renew it as they take up work. Whatever goes
wrong with claims is no reason to fail a run.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pipelines.errors import StorageError
from pipelines.processes import Repeating, duty
from pipelines.storage.store import Entry, Store
from pipelines.table import layout

REFRESH_SECONDS = 60.0
"""Between two signs of life of a run at work."""

EXPIRES_SECONDS = 300.0
"""After the last sign of life the run counts as dead."""

UNATTENDED_SECONDS = 3600.0
"""The same for a run that nobody waits for: an engine takes minutes to start, and hardly any task takes an hour."""

_ANY = (StorageError, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`run_id` is at work since `since`, in process `process` of the machine `host`; the last two may be unknown.

    It counts as dead `expires` seconds after its last sign of life.
    """

    run_id: str
    host: str = ""
    process: int = 0
    since: str = ""
    expires: float = field(default_factory=lambda: EXPIRES_SECONDS)

    def __str__(self) -> str:
        return (
            f"{self.run_id} (process {self.process} on {self.host}, since {self.since})" if self.host else self.run_id
        )


def fresh_claims(store: Store, *, own: str = "", now: int | None = None) -> list[Claim]:
    """Who else is at work. `now` is in UTC nanoseconds by the store's clock (None: as far as known, this machine's)."""
    try:
        return list(_fresh(store, own, now))
    except _ANY:
        return []


def _fresh(store: Store, own: str, now: int | None) -> Iterator[Claim]:
    entries = [entry for page in store.list(layout.CLAIMS) for entry in page.entries()]
    mine = layout.claim_file(own) if own else ""
    if now is None:
        now = next((entry.modified for entry in entries if entry.path == mine), None) or time.time_ns()
    for entry in entries:
        run_id = layout.claimed_run(entry.path)
        if run_id is None or entry.path == mine:
            continue
        claim = _held(store, entry, run_id, now)
        if claim is not None and not _is_gone(claim):
            yield claim


def dead_runs(store: Store) -> list[str]:
    """The runs whose claims nobody holds any more, newest first: they died without a word."""
    try:
        entries = [entry for page in store.list(layout.CLAIMS) for entry in page.entries()]
        alive = {claim.run_id for claim in _fresh(store, "", None)} if entries else set()
    except _ANY:
        return []
    found = {run_id for entry in entries if (run_id := layout.claimed_run(entry.path)) is not None}
    return sorted(found - alive, reverse=True)


def is_held(store: Store, entry: Entry, now: int) -> bool:
    """Whether the claim in the file `entry`, or any other file among claims, still holds at `now` (UTC ns)."""
    run_id = layout.claimed_run(entry.path)
    if run_id is None:
        return is_fresh(entry.modified, now, EXPIRES_SECONDS)
    return _held(store, entry, run_id, now) is not None


def _held(store: Store, entry: Entry, run_id: str, now: int) -> Claim | None:
    """A claim that still holds, None if it does not."""
    if not is_fresh(entry.modified, now, UNATTENDED_SECONDS):
        return None
    try:
        claim = Claim(**json.loads(store.read(entry.path)))
    except FileNotFoundError:
        return None  # it has just ended
    except (ValueError, TypeError):
        claim = Claim(run_id=run_id)
    if not is_fresh(entry.modified, now, claim.expires):
        return None
    if claim.expires > EXPIRES_SECONDS and store.exists(layout.run_file(run_id, "outcome.json")):
        return None  # a worker that is late has renewed it
    return claim


def _is_gone(claim: Claim) -> bool:
    """Whether the process is known to have ended: it was one of this machine."""
    if claim.host != socket.gethostname() or claim.process <= 0:
        return False
    try:
        os.kill(claim.process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def is_fresh(modified: int | None, now: int, expires: float) -> bool:
    """Whether a claim written at `modified` still holds at `now` (UTC ns). A time in the future does: clocks differ."""
    return modified is None or now - modified < expires * 1e9


def leave_claim(store: Store, run_id: str) -> None:
    """The claim of a run that works while nobody waits for it; written again, it is renewed."""
    with suppress(*_ANY):
        claim = {"run_id": run_id, "expires": UNATTENDED_SECONDS}
        store.write(layout.claim_file(run_id), json.dumps(claim).encode())


def drop_claim(store: Store, run_id: str) -> None:
    """The run is over."""
    with suppress(*_ANY):
        store.delete(layout.claim_file(run_id))


@contextmanager
def claimed(store: Store, run_id: str) -> Iterator[None]:
    """Around the work of a run: its claim is there and is refreshed, and is gone afterwards, also after a signal."""
    since = datetime.now(tz=UTC).isoformat(timespec="seconds")
    claim = {"run_id": run_id, "host": socket.gethostname(), "process": os.getpid(), "since": since}
    path, data = layout.claim_file(run_id), json.dumps(claim).encode()

    def refresh() -> None:
        with suppress(*_ANY):
            store.write(path, data)

    def end() -> None:
        for each in refreshing:
            each.stop()  # what is on its way would come after it is dropped
        drop_claim(store, run_id)

    refreshing: list[Repeating] = []
    with duty(end):
        try:
            refreshing.append(Repeating(REFRESH_SECONDS, refresh, name="claim", at_once=True))
            refreshing[0].wait()
            yield
        finally:
            end()

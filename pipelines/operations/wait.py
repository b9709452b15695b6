"""`wait`: the end of a run that works somewhere else, told as if it had been driven from here."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from pipelines.beam.quiet import quiet_beam
from pipelines.errors import EngineFailed, StillAtWork, TableStateError, UsageError
from pipelines.observe.events import Sink
from pipelines.observe.progress import told
from pipelines.operations.ending import committed_all_the_same, outcome_again, outcome_of
from pipelines.operations.stored_run import StoredRun, load_run
from pipelines.records import Outcome
from pipelines.storage.store import Store
from pipelines.table import layout
from pipelines.table.claims import drop_claim, fresh_claims
from pipelines.work.finish import outcome_path

POLL_SECONDS = 5.0
"""Between two looks at the table, and at the job."""

ENDED = ("DONE", "FAILED", "CANCELLED", "UPDATED", "DRAINED")
"""States that a job does not leave again, as Beam calls them."""


def wait(
    store: Store, run: str | None, emit: Sink, *, timeout: float | None = None, poll: float = POLL_SECONDS
) -> Outcome:
    """The outcome of `run` (None: of the newest), at its end; `timeout` and `poll` are in seconds.

    `stats.json` is written if nobody did. TableStateError for a run that is not known, that broke off before its plan
    was stored or whose files are being collected; EngineFailed when its job ended without doing it, or gives no sign of
    life; StillAtWork when the time is over.
    """
    run_id = _checked(store, run)
    deadline = None if timeout is None else time.monotonic() + timeout
    ended = _read(store, outcome_path(run_id))
    if ended is not None:
        return _told(store, run_id, ended, emit)
    stored = load_run(store, run_id)
    if stored is None:
        raise TableStateError(f"{store.address}: run {run_id} broke off before its plan was stored; start a new run")
    watched = _Watched(store, run_id)
    numbers = stored.numbers
    reads = sum(numbers["plan"].get("read", {}).values())
    with told(store, run_id, emit, tasks=numbers["tasks"], documents=reads, size=numbers["read_bytes"]):
        while (ended := _read(store, outcome_path(run_id))) is None:
            if (lost := watched.look()) is not None:
                return _lost(store, run_id, stored, lost)
            if deadline is not None and time.monotonic() >= deadline:
                raise StillAtWork(f"{store.address}: run {run_id} is still at work{watched.shown}")
            left = poll if deadline is None else min(poll, deadline - time.monotonic())
            time.sleep(max(0.0, left))
    return _told(store, run_id, ended, emit)


class _Watched:
    """A run at work: how its job is, and whether it gives signs of life."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._note = _read(store, layout.submitted_file(run_id)) or {}
        self._job: Any = None
        self._silent = 0
        self.shown = ""

    def look(self) -> str | None:
        """Why nothing more is to be expected of the run; None as long as something is."""
        if self._store.exists(layout.expired_file(self._run_id)):
            raise TableStateError(
                f"{self._store.address}: run {self._run_id} did not end, and its files are being collected; "
                "start a new run"
            )
        state = self._state()
        if state is not None:
            self._silent = 0
            self.shown = f"; job {self._note['job_id']} of {self._note['runner']} is {state}"
            over = state in ENDED
        else:
            alive = any(claim.run_id == self._run_id for claim in fresh_claims(self._store))
            self._silent = 0 if alive else self._silent + 1
            self.shown = ", as far as its signs of life tell; how its job is cannot be known from here"
            over = self._silent > 1
        if not over or self._store.exists(outcome_path(self._run_id)):  # it may have come in between
            return None
        if state is not None:
            return f"job {self._note['job_id']} of {self._note['runner']} is {state}, and did not do the run"
        return "it gives no sign of life any more, and how its job is cannot be known from here"

    def _state(self) -> str | None:
        if not self._note.get("job_id"):
            return None
        if self._job is None:
            with quiet_beam():
                from pipelines.beam.submission import JobState  # imports Beam
            self._job = JobState(self._note)
        state: str | None = self._job.look()
        return state


def _lost(store: Store, run_id: str, stored: StoredRun, why: str) -> Outcome:
    """The outcome of a run that will not say how it ended. Raises EngineFailed if it did not commit."""
    drop_claim(store, run_id)
    error = EngineFailed(
        f"{store.address}: run {run_id}: {why}. Nothing was published by it; `rechunk resume` goes on with its plan"
    )
    return committed_all_the_same(store, run_id, stored.base, error)


def _told(store: Store, run_id: str, ended: Mapping[str, Any], emit: Sink) -> Outcome:
    """The outcome of a run that said how it ended."""
    stats = _read(store, layout.run_file(run_id, "stats.json"))
    if stats is not None:
        return outcome_again(store, run_id, ended, stats, emit)
    stored = load_run(store, run_id)
    if stored is None or "guard" not in ended:
        return outcome_again(store, run_id, ended, {}, emit)
    seconds = {"plan": 0.0, "run": 0.0, **_seconds(store, run_id)}
    return outcome_of(store, run_id, stored.prepared(store), ended, emit, seconds=seconds)


def _seconds(store: Store, run_id: str) -> dict[str, float]:
    """How long the run took, by the store's clock: from when it was submitted to when it said how it ended."""
    note = _read(store, layout.submitted_file(run_id))
    begun, done = store.stat(layout.submitted_file(run_id)), store.stat(outcome_path(run_id))
    if note is None or begun is None or done is None or begun.modified is None or done.modified is None:
        return {}
    return {"plan": float(note.get("planning", 0.0)), "run": max(0.0, (done.modified - begun.modified) / 1e9)}


def _checked(store: Store, run: str | None) -> str:
    """The id of a run that the table knows."""
    if run is None:
        runs = {path.split("/")[1] for page in store.list(layout.RUNS) for path in page.paths}
        newest = max((name for name in runs if layout.RUN_ID.fullmatch(name)), default=None)
        if newest is None:
            raise TableStateError(f"{store.address}: knows of no run")
        return newest
    if not layout.RUN_ID.fullmatch(run):
        raise UsageError(f"{run!r} is not the id of a run; they look like 20260131T235959Z-1f2e3d4c")
    paths = [path for page in store.list(layout.run_file(run, "")) for path in page.paths]
    if not paths:
        raise TableStateError(
            f"{store.address}: knows of no run {run}: it belongs to another table, or its files were collected"
        )
    return run


def _read(store: Store, path: str) -> dict[str, Any] | None:
    """A record of a run, None while it is not there."""
    try:
        found = json.loads(store.read(path))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise TableStateError(f"{store.child(path)}: is not readable: {error}") from error
    if not isinstance(found, dict):
        raise TableStateError(f"{store.child(path)}: is not readable: it is no record")
    return found

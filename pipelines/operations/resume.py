"""`resume`: a run that broke off goes on from its stored plan. Nothing is listed, no finished task is done again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.beam.engine import engine_for
from pipelines.config.model import Config
from pipelines.errors import TableStateError, UsageError
from pipelines.observe.events import OtherRun, RunStarted, Sink
from pipelines.operations.run import Begun, carry_out
from pipelines.operations.stored_run import StoredRun, digests, load_run
from pipelines.records import Outcome
from pipelines.storage.probe import prove_exclusive
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, log
from pipelines.table.claims import fresh_claims


def resume(
    config: Config,
    run: str | None,
    emit: Sink,
    *,
    workers: int | None = None,
    approve_deletions: int | None = None,
    pipeline: Sequence[str] = (),
) -> Outcome:
    """Go on with `run`, None: with the newest if that broke off. Otherwise there is nothing to do.

    `approve_deletions` None is what the run was started with; `pipeline` are pipeline options above those of the
    configuration. UsageError when there is no such run, or the configuration is another than the run's. TableStateError
    when another run committed since, the run's files are being collected, or it broke off before its plan was stored.
    """
    layout.check_address(config.output.path)
    engine = engine_for(config, pipeline, workers)
    store = open_store(config.output.path, config.storage.reveal())
    run_id = _checked(store, run) if run is not None else _newest_unfinished(store)
    if run_id is None:
        return _nothing(store, "", "nothing to resume: the newest run of this table did not break off")
    ended = _outcome(store, run_id)
    if ended is not None:
        return _nothing(store, run_id, f"nothing to resume: run {run_id} ended ({ended.get('ending')})")
    stored = load_run(store, run_id)
    if stored is None:
        raise TableStateError(f"{store.address}: run {run_id} broke off before its plan was stored; start a new run")
    version = log.find_run(store, run_id, above=-1 if stored.base is None else stored.base)
    if version is not None:
        return _already(store, run_id, version)
    _refuse(store, run_id, stored, config)
    if store.must_prove:  # as the run did that broke off, but a table may have been moved to another store since
        prove_exclusive(store, layout.run_file(run_id, ""))
    emit(RunStarted(run_id=run_id, table=store.address))
    for other in fresh_claims(store):  # it may be at work still
        emit(OtherRun(claim=str(other)))
    return carry_out(
        config,
        Begun(store=store, run_id=run_id, prepared=stored.prepared(store), planning=0.0),
        emit,
        engine=engine,
        approve_deletions=stored.approve_deletions if approve_deletions is None else approve_deletions,
    )


def _refuse(store: Store, run_id: str, stored: StoredRun, config: Config) -> None:
    """Raise where going on could not end well."""
    if store.exists(layout.expired_file(run_id)):
        raise TableStateError(f"{store.address}: the files of run {run_id} are being collected; start a new run")
    head = log.head(store)
    if (None if head is None else head.version) != stored.base:
        since = "the table is empty again" if head is None else f"run {head.run_id} committed version {head.version}"
        raise TableStateError(
            f"{store.address}: run {run_id} was planned on version {stored.base}, and {since} since; start a new run"
        )
    now = digests(config)
    differing = [name for name in {**stored.configuration, **now} if stored.configuration.get(name) != now.get(name)]
    if differing:
        raise UsageError(
            f"{store.address}: run {run_id} was planned under another configuration; different now: "
            f"{', '.join(differing)}. Resume it with the configuration it had, or start a new run"
        )


def _checked(store: Store, run: str) -> str:
    if not layout.NAME.fullmatch(run):
        raise UsageError(f"{run!r} is not the id of a run; they look like 20260131T235959Z-1f2e3d4c")
    if not any(page.paths for page in store.list(layout.run_file(run, ""))):
        raise UsageError(f"{store.address}: there is no run {run!r}")
    return run


def _newest_unfinished(store: Store) -> str | None:
    """The newest run with a whole plan and without an end, unless a newer one came to an end: what it left is done."""
    planned: set[str] = set()
    over: set[str] = set()
    ended: set[str] = set()
    for page in store.list(layout.RUNS):
        for path in page.paths:
            run_id, _, name = path.removeprefix(layout.RUNS).partition("/")
            if name == "plan/run.json":
                planned.add(run_id)
            elif name in ("outcome.json", "_expired"):
                over.add(run_id)
                if name == "outcome.json":
                    ended.add(run_id)
    newest = max(planned - over, default=None)
    if newest is None or _second(newest) < _second(max(ended, default="")):
        return None
    return newest


def _second(run_id: str) -> str:
    """When a run began: ids of one second are in no order."""
    return run_id.partition("-")[0]


def _outcome(store: Store, run_id: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(store.read(layout.run_file(run_id, "outcome.json")))
    except FileNotFoundError:
        return None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _already(store: Store, run_id: str, version: int) -> Outcome:
    """The run had committed; all that is missing is the note that says so."""
    outcome = {"run_id": run_id, "ending": "committed", "version": version, "winner": None}
    store.write(layout.run_file(run_id, "outcome.json"), json.dumps(outcome, indent=1).encode())
    return Outcome(
        exit_code=0,
        run_id=run_id,
        version=version,
        committed=True,
        message=f"nothing to resume: run {run_id} had committed version {version}",
    )


def _nothing(store: Store, run_id: str, message: str) -> Outcome:
    head = log.head(store)
    version = None if head is None else head.version
    return Outcome(exit_code=0, run_id=run_id, version=version, committed=False, message=message)

"""What came of a run: from what its last step recorded to the outcome that the command prints and exits with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pipelines.errors import EngineFailed, StorageError, TableStateError
from pipelines.observe.events import Finished, GateFailed, Sink, Withheld
from pipelines.observe.stats import run_stats
from pipelines.operations.prepare import Prepared
from pipelines.records import Outcome
from pipelines.storage.store import Store
from pipelines.table import layout, log, snapshot
from pipelines.table.records import Snapshot
from pipelines.table.shards import read
from pipelines.work.finish import outcome_path

SHOWN_FAILURES = 20
"""Failure rows in the outcome."""


def outcome_of(
    store: Store,
    run_id: str,
    prepared: Prepared,
    ended: Mapping[str, Any],
    emit: Sink,
    *,
    seconds: Mapping[str, float],
    keep: bool = True,
) -> Outcome:
    """The outcome of a run that was `prepared` and `ended` so; its `stats.json` is written where to `keep` it."""
    if ended["ending"] in ("gate", "race"):
        ended = {**ended, **_standing(store, ended["version"], prepared.base)}
    stats = stats_of(prepared, ended, run_id=run_id, seconds=seconds)
    _tell(ended, emit)
    code, message = _ending(ended, partial=prepared.partial)
    committed = ended["ending"] == "committed"
    failures: list[dict[str, str | None]] = []
    try:  # what the run came to does not depend on any of this
        if keep:
            store.write(layout.run_file(run_id, "stats.json"), json.dumps(stats, ensure_ascii=False, indent=1).encode())
        failures = _failures(store, snapshot.load(store, ended["version"]) if committed else prepared.base)
    except (StorageError, TableStateError) as error:
        message = f"{message}; but its statistics could not be written, or its failures not be read: {error}"
    emit(Finished(message=message))
    return Outcome(
        exit_code=code,
        run_id=run_id,
        version=ended["version"],
        committed=committed,
        summary=_summary(stats) | {"table": store.address, "failures": failures},
        message=message,
    )


def stats_of(
    prepared: Prepared, ended: Mapping[str, Any], *, run_id: str, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The statistics of what was `prepared` and `ended` so."""
    return run_stats(
        run_id=run_id,
        ending=ended["ending"],
        version=ended["version"],
        sources=prepared.sources,
        plan=prepared.plan,
        twins=prepared.twins,
        tasks=prepared.tasks,
        outcome=ended,
        seconds=seconds,
    )


def recorded(store: Store, run_id: str) -> dict[str, Any]:
    """How the run ended, as its last step wrote it."""
    path = outcome_path(run_id)
    try:
        ended: dict[str, Any] = json.loads(store.read(path))
    except (FileNotFoundError, ValueError) as error:
        raise TableStateError(f"{store.child(path)}: is not readable: {error}") from error
    return ended


def outcome_again(store: Store, run_id: str, ended: Mapping[str, Any], stats: Mapping[str, Any], emit: Sink) -> Outcome:
    """The outcome of a run that `ended` so and has `stats`; there may be none, and then there is no summary."""
    version, committed = ended.get("version"), ended["ending"] == "committed"
    if "guard" not in ended:  # a rollback, or a run that could not say more
        done = f"committed version {version}" if committed else str(ended["ending"])
        return Outcome(exit_code=0, run_id=run_id, version=version, committed=committed, message=done)
    _tell(ended, emit)
    code, message = _ending(ended, partial=ended.get("partial", False))
    emit(Finished(message=message))
    summary: dict[str, Any] = {}
    if stats:
        try:
            failures = _failures(store, snapshot.load(store, version))
        except (StorageError, TableStateError):  # that version may have been collected since
            failures = []
        summary = _summary(stats) | {"table": store.address, "failures": failures}
    return Outcome(
        exit_code=code, run_id=run_id, version=version, committed=committed, summary=summary, message=message
    )


def committed_all_the_same(
    store: Store, run_id: str, base: int | None, error: StorageError | TableStateError | EngineFailed
) -> Outcome:
    """The outcome of a run from version `base` that met `error` after its commit. Raises `error` if there is none."""
    try:
        version = log.find_run(store, run_id, above=-1 if base is None else base)
    except (StorageError, TableStateError):
        raise error from None
    if version is None:
        raise error
    return Outcome(
        exit_code=0,
        run_id=run_id,
        version=version,
        committed=True,
        message=f"committed version {version}; but what the run says of itself could not be written or read: {error}",
    )


def unchanged(prepared: Prepared) -> dict[str, Any]:
    """The outcome of a night on which there is nothing to do."""
    assert prepared.base is not None  # a first run always has something to do
    return {
        "ending": "nothing",
        "version": prepared.base.version,
        "chunks": sum(shard.chunks.rows for shard in prepared.base.shards),
        "shards": len(prepared.base.shards),
        "guard": {"sources": []},
        "gate": {"level": "pass", "message": ""},
    }


def _standing(store: Store, version: int | None, base: Snapshot | None) -> dict[str, int]:
    """Chunks and shards of the table that a run left as it was; those it began with where the newest cannot be read."""
    with suppress(StorageError, TableStateError):
        base = base if version is None else snapshot.load(store, version)
    shards = () if base is None else base.shards
    return {"chunks": sum(shard.chunks.rows for shard in shards), "shards": len(shards)}


def _tell(ended: Mapping[str, Any], emit: Sink) -> None:
    for source in ended["guard"]["sources"]:
        if source["withheld"]:
            emit(Withheld(message=source["message"]))
    if ended["gate"]["level"] != "pass":
        emit(GateFailed(message=ended["gate"]["message"]))


def _ending(ended: Mapping[str, Any], *, partial: bool) -> tuple[int, str]:
    """Exit code and message."""
    ending, guard, gate = ended["ending"], ended["guard"], ended["gate"]
    if ending == "race":
        return 6, "another run committed first; this one published nothing"
    if ending == "gate":
        return 5, f"nothing published: {gate['message']}"
    withheld = "; ".join(source["message"] for source in guard["sources"] if source["withheld"])
    if ending == "nothing":
        return (4, f"nothing published: {withheld}") if withheld else (4 if partial else 0, "nothing changed")
    done = f"committed version {ended['version']}"
    soft = gate["level"] == "soft"
    said = (gate["message"] if soft else "", withheld, "a source could not be listed whole" if partial else "")
    return 1 if soft else 4 if withheld or partial else 0, "; ".join(filter(None, (done, *said)))


def _summary(stats: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **stats["counts"],
        "removed": sum(stats["gone"].values()),
        "renamed": stats["renamed"],
        "out_of_scope": stats["plan"].get("keep", {}).get("out_of_scope", 0),
        "chunks": stats["chunks"]["total"],
        **{name: stats["changes"].get(name, 0) for name in ("added", "changed", "moved", "deleted")},
        "withheld": sum(each["vanishing"] for each in stats["guard"]["sources"] if each["withheld"]),
        "bytes_read": stats["bytes_read"],
        "seconds": round(sum(stats["seconds"].values()), 2),
    }


def _failures(store: Store, shown: Snapshot | None) -> list[dict[str, str | None]]:
    """Some of the documents that fail as of a commit."""
    found: list[dict[str, str | None]] = []
    for entry in () if shown is None else shown.failures:
        rows = read(store, entry.path, columns=["id", "uri", "position", "error", "message"])
        found += rows.slice(0, SHOWN_FAILURES - len(found)).to_pylist()
    return found

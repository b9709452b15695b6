"""`plan`: what `run` would do now, in numbers, by doing it into a folder that is thrown away.

The same code path with its ends cut off: chunks are made and counted but not written, and nothing is published.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipelines.beam.engine import local_engine
from pipelines.config.model import Config
from pipelines.observe.events import RunStarted, Sink
from pipelines.operations.ending import stats_of, unchanged
from pipelines.operations.prepare import Prepared, prepare
from pipelines.operations.run import drive
from pipelines.records import RunOptions
from pipelines.scratch import scratch_folder
from pipelines.storage.overlay import OverlayStore
from pipelines.storage.store import Store, open_store
from pipelines.table import layout
from pipelines.table.shards import read
from pipelines.work.finish import outcome_path
from pipelines.work.job import Job

SHOWN_FAILURES = 20
"""Failures that are named; all are counted."""

CHANGES = ("added", "changed", "moved", "deleted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """What a run would do. `changes`: it would commit; `gated`: a hard gate would stop it from publishing.

    `report` has the numbers, as JSON: those of the run that follows if nothing changes in between.
    """

    changes: bool
    gated: bool
    report: Mapping[str, Any]


def look_ahead(config: Config, options: RunOptions, emit: Sink) -> Foresight:
    """Plan and chunk without touching the table. Raises what `run` raises before it publishes anything."""
    layout.check_address(config.output.path)
    base = open_store(config.output.path, config.storage.reveal())
    run_id = layout.new_run_id()
    emit(RunStarted(run_id=run_id, table=base.address))
    began = time.monotonic()
    with scratch_folder() as scratch:
        store = OverlayStore(base, open_store(scratch))
        prepared = prepare(config, options, store, run_id, emit)
        pa.default_memory_pool().release_unused()
        planned = time.monotonic()
        if prepared.nothing_to_do:
            ended = unchanged(prepared)
        else:
            job = Job(config=config, run_id=run_id, approve_deletions=options.approve_deletions, scratch=scratch)
            drive(job, local_engine(options.workers), prepared, emit, publish=False)
            ended = json.loads(store.read(outcome_path(run_id)))
        seconds = {"plan": planned - began, "run": time.monotonic() - planned}
        report = _report(config, store, prepared, ended, seconds)
    changes = ended["ending"] == "publish"
    return Foresight(changes=changes, gated=ended["ending"] == "gate", report={"changes": changes, **report})


def _report(
    config: Config, store: Store, prepared: Prepared, ended: Mapping[str, Any], seconds: Mapping[str, float]
) -> dict[str, Any]:
    stats = stats_of(prepared, ended, run_id="", seconds=seconds)
    counts = ended.get("counts", {})
    if "failure_files" in ended:
        failures = ended["failure_files"]
    else:
        failures = [] if prepared.base is None else [entry.path for entry in prepared.base.failures]
    return {
        "table": store.address,
        "version": ended["version"],
        "partial": prepared.partial,
        "documents": stats["counts"],
        "plan": stats["plan"],
        "chunks": {"total": stats["chunks"]["total"]} | {name: stats["changes"].get(name, 0) for name in CHANGES},
        "reasons": stats["reasons"],
        "gone": stats["gone"],
        "renamed": stats["renamed"],
        "characters": counts.get("characters", 0),
        "tokens": None if config.tokens is None else counts.get("tokens", 0),
        "bytes_read": stats["bytes_read"],
        "guard": ended["guard"]["sources"],
        "withheld": sum(each["vanishing"] for each in ended["guard"]["sources"] if each["withheld"]),
        "gate": ended["gate"],
        "failures": _failures(store, failures),
        "seconds": round(sum(seconds.values()), 2),
    }


def _failures(store: Store, paths: Sequence[str]) -> dict[str, Any]:
    """The failures that the table would have: how many of each class, and some of them."""
    classes: Counter[str] = Counter()
    shown: list[dict[str, Any]] = []
    for path in paths:
        rows = read(store, path, columns=["id", "uri", "position", "error", "message"])
        classes.update(rows["error"].to_pylist())
        shown += rows.slice(0, SHOWN_FAILURES - len(shown)).to_pylist()
    return {"total": classes.total(), "classes": dict(sorted(classes.items())), "shown": shown}

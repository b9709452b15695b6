"""The last steps of a run: publish shards, commit, and say what came of it in `outcome.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pipelines.table import layout, log
from pipelines.table.claims import drop_claim
from pipelines.table.commit import Committed, commit
from pipelines.table.publish import in_parallel, publish_shard
from pipelines.table.records import Shard, Snapshot, SourceCount
from pipelines.work.decide import Decision
from pipelines.work.job import Job
from pipelines.work.stored_plan import load_plan

Numbered = tuple[int, int, Shard]
"""index, count, shard"""

PUBLISHED_AT_ONCE = 32
"""Shards of one step: some requests each, which take their time where storage is far away."""


def numbered_shards(decision: Decision) -> Iterator[list[Numbered]]:
    """Every shard to publish, some together."""
    shards = decision.shards if decision.action == "publish" else ()
    numbered = [(index, len(shards), shard) for index, shard in enumerate(shards)]
    for start in range(0, len(numbered), PUBLISHED_AT_ONCE):
        yield numbered[start : start + PUBLISHED_AT_ONCE]


def publish_some(job: Job, numbered: Sequence[Numbered]) -> list[tuple[int, Shard]]:
    """Shards under their final names, each with its index."""
    return in_parallel(lambda each: publish_one(job, *each), numbered, job.table().in_flight)


def publish_one(job: Job, index: int, count: int, shard: Shard) -> tuple[int, Shard]:
    """Shard `index` of `count` under its final names."""
    folder = job.config.output.snapshot == "folder"
    return index, publish_shard(job.table(), job.run_id, index, count, shard, folder=folder)


def commit_run(job: Job, decision: Decision, shards: Sequence[Shard]) -> None:
    """Commit if there is anything to commit, and write the outcome; repeating it changes nothing."""
    store = job.table()
    ending: str = decision.action
    plan = load_plan(store, job.run_id)
    version, winner = plan.base, None
    if decision.action == "publish":
        head = log.head_at(store, version) if version is not None else None
        result = commit(store, _snapshot(job, decision, shards, version), head)
        if isinstance(result, Committed):
            ending = "committed"
        else:
            ending, winner = "race", result.winner
        version = result.version
    elif decision.action == "race" and (first := log.head(store)) is not None:
        version, winner = first.version, first.run_id
    ended = {"run_id": job.run_id, "ending": ending, "version": version, "winner": winner, "partial": plan.partial}
    outcome = ended | summary(decision)
    store.write(outcome_path(job.run_id), json.dumps(outcome, ensure_ascii=False, indent=1).encode())
    if job.unattended:
        drop_claim(store, job.run_id)


def report_plan(job: Job, decision: Decision) -> None:
    """Write the outcome of a run that only looks: its `ending` is the decision's action, and nothing is committed."""
    store = job.table()
    version = load_plan(store, job.run_id).base
    outcome = {"run_id": job.run_id, "ending": decision.action, "version": version, **summary(decision)}
    if decision.action == "publish":
        outcome["failure_files"] = [entry.path for entry in decision.failures]
    store.write(outcome_path(job.run_id), json.dumps(outcome, ensure_ascii=False, indent=1).encode())


def outcome_path(run_id: str) -> str:
    """Where the outcome lies in the table."""
    return layout.run_file(run_id, "outcome.json")


def summary(decision: Decision) -> dict[str, Any]:
    """What a decision says in numbers, as JSON."""
    return {
        "guard": asdict(decision.guard) | {"withheld": decision.guard.withheld},
        "gate": asdict(decision.gate),
        "changes": dict(decision.by_change),
        "reasons": dict(decision.by_reason),
        "gone": dict(decision.gone),
        "renamed": decision.renamed,
        "states_changed": decision.states_changed,
        "listed": decision.listed,
        "failed": decision.failed,
        "chunks": sum(shard.chunks.rows for shard in decision.shards),
        "shards": len(decision.shards),
        "documents": dict(decision.documents),
        "counts": decision.counts.as_dict(),
    }


def _snapshot(job: Job, decision: Decision, shards: Sequence[Shard], parent: int | None) -> Snapshot:
    config: Mapping[str, Any] = {"name": job.config.name, "limits": asdict(job.config.limits)}
    return Snapshot(
        run_id=job.run_id,
        parent_version=parent,
        created=datetime.now(tz=UTC),
        shards=tuple(shards),
        changes=decision.changes,
        failures=decision.failures,
        renames=decision.renames,
        payload=dict(job.config.payload),
        sources=tuple(SourceCount(path=path, documents=number) for path, number in decision.documents.items()),
        config=config,
        stats={"changes": dict(decision.by_change), "failed": decision.failed, "renamed": decision.renamed},
    )

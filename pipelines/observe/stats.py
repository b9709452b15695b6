"""`stats.json`: a run in numbers. Reports read this file and nothing else.

The law of its `counts`: listed = chunked + empty + unchanged + failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pipelines.planning import Plan


def run_stats(
    *,
    run_id: str,
    ending: str,
    version: int | None,
    sources: Sequence[Mapping[str, Any]],
    plan: Plan,
    outcome: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """The numbers of a finished run. `sources` has path, listed, bytes and completed of each configured source."""
    counts = outcome.get("counts", {})
    per_source = _by_source(sources, plan, counts.get("documents", {}))
    return {
        "run_id": run_id,
        "ending": ending,
        "version": version,
        "counts": {name: sum(each[name] for each in per_source.values()) for name in COUNTED},
        "sources": per_source,
        "plan": {action: dict(reasons) for action, reasons in plan.counts.items()},
        "tasks": len(plan.tasks),
        "chunks": {
            "total": outcome.get("chunks", 0),
            "new": counts.get("new_rows", 0),
            "carried": counts.get("carried_rows", 0),
        },
        "shards": outcome.get("shards", 0),
        "changes": outcome.get("changes", {}),
        "reasons": outcome.get("reasons", {}),
        "states_changed": outcome.get("states_changed", 0),
        "guard": outcome.get("guard", {}),
        "gate": outcome.get("gate", {}),
        "bytes_read": sum(counts.get("bytes_read", {}).values()),
        **{
            name: dict(counts.get(name, {}))
            for name in ("failures", "strategies", "encodings", "cuts", "drops", "notes")
        },
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
    }


COUNTED = ("listed", "chunked", "empty", "unchanged", "failed")
"""Documents by what became of them in a run."""


def _by_source(sources: Sequence[Mapping[str, Any]], plan: Plan, read: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    kept = _kept(plan.documents)
    duplicates = Counter(plan.duplicates["source"].to_pylist())
    for index, source in enumerate(sources):
        path = source["path"]
        unchanged, known_failures = kept[index, "unchanged"], kept[index, "failed"]
        each = found.setdefault(path, dict.fromkeys(COUNTED, 0) | {"bytes": 0, "completed": True})
        each["listed"] += source["listed"]
        each["bytes"] += source["bytes"]
        each["completed"] = each["completed"] and source["completed"]
        each["unchanged"] += unchanged
        each["failed"] += known_failures + duplicates[index]
    for key, number in read.items():
        path, _, outcome = key.rpartition("\t")
        found[path][outcome] += number
    return found


def _kept(documents: pa.Table) -> Counter[tuple[int, str]]:
    grouped = documents.group_by(["source", "action", "reason"]).aggregate([([], "count_all")]).to_pylist()
    return Counter({(row["source"], row["reason"]): row["count_all"] for row in grouped if row["action"] == "keep"})

"""`stats.json`: a run in numbers. Reports read this file and nothing else.

The law of its `counts`: listed = chunked + empty + unchanged + failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COUNTED = ("listed", "chunked", "empty", "unchanged", "failed")
"""Documents by what became of them in a run."""

_TALLIES = ("failures", "strategies", "encodings", "cuts", "drops", "notes")


def run_stats(
    *,
    run_id: str,
    ending: str,
    version: int | None,
    sources: Mapping[str, Mapping[str, Any]],
    plan: Mapping[str, Mapping[str, int]],
    twins: Mapping[str, Any] | None,
    tasks: int,
    outcome: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """The numbers of a finished run.

    `sources` has what was known of each source before anything was read (operations/prepare.py), `outcome` what the
    tasks counted; `plan` is documents by action and reason, `twins` what the ids of some are taken for (twins.py).
    """
    counts = outcome.get("counts", {})
    per_source = {path: dict(known) for path, known in sources.items()}
    for key, number in counts.get("documents", {}).items():
        path, _, what = key.rpartition("\t")
        per_source[path][what] += number
    return {
        "run_id": run_id,
        "ending": ending,
        "version": version,
        "counts": {name: sum(each[name] for each in per_source.values()) for name in COUNTED},
        "sources": per_source,
        "plan": {action: dict(reasons) for action, reasons in plan.items()},
        "twins": dict(twins or {"documents": 0, "example": []}),
        "tasks": tasks,
        "chunks": {
            "total": outcome.get("chunks", 0),
            "new": counts.get("new_rows", 0),
            "carried": counts.get("carried_rows", 0),
        },
        "shards": outcome.get("shards", 0),
        "changes": outcome.get("changes", {}),
        "reasons": outcome.get("reasons", {}),
        "gone": outcome.get("gone", {}),
        "renamed": outcome.get("renamed", 0),
        "states_changed": outcome.get("states_changed", 0),
        "guard": outcome.get("guard", {}),
        "gate": outcome.get("gate", {}),
        "bytes_read": sum(counts.get("bytes_read", {}).values()),
        **{name: dict(counts.get(name, {})) for name in _TALLIES},
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
    }

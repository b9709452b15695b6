"""What a run will read, keep and let go, decided from a listing and the last commit's states. Pure and columnar."""

from pipelines.planning.planner import plan
from pipelines.planning.records import (
    DUPLICATES,
    LISTING,
    PLAN_DOCUMENTS,
    STATE_COLUMNS,
    Plan,
    PlanSource,
    Region,
    Route,
    ShardRange,
    Task,
)

__all__ = [
    "DUPLICATES",
    "LISTING",
    "PLAN_DOCUMENTS",
    "STATE_COLUMNS",
    "Plan",
    "PlanSource",
    "Region",
    "Route",
    "ShardRange",
    "Task",
    "plan",
]

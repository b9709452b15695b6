"""What a run will read, keep and let go, decided from a listing and the last commit's states. Pure and columnar."""

from pipelines.planning.identified import Identified, identify
from pipelines.planning.planner import decide_objects, lay_out_plan, plan
from pipelines.planning.records import (
    CONTESTED,
    DUPLICATES,
    HELD,
    LISTING,
    PLAN_DOCUMENTS,
    STATE_COLUMNS,
    Decided,
    Part,
    Plan,
    PlanSource,
    Region,
    Route,
    ShardRange,
    StateSlice,
    Task,
)

__all__ = [
    "CONTESTED",
    "DUPLICATES",
    "HELD",
    "LISTING",
    "PLAN_DOCUMENTS",
    "STATE_COLUMNS",
    "Decided",
    "Identified",
    "Part",
    "Plan",
    "PlanSource",
    "Region",
    "Route",
    "ShardRange",
    "StateSlice",
    "Task",
    "decide_objects",
    "identify",
    "lay_out_plan",
    "plan",
]

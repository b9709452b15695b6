"""What all tests share: repeatable random inputs, and what is said at the end of a run."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import Any

from hypothesis import settings

# The same inputs each time, so that a run tells of the change at hand; HYPOTHESIS_PROFILE=random looks for new ones.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.register_profile("random", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many points the fault harness tried, by kind of fault, place and operation."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    operations: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, value in getattr(report, "user_properties", ()):
            if name == "fault points" and report.when == "call":
                where, _, kind, found = value
                kinds[kind][where] += sum(found.values())
                operations.update(found)
    if not operations:
        return
    terminalreporter.section("fault harness")
    terminalreporter.line(f"{operations.total()} points tried: {_told(operations)}")
    for kind, places in kinds.items():
        terminalreporter.line(f"  {kind}: {_told(places)}")


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))

"""What commands say while they run the job."""

from __future__ import annotations

import io

from pipelines.cli.running import Reporter
from pipelines.observe.console import Console
from pipelines.observe.events import ObjectSkipped


def left_out(name: str) -> ObjectSkipped:
    return ObjectSkipped(source="docs", path=name, reason="not a regular file")


def test_what_is_left_out_is_said_once_in_many_rounds_and_not_without_end() -> None:
    said = io.StringIO()
    report = Reporter(Console(out=io.StringIO(), err=said))
    for _ in range(3):
        for number in range(4):
            report(left_out(str(number)))
    assert said.getvalue().splitlines() == [
        f"warning: docs: left out {number}: not a regular file" for number in range(4)
    ]
    for number in range(4, 30):
        report(left_out(str(number)))
    lines = said.getvalue().splitlines()
    assert (len(lines), lines[9:]) == (
        11,
        [
            "warning: docs: left out 9: not a regular file",
            "warning: more objects were left out; only the first are shown",
        ],
    )

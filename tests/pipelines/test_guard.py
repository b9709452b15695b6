"""The guard: which deletions go ahead."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.config.model import Guard
from pipelines.guard import SourceVerdict, Verdict, judge


def vanishing(**sources: Any) -> dict[tuple[str, str], int]:
    """`a=3` is three removed documents of source a, `a={"emptied": 2}` two emptied ones."""
    found = {}
    for source, reasons in sources.items():
        counted = {"removed": reasons} if isinstance(reasons, int) else reasons
        found |= {(source, reason): count for reason, count in counted.items()}
    return found


def one(
    before: int, gone: int, *, after: int | None = None, approved: int | None = None, **limits: Any
) -> SourceVerdict:
    left = before - gone if after is None else after
    verdict = judge(
        vanishing=vanishing(docs=gone),
        before={"docs": before},
        after={"docs": left},
        limits=Guard(**limits),
        approved=approved,
    )
    assert len(verdict.sources) == 1
    return verdict.sources[0]


@pytest.mark.parametrize(
    ("before", "gone", "limits", "why"),
    [
        (100, 10, {}, ""),  # not more than 10 documents
        (11, 10, {}, ""),  # 91 %, but not more than 10 documents
        (55, 11, {}, ""),  # exactly 20 %
        (54, 11, {}, "share"),  # a little more than 20 %
        (1000, 200, {}, ""),
        (1000, 201, {}, "share"),
        (3, 2, {}, ""),
        (1000, 1, {"documents": 0, "percent": 0.1}, ""),  # exactly 0.1 %
        (999, 1, {"documents": 0, "percent": 0.1}, "share"),
        (10, 1, {"documents": 0, "percent": 0}, "share"),
        (1000, 999, {"percent": 100}, ""),
    ],
)
def test_deletions_are_withheld_above_both_limits(before: int, gone: int, limits: dict[str, Any], why: str) -> None:
    verdict = one(before, gone, **limits)
    assert (verdict.why, verdict.withheld) == (why, why != "")


@pytest.mark.parametrize("before", [1, 5, 5000])
def test_a_source_never_becomes_empty_by_itself(before: int) -> None:
    verdict = one(before, before, documents=10_000, percent=100)
    assert (verdict.withheld, verdict.why, verdict.after) == (True, "emptied-source", 0)


def test_a_source_whose_only_document_was_replaced_is_not_empty() -> None:
    assert one(1, 1, after=1).withheld is False


@pytest.mark.parametrize(("approved", "withheld"), [(None, True), (0, True), (39, True), (40, False), (41, False)])
def test_approval_is_a_ceiling(approved: int | None, withheld: bool) -> None:
    assert one(40, 40, approved=approved).withheld is withheld


def test_approval_counts_the_documents_of_all_sources() -> None:
    def withheld(approved: int) -> list[bool]:
        verdict = judge(
            vanishing=vanishing(a=30, b=3),
            before={"a": 40, "b": 90},
            after={"a": 10, "b": 87},
            limits=Guard(),
            approved=approved,
        )
        return [source.withheld for source in verdict.sources]

    assert withheld(30) == withheld(32) == [True, False]
    assert withheld(33) == [False, False]


def test_each_source_is_judged_by_itself() -> None:
    gone = vanishing(a={"removed": 30, "emptied": 1}, b={"rekeyed": 2}, c=1)
    verdict = judge(
        vanishing=gone,
        before={"a": 40, "b": 100, "c": 1, "d": 7},
        after={"a": 9, "b": 98, "d": 7},
        limits=Guard(),
    )
    assert verdict == Verdict(
        total=34,
        sources=(
            SourceVerdict(
                source="a",
                before=40,
                after=9,
                vanishing=31,
                reasons={"emptied": 1, "removed": 30},
                withheld=True,
                why="share",
                message="a: 31 of 40 documents would be deleted (1 emptied, 30 removed), more than 10 documents and 20 %; "
                "they stay. If they are really gone, pass --approve-deletions 34",
            ),
            SourceVerdict(
                source="b",
                before=100,
                after=98,
                vanishing=2,
                reasons={"rekeyed": 2},
                withheld=False,
                why="",
                message="b: 2 of 100 documents deleted (2 rekeyed)",
            ),
            SourceVerdict(
                source="c",
                before=1,
                after=0,
                vanishing=1,
                reasons={"removed": 1},
                withheld=True,
                why="emptied-source",
                message="c: 1 of 1 document would be deleted (1 removed), nothing would be left of this source; they stay. "
                "If they are really gone, pass --approve-deletions 34",
            ),
        ),
    )
    assert verdict.withheld
    assert verdict.withheld_sources == {"a", "c"}


def test_nothing_vanishing_is_no_verdict() -> None:
    verdict = judge(vanishing=vanishing(), before={"a": 3}, after={"a": 3}, limits=Guard())
    assert verdict == Verdict(sources=(), total=0)
    assert not verdict.withheld
    assert verdict.withheld_sources == frozenset()

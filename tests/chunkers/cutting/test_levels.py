"""The boundaries by themselves: next to an offset, from both sides, and the same from both sides."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.cutting.levels import (
    TEXT_LADDER,
    BlankLine,
    Clause,
    Gap,
    Grapheme,
    Level,
    Line,
    Sentence,
    SeparatorPosition,
    Word,
)
from chunkers.cutting.separators import Positions, Separator, SeparatorPattern, separator_spans
from chunkers.errors import BudgetExceeded
from tests.laws.generators import MARKS, RARE_SPACES, SPACES, WORDS

TEXTS = st.lists(st.sampled_from([*WORDS, *SPACES, *SPACES, *MARKS, *RARE_SPACES]), max_size=30).map("".join)
LEVELS: list[Level] = [
    *TEXT_LADDER,
    Separator("a"),
    Separator(" ", "start"),
    Separator(". ", "end"),
    SeparatorPattern(r"\s+"),
]


def gaps(level: Level, text: str) -> list[Gap]:
    """All gaps, found forward."""
    bound, found, low = level.bind(text), [], 0
    while (gap := bound.first(low, len(text))) is not None:
        found.append(gap)
        low = gap.end
    return found


@pytest.mark.parametrize(
    ("level", "text", "expected"),
    [
        (BlankLine(), "a\n\nb\n \nc\n\t\nd\ne", [(1, 3), (4, 7), (8, 11)]),
        (BlankLine(), f"a\n{' ' * 700}\nb", [(1, 703)]),
        (BlankLine(), f"a\r{' ' * 700}\rb", [(1, 703)]),
        (BlankLine(), "a\r\n\r\nb\r\rc\n\rd", [(1, 5), (6, 8), (9, 11)]),
        (Line(), "a\nb\nc", [(1, 2), (3, 4)]),
        (Line(), "a\r\nb\rc\x85d", [(1, 3), (4, 5)]),
        (Sentence(), "One. Two! 好。吗", [(4, 4), (9, 9), (12, 12)]),
        (Clause(), "a, b; c：d", [(2, 2), (5, 5), (8, 8)]),
        (Word(), "ab cd漢字。x", [(2, 2), (5, 5), (6, 6), (8, 8)]),
        (Word(), "「漢」字", [(3, 3)]),
        (Grapheme(), "ae\u0301b", [(1, 1), (3, 3), (4, 4)]),
        (Separator("--"), "a--b--c", [(1, 3), (4, 6)]),
        (Separator("--", "start"), "a--b", [(1, 1)]),
        (Separator("--", "end"), "a--b", [(3, 3)]),
        (SeparatorPattern(r"(\d)+"), "a1b22c", [(1, 2), (3, 5)]),
        (SeparatorPattern(r"(?=[A-Z])"), "aBcD", [(1, 1), (3, 3)]),
    ],
)
def test_gaps_of(level: Level, text: str, expected: list[tuple[int, int]]) -> None:
    assert [tuple(gap) for gap in gaps(level, text)] == expected


@settings(derandomize=True, database=None, max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from(LEVELS), st.data())
def test_last_agrees_with_first(text: str, level: Level, data: st.DataObject) -> None:
    bound, found, high = level.bind(text), gaps(level, text), data.draw(st.integers(0, len(text)))
    # The neighbours of some overlap, seen from the other side; clusters are told from an edge only.
    if not isinstance(level, Separator | BlankLine | Grapheme):
        for gap in found:
            assert bound.last(gap.end - 1, gap.end) == gap
            assert bound.first(gap.end - 1, gap.end) == gap
        assert bound.last(0, high) == max((gap for gap in found if gap.end <= high), default=None)


@pytest.mark.parametrize(
    ("level", "text", "low", "start"),
    [
        (Line(), "a\n  b\nc", 1, 4),
        (Line(), "a\n  b\nc", 5, 6),
        (Line(), "abc", 1, None),
        (BlankLine(), "xt", 1, None),
        (BlankLine(), "a\n\nb", 1, 3),
        (Sentence(), "They went. We stay.", 1, 11),
        (Word(), "ab cd", 1, 3),
        (Grapheme(), "ab cd", 2, 2),
        (Separator(","), "a,b", 1, 2),
        (Separator(",", "start"), "a,b", 1, 1),
    ],
)
def test_the_first_piece_that_starts_at_an_offset_or_behind_it(
    level: Level, text: str, low: int, start: int | None
) -> None:
    assert level.bind(text).first_start(low, len(text)) == start


def test_positions_answer_by_bisection() -> None:
    found = Positions("block", [Gap(2, 3), Gap(5, 5)])
    assert [found.last(0, 1), found.last(0, 4), found.last(2, 4), found.last(0, 9)] == [
        None,
        Gap(2, 3),
        None,
        Gap(5, 5),
    ]
    assert [found.first(0, 1), found.first(0, 9), found.first(2, 9), found.first(5, 9)] == [
        None,
        Gap(2, 3),
        Gap(5, 5),
        None,
    ]
    assert [found.first_start(0, 9), found.first_start(4, 9), found.first_start(6, 9)] == [3, 5, None]


@pytest.mark.parametrize("position", [None, "start", "end"])
def test_groups_in_a_pattern_are_harmless(position: SeparatorPosition | None) -> None:
    plain, grouped = SeparatorPattern("[。!]", position), SeparatorPattern("((。)|(!))", position)
    assert gaps(plain, "好。嗎!是") == gaps(grouped, "好。嗎!是") != []


def test_a_pattern_without_end_fails_the_document() -> None:
    with pytest.raises(BudgetExceeded) as caught:
        separator_spans("a" * 5000, "(a+)+b", 0.05)
    assert str(caught.value) == "separator '(a+)+b' took more than 0.05 s on this document"

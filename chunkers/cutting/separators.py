"""Boundaries that are given: separators of the user, and positions that a parser found."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from chunkers.budget import current
from chunkers.cutting.levels import BoundLevel, Gap, SeparatorPosition
from chunkers.errors import BudgetExceeded
from chunkers.records import Cut


@dataclass(frozen=True, slots=True)
class Separator:
    """A separator, taken literally. Without a `position` it is dropped where a cut falls on it."""

    separator: str
    position: SeparatorPosition | None = None

    def bind(self, text: str) -> BoundLevel:
        return _Separator(text, self.separator, self.position)


@dataclass(frozen=True, slots=True)
class SeparatorPattern:
    """A separator given as a regular expression (the `regex` dialect); found once a document, under a time limit."""

    pattern: str
    position: SeparatorPosition | None = None
    seconds: float = 10.0

    def bind(self, text: str) -> BoundLevel:
        return Positions("separator", _gaps(separator_spans(text, self.pattern, self.seconds), self.position))


def separator_spans(text: str, pattern: str, seconds: float) -> list[tuple[int, int]]:
    """All matches of a user's pattern; BudgetExceeded when they take more than `seconds`, or than the document has."""
    meter = current()
    if meter is not None:
        seconds = meter.seconds_left(seconds)
    try:
        return [found.span() for found in regex.compile(pattern).finditer(text, timeout=seconds)]
    except TimeoutError as error:
        raise BudgetExceeded(f"separator {pattern!r} took more than {seconds:g} s on this document") from error


def _gaps(spans: Sequence[tuple[int, int]], position: SeparatorPosition | None) -> list[Gap]:
    if position == "start":
        return [Gap(start, start) for start, _ in spans]
    if position == "end":
        return [Gap(end, end) for _, end in spans]
    return [Gap(start, end) for start, end in spans]


class _Separator:
    __slots__ = ("_after", "_behind", "_separator", "_text")
    soft = False
    cut: Cut = "separator"

    def __init__(self, text: str, separator: str, position: SeparatorPosition | None) -> None:
        self._text, self._separator = text, separator
        self._behind = len(separator) if position == "end" else 0
        self._after = 0 if position == "start" else len(separator)

    def last(self, low: int, high: int) -> Gap | None:
        start = max(0, low + 1 - self._behind)
        at = self._text.rfind(self._separator, start, high - self._behind + len(self._separator))
        return Gap(at + self._behind, at + self._after) if at >= 0 else None

    def first(self, low: int, high: int) -> Gap | None:
        start = max(0, low + 1 - self._behind)
        at = self._text.find(self._separator, start, high - self._behind + len(self._separator))
        return Gap(at + self._behind, at + self._after) if at >= 0 else None

    def first_start(self, low: int, high: int) -> int | None:
        at = self._text.find(self._separator, max(0, low - self._after), high)
        return at + self._after if 0 <= at < high - self._after else None


class Positions:
    """Boundaries that a parser found: sorted, the gaps not overlapping. Bound already."""

    __slots__ = ("_ends", "_starts", "cut", "soft")

    def __init__(self, cut: Cut, gaps: Sequence[Gap], *, soft: bool = False) -> None:
        self.cut, self.soft = cut, soft
        self._ends = [gap.end for gap in gaps]
        self._starts = [gap.start for gap in gaps]

    def bind(self, text: str) -> BoundLevel:
        """These boundaries; they know their text already."""
        return self

    @classmethod
    def at(cls, cut: Cut, offsets: Sequence[int]) -> Positions:
        """Zero-width boundaries at `offsets`; the white space around them may be trimmed."""
        made = cls(cut, (), soft=True)
        made._ends = made._starts = list(offsets)
        return made

    @property
    def offsets(self) -> Sequence[int]:
        """Where the pieces before the boundaries end."""
        return self._ends

    def last(self, low: int, high: int) -> Gap | None:
        at = bisect_right(self._ends, high) - 1
        return Gap(self._ends[at], self._starts[at]) if at >= 0 and self._ends[at] > low else None

    def first(self, low: int, high: int) -> Gap | None:
        at = bisect_right(self._ends, low)
        return Gap(self._ends[at], self._starts[at]) if at < len(self._ends) and self._ends[at] <= high else None

    def first_start(self, low: int, high: int) -> int | None:
        at = bisect_left(self._starts, low)
        return self._starts[at] if at < len(self._starts) and self._starts[at] < high else None

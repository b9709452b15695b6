"""A level without the boundaries that lie inside of something that should stay whole."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from chunkers.cutting.levels import BoundLevel, Gap, Level
from chunkers.records import Cut


class Wholes:
    """Spans that should not be cut, of one text; those that touch or hold each other count as one."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def around(self, offset: int) -> tuple[int, int] | None:
        """The span that `offset` lies inside, not at its edge."""
        at = bisect_right(self._starts, offset - 1) - 1
        if at >= 0 and self._starts[at] < offset < self._ends[at]:
            return self._starts[at], self._ends[at]
        return None


class Outside:
    """The boundaries of a level that lie in none of `wholes`, which are those of the text it is bound to."""

    __slots__ = ("_level", "_wholes")

    def __init__(self, level: Level, wholes: Wholes) -> None:
        self._level, self._wholes = level, wholes

    def bind(self, text: str) -> BoundLevel:
        return _Outside(self._level.bind(text), self._wholes)


class _Outside:
    __slots__ = ("_inner", "_wholes", "cut", "soft")

    def __init__(self, inner: BoundLevel, wholes: Wholes) -> None:
        self._inner, self._wholes = inner, wholes
        self.cut: Cut = inner.cut
        self.soft = inner.soft

    def last(self, low: int, high: int) -> Gap | None:
        while high > low and (gap := self._inner.last(low, high)) is not None:
            whole = self._wholes.around(gap.end)
            if whole is None:
                return gap
            high = whole[0]
        return None

    def first(self, low: int, high: int) -> Gap | None:
        while low < high and (gap := self._inner.first(low, high)) is not None:
            whole = self._wholes.around(gap.end)
            if whole is None:
                return gap
            low = whole[1] - 1
        return None

    def first_start(self, low: int, high: int) -> int | None:
        while low < high and (start := self._inner.first_start(low, high)) is not None:
            whole = self._wholes.around(start)
            if whole is None:
                return start
            low = whole[1]
        return None

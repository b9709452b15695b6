"""The marks of a ladder in one text: the coarse ones from one pass, the others from where they are asked about."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from chunkers.cutting.levels import Gap
from chunkers.cutting.marks import MOST_ABOVE, MarkLadder, belongs_below
from chunkers.records import Cut


class FoundMarks:
    """`by_rung`: where the marks are, behind a -1 that is before every text.

    Those of a rung are `known` up to an offset; `look` makes them known. Whoever asks goes forward: what lies before an
    offset that was asked about is not looked for later.
    """

    __slots__ = ("_above", "_late", "_searches", "_text", "by_rung", "cuts", "known", "stand")

    def __init__(self, text: str, ladder: MarkLadder) -> None:
        self._text, self._above, self._late = text, ladder.above, ladder.late
        self._searches: dict[int, Iterator[re.Match[str]]] = {}
        self.cuts, self.stand = ladder.cuts, ladder.stand
        early = len(ladder.cuts) - len(ladder.late)
        self.by_rung: list[list[int]] = [[-1] for _ in ladder.cuts]
        add = [self.by_rung[rung].append for rung in ladder.rungs]
        for found in ladder.early.finditer(text):
            add[found.lastindex or 0](found.start())
        if self._above is not None:
            self.by_rung[:early] = [[-1, *self._tops(ends[1:])] for ends in self.by_rung[:early]]
        self.known = [len(text)] * early + [-1] * len(ladder.late)

    def look(self, rung: int, low: int, high: int) -> None:
        """Know the marks of a late rung in `low <= end <= high`, and the first one behind."""
        late = rung - len(self.cuts)
        if self.known[rung] < low:
            self._searches[late] = self._late[late].finditer(self._text, low)
        ends: list[int] = []
        self.known[rung] = len(self._text)
        for found in self._searches[late]:
            end = found.start()
            ends.append(end)
            if end > high:
                self.known[rung] = end
                break
        self.by_rung[rung] += ends if self._above is None else self._tops(ends)

    def level(self, rung: int) -> Found:
        """The marks of a rung as a level."""
        return Found(self, rung)

    def _tops(self, ends: list[int]) -> list[int]:
        """For line ends, those in front of the lines that belong to the ones behind them, where there are any."""
        text, above = self._text, self._above
        tops: list[int] = []
        if above is None:
            return ends
        rfind, belongs = text.rfind, above.match
        for end in ends:
            if text[end - 1] != "\n" and belongs(text, rfind("\n", 0, end) + 1, end):
                if (top := _top(text, end, above)) >= 0:
                    tops.append(top)
            else:
                tops.append(end)
        return tops


def _top(text: str, end: int, above: re.Pattern[str]) -> int:
    """The line end in front of the lines that belong to the one behind the line end `end`; -1 if there is none."""
    for _ in range(MOST_ABOVE + 1):
        start = belongs_below(text, end, above)
        if start < 0:
            return end
        end = start - 1
        if end < 0:
            return -1
    return -1


class Found:
    """The marks of one rung as a level, which is asked going forward."""

    __slots__ = ("_marks", "_rung", "cut")
    soft = True

    def __init__(self, marks: FoundMarks, rung: int) -> None:
        self._marks, self._rung = marks, rung
        self.cut: Cut = marks.cuts[rung]

    def last(self, low: int, high: int) -> Gap | None:
        """The gap with the greatest end in `low < end <= high`."""
        ends = self._ends(low, high)
        end = ends[bisect_right(ends, high) - 1]
        return self._gap(end) if end > low else None

    def first(self, low: int, high: int) -> Gap | None:
        """The gap with the least end in `low < end <= high`."""
        ends = self._ends(low, high)
        at = bisect_right(ends, low)
        return self._gap(ends[at]) if at < len(ends) and ends[at] <= high else None

    def first_start(self, low: int, high: int) -> int | None:
        """The least start of a piece in `low <= start < high`."""
        gap = self.first(low - (1 if self._marks.stand else 2), high - (1 if self._marks.stand else 2))
        return None if gap is None else gap.start

    def _ends(self, low: int, high: int) -> list[int]:
        if self._marks.known[self._rung] <= high:
            self._marks.look(self._rung, low, high)
        return self._marks.by_rung[self._rung]

    def _gap(self, end: int) -> Gap:
        return Gap(end, end if self._marks.stand else end + 1)

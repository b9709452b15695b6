"""The levels of boundaries that only Markdown has: known offsets, and those of blocks that are read when asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from chunkers.cutting.levels import BlankLine, BoundLevel, Gap, Level
from chunkers.records import Cut

_new = tuple.__new__  # a third of the time of Gap(…)


class Layout(Protocol):
    """What the levels ask a document's layout: where headings start, and top-level blocks as far as they are read."""

    text: str
    starts: list[int]
    block_starts: list[int]
    block_ends: list[int]

    def section_starts(self, level: int) -> Sequence[int]: ...

    def read(self, low: int, high: int) -> None: ...

    def read_edges(self, low: int, high: int) -> int: ...


def _last(offsets: Sequence[int], low: int, high: int) -> int:
    """The greatest of some ascending offsets in `low < offset <= high`, or -1."""
    at = bisect_right(offsets, high) - 1
    return offsets[at] if at >= 0 and offsets[at] > low else -1


class Starts:
    """Zero-width boundaries at known offsets, ascending."""

    __slots__ = ("_offsets", "cut", "soft")

    def __init__(self, cut: Cut, offsets: Sequence[int]) -> None:
        self.cut, self.soft, self._offsets = cut, True, offsets

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        offset = _last(self._offsets, low, high)
        return _new(Gap, (offset, offset)) if offset >= 0 else None

    def first(self, low: int, high: int) -> Gap | None:
        offsets = self._offsets
        at = bisect_right(offsets, low)
        return Gap(offsets[at], offsets[at]) if at < len(offsets) and offsets[at] <= high else None

    def first_start(self, low: int, high: int) -> int | None:
        at = bisect_left(self._offsets, low)
        return self._offsets[at] if at < len(self._offsets) and self._offsets[at] < high else None


class Sections:
    """The sections of one heading level, worked out when some heading is in reach: inside of a section none is."""

    __slots__ = ("_layout", "_level", "cut", "soft")

    def __init__(self, level: int, layout: Layout) -> None:
        self.cut: Cut = "heading"
        self.soft = True
        self._level, self._layout = level, layout

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        return self._starts().last(low, high) if _last(self._layout.starts, low, high) >= 0 else None

    def first(self, low: int, high: int) -> Gap | None:
        return self._starts().first(low, high)

    def first_start(self, low: int, high: int) -> int | None:
        return self._starts().first_start(low, high)

    def _starts(self) -> Starts:
        return Starts(self.cut, self._layout.section_starts(self._level))


class Later:
    """The same for offsets in several sequences, which are worked out when asked for."""

    __slots__ = ("_between", "_layout", "cut", "soft")

    def __init__(self, cut: Cut, layout: Layout, between: Callable[[int, int], Iterable[Sequence[int]]]) -> None:
        self.cut, self.soft, self._layout, self._between = cut, True, layout, between

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        self._layout.read(low, high)
        offset = -1
        for offsets in self._between(low, high):
            offset = max(offset, _last(offsets, low, high))
        return _new(Gap, (offset, offset)) if offset >= 0 else None

    def first(self, low: int, high: int) -> Gap | None:
        self._layout.read(low, high)
        found = (Starts(self.cut, offsets).first(low, high) for offsets in self._between(low, high))
        return min((gap for gap in found if gap), default=None)

    def first_start(self, low: int, high: int) -> int | None:
        self._layout.read(low, high)
        found = (Starts(self.cut, offsets).first_start(low, high) for offsets in self._between(low, high))
        return min((start for start in found if start is not None), default=None)


class Once:
    """A level that is bound to its one text once, however often it is asked."""

    __slots__ = ("_bound", "_level", "_text")

    def __init__(self, level: Level, text: str) -> None:
        self._level, self._text = level, text
        self._bound: BoundLevel | None = None

    def bind(self, text: str) -> BoundLevel:
        if self._bound is None:
            self._bound = self._level.bind(self._text)
        return self._bound


class Edges:
    """The edges of top-level blocks: where a parsed block starts or ends, and blank lines outside of all of them."""

    __slots__ = ("_blank", "_layout", "cut", "soft")

    def __init__(self, layout: Layout) -> None:
        self.cut: Cut = "block"
        self.soft = True
        self._blank = BlankLine().bind(layout.text)
        self._layout = layout

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        edge = low = self._layout.read_edges(low, high)
        starts, ends = self._layout.block_starts, self._layout.block_ends
        if at := bisect_right(starts, high):
            if starts[at - 1] > edge:
                edge = starts[at - 1]
            if ends[at - 1] > high:  # all from there on is in this block
                return _new(Gap, (edge, edge)) if edge > low else None
        if (at := bisect_right(ends, high)) and ends[at - 1] > edge:
            edge = ends[at - 1]
        while high > edge and (gap := self._blank.last(edge, high)) is not None:
            at = bisect_right(starts, gap.end) - 1
            if at < 0 or gap.end >= ends[at]:
                return gap
            high = starts[at]
        return _new(Gap, (edge, edge)) if edge > low else None

    def first(self, low: int, high: int) -> Gap | None:
        self._layout.read(low, high)
        starts, ends = self._layout.block_starts, self._layout.block_ends
        edge = high + 1
        if (at := bisect_right(starts, low)) < len(starts) and starts[at] < edge:
            edge = starts[at]
        if (at := bisect_right(ends, low)) < len(ends) and ends[at] < edge:
            edge = ends[at]
        while low < min(edge, high) and (gap := self._blank.first(low, min(edge, high))) is not None:
            at = bisect_right(starts, gap.end) - 1
            if at < 0 or gap.end >= ends[at]:
                return gap
            low = ends[at]
        return Gap(edge, edge) if edge <= high else None

    def first_start(self, low: int, high: int) -> int | None:
        self._layout.read(low, high)
        starts = self._layout.block_starts
        at = bisect_left(starts, low)
        return starts[at] if at < len(starts) and starts[at] < high else None

"""What a Markdown document's blocks mean for cutting: boundaries, headings, repeated openers, ends to avoid."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from chunkers.cutting.levels import TEXT_LADDER, BlankLine, BoundLevel, Gap, Ladder, Level
from chunkers.cutting.limits import Limit
from chunkers.records import Cut
from chunkers.strategies.markdown_sections import Section
from chunkers.structure.markdown import Block, Dialect, list_items
from chunkers.text.lines import skip_space, trim_space
from chunkers.text.scripts import HAN_KANA

_FRAMED = ("fence", "table")
_FIRST_WORD = re.compile(rf"[{HAN_KANA}]|[^\s{HAN_KANA}]+")
_MOST_WORD = 256


class Layout:
    """The blocks of one document, ready to be asked about offsets. All offsets are code points.

    `blocks` may lack the items of lists: they are read when a list has to be cut.
    """

    def __init__(
        self, text: str, blocks: Sequence[Block], sections: Sequence[Section], limit: Limit, dialect: Dialect
    ) -> None:
        self.text, self.blocks, self.sections, self.limit, self.dialect = text, blocks, sections, limit, dialect
        self.starts = [section.start for section in sections]
        self.framed = [block for block in blocks if block.kind in _FRAMED]
        self.framed_starts = [block.start for block in self.framed]

    # -- boundaries

    def ladder(self) -> Ladder:
        """Boundaries coarsest first: sections by level, blocks, list items, blank lines, rows, text."""
        return [*self._section_levels(), *self._block_levels(), *(_Once(level, self.text) for level in TEXT_LADDER)]

    def _section_levels(self) -> list[Level]:
        """One level of boundaries per heading level. A heading right under its parent's stays with it."""
        text = self.text
        by_level: dict[int, list[int]] = {}
        level, end = 9, 0
        for section in self.sections:
            if level >= section.level or skip_space(text, end, section.start) < section.start:
                by_level.setdefault(section.level, []).append(section.start)
            level, end = section.level, section.end
        return [_Starts("heading", by_level[level]) for level in sorted(by_level)]

    def _block_levels(self) -> list[Level]:
        found: list[Level] = [_Edges(self.text, [block for block in self.blocks if block.depth == 0])]
        lists = [block for block in self.blocks if block.depth == 0 and block.kind in ("list", "quote")]
        nested = [block for block in self.blocks if block.kind == "item"]
        if lists or nested:
            items = _Items(self.text, lists, nested, self.dialect)
            found += [_Later("item", items.outer), _Later("item", items.inner)]
        if any(block.kind == "table" for block in self.framed):
            found.append(_Later("row", lambda low, high: (self._rows,)))
        return found

    @cached_property
    def _rows(self) -> list[int]:
        """Where the rows of tables start, the header rows left out."""
        rows = []
        for block in self.framed:
            if block.kind == "table":
                row = block.body
                while row < block.tail:
                    rows.append(row)
                    row = self._line_end(row, block.tail)
        return rows

    def _line_end(self, start: int, end: int) -> int:
        at = self.text.find("\n", start, end)
        if at < 0:
            at = self.text.find("\r", start, end)
        return at + 1 if at >= 0 else end

    # -- what pack() asks

    def section_start(self, offset: int) -> int:
        """Where the section that holds `offset` starts: overlap never reaches farther back."""
        at = bisect_right(self.starts, skip_space(self.text, offset, len(self.text))) - 1
        return self.starts[at] if at >= 0 else 0

    def repeated(self, offset: int) -> str:
        """What a chunk that starts at `offset` inside a table or fence repeats: header rows, or the opener line."""
        at = bisect_left(self.framed_starts, offset) - 1
        if at < 0:
            return ""
        block = self.framed[at]
        if not block.body <= offset < block.tail:
            return ""
        opener = self.text[block.start : block.body]
        return opener if self.limit.admits_context(opener) else ""

    def should_not_end(self, offset: int) -> bool:
        """Whether a chunk that ends at `offset` leaves a heading without its body or a fence mark alone."""
        end = trim_space(self.text, 0, offset)
        return self._behind_heading(end) or self._beside_frame(end)

    def _behind_heading(self, end: int) -> bool:
        text = self.text
        at = bisect_left(self.starts, end) - 1
        if at < 0:
            return False
        section = self.sections[at]
        if end > section.end or skip_space(text, end, section.end) < section.end:
            return False
        body = skip_space(text, section.end, len(text))
        if body >= len(text) or (at + 1 < len(self.starts) and self.starts[at + 1] <= body):
            return False
        word = _FIRST_WORD.match(text, body, body + _MOST_WORD)
        return self.limit.fits(section.start, word.end() if word else body + 1)

    def _beside_frame(self, end: int) -> bool:
        """Right behind an opener or header row, or right before a closing mark."""
        text = self.text
        at = bisect_left(self.framed_starts, end) - 1
        if at < 0:
            return False
        block = self.framed[at]
        if end >= block.end:
            return False
        if end <= block.body:
            if skip_space(text, block.body, block.tail) >= block.tail:
                return False
            if block.kind == "fence":
                return end == trim_space(text, block.start, block.body)
            at_row = end < block.body and text[end] in "\r\n"
            return at_row and self.limit.fits(block.start, self._line_end(block.body, block.tail) - 1)
        return block.tail < block.end and end == trim_space(text, block.body, block.tail)

    # -- what a chunk is told about itself

    def section_of(self, start: int, end: int) -> int:
        """The section that holds the first content of `text[start:end]` that is no heading, by its number.

        The last heading in it if there is no such content; -1 in front of the first section.
        """
        text, sections = self.text, self.sections
        start = skip_space(text, start, end)
        at = bisect_right(self.starts, start) - 1
        while at >= 0 and start < sections[at].end:
            start = skip_space(text, sections[at].end, end)
            if start >= end or at + 1 == len(sections) or start < self.starts[at + 1]:
                break
            at += 1
        return at


class _Items:
    """Where list items start, read list by list when one has to be cut."""

    def __init__(self, text: str, lists: Sequence[Block], nested: Sequence[Block], dialect: Dialect) -> None:
        self._text, self._lists, self._dialect = text, lists, dialect
        self._starts = [block.start for block in lists]
        self._nested = [block.start for block in nested]
        self._read: dict[int, tuple[list[int], list[int]]] = {}

    def outer(self, low: int, high: int) -> Iterator[Sequence[int]]:
        """Items of lists that lie in nothing else, list by list, of all lists that reach between the offsets."""
        return (self._items(number)[0] for number in self._between(low, high))

    def inner(self, low: int, high: int) -> Iterator[Sequence[int]]:
        """All other items."""
        yield self._nested
        for number in self._between(low, high):
            yield self._items(number)[1]

    def _between(self, low: int, high: int) -> range:
        first = max(0, bisect_right(self._starts, low) - 1)
        return range(first, bisect_right(self._starts, high))

    def _items(self, number: int) -> tuple[list[int], list[int]]:
        known = self._read.get(number)
        if known is None:
            items = list_items(self._text, self._lists[number : number + 1], dialect=self._dialect)
            is_list = self._lists[number].kind == "list"
            outer = {block.start for block in items if block.depth == 1 and is_list}
            inner = {block.start for block in items} - outer
            known = self._read[number] = (sorted(outer), sorted(inner))
        return known


class _Starts:
    """Zero-width boundaries at known offsets, ascending."""

    __slots__ = ("_offsets", "cut", "soft")

    def __init__(self, cut: Cut, offsets: Sequence[int]) -> None:
        self.cut, self.soft, self._offsets = cut, True, offsets

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        offsets = self._offsets
        at = bisect_right(offsets, high) - 1
        return Gap(offsets[at], offsets[at]) if at >= 0 and offsets[at] > low else None

    def first(self, low: int, high: int) -> Gap | None:
        offsets = self._offsets
        at = bisect_right(offsets, low)
        return Gap(offsets[at], offsets[at]) if at < len(offsets) and offsets[at] <= high else None

    def first_start(self, low: int, high: int) -> int | None:
        at = bisect_left(self._offsets, low)
        return self._offsets[at] if at < len(self._offsets) and self._offsets[at] < high else None


class _Later:
    """The same for offsets in several sequences, which are worked out when asked for."""

    __slots__ = ("_between", "cut", "soft")

    def __init__(self, cut: Cut, between: Callable[[int, int], Iterable[Sequence[int]]]) -> None:
        self.cut, self.soft, self._between = cut, True, between

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        found = (_Starts(self.cut, offsets).last(low, high) for offsets in self._between(low, high))
        return max((gap for gap in found if gap), default=None)

    def first(self, low: int, high: int) -> Gap | None:
        found = (_Starts(self.cut, offsets).first(low, high) for offsets in self._between(low, high))
        return min((gap for gap in found if gap), default=None)

    def first_start(self, low: int, high: int) -> int | None:
        found = (_Starts(self.cut, offsets).first_start(low, high) for offsets in self._between(low, high))
        return min((start for start in found if start is not None), default=None)


class _Once:
    """A level that is bound to its one text once, however often it is asked."""

    __slots__ = ("_bound", "_level", "_text")

    def __init__(self, level: Level, text: str) -> None:
        self._level, self._text = level, text
        self._bound: BoundLevel | None = None

    def bind(self, text: str) -> BoundLevel:
        if self._bound is None:
            self._bound = self._level.bind(self._text)
        return self._bound


class _Edges:
    """The edges of top-level blocks: where a parsed block starts or ends, and blank lines outside of all of them."""

    __slots__ = ("_blank", "_ends", "_starts", "cut", "soft")

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        self.cut: Cut = "block"
        self.soft = True
        self._blank = BlankLine().bind(text)
        self._starts = [block.start for block in blocks]
        self._ends = [block.end for block in blocks]

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        starts, ends = self._starts, self._ends
        edge = low
        if (at := bisect_right(starts, high)) and starts[at - 1] > edge:
            edge = starts[at - 1]
        if (at := bisect_right(ends, high)) and ends[at - 1] > edge:
            edge = ends[at - 1]
        while high > edge and (gap := self._blank.last(edge, high)) is not None:
            at = bisect_right(starts, gap.end) - 1
            if at < 0 or gap.end >= ends[at]:
                return gap
            high = starts[at]
        return Gap(edge, edge) if edge > low else None

    def first(self, low: int, high: int) -> Gap | None:
        starts, ends = self._starts, self._ends
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
        at = bisect_left(self._starts, low)
        return self._starts[at] if at < len(self._starts) and self._starts[at] < high else None

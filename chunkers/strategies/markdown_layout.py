"""What a Markdown document's blocks mean for cutting: boundaries, headings, repeated openers, ends to avoid."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property

from chunkers.cutting.levels import TEXT_LADDER, BlankLine, BoundLevel, Gap, Ladder, Level, Positions
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
        return [Positions.at("heading", by_level[level]) for level in sorted(by_level)]

    def _block_levels(self) -> list[Level]:
        edges: list[int] = []
        opaque: list[Block] = []
        for block in self.blocks:
            if block[3] == 0:
                opaque.append(block)
                if not edges or edges[-1] != block[1]:
                    edges.append(block[1])
                edges.append(block[2])
        found: list[Level] = [_Edges(self.text, edges, opaque)]
        if any(block.kind == "list" for block in self.blocks):
            found += [_Later("item", lambda: self._items[0]), _Later("item", lambda: self._items[1])]
        if any(block.kind == "table" for block in self.framed):
            found.append(_Later("row", self._rows))
        return found

    @cached_property
    def _items(self) -> tuple[list[int], list[int]]:
        """Where items start: those of lists that lie in nothing else, and all others."""
        lists = [block for block in self.blocks if block.kind == "list" and block.depth == 0]
        items = list_items(self.text, lists, dialect=self.dialect)
        outer = {block.start for block in items if block.depth == 1}
        inner = {block.start for block in [*items, *self.blocks] if block.kind == "item"} - outer
        return sorted(outer), sorted(inner)

    def _rows(self) -> list[int]:
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


class _Later:
    """Positions that are worked out when they are first asked for."""

    __slots__ = ("_find", "_known", "cut", "soft")

    def __init__(self, cut: Cut, find: Callable[[], list[int]]) -> None:
        self.cut, self.soft, self._find = cut, True, find
        self._known: Positions | None = None

    def bind(self, text: str) -> BoundLevel:
        return self

    def _positions(self) -> Positions:
        if self._known is None:
            self._known = Positions.at(self.cut, self._find())
        return self._known

    def last(self, low: int, high: int) -> Gap | None:
        return self._positions().last(low, high)

    def first(self, low: int, high: int) -> Gap | None:
        return self._positions().first(low, high)

    def first_start(self, low: int, high: int) -> int | None:
        return self._positions().first_start(low, high)


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

    __slots__ = ("_blank", "_ends", "_known", "_starts", "cut", "soft")

    def __init__(self, text: str, edges: Sequence[int], opaque: Sequence[Block]) -> None:
        self.cut: Cut = "block"
        self.soft = True
        self._known = Positions.at("block", edges)
        self._blank = _Once(BlankLine(), text).bind(text)
        self._starts = [block.start for block in opaque]
        self._ends = [block.end for block in opaque]

    def bind(self, text: str) -> BoundLevel:
        return self

    def last(self, low: int, high: int) -> Gap | None:
        known = self._known.last(low, high)
        floor = low if known is None else known.end
        while high > floor and (gap := self._blank.last(floor, high)) is not None:
            at = bisect_right(self._starts, gap.end) - 1
            if at < 0 or gap.end >= self._ends[at]:
                return gap
            high = self._starts[at]
        return known

    def first(self, low: int, high: int) -> Gap | None:
        known = self._known.first(low, high)
        ceiling = high if known is None else known.end
        while low < ceiling and (gap := self._blank.first(low, ceiling)) is not None:
            at = bisect_right(self._starts, gap.end) - 1
            if at < 0 or gap.end >= self._ends[at]:
                return gap
            low = self._ends[at]
        return known

    def first_start(self, low: int, high: int) -> int | None:
        return self._known.first_start(low, high)

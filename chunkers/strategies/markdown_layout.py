"""What a Markdown document's blocks mean for cutting: boundaries, headings, repeated openers, ends to avoid."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from chunkers.cutting.levels import TEXT_LADDER, Ladder
from chunkers.cutting.limits import Limit
from chunkers.strategies.markdown_items import Items, insert
from chunkers.strategies.markdown_levels import Edges, Later, Once, Sections
from chunkers.structure.markdown import Block, Heading, Reading
from chunkers.text.lines import skip_space, trim_space
from chunkers.text.scripts import HAN_KANA
from chunkers.text.sentences import first_easy_start

_FRAMED = ("fence", "table")
_FIRST_WORD = re.compile(rf"[{HAN_KANA}]|[^\s{HAN_KANA}]+")
_MOST_WORD = 256
_MAY_BE_BLANK = re.compile(r"\n(?:(?<=[ \t]\n)|(?=\n))")  # a third of the time of looking for one pair of characters
_FRAME_MARKS = ("|", "```", "~~~")  # no table and no fence is without one in its first line
_MOST_LOOKED_BACK = 2048


class Layout:
    """The blocks of one document, ready to be asked about offsets. All offsets are code points.

    Blocks are read where somebody asks, and so are the items of lists: when a list has to be cut. Whoever looks at
    what is kept here calls `read` before.
    """

    def __init__(self, reading: Reading, headings: Sequence[Heading], limit: Limit) -> None:
        self.text, self.reading, self.limit = reading.text, reading, limit
        self.headings = headings
        self.starts = [heading.start for heading in headings]
        self.block_starts: list[int] = []  # of blocks that lie in nothing else, like their ends
        self.block_ends: list[int] = []
        self.framed: list[Block] = []
        self.framed_starts: list[int] = []
        self.rows: list[int] = []  # where rows of tables start, the header rows left out
        self.items = Items(reading)
        self.section_levels = 0  # of the ladder
        self._known_from, self._known_to = 0, -1

    def read_edges(self, low: int, high: int) -> int:
        """Read what decides on the last edge of top-level blocks between the offsets; behind which offset that is."""
        if not (self._known_from <= low and high < self._known_to):
            start = self.reading.break_before(high, low)
            if start >= 0:
                self.read(start, high)
                return start - 3  # the blank line in front of it is such an edge
        self.read(low, high)
        return low

    def read(self, low: int, high: int) -> None:
        """Read what has a part between the offsets and is not known yet."""
        if self._known_from <= low and high < self._known_to:
            return
        self._known_from, self._known_to = start, stop = self.reading.around(low, high)
        for blocks in self.reading.unread(start, stop):
            insert(self.block_starts, [block[1] for block in blocks if block[3] == 0])
            insert(self.block_ends, [block[2] for block in blocks if block[3] == 0])
            if framed := [block for block in blocks if block[0] in _FRAMED]:
                at = insert(self.framed_starts, [block.start for block in framed])
                self.framed[at:at] = framed
                insert(self.rows, list(self._rows_of(framed)))
            self.items.add(blocks)

    # -- what a look at the text tells without reading blocks

    def last_break(self, low: int, reach: int) -> int:
        """The break in `low + 2 < break <= reach` that is the last edge of blocks there, if that is easily seen; or -1.

        It is if nothing but a paragraph stands between it and `reach`, or a block that goes on behind that.
        """
        text, reading = self.text, self.reading
        line = reading.break_before(reach, low)
        if line < 0 or reading.reaches_over(line, reach):
            return line
        if _MAY_BE_BLANK.search(text, line, reach):
            return -1
        return line if reading.is_text(line, reach) else -1

    def easy_start(self, low: int, high: int) -> int:
        """Where the first paragraph in `low <= start < high` starts, else the first sentence; -1: not easily seen."""
        text = self.text
        blank = text.find("\n\n", low - 2 if low > 2 else 0, high) if self.reading.has_breaks else high
        if blank < 0:
            return first_easy_start(text, low, high)
        start = blank + 2
        return start if low <= start < high and "!" <= text[start] <= "~" else -1

    def last_plain_item(self, low: int, reach: int) -> int:
        """The last item in `low < start <= reach` of the list around both offsets, if that is known to be plain; or -1.

        No other block has an edge between `low` and there.
        """
        mark = self.items.plain_around(low, reach)
        if mark is None:
            return -1
        text, size = self.text, len(mark)
        at = text.rfind(mark, low, reach + size - 1)
        while at >= 0 and text[at + size] == " ":
            at = text.rfind(mark, low, at + size - 1)
        return at + 1 if at >= 0 else -1

    # -- boundaries

    def ladder(self) -> Ladder:
        """Boundaries coarsest first: sections by level, blocks, list items, blank lines, rows, text."""
        text, items = self.text, self.items
        sections = [Sections(level, self) for level in sorted({heading[2] for heading in self.headings})]
        self.section_levels = len(sections)
        return [
            *sections,
            Edges(self),
            Later("item", self, items.outer),
            Later("item", self, items.inner),
            Later("row", self, lambda low, high: (self.rows,)),
            *(Once(level, text) for level in TEXT_LADDER),
        ]

    def section_starts(self, level: int) -> Sequence[int]:
        """Where the sections of one heading level start. A heading right under its parent's stays with it."""
        return self._starts_by_level.get(level, ())

    @cached_property
    def _starts_by_level(self) -> dict[int, list[int]]:
        text = self.text
        by_level: dict[int, list[int]] = {}
        level, end = 9, 0
        for heading in self.headings:
            if level >= heading.level or skip_space(text, end, heading.start) < heading.start:
                by_level.setdefault(heading.level, []).append(heading.start)
            level, end = heading.level, heading.end
        return by_level

    def _rows_of(self, blocks: Iterable[Block]) -> Iterator[int]:
        for block in blocks:
            if block.kind == "table":
                row = block.body
                while row < block.tail:
                    yield row
                    row = self._line_end(row, block.tail)

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
        frame = self.frame_at(offset)
        return self.text[frame.start : frame.body] if frame else ""

    def frame_at(self, offset: int) -> Block | None:
        """The table or fence inside which `offset` lies, if its opener is short enough to be repeated."""
        if self._surely_unframed(offset):
            return None
        at = bisect_left(self.framed_starts, offset) - 1
        if at < 0:
            return None
        block = self.framed[at]
        _, start, _, _, body, tail, _, _ = block
        if body <= offset < tail and self.limit.admits_context(self.text[start:body]):
            return block
        return None

    def _surely_unframed(self, offset: int) -> bool:
        """Whether a look at the text near `offset` tells that it is in no fence or table. If not, they are read."""
        if self._known_from <= offset < self._known_to:
            return False
        reading, find = self.reading, self.text.find
        above = bisect_right(reading.starts, offset) - 1
        if above >= 0 and offset <= reading.headings[above].end:
            return True
        floor = max(offset - _MOST_LOOKED_BACK, reading.starts[above] if above >= 0 else reading.start)
        start = reading.break_before(offset, floor)
        if start >= 0 and all(find(mark, start, offset) < 0 for mark in _FRAME_MARKS):
            return True
        self.read(offset, offset)
        return False

    def should_not_end(self, offset: int, end: int = -1) -> bool:
        """Whether a chunk that ends at `offset` leaves a heading without its body or a fence mark alone.

        `end` is where it ends without the white space there, if that is known.
        """
        if end < 0:
            end = trim_space(self.text, 0, offset)
        if self.behind_heading(end):
            return True
        starts = self.reading.starts
        at = bisect_left(starts, offset)
        return (at == len(starts) or starts[at] != offset) and self._beside_frame(end)

    def behind_heading(self, end: int) -> bool:
        text = self.text
        at = bisect_left(self.starts, end) - 1
        if at < 0:
            return False
        heading = self.headings[at]
        if end > heading.end:
            return False
        body, level = skip_space(text, heading.end, len(text)), heading.level
        while at + 1 < len(self.starts) and self.starts[at + 1] <= body:
            at += 1
            if self.headings[at].level <= level:
                return False
            body, level = skip_space(text, self.headings[at].end, len(text)), self.headings[at].level
        if body >= len(text):
            return False
        word = _FIRST_WORD.match(text, body, body + _MOST_WORD)
        return self.limit.fits(heading.start, word.end() if word else body + 1)

    def _beside_frame(self, end: int) -> bool:
        """Right behind an opener or header row, or right before a closing mark: never right before a heading."""
        text = self.text
        if self._surely_unframed(end):
            return False
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
        text, headings = self.text, self.headings
        start = skip_space(text, start, end)
        at = bisect_right(self.starts, start) - 1
        while at >= 0 and start < headings[at].end:
            start = skip_space(text, headings[at].end, end)
            if start >= end or at + 1 == len(headings) or start < self.starts[at + 1]:
                break
            at += 1
        return at

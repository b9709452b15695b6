"""A Markdown document whose headings are known and whose blocks are read only where somebody looks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property

from chunkers.structure.markdown import patterns
from chunkers.structure.markdown.blocks import Block, Heading
from chunkers.structure.markdown.outline import read_outline
from chunkers.structure.markdown.scanner import Dialect, Scanner, clip, normalise, plain_items, read_items, scan


class Reading:
    """One document from `start` (a line start) on.

    `headings` are those of document level, in order; `open_fence` tells whether some code fence is never closed. Blocks
    are read by stretches, which no block leaves: they go from one heading or break (see `break_before`) to another.
    """

    def __init__(self, text: str, *, dialect: Dialect = "commonmark", start: int = 0) -> None:
        self.text, self.dialect, self.start = text, dialect, start
        has_returns = "\r" in text
        self._lines = normalise(text) if has_returns or text[-1:] != "\n" else text  # and looks for returns once
        # MDX, and lines that end in CR LF, are not looked at for breaks.
        self.has_breaks = dialect == "commonmark" and not has_returns
        self._known: list[int] = []  # starts and ends in turn of what was read
        if dialect == "commonmark":
            headings, self.open_fence, self.held = read_outline(self._lines, start) if text else ([], False, [])
            if headings and headings[-1].end > len(text):
                headings[-1] = headings[-1]._replace(end=len(text))
            self.headings = headings
        else:
            blocks = self.blocks
            self.headings = [Heading(b.start, b.end, b.level, b.title) for b in blocks if b.splits]
            self.open_fence = any(block.kind == "fence" and block.tail == block.end for block in blocks)

    @cached_property
    def blocks(self) -> list[Block]:
        """All blocks, as `scan` has them without items."""
        return scan(self.text, dialect=self.dialect, start=self.start, items=False)

    @cached_property
    def starts(self) -> list[int]:
        """Where the headings start."""
        return [heading.start for heading in self.headings]

    @cached_property
    def _block_starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    @cached_property
    def _scanner(self) -> Scanner:
        return Scanner(self._lines, self.dialect, items=False)

    # -- breaks: lines in front of which surely no block is open

    def break_before(self, offset: int, floor: int) -> int:
        """The last break in `floor + 2 < break <= offset`, or -1: a line in the first column behind an empty one.

        It is no item, which could go on with a list.
        """
        if not self.has_breaks:
            return -1
        rfind, held = self._lines.rfind, self.held
        at = rfind("\n\n", floor + 1, offset)
        while at >= 0:
            index = bisect_left(held, at + 2)
            if index & 1 and at + 2 < held[index]:
                at = rfind("\n\n", floor + 1, held[index - 1])
            elif patterns.BREAK.match(self._lines, at):
                return at + 2
            else:
                at = rfind("\n\n", floor + 1, at + 1)
        return -1

    def _break_behind(self, offset: int, ceiling: int) -> int:
        """The first break in `offset < break < ceiling`, or `ceiling`."""
        if not self.has_breaks:
            return ceiling
        held, position = self.held, max(offset - 1, 0)
        while found := patterns.BREAK.search(self._lines, position, ceiling):
            line = found.start() + 2
            index = bisect_left(held, line)
            if not (index & 1 and line < held[index]):
                return line
            position = held[index] - 2
        return ceiling

    def reaches_over(self, line: int, offset: int) -> bool:
        """Whether a fence, HTML block, math or `:::` container starts at `line` that reaches over `offset`."""
        held = self.held
        at = bisect_left(held, line)
        return at < len(held) and held[at] == line and not at & 1 and held[at + 1] > offset

    def is_text(self, line: int, offset: int) -> bool:
        """Whether from the break `line` to `offset` no block but paragraphs starts, or ever will."""
        lines = self._lines
        below = lines.find("\n", lines.find("\n", offset) + 1) + 1  # the line below may make a table of this one
        return patterns.JUMP.search(lines, line - 1, below or len(lines)) is None

    # -- reading

    def around(self, low: int, high: int) -> tuple[int, int]:
        """The smallest stretch known here that holds both offsets: where it starts, and where the next one does."""
        known, starts = self._known, self.starts
        at = bisect_right(known, low)
        if at & 1 and high < known[at]:
            return known[at - 1], known[at]
        first, last = bisect_right(starts, low), bisect_right(starts, high)
        floor = starts[first - 1] if first else self.start
        if at & 1:
            start = known[at - 1]
        else:
            floor = max(floor, known[at - 1] if at else 0)
            start = max(self.break_before(low, floor), floor)
        at = bisect_right(known, high)
        if at & 1:
            return start, known[at]
        ceiling = starts[last] if last < len(starts) else len(self.text) + 1
        return start, min(self._break_behind(high, ceiling), known[at] if at < len(known) else ceiling)

    def unread(self, start: int, stop: int) -> Iterator[list[Block]]:
        """The blocks from `start` to `stop`, which `around` told; none is given again."""
        known = self._known
        first, last = bisect_left(known, start), bisect_right(known, stop)
        before, behind = [] if first & 1 else [start], [] if last & 1 else [stop]
        edges = [*before, *known[first:last], *behind]
        known[first:last] = before + behind
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            if begin < end and (blocks := self._stretch(begin, end)):
                yield blocks

    def _stretch(self, start: int, stop: int) -> list[Block]:
        """The blocks from `start` up to `stop`: a block goes over neither."""
        if self.dialect == "mdx":
            found = self._block_starts
            return self.blocks[bisect_left(found, start) : bisect_left(found, stop)]
        scanner = self._scanner
        scanner.enter(start, stop)
        scanner.advance(stop)
        blocks = scanner.blocks[:]
        scanner.blocks.clear()
        if stop > len(self.text):
            clip(blocks, len(self.text))
        return blocks

    def outer_items(self, block: Block) -> list[int] | None:
        """Where the items of a list start, those of lists in it left out; None: that has to be read."""
        known = self._scanner.plain_lists.get(block.start)
        if known is None:
            return None
        found = plain_items(self._lines, block, *known)
        return found if block.start else [0, *found]

    def plain_mark(self, block: Block) -> str | None:
        """How the items of a list start, line end included, if it holds nothing but text; no space goes on there.

        None: it holds more, or its items do not start all the same.
        """
        first, indent = self._scanner.plain_lists.get(block.start, ("", 0))
        return "\n" + " " * indent + first if len(first) == 2 else None

    def items(self, block: Block) -> list[Block]:
        """The items of a list, those of nested lists included, in order."""
        return read_items(self._lines, (block,), self.dialect)

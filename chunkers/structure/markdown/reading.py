"""A Markdown document whose headings are known and whose blocks are read only where somebody looks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property

from chunkers.structure.markdown.blocks import Block, Heading
from chunkers.structure.markdown.outline import read_outline
from chunkers.structure.markdown.scanner import Dialect, Scanner, clip, normalise, plain_items, read_items, scan


class Reading:
    """One document from `start` (a line start) on.

    `headings` are those of document level, in order; `open_fence` tells whether some code fence is never closed. Blocks
    are read by stretches: what lies before the first heading, and each heading with all up to the next one. No block
    goes from one into another.
    """

    def __init__(self, text: str, *, dialect: Dialect = "commonmark", start: int = 0) -> None:
        self.text, self.dialect, self.start = text, dialect, start
        self._lines = normalise(text)
        self._read: set[int] = set()
        if dialect == "commonmark":
            headings, self.open_fence = read_outline(self._lines, start) if text else ([], False)
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

    def around(self, low: int, high: int) -> tuple[int, int]:
        """The first and last offset of the stretches that have a part between the offsets."""
        starts = self.starts
        first, last = bisect_right(starts, low), bisect_right(starts, high)
        return starts[first - 1] if first else 0, starts[last] - 1 if last < len(starts) else len(self.text)

    def unread(self, low: int, high: int) -> Iterator[list[Block]]:
        """The blocks of every stretch that has a part between the offsets and was not given before."""
        first, last = bisect_right(self.starts, low), bisect_right(self.starts, high)
        for number in range(first, last + 1):
            if number not in self._read:
                self._read.add(number)
                blocks = self._stretch(number)
                if blocks:
                    yield blocks

    def _stretch(self, number: int) -> list[Block]:
        starts, size = self.starts, len(self.text)
        start = starts[number - 1] if number else self.start
        stop = starts[number] if number < len(starts) else size + 1
        if self.dialect == "mdx":
            found = self._block_starts
            return self.blocks[bisect_left(found, start) : bisect_left(found, stop)]
        scanner = self._scanner
        scanner.enter(start)
        scanner.advance(stop)
        blocks = scanner.blocks[:]
        scanner.blocks.clear()
        if stop > size:
            clip(blocks, size)
        return blocks

    def outer_items(self, block: Block) -> list[int] | None:
        """Where the items of a list start, those of lists in it left out; None: that has to be read."""
        known = self._scanner.plain_lists.get(block.start)
        if known is None:
            return None
        found = plain_items(self._lines, block, *known)
        return found if block.start else [0, *found]

    def items(self, block: Block) -> list[Block]:
        """The items of a list, those of nested lists included, in order."""
        return read_items(self._lines, (block,), self.dialect)

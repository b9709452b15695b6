"""Where the items of a Markdown document's lists start."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from chunkers.structure.markdown import Block, Reading


def insert(known: list[int], new: list[int]) -> int:
    """Put the offsets of one stretch among those of others; where they are then."""
    at = bisect_left(known, new[0]) if new else 0
    known[at:at] = new
    return at


class Items:
    """Where list items start, read list by list when one has to be cut."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._lists: list[Block] = []  # and quotes, which may hold some
        self._starts: list[int] = []
        self._nested: list[int] = []
        self._outer: dict[int, list[int]] = {}
        self._read: dict[int, tuple[list[int], list[int]]] = {}

    def add(self, blocks: Sequence[Block]) -> None:
        lists = [block for block in blocks if block[0] in ("list", "quote") and block.depth == 0]
        if lists:
            at = insert(self._starts, [block.start for block in lists])
            self._lists[at:at] = lists
        if items := [block.start for block in blocks if block[0] == "item"]:
            insert(self._nested, items)

    def plain_around(self, low: int, high: int) -> str | None:
        """How items of the list around both offsets start, line end included, if all of it is known to be plain."""
        at = bisect_right(self._starts, low) - 1
        if at < 0 or high >= self._lists[at][2]:
            return None
        return self._reading.plain_mark(self._lists[at])

    def outer(self, low: int, high: int) -> Iterator[Sequence[int]]:
        """Items of lists that lie in nothing else, list by list, of all lists that reach between the offsets."""
        return (self._outer_of(block) for block in self._between(low, high))

    def inner(self, low: int, high: int) -> Iterator[Sequence[int]]:
        """All other items."""
        yield self._nested
        for block in self._between(low, high):
            yield self._items(block)[1]

    def _between(self, low: int, high: int) -> list[Block]:
        first = max(0, bisect_right(self._starts, low) - 1)
        return self._lists[first : bisect_right(self._starts, high)]

    def _outer_of(self, block: Block) -> list[int]:
        known = self._outer.get(block.start)
        if known is None:
            known = self._reading.outer_items(block)
            known = self._outer[block.start] = self._items(block)[0] if known is None else known
        return known

    def _items(self, block: Block) -> tuple[list[int], list[int]]:
        known = self._read.get(block.start)
        if known is None:
            items = self._reading.items(block)
            outer = {item.start for item in items if item.depth == 1 and block.kind == "list"}
            inner = {item.start for item in items} - outer
            known = self._read[block.start] = (sorted(outer), sorted(inner))
        return known

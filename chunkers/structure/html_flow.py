"""The visible text of an HTML document while it is read: white space, line breaks, and where everything came from."""

from __future__ import annotations

import re
from bisect import bisect_right

from chunkers.structure.html_names import BLOCK, CELL, LINE, NONE, SPACE
from chunkers.structure.html_tokens import PARTS, decoded, reference, reference_end
from chunkers.structure.html_tokens import SPACE as SPACES

_WIDE = re.compile(r"[ \t\n\r\f]{2,}|[\t\n\r\f]")
_MOST_CELLS = 50


class Flow:
    """Collects text in order. `text()` is all of it; `breaks` are its line breaks as (offset, strength)."""

    __slots__ = (
        "_at", "_begin", "_end", "_kept", "break_pieces", "breaks", "cells", "pending", "phrasing", "pieces", "size",
    )  # fmt: skip

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.size = 0
        self.breaks: list[tuple[int, int]] = []
        self.break_pieces: list[int] = []
        self.pending = NONE  # what stands between the text so far and what comes
        self.cells = 0
        self.phrasing = False  # in a heading: everything is one line, edges of elements are no spaces
        # One entry a stretch of text: its offset here, its start and end in the source, whether white space was kept.
        self._at: list[int] = []
        self._begin: list[int] = []
        self._end: list[int] = []
        self._kept: list[bool] = []

    def text(self) -> str:
        return "".join(self.pieces)

    def edge(self, strength: int) -> None:
        """An edge of an element that breaks the text."""
        if self.phrasing:
            if strength in (CELL, LINE):
                self.pending = max(self.pending, SPACE)
        elif strength > self.pending:
            self.pending = strength

    def line_break(self) -> None:
        """`<br>`; two in a row end a paragraph."""
        self.edge(BLOCK if self.pending == LINE else LINE)

    def cell(self, columns_before: int) -> None:
        """A table's cell starts, so many columns behind the one before it, or its row."""
        self.edge(CELL)
        self.cells += min(columns_before, _MOST_CELLS)

    def row(self, strength: int) -> None:
        """A row starts or ends."""
        self.edge(strength)
        self.cells = 0

    def collapsed(self, data: str, start: int) -> None:
        """Text in which a run of white space is one space, at `start` of the source."""
        piece = decoded(data) if "&" in data else data
        if not piece:
            return
        before, behind = piece[0] in SPACES, piece[-1] in SPACES
        end = start + len(data)
        if before or behind:
            piece = piece.strip(SPACES)
            if before and self.pending == NONE:
                self.pending = SPACE
            if not piece:
                return
        if "\n" in piece or "  " in piece or "\t" in piece or "\r" in piece or "\f" in piece:
            piece = _WIDE.sub(" ", piece)
        if self.pending or self.cells:
            self._separate()
        self._at.append(self.size)
        self._begin.append(start)
        self._end.append(end)
        self._kept.append(False)
        self.pieces.append(piece)
        self.size += len(piece)
        if behind:
            self.pending = SPACE

    def kept(self, data: str, start: int) -> None:
        """Text as it stands in the source."""
        piece = decoded(data) if "&" in data else data
        if not piece:
            return
        if self.pending or self.cells:
            self._separate()
        self._at.append(self.size)
        self._begin.append(start)
        self._end.append(start + len(data))
        self._kept.append(True)
        self.pieces.append(piece)
        self.size += len(piece)

    def _separate(self) -> None:
        pending, self.pending = self.pending, NONE
        separator = "\t" * self.cells
        self.cells = 0
        if pending >= LINE:
            if self.size:
                self.breaks.append((self.size, pending))
                self.break_pieces.append(len(self.pieces))
                separator = "\n" + separator
        elif pending and not separator and self.size and self.pieces[-1][-1] not in "\n\t ":
            separator = " " if pending == SPACE else "\t"
        if separator:
            self.pieces.append(separator)
            self.size += len(separator)

    def join_lines(self, since: int) -> None:
        """Put the lines from break number `since` on into one line."""
        for number in range(since, len(self.breaks)):
            piece = self.break_pieces[number]
            self.pieces[piece] = self.pieces[piece].replace("\n", " ")
        del self.breaks[since:], self.break_pieces[since:]

    def sources(self, source: str) -> Sources:
        """The way back to the source, when all is read."""
        return Sources(source, self._at, self._begin, self._end, self._kept)


class Sources:
    """Where each character of the visible text came from."""

    def __init__(self, source: str, at: list[int], begin: list[int], end: list[int], kept: list[bool]) -> None:
        self._source, self._at, self._begin, self._end, self._kept = source, at, begin, end, kept
        self._known = -1
        self._offsets: list[int] = []
        self._places: list[int] = []
        self._widths: list[int] = []

    def start(self, offset: int) -> int:
        """Where the character at `offset` starts in the source; of a separator: where what is before it ends."""
        node = bisect_right(self._at, offset) - 1
        if node < 0:
            return self._begin[0]
        self._read(node)
        if offset >= self._size:
            return self._end[node]
        part = bisect_right(self._offsets, offset) - 1
        return self._places[part] + (offset - self._offsets[part] if self._widths[part] < 0 else 0)

    def end(self, offset: int) -> int:
        """Where the character in front of `offset` ends in the source; of a separator: where what is before it does."""
        node = bisect_right(self._at, offset - 1) - 1
        if node < 0:
            return self._begin[0]
        self._read(node)
        last = min(offset - 1, self._size - 1)
        part = bisect_right(self._offsets, last) - 1
        width = self._widths[part]
        return self._places[part] + (width if width >= 0 else last - self._offsets[part] + 1)

    def _read(self, node: int) -> None:
        """Find the parts of a stretch: runs of characters that are one for one, and what one character stands for."""
        if node == self._known:
            return
        self._known = node
        base = self._at[node]
        begin, end, kept = self._begin[node], self._end[node], self._kept[node]
        self._offsets, self._places, self._widths = [], [], []
        size, spaced, source = base, True, self._source
        if kept and source.find("&", begin, end) < 0:
            self._offsets, self._places, self._widths, self._size = [base], [begin], [-1], base + end - begin
            return
        for part in PARTS.finditer(source, begin, end):
            said, at = part[0], part.start()
            is_reference = said[0] == "&"
            if is_reference:
                said = reference(said)
            if not said:
                continue
            if not kept and said.isspace() and not said.strip(SPACES):
                if not spaced:
                    self._put(size, at, len(part[0]))
                    size += 1
                spaced = True
                continue
            spaced = False
            if is_reference and said != part[0]:
                width = reference_end(part[0], said)
                self._put(size, at, width)
                if tail := len(part[0]) - width:
                    self._put(size + len(said) - tail, at + width, -1)
            else:
                self._put(size, at, -1)
            size += len(said)
        self._size = size - (1 if spaced and not kept and size > base else 0)

    def _put(self, offset: int, place: int, width: int) -> None:
        self._offsets.append(offset)
        self._places.append(place)
        self._widths.append(width)

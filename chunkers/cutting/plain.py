"""The merge again, for the commonest case: a limit in characters, stripped ends, and nothing else asked for.

The cuts are those of `packing`, which decides whatever is not plain, one chunk at a time; a test holds both against
each other. What is saved is calls: a text in paragraphs takes a sixth of the time (benchmarks/strategies.py).
"""

from __future__ import annotations

import re

from chunkers.cutting.levels import TEXT_ATOMS, BlankLine, BoundLevel, Ladder
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import INSIDE_WORDS, Overlap, Packer, Trim, pack
from chunkers.records import NOTHING, Cut, Drop, Span
from chunkers.text.graphemes import floor_edge, is_edge
from chunkers.text.lines import skip_space, trim_space
from chunkers.text.sentences import OTHER_STOP, first_easy_start

_ASCII_WORD_START = re.compile(r"(?<=\s)[!-~]")
_new = tuple.__new__  # a third of the time of Span(…)


def pack_plain(
    text: str, ladder: Ladder, limit: Limit, *, trim: Trim, overlap: Overlap | None = None
) -> tuple[list[Span], list[Drop]]:
    """`packing.pack` over a whole text."""
    most = limit.characters
    if most is None or not trim.strip or trim.keep_indent:
        return pack(text, 0, len(text), ladder, limit, trim=trim, overlap=overlap)
    packer = _PlainPacker(text, ladder, limit, trim, overlap)
    return packer.run_plain(most)


class _PlainPacker(Packer):
    __slots__ = ("ascii", "atoms", "levels", "prose")

    def __init__(self, text: str, ladder: Ladder, limit: Limit, trim: Trim, overlap: Overlap | None) -> None:
        super().__init__(text, len(text), ladder, limit, trim, overlap, None, None, None)

    def run_plain(self, most: int) -> tuple[list[Span], list[Drop]]:
        """`run`, for a limit of `most` characters."""
        text, end, spans = self.text, self.end, self.spans
        position = self.inner_start(0, 0)
        if end - position <= most:
            if position < end:
                self._add(position, position, end, "document-end")
            return spans, self.drops
        overlap = self.overlap
        back = overlap.most if overlap is not None else 0
        self.levels: list[BoundLevel] = []
        self.atoms: list[BoundLevel] = []
        paragraphs = isinstance(self.ladder[0], BlankLine) and "\r" not in text
        self.prose = paragraphs and overlap is not None and overlap.atoms == TEXT_ATOMS
        self.ascii = text.isascii()
        rfind, find, append, tabs = text.rfind, text.find, spans.append, "\t" in text
        prose, begin = self.prose, position
        while True:
            # The next chunk runs from `begin`, repeats the text before `position`, and is new from there.
            high = begin + most
            if end - position <= most:
                if end - begin <= most:
                    self._add(begin, position, end, "document-end")
                    return spans, self.drops
                position = self.last_chunk(begin, position, "")
            else:
                reach = skip_space(text, high, end) if text[high].isspace() else high
                stop = rfind("\n\n", position + 1, reach + 2) if paragraphs and high > position else -1
                if stop < 0 or find(" \n", stop, reach) >= 0 or (tabs and find("\t\n", stop, reach) >= 0):
                    position = self._next_plain(begin, position, high, reach) or self.next(position)
                else:
                    start = stop + 2
                    if not "!" <= text[stop - 1] <= "~":
                        stop = trim_space(text, position, stop)
                        stop = stop if is_edge(text, stop, begin) else -1
                    if stop < 0:
                        position = self.next(position)
                    else:
                        repeated = spans[-1][1] - begin if begin < position else 0
                        append(_new(Span, (begin, stop, "blank-line", (), "", None, repeated, NOTHING, None)))
                        self.rung = 0
                        position = start if "!" <= text[start] <= "~" else self.inner_start(start, stop)
            if position >= end:
                return spans, self.drops
            begin = position
            if back:
                first, stop = spans[-1][:2]
                floor = stop - back
                if floor <= first or floor < position - most:
                    floor = max(first + 1, position - most)
                blank = find("\n\n", floor - 2 if floor > 2 else 0, stop) if prose else -1
                begin = blank + 2 if blank >= 0 else first_easy_start(text, floor, stop) if prose else -1
                if begin < floor or (blank >= 0 and not (begin < stop and "!" <= text[begin] <= "~")):
                    begin = self._plain_overlap_start(position, floor)

    def _next_plain(self, begin: int, position: int, high: int, reach: int) -> int:
        """Cut one chunk from `begin`; 0 where the general way has to decide."""
        text, levels = self.text, self.levels
        if high <= position:
            return 0
        for rung, each in enumerate(self.ladder):
            if rung == len(levels):
                levels.append(self.level(each))
            level = levels[rung]
            gap = level.last(position, reach)
            if gap is not None:
                break
        else:
            return 0
        if rung > self.rung and begin < position and self._coarser_ahead(rung, position, position + high - begin):
            return 0
        end, start = gap
        if text[end - 1].isspace():
            end = trim_space(text, position, end)
        if end == position:
            return 0
        if not (text[end] in "\n " and text[end - 1] < "\u0600") and floor_edge(text, end, begin) != end:
            return 0
        if not level.soft and start > end:
            if not is_edge(text, start, end):
                return 0
            end = self.before_separators(gap, position, begin)
        self._add(begin, position, end, level.cut)
        self.rung = rung
        if not level.soft:
            return self.after(gap._replace(end=end), level)
        return start if _is_easy(text[start]) else self.inner_start(start, end)

    def _coarser_ahead(self, rung: int, low: int, high: int) -> bool:
        """Whether a boundary coarser than `rung` would be in reach without the overlap."""
        high = min(high, self.end)
        if high < self.end and self.text[high].isspace():
            high = skip_space(self.text, high, self.end)
        return any(level.last(low, high) is not None for level in self.levels[:rung])

    def _plain_overlap_start(self, position: int, floor: int) -> int:
        """Where the overlap starts when no sentence does in easy reach."""
        text, previous = self.text, self.spans[-1]
        stop = previous[1]
        if not self.prose:
            return self.overlap_start(position)
        if text.find("\n\n", floor - 2 if floor > 2 else 0, stop) < 0:
            start = first_easy_start(text, floor, stop)
            if start >= 0:
                return start if _is_easy(text[start]) else self.overlap_start(position)
            if self.ascii or not OTHER_STOP.search(text, floor, stop):
                at = text.find("\n", floor - 1, stop)
                if at >= 0:
                    start = at + 1
                    if text[start] <= " ":
                        start = skip_space(text, start, stop)
                    if floor <= start < stop and _is_easy(text[start]):
                        return start
                elif self.ascii:
                    found = _ASCII_WORD_START.search(text, floor, stop)
                    if found is not None:
                        return found.start()
                    return self.overlap_start(position) if previous[2] in INSIDE_WORDS else position
        if not self.atoms and self.overlap is not None:
            self.atoms = [self.level(atom) for atom in self.overlap.atoms]
        for level in self.atoms:
            begin = level.first_start(floor, stop)
            if begin is not None:
                plain = _is_easy(text[begin]) and is_edge(text, begin, previous[0])
                return begin if plain else self.overlap_start(position)
        return self.overlap_start(position) if previous[2] in INSIDE_WORDS else position

    def _add(self, begin: int, position: int, end: int, cut: Cut) -> None:
        repeated = 0
        if begin < position:
            repeated = self.spans[-1][1] - begin
            self.forget_drops(begin)
        self.spans.append(_new(Span, (begin, end, cut, (), "", None, repeated, NOTHING, None)))


def _is_easy(character: str) -> bool:
    """Whether it is no space and surely starts a cluster behind white space or a stop."""
    return "!" <= character <= "~" or "\u4e00" <= character <= "\u9fff" or "\u3041" <= character <= "\u3096"

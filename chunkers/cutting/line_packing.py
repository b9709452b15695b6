"""The merge along the ladder of a programming language, again for the commonest case: a limit in characters.

The cuts are those of `packing`, which decides whatever is not plain, one chunk at a time; a test holds both against
each other. Nearly all boundaries of code are line starts, so they are found by looking at lines near the limit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from chunkers.budget import exceeded, turns
from chunkers.cutting.languages import MOST_ABOVE, CodeLadder, belongs_below
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import INSIDE_WORDS, Packer
from chunkers.cutting.plain import Packing
from chunkers.records import NOTHING, Cut, Drop, Span
from chunkers.text.graphemes import is_edge
from chunkers.text.lines import NON_SPACE, skip_space, trim_space

_INDENTED, _BLANK_LINES, _LINES = 2, 3, 4  # rungs of a CodeLadder; definitions and statements come first
_BLANK = re.compile(r"\n[ \t]*+\n")
_SPACED = re.compile(r"\n[ \t]++(?:\n|\Z)")
_SLACK = 64
_WORD_START = re.compile(r"(?<=\s)[!-~]")
_CUTS: tuple[Cut, ...] = ("definition", "statement", "definition", "blank-line", "line")
_new = tuple.__new__  # a third of the time of Span(…)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePacking(Packing):
    """`Packing` for the ladder of a programming language."""

    code: CodeLadder

    def pack(self, text: str) -> tuple[list[Span], list[Drop]]:
        """`packing.pack` over a whole text."""
        bounds, trim = self.bounds, self.trim
        is_plain = len(bounds) == 1 and bounds[0][0].name == "characters" and trim.strip
        if not is_plain or len(text) <= bounds[0][1] or "\r" in text:
            return super(LinePacking, self).pack(text)
        return _LinePacker(text, self, bounds[0][1]).run_lines()


class _LinePacker(Packer):
    __slots__ = ("above", "ascii", "back", "indented", "most", "starts")

    def __init__(self, text: str, packing: LinePacking, most: int) -> None:
        limit = Limit(text, packing.bounds)
        super().__init__(text, len(text), packing.ladder, limit, packing.trim, packing.overlap, None, None, None)
        self.most, self.above, self.ascii = most, packing.code.above, text.isascii()
        self.back = packing.overlap.most if packing.overlap is not None else 0
        self.indented = packing.code.indented.finditer
        definitions: list[int] = []
        statements: list[int] = []
        for found in packing.code.columns.finditer(text):
            (statements if found.lastindex else definitions).append(found.start())
        self.starts: list[list[int] | None] = [definitions, statements, None]

    def run_lines(self) -> tuple[list[Span], list[Drop]]:
        """`run`, for a whole text."""
        text, end, spans, most = self.text, self.end, self.spans, self.most
        begin = position = self.inner_start(0, 0)
        last = end - most
        for _ in turns(most):
            # The next chunk runs from `begin`, repeats the text before `position`, and is new from there.
            is_last = position >= last
            if position >= end or (is_last and begin >= last):
                if position < end:
                    self._add(begin, position, end, "document-end")
                return spans, self.drops
            high = begin + most
            reach = skip_space(text, high, end) if text[high].isspace() else high
            stop = -1
            if (high > position and not text[position].isspace()) or skip_space(text, position, high) < high:
                rung, stop = self._last_of(_LINES + 1, position, reach)
                if stop > 0 and begin < position and rung > self.rung:
                    hold = self._hold(rung, position, reach, is_last)
                    if hold >= 0:
                        begin = self._overlap_start(position, hold, begin)
                        continue
                    stop = -1 if hold == -2 else stop
            start = stop + 1
            if stop > 0 and text[stop - 1].isspace():
                stop = trim_space(text, position, stop)
                stop = stop if is_edge(text, stop, begin) else -1
            if stop > 0:
                self._add(begin, position, stop, _CUTS[rung])
                self.rung = rung
                position = self._line_from(start, end)
            elif is_last:
                position = self.last_chunk(begin, position, "")
            else:
                position = self.next(position)
            begin = self._overlap_start(position) if self.back and spans and position < end else position
        raise exceeded()

    # --- where to end ------------------------------------------------------------------------------------------------

    def _last_of(self, rungs: int, low: int, high: int) -> tuple[int, int]:
        """The coarsest of the first `rungs` with a line end in `low < end <= high`, and the last one there, or -1."""
        text = self.text
        for rung, ends in enumerate(self.starts[:rungs]):
            if ends is None:
                ends = self.starts[rung] = [found.start() for found in self.indented(text)]
            at = bisect_right(ends, high)
            if at < len(ends) and low < (stop := self._top(ends[at])) <= high:
                return rung, stop
            at -= 1
            while at >= 0 and ends[at] > low:
                if (stop := self._top(ends[at])) > low:
                    return rung, stop
                at -= 1
        if rungs > _BLANK_LINES:
            stop = text.rfind("\n\n", low + 1, high + 2)
            if _SPACED.search(text, stop if stop > 0 else low + 1, high + 1):
                found = [each.start() for each in _BLANK.finditer(text, stop if stop > 0 else low + 1, high + _SLACK)]
                while found and found[-1] > high:
                    found.pop()
                stop = found[-1] if found else stop
            if stop > 0:
                return _BLANK_LINES, stop
        return _LINES, text.rfind("\n", low + 1, high + 1) if rungs > _LINES else -1

    def _top(self, end: int) -> int:
        """The line end in front of the lines that belong to the one behind the line end `end`; -1 if there is none."""
        text, above = self.text, self.above
        for _ in range(MOST_ABOVE + 1):
            start = belongs_below(text, end, above)
            if start < 0:
                return end
            end = start - 1
            if end < 0:
                return -1
        return -1

    def _hold(self, rung: int, position: int, reach: int, is_last: bool) -> int:
        """Up to where an overlap has to leave room, so that the cut is not finer than without it.

        -1 where it is not finer; -2 where the general way has to decide.
        """
        if is_last:
            return -2
        text, high = self.text, min(position + self.most, self.end)
        if high < self.end and text[high].isspace():
            high = skip_space(text, high, self.end)
        coarser, stop = self._last_of(rung, reach, high)
        if stop < 0:
            return -1
        if coarser < self.rung:
            return -2
        ends = self.starts[coarser] if coarser <= _INDENTED else None
        if ends is not None:
            for at in range(bisect_right(ends, position), len(ends)):
                if (stop := self._top(ends[at])) > position:
                    return stop
        level = self.level(self.ladder[coarser])
        gap = level.first(position, high)
        return -2 if gap is None else gap[0]

    # --- where to start ----------------------------------------------------------------------------------------------

    def _line_from(self, start: int, end: int) -> int:
        """The start of the first line from the line start `start` that is not blank."""
        text = self.text
        if start >= end or not text[start].isspace():
            return start
        found = NON_SPACE.search(text, start, end)
        if found is None:
            return end
        if not "!" <= text[found.start()] <= "~":
            return self.inner_start(start, start - 1)
        return text.rfind("\n", start - 1, found.start()) + 1

    def _overlap_start(self, position: int, hold: int = 0, above: int = -1) -> int:
        """`overlap_start`: at a line, else at a word."""
        text, (first, stop, cut) = self.text, self.spans[-1][:3]
        floor, least = stop - self.back, position - self.most
        if hold:
            floor = max(floor, above + 1, trim_space(text, position, hold) - self.most)
        if floor <= first:
            floor = first + 1
        if floor < least:
            floor = least
        if floor >= stop:
            return position
        start = text.find("\n", floor - 1, stop) + 1
        if start:
            found = NON_SPACE.search(text, start, stop)
            if found is not None and (found.start() == start or "!" <= text[found.start()] <= "~"):
                return start if found.start() == start else text.rfind("\n", start - 1, found.start()) + 1
        elif self.ascii or text[floor - 1 : stop].isascii():
            if len(self.spans) == 1 and text[first].isspace():  # the document's first word is no boundary
                floor = max(floor, skip_space(text, first, stop) + 1)
            word = _WORD_START.search(text, floor, stop)
            if word is not None:
                return word.start()
            if cut not in INSIDE_WORDS:
                return position
        return self.overlap_start(position, must_hold=hold or None, above=above)

    def _add(self, begin: int, position: int, end: int, cut: Cut) -> None:
        repeated = self.spans[-1][1] - begin if begin < position else 0
        self.spans.append(_new(Span, (begin, end, cut, (), "", None, repeated, NOTHING, None)))

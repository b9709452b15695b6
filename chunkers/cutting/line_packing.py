"""The merge along the ladder of a programming or markup language, again for the commonest case: characters are limited.

The cuts are those of `packing`, which decides whatever is not plain, one chunk at a time; a test holds both against
each other. The marks of a language are found in one pass over the text, blank lines and lines by looking near the
limit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from chunkers.budget import exceeded, turns
from chunkers.cutting.limits import Limit
from chunkers.cutting.marks import MOST_ABOVE, MarkLadder, belongs_below
from chunkers.cutting.packing import INSIDE_WORDS, Packer
from chunkers.cutting.plain import Packing
from chunkers.records import NOTHING, Cut, Drop, Span
from chunkers.text.graphemes import is_edge, trimmed_end
from chunkers.text.lines import NON_SPACE, skip_space, trim_space
from chunkers.text.sentences import OTHER_STOP, first_easy_start

_BLANK = re.compile(r"\n[ \t]*+\n")
_SPACED = re.compile(r"\n[ \t]++(?:\n|\Z)")
_SLACK = 64
_WORD_START = re.compile(r"(?<=\s)[!-~]")
_new = tuple.__new__  # a third of the time of Span(…)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePacking(Packing):
    """`Packing` for the ladder of a programming or markup language."""

    marks: MarkLadder

    def pack(self, text: str) -> tuple[list[Span], list[Drop]]:
        """`packing.pack` over a whole text."""
        bounds, trim = self.bounds, self.trim
        if len(bounds) != 1 or bounds[0][0].name != "characters" or not trim.strip or not trim.keep_indent:
            return super(LinePacking, self).pack(text)
        if len(text) <= bounds[0][1] and "!" <= text[:1] <= "~":
            end = len(text) if "!" <= text[-1] <= "~" else trimmed_end(text, 0, len(text))
            return [_new(Span, (0, end, "document-end", (), "", None, 0, NOTHING, None))], []
        if len(text) <= bounds[0][1] or "\r" in text:
            return super(LinePacking, self).pack(text)
        return _LinePacker(text, self, bounds[0][1]).run_lines()


class _LinePacker(Packer):
    __slots__ = ("above", "ascii", "back", "blank", "cuts", "late", "most", "prose", "size", "stands", "starts")

    def __init__(self, text: str, packing: LinePacking, most: int) -> None:
        limit = Limit(text, packing.bounds)
        super().__init__(text, len(text), packing.ladder, limit, packing.trim, packing.overlap, None, None, None)
        marks = packing.marks
        self.most, self.above, self.ascii = most, marks.above, text.isascii()
        self.back = packing.overlap.most if packing.overlap is not None else 0
        self.blank = blank = len(marks.cuts)  # the rung of blank lines, behind which come lines
        self.cuts: tuple[Cut, ...] = (*marks.cuts, "blank-line", "line")
        self.stands, self.prose = marks.stand, marks.is_prose
        self.late, early = marks.late, blank - len(marks.late)
        self.starts: list[list[int] | None] = [[] for _ in range(early)]
        self.starts += [None] * len(self.late)
        add = [ends.append for ends in self.starts if ends is not None]
        for found in marks.early.finditer(text):
            add[found.lastindex or 0](found.start())

    def run_lines(self) -> tuple[list[Span], list[Drop]]:
        """`run`, for a whole text."""
        text, end, spans, most = self.text, self.end, self.spans, self.most
        blank, back, stands = self.blank, self.back, self.stands
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
            low = position if not text[position].isspace() else skip_space(text, position, high)
            if low < high:
                if not stands:  # no line ends in its indentation
                    low = position
                rung, stop = self._last_of(blank + 2, low, reach)
                if stop > 0 and begin < position and rung > self.rung:
                    hold = self._hold(rung, low, reach, is_last)
                    if hold >= 0:
                        begin = self._overlap_start(position, hold, begin)
                        continue
                    stop = -1 if hold == -2 else stop
            if stop > 0:
                start = stop if stands and rung < blank else stop + 1
                before = text[stop - 1]
                if before.isspace():
                    stop = trim_space(text, position, stop)
                    stop = stop if is_edge(text, stop, begin) else -1
                elif start == stop and before > "~" and not is_edge(text, stop, begin):
                    stop = -1
            if stop > 0:
                self._add(begin, position, stop, self.cuts[rung])
                self.rung = rung
                position = self._line_from(start, end)
            elif is_last:
                position = self.last_chunk(begin, position, "")
            else:
                position = self.next(position)
            begin = self._overlap_start(position) if back and spans and position < end else position
        raise exceeded()

    # --- where to end ------------------------------------------------------------------------------------------------

    def _last_of(self, rungs: int, low: int, high: int) -> tuple[int, int]:
        """The coarsest of the first `rungs` with a boundary in `low < end <= high`, and the last one there, or -1."""
        text, above = self.text, self.above
        for rung, ends in enumerate(self.starts[:rungs]):
            if ends is None:
                ends = self._found_late(rung)
            at = bisect_right(ends, high)
            if above is not None and at < len(ends) and low < (stop := self._top(ends[at])) <= high:
                return rung, stop
            at -= 1
            while at >= 0 and ends[at] > low:
                if above is None:
                    return rung, ends[at]
                if (stop := self._top(ends[at])) > low:
                    return rung, stop
                at -= 1
        if rungs > self.blank:
            stop = text.rfind("\n\n", low + 1, high + 2)
            if (stop < 0 or text.find("\n", stop + 2, high + 1) >= 0) and _SPACED.search(
                text, stop if stop > 0 else low + 1, high + 1
            ):
                found = [each.start() for each in _BLANK.finditer(text, stop if stop > 0 else low + 1, high + _SLACK)]
                while found and found[-1] > high:
                    found.pop()
                stop = found[-1] if found else stop
            if stop > 0:
                return self.blank, stop
        return self.blank + 1, text.rfind("\n", low + 1, high + 1) if rungs > self.blank + 1 else -1

    def _found_late(self, rung: int) -> list[int]:
        ends = self.starts[rung] = [found.start() for found in self.late[rung - self.blank].finditer(self.text)]
        return ends

    def _top(self, end: int) -> int:
        """The line end in front of the lines that belong to the one behind the line end `end`; -1 if there is none."""
        text, above = self.text, self.above
        if above is None or text[end - 1 : end] == "\n":
            return end
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
        ends = self.starts[coarser] if coarser < self.blank else None
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
        """`overlap_start`: at a line, else at a word; in prose at a paragraph, else at a sentence, a line or a word."""
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
        if self.prose:
            start = text.find("\n\n", floor - 2 if floor > 2 else 0, stop) + 2
            if start == 1:
                start = first_easy_start(text, floor, stop)
                if start < 0 and (self.ascii or not OTHER_STOP.search(text, floor, stop)):
                    start = text.find("\n", floor - 1, stop) + 1
            is_easy = floor <= start < stop and "!" <= text[start] <= "~"
            if is_easy and (text[start - 1] == "\n" or not text[start - 2 : start - 1].isspace()):
                return start
            return self.overlap_start(position, must_hold=hold or None, above=above)
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

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
from chunkers.cutting.found_marks import FoundMarks
from chunkers.cutting.levels import BoundLevel, Level
from chunkers.cutting.limits import Limit
from chunkers.cutting.marks import MarkLadder
from chunkers.cutting.packing import INSIDE_WORDS, Packer
from chunkers.cutting.plain import Packing
from chunkers.records import NOTHING, Cut, Drop, Span
from chunkers.text.graphemes import is_edge, trimmed_end
from chunkers.text.lines import BLANK, EMPTY, NON_SPACE, SPACED, skip_space, trim_space
from chunkers.text.sentences import LATIN_STOP, OTHER_STOP, first_easy_start

_SLACK = 64
_FAR = 200  # white space that may reach farther back than a word is looked for
_WORD_START = re.compile(r"(?<=\s)\S")
_OPENS = re.compile(r"[ \t]*+[!-~]")  # a line that surely is not blank
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
    __slots__ = ("ascii", "back", "blank", "found", "most", "prose")

    def __init__(self, text: str, packing: LinePacking, most: int) -> None:
        limit = Limit(text, packing.bounds)
        super().__init__(text, len(text), packing.ladder, limit, packing.trim, packing.overlap, None, None, None)
        marks = packing.marks
        self.most, self.ascii, self.prose = most, text.isascii(), marks.is_prose
        self.back = packing.overlap.most if packing.overlap is not None else 0
        self.found = FoundMarks(text, marks)
        self.blank = len(marks.cuts)  # the rung of blank lines, behind which come lines

    def run_lines(self) -> tuple[list[Span], list[Drop]]:
        """`run`, for a whole text."""
        text, end, spans, most, back = self.text, self.end, self.spans, self.most, self.back
        blank, prose, ascii = self.blank, self.prose, self.ascii
        marks, known, look, stands = self.found.by_rung, self.found.known, self.found.look, self.found.stand
        cuts: tuple[Cut, ...] = (*self.found.cuts, "blank-line", "line")
        find, append, opens, full_stop = text.find, spans.append, _OPENS.match, LATIN_STOP.search
        empty = EMPTY.search
        begin = position = self.inner_start(0, 0)
        before = first = ended = 0  # the rung, start and end of the chunk before
        last = end - most
        for _ in turns(most):
            # The next chunk runs from `begin`, repeats the text before `position`, and is new from there. The line from
            # `position` is not blank.
            if begin >= last:
                if position < end:
                    append(_new(Span, (begin, end, "document-end", (), "", None, max(ended - begin, 0), NOTHING, None)))
                return spans, self.drops
            reach = begin + most
            if text[reach].isspace():
                reach = skip_space(text, reach, end)
            low = position
            if stands and text[low].isspace():  # a mark may stand behind the indentation
                low = skip_space(text, low, end)
            rung = 0
            for ends in marks:
                if known[rung] <= reach:
                    look(rung, low, reach)
                stop = ends[bisect_right(ends, reach) - 1]
                if stop > low:
                    break
                rung += 1
            else:
                rung, stop = self._last_line(low, reach)
            if rung > before and stop > 0 and begin < position:
                hold = self._hold(rung, low, reach, before) if position < last else -1
                if hold >= 0:
                    begin = self._overlap_start(position, hold, begin) if hold else position
                    continue
                if position >= last:
                    stop = -1
            if stop > 0:
                start = stop if stands and rung < blank else stop + 1
                character = text[stop - 1]
                if character.isspace():
                    stop = position + len(text[position:stop].rstrip())
                    if not ("!" <= text[stop - 1] <= "~" and text[stop] in " \n") and not is_edge(text, stop, begin):
                        stop = -1
                elif start == stop and character > "~" and not is_edge(text, stop, begin):
                    stop = -1
            elif position < last:
                rung, stop, start = self._inside_line(begin, position, low, reach, before)
            if stop > 0:
                repeated = ended - begin if begin < position else 0
                cut = cuts[rung] if rung <= blank + 1 else self.level(self.ladder[rung]).cut
                append(_new(Span, (begin, stop, cut, (), "", None, repeated, NOTHING, None)))
                first, ended, before, position = begin, stop, rung, start
                if text[start] == "\n":
                    position += 1
                if rung > blank + 1:
                    position = self.inner_start(start, stop)
                elif not opens(text, position):
                    position = self._line_from(start, end)
            else:
                self.rung = before
                position = self.last_chunk(begin, position, "") if position >= last else self.next(position)
                before = self.rung
                if spans:
                    first, ended = spans[-1][:2]
            begin = position
            if back and position < end and spans:
                # `_overlap_start`, where the overlap may have its full size and starts in the plainest way
                floor = ended - back
                if first < floor > 1 and position - most <= floor:
                    start = 0
                    if prose:
                        if (found := empty(text, floor - 2, ended)) is not None:
                            start = found.end()
                        elif not ascii and not text[floor - 2 : ended].isascii():
                            start = -1
                        elif (found := full_stop(text, floor - 2, ended)) is not None:
                            start = found.end() - 1
                            if text[start - 1] != "\n" and text[start - 2].isspace():
                                start = -1
                    if start == 0:
                        start = find("\n", floor - 1, ended) + 1
                    if start > 0 and opens(text, start):
                        begin = start
                        continue
                begin = self._overlap_start(position)
        raise exceeded()

    # --- where to end ------------------------------------------------------------------------------------------------

    def _last_line(self, low: int, high: int) -> tuple[int, int]:
        """The rung of blank lines and the last one in `low < end <= high`, or else of lines and the last line end."""
        text = self.text
        stop = text.rfind("\n\n", low + 1, high + 2)
        if (stop < 0 or text.find("\n", stop + 2, high + 1) >= 0) and SPACED.search(
            text, stop if stop > 0 else low + 1, high + 1
        ):
            found = [each.start() for each in BLANK.finditer(text, stop if stop > 0 else low + 1, high + _SLACK)]
            while found and found[-1] > high:
                found.pop()
            stop = found[-1] if found else stop
        if stop > 0:
            return self.blank, stop
        return self.blank + 1, text.rfind("\n", low + 1, high + 1)

    def _inside_line(self, begin: int, position: int, low: int, reach: int, before: int) -> tuple[int, int, int]:
        """The rung, the end and the next start where no line ends in reach, in words of ASCII; else an end of -1."""
        text, repeats, none = self.text, begin < position, (0, -1, 0)
        if repeats and self._hold(self.blank + 2, low, reach, before) != -1:
            return none
        high = min(position + self.most, self.end)
        if high < self.end and text[high].isspace():
            high = skip_space(text, high, self.end)
        for rung in range(self.blank + 2, len(self.ladder) - 1):
            level = self.level(self.ladder[rung])
            gap = level.last(low, reach)
            if gap is not None:
                stop = gap[0]
                is_plain = "!" <= text[stop - 1] <= "~" and text[stop] in " \n"
                return (rung, stop, gap[1]) if is_plain else none
            if repeats and level.last(reach, high) is not None:
                return none
        return none

    def _hold(self, rung: int, low: int, reach: int, before: int) -> int:
        """Up to where an overlap has to leave room, so that the cut is not finer than without it.

        -1 where it is not finer (than that, or the cut before); 0 where there can be no overlap.
        """
        text, high, marks = self.text, low + self.most, self.found
        if high >= self.end:
            high = self.end
        elif text[high].isspace():
            high = skip_space(text, high, self.end)
        for coarser, ends in enumerate(marks.by_rung[:rung]):
            if marks.known[coarser] <= high:
                marks.look(coarser, low, high)
            at = bisect_right(ends, reach)
            if at < len(ends) and ends[at] <= high:
                break
        else:
            coarser, stop = self._last_line(reach, high) if rung > self.blank else (rung, -1)
            if stop < 0 or coarser >= rung:
                return -1
        gap = self.level(self.ladder[max(coarser, before)]).first(low, high)
        return 0 if gap is None else gap[0]

    def level(self, level: Level) -> BoundLevel:
        """`Packer.level`, which need not look for marks again."""
        for rung in range(self.blank):
            if level is self.ladder[rung]:
                return self.found.level(rung)
        return super().level(level)

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
        start = self._prose_start(floor, stop) if self.prose else 0
        if start:
            return start if start > 0 else self.overlap_start(position, must_hold=hold or None, above=above)
        start = text.find("\n", floor - 1, stop) + 1
        if start:
            if _OPENS.match(text, start):
                return start
            found = NON_SPACE.search(text, start, stop)
            if found is not None and (found.start() == start or "!" <= text[found.start()] <= "~"):
                return start if found.start() == start else text.rfind("\n", start - 1, found.start()) + 1
        elif not (self.prose and text[floor - _FAR if floor > _FAR else 0 : floor].isspace()):
            if len(self.spans) == 1 and text[first].isspace():  # the document's first word is no boundary
                floor = max(floor, skip_space(text, first, stop) + 1)
            word = _WORD_START.search(text, floor, stop)
            start = word.start() if word is not None else stop
            if self.ascii or text[floor - 1 : start].isascii():
                if word is None and cut not in INSIDE_WORDS:
                    return position
                if "!" <= text[start] <= "~" and word is not None:
                    return start
        return self.overlap_start(position, must_hold=hold or None, above=above)

    def _prose_start(self, floor: int, stop: int) -> int:
        """Where the first paragraph or else the first sentence starts in `floor <= start < stop`; 0 if none does.

        -1 where the general way has to decide.
        """
        text, lead = self.text, floor - 2 if floor > 2 else 0
        empty = EMPTY.search(text, lead, stop)
        if empty is not None:
            start = empty.end()
            if _OPENS.match(text, start):
                return start
        elif self.ascii or text[lead:stop].isascii():
            found = LATIN_STOP.search(text, lead, stop)
            if found is None:
                return 0
            start = found.end() - 1
        else:
            start = first_easy_start(text, floor, stop)
            if start < 0:
                return -1 if OTHER_STOP.search(text, floor, stop) else 0
        if text[start].isspace():
            start = skip_space(text, start, stop)
        if start < stop and ("!" <= text[start] <= "~" or "\u4e00" <= text[start] <= "\u9fff"):
            line = text.rfind("\n", floor - 1, start) + 1  # the indentation goes with it
            return line if line and (line == start or text[line:start].isspace()) else start
        return -1

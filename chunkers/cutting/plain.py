"""The merge again, for the commonest case: a limit in characters, stripped ends, and nothing else asked for.

The cuts are those of `packing`, which decides whatever is not plain, one chunk at a time; a test holds both against
each other. What is saved is calls: a text in paragraphs takes a tenth of the time (benchmarks/strategies.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from chunkers.budget import suffices
from chunkers.cutting.levels import TEXT_ATOMS, BlankLine, Ladder, Line
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import INSIDE_WORDS, Overlap, Packer, Trim, pack
from chunkers.records import NOTHING, Cut, Drop, Span
from chunkers.text.graphemes import floor_edge, is_edge, trimmed_end
from chunkers.text.lines import BLANK, NON_SPACE, skip_space, trim_space
from chunkers.text.sentences import LATIN_STOP, OTHER_STOP, first_easy_start

# The last blank line and all white space behind it. The engine takes the dots to the end of the region at once and then
# looks backward for a line end; that finds blank lines that hold spaces too, in the time of two calls of str.rfind.
_LAST_BLANK = re.compile(r"(?s:.*)\n[ \t]*+\n\s*+")
_PARAGRAPH = re.compile(r"\n\n\s*+\S")  # (str.find takes longer to look for two characters)
_LINE_START = re.compile(r"\n\s*+\S")
_SLACK = 64
_WORD_START = re.compile(r"(?<=\s)[\x00-\x08\x0e-\x1b!-\x7f]")  # among ASCII characters
_BY_LINES: tuple[Cut, ...] = ("blank-line", "line")  # the first two rungs of a ladder that goes by lines
_new = tuple.__new__  # a third of the time of Span(…)


@dataclass(frozen=True, kw_only=True)
class Packing:
    """How whole texts are packed: everything that does not depend on the text."""

    ladder: Ladder
    bounds: Bounds
    trim: Trim
    overlap: Overlap | None = None

    def pack(self, text: str) -> tuple[list[Span], list[Drop]]:
        """`packing.pack` over a whole text."""
        most, back, _, _ = self._plain
        if not most:
            return self._pack(text)
        begin = 0 if "!" <= text[:1] <= "~" else skip_space(text, 0, len(text))
        end = len(text) if "!" <= text[-1:] <= "~" else trimmed_end(text, 0, len(text))
        if begin >= end:
            return [], []
        if end - begin > most or (begin and not "!" <= text[begin] <= "~"):
            if not suffices(end, most, back):
                return self._pack(text)  # which counts
            return _PlainPacker(text, end, self, self._plain).run_plain(begin)
        return [_new(Span, (begin, end, "document-end", (), "", None, 0, NOTHING, None))], []

    def _pack(self, text: str) -> tuple[list[Span], list[Drop]]:
        limit = Limit(text, self.bounds)
        return pack(text, 0, len(text), self.ladder, limit, trim=self.trim, overlap=self.overlap)

    @property
    def is_plain(self) -> bool:
        """Whether the limit is one in characters, and white space goes from all ends."""
        bounds, trim = self.bounds, self.trim
        return len(bounds) == 1 and bounds[0][0].name == "characters" and trim.strip and not trim.keep_indent

    @cached_property
    def _plain(self) -> tuple[int, int, bool, bool]:
        """The limit (0 if it is not plain), the overlap, whether cuts go by lines, and whether overlap is prose."""
        if not self.is_plain:
            return 0, 0, False, False
        in_lines = len(self.ladder) > 1 and isinstance(self.ladder[0], BlankLine) and isinstance(self.ladder[1], Line)
        if self.overlap is None:
            return self.bounds[0][1], 0, in_lines, False
        return self.bounds[0][1], self.overlap.most, in_lines, in_lines and self.overlap.atoms == TEXT_ATOMS


class _PlainPacker(Packer):
    __slots__ = ("ascii", "back", "in_lines", "most", "prose")

    def __init__(self, text: str, end: int, packing: Packing, plain: tuple[int, int, bool, bool]) -> None:
        # (what `Packer.__init__` does, for a text whose `end` is known: a document may be only a few chunks)
        self.text, self.end, self.ladder, self.trim = text, end, packing.ladder, packing.trim
        self.overlap = packing.overlap
        self.limit = Limit(text, packing.bounds)
        self.context_at = self.overlap_floor = self.avoid = self.ruler = None
        self.bound, self.rung = {}, 0
        self.spans, self.drops = [], []
        self.most, self.back, in_lines, prose = plain
        self.in_lines = in_lines and "\r" not in text
        self.prose = prose and self.in_lines
        self.ascii = text.isascii()

    def run_plain(self, begin: int) -> tuple[list[Span], list[Drop]]:
        """`run`, for a whole text in which `begin` is the first character that is no white space."""
        text, end, spans, most, back = self.text, self.end, self.spans, self.most, self.back
        rfind, append, last_blank = text.rfind, spans.append, _LAST_BLANK.match
        in_lines, prose, is_ascii = self.in_lines, self.prose, self.ascii
        paragraph = _PARAGRAPH.search
        latin_stop, line_start, word_start = LATIN_STOP.search, _LINE_START.search, _WORD_START.search
        last, room = end - most, most - back
        if begin and not "!" <= text[begin] <= "~":
            begin = self.inner_start(0, 0)
        position = first = ended = begin  # `first` to `ended`: the chunk before
        before = self.rung  # of the ladder, which made the cut before
        while begin < last:
            # The next chunk runs from `begin`, repeats the text before `position`, and is new from there.
            high = reach = begin + most
            if text[high].isspace():
                reach = skip_space(text, high, end)
            stop = -1
            if in_lines:  # text[reach] is no space: blank lines that start before it end there
                found = last_blank(text, position + 1, reach)
                if found is not None:
                    behind = found.end()
                    stop, rung, cut = behind - 2, 0, "blank-line"
                else:
                    stop = rfind("\n", position + 1, reach)
                    behind, rung, cut = stop + 1, 1, "line"
                    if begin < position < high and (not before or (before == 1 and stop < 0)):
                        is_last = position >= last
                        if self._wants_room(before, position, stop, reach, is_last):
                            begin = self._shorter_overlap(begin, position, reach, is_last)
                            continue
                    if stop > 0 and text[behind].isspace():
                        behind = skip_space(text, behind, end)
                if stop > 0 and text[stop - 1].isspace():
                    stop = trim_space(text, position, stop)
                    stop = stop if is_edge(text, stop, begin) else -1
            if stop > 0:
                repeated = ended - begin if begin < position else 0
                append(_new(Span, (begin, stop, cut, (), "", None, repeated, NOTHING, None)))
                first = begin
                ended = stop
                before = rung
                position = behind
                if not "!" <= text[behind] <= "~" and text[behind - 1] != "\n":
                    position = self.inner_start(stop, stop)
            else:
                self.rung = before
                if position >= last:
                    position = self.last_chunk(begin, position, "")
                else:
                    rung = 2 if in_lines and not behind else 0  # neither a blank line nor another line end is in reach
                    position = self._next_plain(begin, position, high, reach, rung) or self.next(position)
                if position >= end:
                    return spans, self.drops
                first, ended = spans[-1][:2] if spans else (position, position)
                before = self.rung
            if not prose:
                begin = self.overlap_start(position) if back else position
                continue
            # `_prose_start`, where the overlap has its full size
            floor = ended - back
            if not (first < floor > 1 and position - ended <= room):
                begin = self._prose_start(position, first, ended)
                continue
            start, found = 0, paragraph(text, floor - 2, ended)
            if found is not None:
                start = found.end() - 1
                if "!" <= text[start] <= "~" or text[start - 1] == "\n":
                    begin = start
                    continue
            elif is_ascii or text[floor - 2 : ended].isascii():  # each character is a cluster
                found = latin_stop(text, floor - 2, ended)
                if found is None:
                    found = line_start(text, floor - 1, ended) or word_start(text, floor, ended)
                if found is not None:
                    begin = found.end() - 1
                    continue
            begin = self._paragraph_start(position, floor, ended, start)
        self._add(begin, position, end, "document-end")
        return spans, self.drops

    def _wants_room(self, before: int, position: int, stop: int, reach: int, is_last: bool) -> bool:
        """Whether the overlap has to be shorter where no blank line is in reach, and the last line end is `stop`.

        It has where without it the rest would fit, or the chunk would end at a blank line as the one before it does.
        """
        if before:
            return is_last and stop < 0
        return is_last or self._blank_ahead(position, reach) >= 0

    def _blank_ahead(self, position: int, reach: int) -> int:
        """The first blank line that would be in reach without the overlap, or -1."""
        text, high = self.text, min(position + self.most, self.end)
        if high < self.end and text[high].isspace():
            high = skip_space(text, high, self.end)
        found = BLANK.search(text, reach, high + _SLACK)
        return found.start() if found is not None and found.start() <= high else -1

    def _shorter_overlap(self, begin: int, position: int, reach: int, is_last: bool) -> int:
        """An overlap that starts behind `begin` and leaves room for the rest, or up to the next blank line."""
        hold = self.end if is_last else self._blank_ahead(position, reach)
        if not self.prose:
            return self.overlap_start(position, must_hold=hold, above=begin)
        first, ended = self.spans[-1][:2]
        return self._prose_start(position, first, ended, hold, begin)

    def _next_plain(self, begin: int, position: int, high: int, reach: int, least: int) -> int:
        """Cut one chunk from `begin` at a boundary of rung `least` or a finer one; 0 where the general way decides."""
        text = self.text
        if high <= position:
            return 0
        for rung in range(least, len(self.ladder)):
            level = self.level(self.ladder[rung])
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
        return any(self.level(each).last(low, high) is not None for each in self.ladder[:rung])

    def _prose_start(self, position: int, first: int, stop: int, hold: int = 0, above: int = -1) -> int:
        """`overlap_start` in prose, behind a chunk from `first` to `stop`: at a paragraph, sentence, line or word."""
        text = self.text
        floor, least = max(stop - self.back, first + 1), position - self.most
        if hold:
            floor = max(floor, above + 1, trimmed_end(text, position, hold) - self.most)
        if floor >= stop or least >= stop:
            return position
        if floor < least:  # what makes a start of the first one that fits may stand in front of it: a stop, a line end
            return self.overlap_start(position, must_hold=hold or None, above=above)
        found = _PARAGRAPH.search(text, max(floor - 2, 0), stop)
        return self._paragraph_start(position, floor, stop, found.end() - 1 if found else 0, hold, above)

    def _paragraph_start(self, position: int, floor: int, stop: int, start: int, hold: int = 0, above: int = -1) -> int:
        """`_prose_start` from `start`, where a paragraph starts, or if that is 0 from the first sentence or line."""
        text = self.text
        if not start:
            lead = floor - 2 if floor > 2 else 0
            line = text.find("\n", floor - 1, stop) + 1
            if self.ascii or text[lead:stop].isascii():
                found = LATIN_STOP.search(text, lead, stop)
                start = found.end() - 1 if found else line
                if not start:
                    word = _WORD_START.search(text, floor, stop)
                    if word is not None or self.spans[-1][2] not in INSIDE_WORDS:
                        return word.start() if word is not None else position
            else:
                start = first_easy_start(text, floor, stop)
                if start < 0 and not OTHER_STOP.search(text, floor, stop):
                    start = line
                    if not start and "\u4e00" <= text[floor - 1] <= "\u9fff" and "\u4e00" <= text[floor] <= "\u9fff":
                        return floor
        if start > 0:
            if text[start].isspace():
                start = NON_SPACE.search(text, start).start()  # type: ignore[union-attr]
            if text[start - 1] == "\n" or "!" <= text[start] <= "~" or "\u4e00" <= text[start] <= "\u9fff":
                return start
        return self.overlap_start(position, must_hold=hold or None, above=above)

    def _add(self, begin: int, position: int, end: int, cut: Cut) -> None:
        repeated = 0
        if begin < position:
            repeated = self.spans[-1][1] - begin
            self.forget_drops(begin)
        self.spans.append(_new(Span, (begin, end, cut, (), "", None, repeated, NOTHING, None)))


def _is_easy(character: str) -> bool:
    """Whether it is no space and surely starts a cluster behind white space or a stop."""
    return "!" <= character <= "~" or "\u4e00" <= character <= "\u9fff" or "\u3041" <= character <= "\u3096"

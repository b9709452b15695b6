"""The merge for Markdown, again for the commonest case: a limit in characters and stripped ends.

The cuts are those of `cutting.packing`, which decides whatever is not plain, one chunk at a time; a test holds both
against each other. What is saved is calls, and asking every level where one look at the headings tells.
"""

from __future__ import annotations

from bisect import bisect_right

from chunkers.cutting.levels import BoundLevel, Gap, Ladder
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import INSIDE_WORDS, Overlap, Packer, Trim
from chunkers.records import NOTHING, Cut, Span
from chunkers.strategies.markdown_layout import Layout
from chunkers.text.graphemes import trimmed_end
from chunkers.text.lines import skip_space, trim_space

_new = tuple.__new__  # a third of the time of Span(…)


class MarkdownPacker(Packer):
    """Cuts any number of regions of one document along `ladder`, which is that of `layout`."""

    __slots__ = ("atoms", "back", "is_plain", "layout", "levels", "most", "outside", "sections")

    def __init__(self, layout: Layout, ladder: Ladder, limit: Limit, trim: Trim, overlap: Overlap | None) -> None:
        super().__init__(
            layout.text, 0, ladder, limit, trim, overlap, layout.repeated, layout.section_start, layout.should_not_end
        )
        self.layout = layout
        self.is_plain = limit.characters is not None and trim.strip and trim.keep_indent
        self.most = limit.characters or 0
        self.sections = layout.section_levels
        self.back = overlap.most if overlap is not None else 0
        self.levels: list[BoundLevel] = []
        self.atoms: list[BoundLevel] = []
        self.outside = -1  # the last cut that surely lies in no fence or table

    def pack(self, start: int, end: int) -> list[Span]:
        """Cut `text[start:end]`."""
        self.end = trimmed_end(self.text, start, end) if self.trim.strip else end
        self.spans, self.drops, self.rung = [], [], 0
        self.outside = self.inner_start(
            start, start
        )  # whoever cuts out a region does not start inside a fence or table
        return self.run(start)[0]

    def next(self, position: int) -> int:
        """Cut one chunk whose new text starts at `position`; returns where the next one's does."""
        if not self.is_plain:
            return super().next(position)
        text, end, most, layout = self.text, self.end, self.most, self.layout
        high = position + most
        if position != self.outside and layout.frame_at(position):
            return super().next(position)
        if high >= end:
            begin = self.overlapping(position) if self.back and self.spans else position
            if begin < position and end > begin + most:
                return self.last_chunk(begin, position, "")
            self.add(begin, position, end, "document-end")
            return end
        low = position if text[position] > " " else skip_space(text, position, end)
        if low >= high:
            return super().next(position)
        reach = skip_space(text, high, end) if text[high].isspace() else high
        found = self.edge(low, reach)
        if found is None:
            return super().next(position)
        rung, gap, is_outside = found
        stop = trim_space(text, low, gap[0])
        start = gap[1]
        if (
            not low < stop <= high
            or not _is_plain_edge(text, stop)
            or (start > stop and not (start < end and _is_plain_edge(text, start)))
            or (layout.behind_heading(stop) if is_outside else layout.should_not_end(gap[0], stop))
        ):
            return super().next(position)
        begin = position
        if self.back and self.spans:
            begin = self.overlapping(position)
            if begin < position and stop > begin + most:
                begin, cut = self._with_overlap(begin, position, low, high, (rung, _new(Gap, (stop, start))))
                return self._end_chunk(begin, position, cut, "")
        self.add(begin, position, stop, self.levels[rung].cut)
        self.rung = rung
        while text[start] == "\n":
            start += 1
        if not "!" <= text[start] <= "~":
            return self.inner_start(gap[1], stop)
        if is_outside:
            self.outside = start
        return start

    def edge(self, low: int, reach: int) -> tuple[int, Gap, bool] | None:
        """The last boundary in reach of the coarsest level that has one there, with its rung.

        And whether it surely lies in no fence or table. None: no level has one.
        """
        sections, levels, starts = self.sections, self.levels, self.layout.starts
        at = bisect_right(starts, reach)
        coarsest = 0
        if not (at and starts[at - 1] > low):
            coarsest = sections
            if (found := self.plain_item(low, reach)) is not None:
                return found
            line = self.layout.last_break(low, reach)
            if line >= 0:
                self.bind(sections)
                return sections, _new(Gap, (line - 2, line)), True
        for rung in range(coarsest, len(self.ladder)):
            self.bind(rung)
            gap = levels[rung].last(low, reach)
            if gap is not None:
                return rung, gap, rung < sections
            if rung == sections and (found := self.plain_item(low, reach)) is not None:  # in a list that is read now
                return found
        return None

    def plain_item(self, low: int, reach: int) -> tuple[int, Gap, bool] | None:
        """`edge` inside of a list that is known to be plain."""
        item = self.layout.last_plain_item(low, reach)
        if item < 0:
            return None
        self.bind(self.sections + 1)
        return self.sections + 1, _new(Gap, (item, item)), True

    def bind(self, rung: int) -> None:
        """Have the levels ready down to `rung`."""
        levels = self.levels
        while len(levels) <= rung:
            levels.append(self.level(self.ladder[len(levels)]))

    def add(self, begin: int, position: int, end: int, cut: Cut) -> None:
        repeated = self.spans[-1][1] - begin if begin < position else 0
        self.spans.append(_new(Span, (begin, end, cut, (), "", None, repeated, NOTHING, None)))

    def overlapping(self, position: int) -> int:
        """`overlap_start(position)`."""
        previous, layout = self.spans[-1], self.layout
        first, stop, cut = previous[:3]
        floor = max(first + 1, stop - self.back, position - self.most, layout.section_start(position))
        if floor >= stop:
            return position
        text = self.text
        near = text[floor - 1 : stop]
        if near.isascii() and not near[0].isspace() and len(near.split(None, 1)) == 1:  # half a long word
            return self.overlap_start(position) if cut in INSIDE_WORDS else position
        easy = layout.easy_start(floor, stop)
        if easy >= 0 and (easy := self.with_indent(easy, floor)) >= 0 and layout.frame_at(easy) is None:
            return easy
        if not self.atoms and self.overlap is not None:
            self.atoms = [self.level(atom) for atom in self.overlap.atoms]
        for level in self.atoms:
            begin = level.first_start(floor, stop)
            while begin is not None:
                begin = self.with_indent(begin, floor)
                if begin < 0:
                    return self.overlap_start(position)
                frame = layout.frame_at(begin)
                if frame is None:
                    return begin
                begin = level.first_start(frame.tail, stop) if frame.tail < stop else None
        return self.overlap_start(position) if cut in INSIDE_WORDS else position

    def with_indent(self, begin: int, floor: int) -> int:
        """`begin`, or where its line starts if only indentation is before it; -1 if this is not plain to see."""
        text = self.text
        before = begin - 1
        while before >= floor and text[before] in " \t":
            before -= 1
        if text[before] in "\r\n":
            return before + 1
        plain = not text[before].isspace() and text[begin - 1] < "\u0300" and "!" <= text[begin] <= "~"
        return begin if plain else -1


def _is_plain_edge(text: str, position: int) -> bool:
    """Whether a cut at `position` surely keeps clusters whole."""
    at, before = text[position], text[position - 1]
    if at == " ":  # a prepended mark takes in even a space; there is none from the Thai block to the end of the plane
        return before < "\u0600" or "\u0e00" <= before <= "\uffff"
    return at == "\n" or ("!" <= at <= "~" and before < "\u0300")

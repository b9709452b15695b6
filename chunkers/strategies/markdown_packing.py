"""The merge for Markdown, again for the commonest case: a limit in characters and stripped ends.

The cuts are those of `cutting.packing`, which decides whatever is not plain, one chunk at a time; a test holds both
against each other. What is saved is calls, and asking every level where one look at the headings tells.
"""

from __future__ import annotations

from bisect import bisect_right

from chunkers.cutting.levels import BoundLevel, Ladder
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import INSIDE_WORDS, Overlap, Packer, Trim
from chunkers.records import NOTHING, Cut, Span
from chunkers.strategies.markdown_layout import Layout
from chunkers.text.graphemes import trimmed_end
from chunkers.text.lines import skip_space, trim_space

_new = tuple.__new__  # a third of the time of Span(…)


class MarkdownPacker(Packer):
    """Cuts any number of regions of one document along `ladder`, which is that of `layout`."""

    __slots__ = ("atoms", "back", "is_plain", "layout", "levels", "most", "sections")

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

    def pack(self, start: int, end: int) -> list[Span]:
        """Cut `text[start:end]`."""
        self.end = trimmed_end(self.text, start, end) if self.trim.strip else end
        self.spans, self.drops, self.rung = [], [], 0
        return self.run(start)[0]

    def next(self, position: int) -> int:
        """Cut one chunk whose new text starts at `position`; returns where the next one's does."""
        if not self.is_plain:
            return super().next(position)
        text, end, most, layout = self.text, self.end, self.most, self.layout
        high = position + most
        if layout.frame_at(position):
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
        starts = layout.starts
        at = bisect_right(starts, reach)
        rung = 0 if at and starts[at - 1] > low else self.sections
        levels = self.levels
        while True:
            while rung >= len(levels):
                if len(levels) == len(self.ladder):
                    return super().next(position)
                levels.append(self.level(self.ladder[len(levels)]))
            gap = levels[rung].last(low, reach)
            if gap is not None:
                break
            rung += 1
        edge, start = gap
        stop = trim_space(text, low, edge)
        if (
            not low < stop <= high
            or not _is_plain_edge(text, stop)
            or (start > stop and not _is_plain_edge(text, start))
            or layout.should_not_end(edge, stop)
        ):
            return super().next(position)
        begin = position
        if self.back and self.spans:
            begin = self.overlapping(position)
            if begin < position and stop > begin + most:
                begin, (rung, gap) = self._with_overlap(begin, position, low, high, (rung, gap._replace(end=stop)))
                return self._end_chunk(begin, position, (rung, gap), "")
        self.add(begin, position, stop, levels[rung].cut)
        self.rung = rung
        while text[start] == "\n":
            start += 1
        return start if "!" <= text[start] <= "~" else self.inner_start(gap.start, stop)

    def add(self, begin: int, position: int, end: int, cut: Cut) -> None:
        repeated = self.spans[-1][1] - begin if begin < position else 0
        self.spans.append(_new(Span, (begin, end, cut, (), "", None, repeated, NOTHING, None)))

    def overlapping(self, position: int) -> int:
        """`overlap_start(position)`."""
        text, previous, layout = self.text, self.spans[-1], self.layout
        first, stop, cut = previous[:3]
        floor = max(first + 1, stop - self.back, position - self.most, layout.section_start(position))
        if floor >= stop:
            return position
        if not self.atoms and self.overlap is not None:
            self.atoms = [self.level(atom) for atom in self.overlap.atoms]
        for level in self.atoms:
            begin = level.first_start(floor, stop)
            while begin is not None:
                before = begin - 1
                while before >= floor and text[before] in " \t":
                    before -= 1
                if text[before] in "\r\n":
                    begin = before + 1  # the indentation of a line stays with it
                elif text[before].isspace() or text[begin - 1] >= "\u0300" or not "!" <= text[begin] <= "~":
                    return self.overlap_start(position)
                frame = layout.frame_at(begin)
                if frame is None:
                    return begin
                begin = level.first_start(frame.tail, stop) if frame.tail < stop else None
        return self.overlap_start(position) if cut in INSIDE_WORDS else position


def _is_plain_edge(text: str, position: int) -> bool:
    """Whether a cut at `position` surely keeps clusters whole."""
    return text[position] in "\n " or ("!" <= text[position] <= "~" and text[position - 1] < "\u0300")

"""Stretches of a Markdown document to chunks: what fits is one, what does not goes to the packer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Trim
from chunkers.records import Cut, Drop, Span
from chunkers.strategies.markdown_layout import Layout
from chunkers.strategies.markdown_packing import MarkdownPacker
from chunkers.strategies.markdown_sections import NO_PATH, Opened, Path
from chunkers.structure.markdown import Heading, Reading
from chunkers.text.graphemes import trimmed_end
from chunkers.text.lines import NEWLINE, line_start, skip_space

_new = tuple.__new__  # a third of the time of Span(…)
_WHOLE = ("fence", "table", "math")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that does not depend on the document.

    `most` is the limit where it is one, in characters; else -1. `are_plain`: all headings asked for are Markdown's own;
    `keys` are the metadata keys by rank of the heading.
    """

    bounds: Bounds
    most: int
    trim: Trim
    overlap: Overlap | None
    are_plain: bool
    keys: dict[int, str]


class Cutter:
    """Cuts stretches of one document to size, into `spans`."""

    def __init__(self, reading: Reading, plan: Plan, headings: Sequence[Heading]) -> None:
        self.reading, self.plan, self.text, self.headings = reading, plan, reading.text, headings
        self.size, self.strip = len(self.text), plan.trim.strip
        self.spans: list[Span] = []
        self.limit = Limit(self.text, plan.bounds)
        self.most = plan.most if plan.bounds else self.size  # what surely fits, in characters

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.reading, self.headings, self.limit)

    @cached_property
    def packer(self) -> MarkdownPacker:
        plan, layout = self.plan, self.layout
        return MarkdownPacker(layout, layout.ladder(), self.limit, plan.trim, plan.overlap)

    def without_headings(self, opened: Sequence[Opened], cut: Callable[[int, int, Path], None]) -> list[Drop]:
        """`cut` every section from behind its heading on; the headings' lines are left out."""
        text, spans, most = self.text, self.spans, self.most
        if not self.strip or cut != self.cut:
            most = -1
        drops: list[Drop] = []
        start, path = self.reading.start, NO_PATH
        for end, behind, listed, below in opened:
            # Most sections fit and are easily trimmed: without a call then. No heading starts with a line end.
            begin = start
            while text[begin] == "\n":
                begin += 1
            stop = end - 1 if begin < end else end
            while text[stop - 1] == "\n" and begin < stop:
                stop -= 1
            if begin < stop <= begin + most and "!" <= text[begin] <= "~" and "!" <= text[stop - 1] <= "~":
                titles, metadata = path
                spans.append(_new(Span, (begin, stop, "heading", titles, "", None, 0, metadata, None)))
            elif start < end:
                cut(start, end, path)
            start, path = end, below
            if listed:
                start = behind
                drops.append(_new(Drop, (end, behind, "heading")))
        cut(start, self.size, path)
        return drops

    def with_headings(self, opened: Sequence[Opened], cut: Callable[[int, int, Path], None]) -> None:
        """`cut` every section from its heading on; a heading alone goes into its first subsection's chunk."""
        start, path = self.reading.start, NO_PATH
        for number, (end, _, _, below) in enumerate(opened):
            if not self.folds(opened, number - 1, start, end):
                if start < end:
                    cut(start, end, path)
                start = end
            path = below
        cut(start, self.size, path)

    def folds(self, opened: Sequence[Opened], number: int, begin: int, end: int) -> bool:
        """Whether section `number`, a heading alone, goes into its first subsection's chunk."""
        if number < 0 or number + 1 >= len(opened):
            return False
        _, behind, listed, (titles, _) = opened[number]
        _, _, _, (below, _) = opened[number + 1]
        alone = skip_space(self.text, max(begin, behind), end) >= end
        return alone and listed and len(below) > len(titles) and below[: len(titles)] == titles

    def cut(self, start: int, end: int, path: Path) -> None:
        """Add the chunks of `text[start:end]`, which lies under `path`; none if it is blank."""
        last: Cut = "document-end" if end == self.size else "heading"
        titles, metadata = path
        if self.strip:
            text, begin, stop = self.text, start, end
            while begin < stop and text[begin] == "\n":
                begin += 1
            while begin < stop and text[stop - 1] == "\n":
                stop -= 1
            if begin < stop:
                first = begin
                while first < stop and text[first] == " ":  # the line's indentation is kept
                    first += 1
                if first == stop or not ("!" <= text[first] <= "~" and "!" <= text[stop - 1] <= "~"):
                    begin, stop = self.trimmed(start, end)
            if begin >= stop:
                return
            if stop - begin <= self.most or (self.most < 0 and self.limit.fits(begin, stop)):
                self.spans.append(_new(Span, (begin, stop, last, titles, "", None, 0, metadata, None)))
                return
        spans = self.packer.pack(start, end)
        if titles:
            spans = [
                _new(Span, (begin, stop, cut, titles, context, None, overlap, metadata, None))
                for begin, stop, cut, _, context, _, overlap, _, _ in spans
            ]
        end_with(spans, last)
        self.spans += spans

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """`text[start:end]` without white space at its ends, but for indentation; an empty range if it is blank."""
        text = self.text
        kept = text[start:end].rstrip()
        stop = start + len(kept)
        begin = stop - len(kept.lstrip())
        if kept and text[stop - 1] >= "\u0600":
            stop = trimmed_end(text, start, end)
        if begin > start and text[begin - 1] != "\n":
            begin = line_start(text, begin, start)
        return begin, stop

    def lines(self, start: int, end: int, path: Path) -> None:
        """Add each line of `text[start:end]` by itself, but fences, tables and math whole."""
        spans, whole = self.spans, self.whole
        at = bisect_left(whole, (start, start))
        while start < end:
            if at < len(whole) and whole[at][0] <= start:
                stop = min(end, whole[at][1])
                at += 1
            else:
                newline = NEWLINE.search(self.text, start, end)
                stop = newline.end() if newline else end
            before = len(spans)
            self.cut(start, stop, path)
            if stop < end and len(spans) > before:
                end_with(spans, "line")
            start = max(stop, start + 1)

    @cached_property
    def whole(self) -> list[tuple[int, int]]:
        return [(block.start, block.end) for block in self.reading.blocks if block.kind in _WHOLE]


def end_with(spans: list[Span], cut: Cut) -> None:
    """Name the end of the last span, unless it is one that is too long."""
    if spans and spans[-1].cut not in (cut, "oversize"):
        spans[-1] = spans[-1]._replace(cut=cut)

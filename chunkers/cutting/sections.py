"""Sections that a parser found, to chunks: one that fits is a chunk, one that does not goes to the packer."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from chunkers.budget import made
from chunkers.cutting.levels import Ladder
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Packer, Trim
from chunkers.records import NOTHING, Cut, Span
from chunkers.text.graphemes import trimmed_end
from chunkers.text.lines import skip_space

_FIRST_WORD = re.compile(r"[!-~]+|\S")
_MOST_WORD = 64
_MOST_HEADS = 12  # that are asked for in a row
_new = tuple.__new__  # a third of the time of Span(…)


class Section(NamedTuple):
    """A stretch of text that is cut by itself. `cut` names its end; `headings` and `metadata` are its chunks'."""

    start: int
    end: int
    cut: Cut
    headings: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = NOTHING


def cut_sections(
    text: str,
    sections: Sequence[Section],
    heads: Sequence[tuple[int, int]],
    ladder: Ladder,
    *,
    bounds: Bounds,
    trim: Trim,
    overlap: Overlap | None,
    texts: Set[int] = frozenset(),
) -> list[Span]:
    """The chunks of `sections`, which are ascending and start where lines do. Overlap stays inside a section.

    `heads` are the lines (start, end) that stand above something: no chunk ends with one if it fits with the first word
    behind it, and behind the heads right below it, but for those (their starts are in `texts`) that are text
    themselves. Blank sections give nothing.
    """
    cutter = _Cutter(text, heads, ladder, bounds, trim, overlap, texts)
    for section in sections:
        cutter.cut(section)
    spans = cutter.spans
    if spans:
        made(len(spans), len(text))
        if spans[-1].cut != "oversize":
            spans[-1] = spans[-1]._replace(cut="document-end")
    return spans


class _Cutter:
    def __init__(
        self,
        text: str,
        heads: Sequence[tuple[int, int]],
        ladder: Ladder,
        bounds: Bounds,
        trim: Trim,
        overlap: Overlap | None,
        texts: Set[int],
    ) -> None:
        self.text, self.heads, self.trim, self.texts = text, heads, trim, texts
        self.spans: list[Span] = []
        self.limit = Limit(text, bounds)
        most = self.limit.characters if bounds else len(text)
        self.most = -1 if most is None else most  # what surely fits, in characters
        self.starts = [start for start, _ in heads]
        self.packer = Packer(
            text, len(text), ladder, self.limit, trim, overlap, None, self.head_before, self.leaves_head
        )

    def cut(self, section: Section) -> None:
        """Add the chunks of one section."""
        start, end, cut, headings, metadata = section
        begin, stop = self.trimmed(start, end) if self.trim.strip else (start, end)
        if begin >= stop or (not self.trim.strip and self.text[begin:stop].isspace()):
            return
        if stop - begin <= self.most or (self.most < 0 and self.limit.fits(begin, stop)):
            self.spans.append(_new(Span, (begin, stop, cut, headings, "", None, 0, metadata, None)))
            return
        packer = self.packer
        packer.end, packer.spans, packer.drops, packer.rung = stop, [], [], 0
        spans, _ = packer.run(start)
        if spans and spans[-1].cut == "document-end":
            spans[-1] = spans[-1]._replace(cut=cut)
        self.spans += [
            _new(Span, (first, last, ending, headings, context, None, repeated, metadata, None))
            for first, last, ending, _, context, _, repeated, _, _ in spans
        ]

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """`text[start:end]` without white space at its ends, but for indentation; an empty range if it is blank."""
        packer = self.packer
        packer.end = end
        begin = packer.inner_start(start, start)
        return (begin, trimmed_end(self.text, begin, end)) if begin < end else (end, end)

    def head_before(self, offset: int) -> int:
        """The start of the last head at or before what stands at `offset`: overlap never reaches farther back."""
        at = bisect_right(self.starts, skip_space(self.text, offset, len(self.text))) - 1
        return self.starts[at] if at >= 0 else 0

    def leaves_head(self, offset: int) -> bool:
        """Whether a chunk that ends at `offset`, inside a head or behind it, leaves it without what stands below it."""
        text, heads, end = self.text, self.heads, offset
        at = bisect_left(self.starts, end) - 1
        if at < 0:
            return False
        start, stop = heads[at]
        if skip_space(text, stop, end) < end:
            return False  # something of its body is in
        body = skip_space(text, stop, self.packer.end)
        for _, lower in heads[at + 1 : at + _MOST_HEADS]:
            if body >= self.packer.end or self.starts[at + 1] > body or self.starts[at + 1] in self.texts:
                break
            at += 1  # another head stands right below
            body = skip_space(text, lower, self.packer.end)
        if body >= self.packer.end:
            return False
        word = _FIRST_WORD.match(text, body, body + _MOST_WORD)
        return self.limit.fits(start, word.end() if word else body + 1)

"""The merge by sentences: whole sentences until a chunk has the size that is wanted, and never more than the limit.

What ends a sentence is looked for next to the sizes wanted, not in the whole text. A sentence over the limit is cut
further by itself, as far as is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from chunkers.budget import exceeded, made, turns
from chunkers.cutting.levels import Ladder, Level
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import INSIDE_WORDS, Overlap, Packer, Trim
from chunkers.cutting.sentence_ends import Ends
from chunkers.measure.lengths import Ruler, Unit
from chunkers.records import NOTHING, Cut, Span
from chunkers.text.graphemes import floor_edge, is_edge, trimmed_end
from chunkers.text.lines import skip_space, trim_space

_INSIDE_SENTENCES = ("word", "clause", "line", *INSIDE_WORDS)
_new = tuple.__new__  # a third of the time of Span(…)
_BLANK = re.compile(r"(?>\r\n|\n|\r)[^\S\r\n]*(?>\r\n|\n|\r)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentencing:
    """How texts are packed by sentences: everything that does not depend on the text.

    A chunk is closed at the first end of a sentence at which it has `wanted` (in `unit`) or more; None: it takes all
    that fits. One with less than `least` goes to a neighbour where both fit together. `rest` is the ladder for a
    sentence over the limit; if that has no boundary there either, it stays whole unless `to_clusters`. An overlap is of
    whole sentences, unless `overlap_by_words` lets words take their place where no sentence is short enough.
    """

    ends: Level
    unit: Unit
    wanted: int | None
    least: int
    rest: Ladder
    to_clusters: bool
    trim: Trim
    overlap: Overlap | None = None
    overlap_by_words: bool = False


class SentencePacker:
    """Cuts any number of regions of one document, in order."""

    __slots__ = ("_rest", "_ruler", "avoid", "end", "ends", "how", "limit", "spans", "strip", "text")

    def __init__(self, text: str, how: Sentencing, limit: Limit, *, avoid: Callable[[int], bool] | None = None) -> None:
        self.text, self.how, self.limit, self.avoid = text, how, limit, avoid
        self.ends = Ends(text, how.ends.bind(text))
        self.strip = how.trim.strip
        self.end = 0
        self.spans: list[Span] = []
        self._rest: _Rest | None = None
        self._ruler: Ruler | None = None

    def pack(self, start: int, end: int, limit: Limit | None = None) -> list[Span]:
        """Cut `text[start:end]`, within `limit` if it has one of its own."""
        if limit is not None:
            self.limit = limit
            if self._rest is not None:
                self._rest.limit = limit
        self.end = trimmed_end(self.text, start, end) if self.strip else end
        self.spans = []
        position = self.inner_start(start, start)
        for _ in turns(self.limit.characters):
            if position >= self.end:
                if spans := self.spans:
                    repeated = self.how.overlap.most if self.how.overlap is not None else 0
                    made(len(spans), spans[-1][1] - spans[0][0] + repeated * len(spans))
                return self.spans
            position = self.next(position)
        raise exceeded()

    def next(self, position: int) -> int:
        """Cut what starts at `position`; returns where the next chunk's new text does."""
        begin = self.overlap_start(position) if self.how.overlap is not None and self.spans else position
        found = self.close(begin, position)
        while found is None and begin < position:
            begin = self.overlap_start(position, above=begin)
            found = self.close(begin, position)
        if found is None and not self.strip:
            solid = floor_edge(self.text, skip_space(self.text, position, self.end), position)
            if position < solid and (
                solid >= self.end or self.long_end(solid)[0] > self.limit.reach(position, self.end)
            ):
                return solid  # white space leaves no room for a sentence
        if found is None:
            return self.long_sentence(position)
        stop, start = found
        self.add(begin, position, stop, self.named(stop, start))
        return start

    def close(self, begin: int, position: int) -> tuple[int, int] | None:
        """Where the chunk from `begin` ends, whose new text starts at `position`, and where the next one starts."""
        end, wanted = self.end, self.how.wanted
        high = self.limit.reach(begin, end)
        if high <= position:
            return None
        if self.strip and high < end and self.text[high].isspace():
            high = skip_space(self.text, high, end)  # a mark of white space is not in the chunk
        low = position
        if wanted is not None:
            low = max(low, min(high, self.ruler.reach(begin, wanted - 1)))
            found = self.ends.first(low, high)
            while found is not None:
                stop, start = self.settled(begin, found)
                if stop > position and is_edge(self.text, stop, begin) and not (self.avoid and self.avoid(stop)):
                    if self.limit.fits(begin, stop):
                        return stop, start
                    break
                found = self.ends.first(found[0], high)
            else:
                if high >= end and self.limit.fits(begin, end):
                    return end, end
        elif high >= end and self.limit.fits(begin, end):
            return end, end
        return self.last(begin, position, high)

    def last(self, begin: int, position: int, high: int) -> tuple[int, int] | None:
        """The last end of a sentence up to `high` with which the chunk keeps its limit."""
        found = self.ends.last(position, high)
        while found is not None:
            stop, start = self.settled(begin, found)
            if (
                stop > position
                and is_edge(self.text, stop, begin)
                and not (self.avoid and self.avoid(stop))
                and self.limit.fits(begin, stop)
            ):
                return stop, start
            found = self.ends.last(position, found[0] - 1)
        return None

    def settled(self, begin: int, gap: tuple[int, int]) -> tuple[int, int]:
        """The end of a chunk from `begin` at `gap`, and the start of the next one."""
        text, (stop, start) = self.text, gap
        if self.strip:
            if text[stop - 1].isspace():  # the mark is white space, which may carry a combining mark
                stop = start = trimmed_end(text, begin, stop)
            return stop, self.inner_start(start, stop)
        start = skip_space(text, start, self.end)
        start = floor_edge(text, min(start, self.limit.reach(begin, start)), begin)
        return (start, start) if start > stop and self.limit.fits(begin, start) else (stop, stop)

    # -- sentences over the limit

    def long_sentence(self, position: int) -> int:
        """Cut the sentence at `position`, which is over the limit."""
        stop, start = self.long_end(position)
        named = self.named(stop, start)
        if not self.how.rest:
            # Tokens are looked for in those of the whole text, which need not be those of a slice of it.
            self.add(position, position, stop, named if self.limit.fits(position, stop) else "oversize")
            return start
        spans = self.spans
        short = spans[-1] if spans and self.is_short(spans[-1]) and not spans[-1].overlap else None
        if short is not None and short.cut != "oversize":
            spans.pop()
            position = short.start
        pieces = self.rest.cut(position, stop)
        if pieces and pieces[-1].cut == "document-end":
            pieces[-1] = pieces[-1]._replace(cut=named)
        spans += pieces
        self.merge_back()
        return self.merge_on(start)

    def long_end(self, position: int) -> tuple[int, int]:
        """Where the sentence at `position` ends, and the next one starts."""
        found = self.ends.first(position, self.end)
        while found is not None:
            stop, start = found
            if self.strip and self.text[stop - 1].isspace():
                stop = start = trimmed_end(self.text, position, stop)
            start = self.inner_start(start, stop)
            if stop > position and is_edge(self.text, stop, position) and not (self.avoid and self.avoid(stop)):
                return stop, start
            found = self.ends.first(found[0], self.end)
        return self.end, self.end

    def merge_on(self, position: int) -> int:
        """Let a short last piece take the sentences behind it, as far as they fit; where to go on."""
        spans = self.spans
        if not spans or position >= self.end or not self.is_short(spans[-1]) or spans[-1].cut == "oversize":
            return position
        found = self.close(spans[-1].start, position)
        if found is None:
            return position
        stop, start = found
        spans[-1] = spans[-1]._replace(end=stop, cut=self.named(stop, start))
        return start

    def merge_back(self) -> None:
        """Put a short last chunk to the one before it, where both fit."""
        spans = self.spans
        if len(spans) < 2 or not self.is_short(spans[-1]):
            return
        before, last = spans[-2:]
        if before.cut != "oversize" and last.cut != "oversize" and self.limit.fits(before.start, last.end):
            spans[-2:] = [before._replace(end=last.end, cut=last.cut)]

    def is_short(self, span: Span) -> bool:
        """Whether a chunk has less than the least size."""
        least = self.how.least
        return least > 0 and self.ruler.length(span.start, span.end) < least

    @property
    def rest(self) -> _Rest:
        if self._rest is None:
            how = self.how
            self._rest = _Rest(self.text, how, self.limit, self.avoid)
        return self._rest

    # -- overlap

    def overlap_start(self, position: int, above: int = -1) -> int:
        """The start of the longest run of whole sentences at the end of the last chunk that may be repeated.

        Behind a cut inside of a sentence the run is of words.
        """
        overlap, previous = self.how.overlap, self.spans[-1]
        if overlap is None:
            return position
        text, ruler = self.text, self.ruler
        floor = ruler.back(previous.end, overlap.most, max(previous.start, above) + 1)
        low = max(previous.start, trim_space(text, previous.start, floor) - 1)
        found = self.ends.first(low, previous.end - 1)
        while found is not None:
            begin = self.inner_start(skip_space(text, found[1], previous.end), found[0])
            if begin >= previous.end:
                break
            if begin >= floor and self.may_repeat(begin, previous, overlap):
                return begin
            found = self.ends.first(found[0], previous.end - 1)
        if previous.cut not in _INSIDE_SENTENCES and not self.how.overlap_by_words:
            return position
        for level in overlap.inside_words if previous.cut in INSIDE_WORDS else overlap.inside_words[:1]:
            start = level.bind(text).first_start(floor, previous.end)
            while start is not None and start < previous.end:
                if self.may_repeat(start, previous, overlap):
                    return start
                start = level.bind(text).first_start(start + 1, previous.end)
        return position

    def may_repeat(self, begin: int, previous: Span, overlap: Overlap) -> bool:
        text = self.text
        return (
            is_edge(text, begin, previous.start)
            and not text[begin : previous.end].isspace()
            and self.ruler.length(begin, previous.end) <= overlap.most
        )

    @property
    def ruler(self) -> Ruler:
        if self._ruler is None:
            self._ruler = self.limit.ruler(self.how.unit)
        return self._ruler

    # -- chunks

    def add(self, begin: int, position: int, stop: int, cut: Cut) -> None:
        spans = self.spans
        if not self.strip and self.text[position:stop].isspace():
            return
        repeated = self.ruler.length(begin, spans[-1][1]) if begin < position else 0
        spans.append(_new(Span, (begin, stop, cut, (), "", None, repeated, NOTHING, None)))
        if self.how.least:
            self.merge_back()

    def named(self, stop: int, start: int) -> Cut:
        """What made the chunk end at `stop`, when the next one starts at `start`."""
        if stop >= self.end:
            return "document-end"
        text = self.text
        if not self.strip:
            stop = trim_space(text, 0, stop)
            start = skip_space(text, stop, self.end)
        if start - stop > 1 and _BLANK.search(text, stop, start):
            return "blank-line"
        return "line" if self.ends.is_break(stop, start) else "sentence"

    def inner_start(self, position: int, floor: int) -> int:
        """`position` moved over white space, if that is stripped, and to a cluster edge."""
        if not self.strip:
            return position
        start = skip_space(self.text, position, self.end)
        if position < start < self.end and not "!" <= self.text[start] <= "~":
            start = floor_edge(self.text, start, floor)
        return start


class _Rest(Packer):
    """Cuts sentences over the limit; where nothing finer is allowed, a word stays whole."""

    __slots__ = ("to_clusters",)

    def __init__(self, text: str, how: Sentencing, limit: Limit, avoid: Callable[[int], bool] | None) -> None:
        overlap = how.overlap
        if overlap is not None:
            words, *inside = overlap.inside_words
            overlap = Overlap(most=overlap.most, unit=overlap.unit, atoms=(words,), inside_words=inside)
        super().__init__(text, 0, how.rest, limit, how.trim, overlap, None, None, avoid)
        self.to_clusters = how.to_clusters

    def cut(self, start: int, end: int) -> list[Span]:
        """The pieces of `text[start:end]`."""
        self.end = trimmed_end(self.text, start, end) if self.trim.strip else end
        self.spans, self.drops, self.rung = [], [], 0
        return self.run(start)[0]

    def _lone_atom(self, position: int) -> int:
        if self.to_clusters:
            return super()._lone_atom(position)
        edges = [self.level(each) for each in self.ladder]
        stop, low = self.end, position
        while low < stop:
            gaps = [gap for level in edges if (gap := level.first(low, stop)) is not None]
            if not gaps:
                low = stop
                break
            low = min(gap.end for gap in gaps)
            if is_edge(self.text, low, position):
                break
        self.rung = len(self.ladder) - 1
        fits = self.limit.fits(position, low)
        self._emit(position, position, low, ("word" if low < stop else "document-end") if fits else "oversize", "")
        return self.inner_start(low, low)

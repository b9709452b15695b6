"""The merge: pack a region of text into chunks that keep a limit. It lives here, once, for every strategy.

From a chunk's start the limit gives the farthest end; looking backward from there, the coarsest boundary that lies in
between is the cut. That packs whole neighbours together and goes finer only inside a piece that is too long, without
splitting the text into pieces first: each character is touched about once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chunkers.budget import exceeded, made, turns
from chunkers.cutting.levels import BoundLevel, Gap, Ladder, Level, SeparatorPosition
from chunkers.cutting.limits import Limit
from chunkers.measure.lengths import Ruler, Unit
from chunkers.records import Cut, Drop, Span
from chunkers.text.graphemes import floor_edge, is_edge, next_edge, trimmed_end
from chunkers.text.lines import line_start, skip_space, trim_space

INSIDE_WORDS = ("grapheme", "limit", "oversize", "token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """How much of a chunk's end is repeated at the next one's start, and what that is made of.

    `most` is in `unit`. `atoms` are tried in order; the first that has a piece starting inside the
    reach gives the start. `inside_words` atoms are used only behind a cut that fell inside a word.
    """

    most: int
    unit: Unit
    atoms: Ladder
    inside_words: Ladder = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trim:
    """What happens to the white space at a chunk's ends.

    `strip` leaves it out; `keep_indent` keeps that of the first line. Without `strip` every character stays, and
    `position` says which side of a cut gets the white space there (default: the chunk that ends).
    """

    strip: bool = True
    keep_indent: bool = False
    position: SeparatorPosition | None = None


def pack(
    text: str,
    start: int,
    end: int,
    ladder: Ladder,
    limit: Limit,
    *,
    trim: Trim,
    overlap: Overlap | None = None,
    context_at: Callable[[int], str] | None = None,
    overlap_floor: Callable[[int], int] | None = None,
    avoid: Callable[[int], bool] | None = None,
) -> tuple[list[Span], list[Drop]]:
    """Cut `text[start:end]` into spans within `limit`, and name the separators that were dropped.

    `ladder` goes from coarse to fine and ends in grapheme clusters. `context_at(start)` is text repeated before a chunk
    that starts there (a table's header); it counts against the limit. `overlap_floor(start)` is the least offset that
    the overlap of a chunk may reach back to. `avoid(offset)` says where no chunk should end if it can end elsewhere.
    Cost: about one pass over the region, in C.
    """
    return Packer(text, end, ladder, limit, trim, overlap, context_at, overlap_floor, avoid).run(start)


class Packer:
    """One region being packed; `pack` is the way in."""

    __slots__ = (
        "avoid", "bound", "context_at", "drops", "end", "ladder", "limit", "overlap", "overlap_floor", "ruler", "rung",
        "spans", "text", "trim",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        end: int,
        ladder: Ladder,
        limit: Limit,
        trim: Trim,
        overlap: Overlap | None,
        context_at: Callable[[int], str] | None,
        overlap_floor: Callable[[int], int] | None,
        avoid: Callable[[int], bool] | None,
    ) -> None:
        self.text, self.ladder, self.limit, self.trim = text, ladder, limit, trim
        self.overlap, self.context_at, self.overlap_floor, self.avoid = overlap, context_at, overlap_floor, avoid
        self.end = trimmed_end(text, 0, end) if trim.strip else end
        self.bound: dict[int, BoundLevel] = {}  # by identity: ladders outlive the packing
        self.ruler: Ruler | None = None
        self.spans: list[Span] = []
        self.drops: list[Drop] = []
        self.rung = 0  # of the last cut

    def run(self, start: int) -> tuple[list[Span], list[Drop]]:
        position = self.inner_start(start, start)
        for _ in turns(self.limit.characters):
            if position >= self.end:
                if spans := self.spans:
                    repeated = self.overlap.most if self.overlap is not None else 0
                    made(len(spans), spans[-1][1] - spans[0][0] + repeated * len(spans))
                return self.spans, self.drops
            position = self.next(position)
        raise exceeded()

    def next(self, position: int) -> int:
        """Cut one chunk whose new text starts at `position`; returns where the next one's does."""
        end, limit = self.end, self.limit
        context = self.context_at(position) if self.context_at else ""
        high = limit.reach(position, end, context)
        begin = self.overlap_start(position) if self.overlap is not None and not context else position
        if high >= end and limit.fits(position, end, context):
            return self.last_chunk(begin, position, context)
        low = self._solid(position)
        if position < low and low >= high:  # white space alone fills the chunk
            return self._behind_space(position, low)
        found = self._cut(position, low, high, context, len(self.ladder))
        if found is None and context:  # not even an atom fits behind it
            context, high = "", limit.reach(position, end)
            found = self._cut(position, low, high, context, len(self.ladder))
        if found is None and position < low:  # white space leaves no room for an atom
            return self._behind_space(position, low)
        if found is None:
            return self._lone_atom(position)
        if begin < position:
            begin, found = self._with_overlap(begin, position, low, high, found)
        return self._end_chunk(begin, position, found, context)

    def last_chunk(self, begin: int, position: int, context: str) -> int:
        """The rest fits. If it does not fit with its overlap, a piece as fine as the last cut is left for one more."""
        end = self.end
        if begin < position and not self.limit.fits(begin, end):
            found = self._cut(begin, position, self.limit.reach(begin, end), "", self.rung + 1)
            if found is not None:
                return self._end_chunk(begin, position, found, "")
            begin = self.overlap_start(position, must_hold=end, above=begin)
        self._emit(begin, position, end, "document-end", context)
        return end

    def _lone_atom(self, position: int) -> int:
        """A chunk of one cluster: over the limit, or short only of what an approximate `reach` promised."""
        return self._one_atom(position, next_edge(self.text, position, self.end))

    def _behind_space(self, position: int, low: int) -> int:
        """`low`, where white space from `position` seems to leave no room for the cluster there: tokens may hold both,
        which only counting tells.
        """
        if low >= self.end:
            return low
        edge = next_edge(self.text, low, self.end)
        return self._one_atom(position, edge) if self.limit.fits(position, edge) else low

    def _one_atom(self, position: int, edge: int) -> int:
        self.rung = len(self.ladder) - 1
        fits = self.limit.fits(position, edge)
        finest = self.level(self.ladder[-1]).cut if edge < self.end else "document-end"
        self._emit(position, position, edge, finest if fits else "oversize", "")
        return self.inner_start(edge, edge)

    def _end_chunk(self, begin: int, position: int, found: tuple[int, Gap], context: str) -> int:
        self.rung, gap = found
        level = self.level(self.ladder[self.rung])
        self._emit(begin, position, gap.end, level.cut, context)
        return self.after(gap, level)

    # --- where to end ------------------------------------------------------------------------------------------------

    def _cut(
        self, start: int, low: int, high: int, context: str, rungs: int, *, may_not_heed: bool = True
    ) -> tuple[int, Gap] | None:
        """The coarsest of the first `rungs` levels with a boundary in reach, and its last one there."""
        for heed in ((True, False) if may_not_heed else (True,)) if self.avoid else (False,):
            for rung in range(rungs):
                gap = self._last(rung, start, low, high, context, heed)
                if gap is not None:
                    return rung, gap
        return None

    def _last(self, rung: int, start: int, low: int, high: int, context: str, heed: bool) -> Gap | None:
        """The last boundary of a level with which the chunk from `start` keeps limit, clusters and `avoid`."""
        level, text, strip = self.level(self.ladder[rung]), self.text, self.trim.strip
        reach = self._reach(high)
        spilled: Gap | None = None
        while reach > low:
            raw = level.last(low, reach)
            if raw is None:
                break
            gap = self._settle(raw, level, low, high)
            stop = trimmed_end(text, low, gap.end) if strip else gap.end
            if (
                low < stop
                and is_edge(text, stop, start)
                and (gap.start == stop or is_edge(text, gap.start, stop))
                and not (heed and self.avoid is not None and self.avoid(raw.end))
            ):
                if self.limit.fits(start, stop, context):
                    if not self._spills(rung, stop):
                        return gap._replace(end=stop if level.soft else self.before_separators(gap, low, start))
                    spilled = spilled or gap._replace(end=stop)
                else:
                    high = min(high, self.limit.reach(start, stop - 1, context))
            reach = min(raw.end - 1, skip_space(text, high, self.end) if strip else high)
        return spilled

    def _reach(self, high: int) -> int:
        """Where a boundary may lie at most for the chunk to end at `high`: white space there goes from its end."""
        if self.trim.strip and high < self.end and self.text[high].isspace():
            return skip_space(self.text, high, self.end)
        return high

    def _spills(self, rung: int, stop: int) -> bool:
        """Whether white space that belongs before a cut at `stop` does not fit there; another word may well."""
        if self.trim.strip or self.trim.position != "end" or stop >= self.end or not self.text[stop].isspace():
            return False
        return rung < len(self.ladder) - 1 and self.level(self.ladder[rung]).soft

    def before_separators(self, gap: Gap, low: int, floor: int) -> int:
        """The end of a piece before a dropped separator: before all of them where several stand in a row."""
        end, separator = gap.end, self.text[gap.end : gap.start]
        while separator:
            before = end - len(separator)
            if before <= low or not self.text.startswith(separator, before) or not is_edge(self.text, before, floor):
                break
            end = before
        return trimmed_end(self.text, low, end) if self.trim.strip else end

    def _settle(self, gap: Gap, level: BoundLevel, low: int, high: int) -> Gap:
        """Give the white space of a soft gap to the side it belongs to when nothing is stripped."""
        if self.trim.strip or not level.soft:
            return gap
        if self.trim.position == "start":
            edge = trim_space(self.text, low, gap.end)
        else:
            edge = floor_edge(self.text, min(high, skip_space(self.text, gap.end, self.end)), low)
        return Gap(edge, edge)

    # --- where to start ----------------------------------------------------------------------------------------------

    def _with_overlap(
        self, begin: int, position: int, low: int, high: int, found: tuple[int, Gap]
    ) -> tuple[int, tuple[int, Gap]]:
        """Make room for an overlap from `begin` without cutting finer than without it.

        Behind a cut inside a long piece, its rest may be cut as finely as that cut was.
        """
        rung = max(found[0], self.rung)
        while begin < position:
            reach = self.limit.reach(begin, high)
            shorter = self._cut(begin, low, reach, "", rung + 1, may_not_heed=False)
            if shorter is not None:
                return begin, shorter
            first = self.level(self.ladder[rung]).first(low, self._reach(high))
            if first is None:
                break
            begin = self.overlap_start(position, must_hold=first.end, above=begin)
        return position, found

    def overlap_start(self, position: int, *, must_hold: int | None = None, above: int = -1) -> int:
        """The start of the longest allowed overlap that leaves room up to `must_hold`; `position` if there is none."""
        overlap = self.overlap
        if overlap is None or not self.spans:
            return position
        previous = self.spans[-1]
        lowest = floor = max(self._overlap_floor(position), above + 1)
        if floor >= previous.end:
            return position
        floor = self._overlap_ruler(overlap).back(previous.end, overlap.most, floor)
        if must_hold is not None:
            hold = trimmed_end(self.text, position, must_hold) if self.trim.strip else must_hold
            floor = max(floor, self.limit.back(hold, floor))
        else:
            hold = position
        atoms = list(overlap.atoms)
        if previous.cut in INSIDE_WORDS:
            atoms += overlap.inside_words
        for each in atoms:
            level = self.level(each)
            begin = level.first_start(floor, previous.end)
            while begin is not None:
                if self.trim.strip:
                    begin = skip_space(self.text, begin, previous.end)
                if begin >= previous.end:
                    break
                indented = self._overlap_indent(begin, lowest, hold)
                if indented < begin:
                    return indented
                if self._may_start(begin, hold, previous, overlap):
                    return begin
                begin = level.first_start(begin + 1, previous.end)
        return position

    def _overlap_floor(self, position: int) -> int:
        """The least offset that an overlap in front of `position` may start at."""
        floor = self.spans[-1].start + 1
        return floor if self.overlap_floor is None else max(floor, self.overlap_floor(position))

    def _overlap_indent(self, begin: int, floor: int, hold: int) -> int:
        """`begin` moved over the indentation before it where the overlap and the chunk up to `hold` keep their limits.

        Asked again when the chunk's end is known, which may come before what an overlap had to leave room for; and
        asked about the indentation's start whatever a ruler's `back` says, which is a token edge if it counts tokens.
        """
        if not (self.trim.keep_indent and self.trim.strip) or self.overlap is None:
            return begin
        indented = self._indent(begin, floor)
        return indented if indented < begin and self._may_start(indented, hold, self.spans[-1], self.overlap) else begin

    def _indent(self, start: int, floor: int) -> int:
        """The start of the line that begins with the white space before `start`, if that is not before `floor`."""
        first = line_start(self.text, start, floor)
        at_line_start = first > floor or floor == 0 or self.text[floor - 1] in "\r\n"
        return first if at_line_start and self.text[first:start].isspace() else start

    def _may_start(self, begin: int, hold: int, previous: Span, overlap: Overlap) -> bool:
        text = self.text
        return (
            is_edge(text, begin, previous.start)
            and self._overlap_ruler(overlap).length(begin, previous.end) <= overlap.most
            and self.limit.fits(begin, hold)
            and not (self.context_at and self.context_at(begin))
        )

    def after(self, gap: Gap, level: BoundLevel) -> int:
        """Where the next chunk's new text starts behind a cut; dropped separators are named."""
        start = self.inner_start(gap.start, gap.end)
        if not level.soft and gap.start > gap.end:
            separator = self.text[gap.end : gap.start].strip()
            while separator and start < self.end and self.text.startswith(separator, start):
                behind = start + len(separator)
                if not is_edge(self.text, behind, start):
                    break
                start = self.inner_start(behind, gap.end)
        if not level.soft and not (dropped := self.text[gap.end : start]).isspace() and dropped:
            self.drops.append(Drop(gap.end, start, "separator"))
        return start

    def inner_start(self, position: int, floor: int) -> int:
        """`position` moved over white space, as `trim` wants it, and to a cluster edge."""
        if not self.trim.strip:
            return position
        text, end = self.text, self.end
        start = skip_space(text, position, end)
        if position < start < end and not "!" <= text[start] <= "~":
            start = floor_edge(text, start, floor)
        return self._indent(start, position) if self.trim.keep_indent and start < end else start

    def _emit(self, begin: int, position: int, end: int, cut: Cut, context: str) -> None:
        """Add a chunk; `begin < position` where it repeats text of the one before."""
        overlap = 0
        if not self.trim.strip and self.text[position:end].isspace():
            return
        if begin < position and self.overlap is not None:
            if self.trim.keep_indent:
                begin = self._overlap_indent(begin, self._overlap_floor(position), end)
            overlap = self._overlap_ruler(self.overlap).length(begin, self.spans[-1].end)
            self.forget_drops(begin)
        self.spans.append(Span(begin, end, cut, (), context, None, overlap))

    def _solid(self, position: int) -> int:
        """Where the first cluster from `position` starts that is not white space."""
        start = skip_space(self.text, position, self.end)
        return start if start == position else floor_edge(self.text, start, position)

    def forget_drops(self, begin: int) -> None:
        """A separator that a chunk's overlap holds was not dropped."""
        while self.drops and self.drops[-1].start >= begin:
            self.drops.pop()

    def level(self, level: Level) -> BoundLevel:
        """`level` in this text, bound when it is first asked for."""
        bound = self.bound.get(id(level))
        if bound is None:
            bound = self.bound[id(level)] = level.bind(self.text)
        return bound

    def _overlap_ruler(self, overlap: Overlap) -> Ruler:
        if self.ruler is None:
            self.ruler = overlap.unit.ruler(self.text)
        return self.ruler

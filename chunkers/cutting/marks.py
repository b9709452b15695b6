"""Levels at the marks of a language: before lines that start with something, before tags; and ladders of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from chunkers.cutting.levels import BoundLevel, Gap, Level, Scanned
from chunkers.records import Cut
from chunkers.text.lines import NEWLINE
from chunkers.text.patterns import compile_pattern

_AHEAD = 16_384  # code points behind a line end that tell what it is
MOST_ABOVE = 100  # lines that belong to the one below them
_LONGEST_ABOVE = 400
_MOST_BEHIND = 200  # code points of such a line behind what it starts with


@dataclass(frozen=True, slots=True)
class LineStart:
    """Before a line that starts with `pattern`, unless the line above it belongs to it (starts with `above`)."""

    pattern: re.Pattern[str]
    cut: Cut
    above: re.Pattern[str] | None = None

    def bind(self, text: str) -> BoundLevel:
        return _Lines(text, self.pattern, self.cut, accept=self._accepts if self.above else None, at_start=True)

    def _accepts(self, text: str, found: re.Match[str]) -> bool:
        return self.above is None or belongs_below(text, found.start(), self.above) < 0


def belongs_below(text: str, end: int, above: re.Pattern[str]) -> int:
    """Where the line starts that ends at `end`, if it starts with `above`; else -1."""
    start = text.rfind("\n", max(0, end - _LONGEST_ABOVE), end) + 1
    if not start and end >= _LONGEST_ABOVE:
        return -1
    found = above.match(text, start, end)
    return start if found is not None and end - found.end() <= _MOST_BEHIND else -1


@dataclass(frozen=True, slots=True)
class TagStart:
    """Right before a tag."""

    pattern: re.Pattern[str]
    cut: Cut = "block"

    def bind(self, text: str) -> BoundLevel:
        return _Before(text, self.pattern, self.cut, at_start=True)


class _Before(Scanned):
    """Matches that belong to the piece behind the boundary."""

    __slots__ = ()

    def last(self, low: int, high: int) -> Gap | None:
        gap = super().last(low, high)
        return None if gap is None else Gap(gap.end, gap.end)

    def first(self, low: int, high: int) -> Gap | None:
        gap = super().first(low, high)
        return None if gap is None else Gap(gap.end, gap.end)

    def first_start(self, low: int, high: int) -> int | None:
        gap = self.first(low - 1, high - 1)
        return None if gap is None else gap.end


class _Lines(Scanned):
    """Line ends that are judged by the lines behind them, as far as `_AHEAD`."""

    __slots__ = ()

    def _matches(self, start: int, stop: int) -> Iterator[re.Match[str]]:
        # Line end by line end: a search would go on to `ahead` for the next one that fits.
        text, judge, ahead = self._text, self._pattern.match, min(len(self._text), stop + _AHEAD)
        for line in NEWLINE.finditer(text, max(0, start - 1), stop + 2):
            if line.start() > stop:
                return
            if (found := judge(text, line.start(), ahead)) is not None:
                yield found


def lines(words: str, cut: Cut, *, indent: str = "", above: str = "", flags: re.RegexFlag = re.NOFLAG) -> LineStart:
    """Before lines that start with `words` (a regular expression) behind `indent`, and the lines `above` them."""
    pattern = compile_pattern(rf"(?:\r\n?|\n)(?={chain_above(above)}{indent}(?:{words}))", flags)
    return LineStart(pattern, cut, compile_pattern(rf"[ \t]{{0,80}}+(?:{above})") if above else None)


def chain_above(above: str) -> str:
    """A regular expression for the lines that start with `above`, none to `MOST_ABOVE` of them; "" without `above`."""
    return rf"(?:[ \t]{{0,80}}+(?:{above})[^\r\n]{{0,{_MOST_BEHIND}}}+(?:\r\n?|\n)){{0,{MOST_ABOVE}}}+" if above else ""


@dataclass(frozen=True, slots=True)
class MarkLadder(Sequence[Level]):
    """A ladder whose coarsest levels are marks that patterns find in one pass; blank lines and lines come behind them.

    `cuts` names those levels. `early` finds the marks of the first ones at once: the number of its last group, or 0,
    tells the level, which is that of `rungs`. Each of `late` finds those of one level more, where it is asked for. A
    mark is the end of the line before it or, where marks `stand` anywhere, the offset before it. A line that starts
    with `above` belongs to the one below it, which is the one that is found. All of it holds for texts whose lines end
    in `\\n`. `is_prose`: the other levels are those of prose, and so is what overlap is made of.
    """

    levels: tuple[Level, ...]
    cuts: tuple[Cut, ...]
    early: re.Pattern[str]
    late: tuple[re.Pattern[str], ...] = ()
    rungs: tuple[int, ...] = (0,)
    above: re.Pattern[str] | None = None
    stand: bool = False
    is_prose: bool = False

    @overload
    def __getitem__(self, index: int) -> Level: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Level]: ...
    def __getitem__(self, index: int | slice) -> Level | Sequence[Level]:
        return self.levels[index]

    def __len__(self) -> int:
        return len(self.levels)

"""The boundaries a text can be cut at, from coarse to fine, each found next to an offset.

A level is a kind of boundary. Bound to a text it answers where the last one before, or the first one behind, an
offset is, reading only what lies between. A ladder is a sequence of levels, the coarsest first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from chunkers.records import Cut
from chunkers.text.graphemes import floor_edge, next_edge
from chunkers.text.lines import TRAILING, skip_space, trim_space
from chunkers.text.scripts import HAN_KANA, NO_LINE_END, NO_LINE_START, inside_class
from chunkers.text.sentences import (
    ASCII_SENTENCE_END,
    BULLETS,
    CLAUSE_END,
    OTHER_STOP,
    SENTENCE_END,
    SENTENCE_END_OR_BULLET,
    first_easy_start,
    is_sentence_end,
)
from chunkers.text.syllables import SYLLABLE_EDGE

SeparatorPosition = Literal["start", "end"]


class Gap(NamedTuple):
    """A boundary: one piece ends at `end`, the next starts at `start` (the same place, or behind a separator)."""

    end: int
    start: int


_gap = tuple.__new__  # a third of the time of Gap(…)


class BoundLevel(Protocol):
    """One kind of boundary in one text. All offsets are code points."""

    @property
    def cut(self) -> Cut:
        """What a chunk's end is called that falls on this boundary."""

    @property
    def soft(self) -> bool:
        """Whether the gap is white space that may be trimmed or given to either side."""

    def last(self, low: int, high: int) -> Gap | None:
        """The gap with the greatest end in `low < end <= high`."""

    def first(self, low: int, high: int) -> Gap | None:
        """The gap with the least end in `low < end <= high`."""

    def first_start(self, low: int, high: int) -> int | None:
        """The least start of a piece in `low <= start < high`."""


class Level(Protocol):
    """One kind of boundary, of any text."""

    def bind(self, text: str) -> BoundLevel:
        """This level in `text`."""


Ladder = Sequence[Level]


def bind(ladder: Ladder, text: str) -> list[BoundLevel]:
    """The levels of a ladder in one text."""
    return [level.bind(text) for level in ladder]


# --- white space -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlankLine:
    """A blank line: paragraphs."""

    def bind(self, text: str) -> BoundLevel:
        if "\r" in text:
            return Scanned(text, _ANY_BLANK_LINE, "blank-line", at_start=True)
        return _BlankLines(text)


@dataclass(frozen=True, slots=True)
class Line:
    """A line end."""

    def bind(self, text: str) -> BoundLevel:
        if "\r" in text:
            return Scanned(text, _ANY_LINE_END, "line", at_start=True)
        return _Needle(text, "\n", "line")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The end of a sentence, in all scripts."""

    def bind(self, text: str) -> BoundLevel:
        return Sentences(text)


@dataclass(frozen=True, slots=True)
class Clause:
    """A comma, a semicolon, a colon, a dash, an ellipsis."""

    def bind(self, text: str) -> BoundLevel:
        return Scanned(text, CLAUSE_END, "clause", width=96)


@dataclass(frozen=True, slots=True)
class Word:
    """White space, or the edge of a character whose script has no spaces between words."""

    def bind(self, text: str) -> BoundLevel:
        return Scanned(text, _ASCII_WORD_EDGE if text.isascii() else _WORD_EDGE, "word", width=16)


@dataclass(frozen=True, slots=True)
class Syllable:
    """An edge inside a word of a script that writes words together, and whose words only a dictionary can tell."""

    def bind(self, text: str) -> BoundLevel:
        return _NOWHERE if text.isascii() else Scanned(text, _SYLLABLE_EDGE, "word", width=64)


@dataclass(frozen=True, slots=True)
class Grapheme:
    """The edge of a grapheme cluster: always possible."""

    cut: Cut = "grapheme"

    def bind(self, text: str) -> BoundLevel:
        return _Graphemes(text, self.cut)


TEXT_LADDER: Ladder = (BlankLine(), Line(), Sentence(), Clause(), Word(), Syllable(), Grapheme())
"""The default ladder of `recursive`: all zero-width, punctuation stays with what it closes."""

TEXT_ATOMS: Ladder = (BlankLine(), Sentence(), Line(), Word())
"""What overlap is made of: whole paragraphs where one fits, else sentences, else lines, else words."""

BLANK_LINE = r"(?>\r\n|\n|\r)[ \t]*+(?>\r\n|\n|\r)"
"""A blank line, with any line ends, as a regular expression."""

_ANY_BLANK_LINE = re.compile(BLANK_LINE)
_ANY_LINE_END = re.compile(r"\r\n?|\n")
_MOST_SPACE = 4096  # that is looked through for what a piece behind it starts at
_BLANKS = re.compile(r"[ \t]*+")
_NLS, _NLE = inside_class(NO_LINE_START), inside_class(NO_LINE_END)
_WORD_EDGE = re.compile(
    rf"(?<=\S)(?:(?=\s)|(?<=[{HAN_KANA}、。，．：；！？）］｝〕】〉》」』])(?=\S)(?<![{_NLE}])(?![{_NLS}])"
    rf"|(?<![{_NLE}])(?=[{HAN_KANA}（［｛〔【〈《「『])(?![{_NLS}]))"
)
_ASCII_WORD_EDGE = re.compile(r"(?=\s)(?<=\S)")
_SYLLABLE_EDGE = re.compile(SYLLABLE_EDGE)


class _Nowhere:
    """A kind of boundary that a text has none of."""

    __slots__ = ()
    soft = True
    cut: Cut = "word"

    def last(self, low: int, high: int) -> Gap | None:
        return None

    def first(self, low: int, high: int) -> Gap | None:
        return None

    def first_start(self, low: int, high: int) -> int | None:
        return None


_NOWHERE = _Nowhere()


class _Needle:
    """A literal run of white space, found by str.rfind."""

    __slots__ = ("_needle", "_size", "_text", "cut")
    soft = True

    def __init__(self, text: str, needle: str, cut: Cut) -> None:
        self._text, self._needle, self._size, self.cut = text, needle, len(needle), cut

    def last(self, low: int, high: int) -> Gap | None:
        at = self._text.rfind(self._needle, low + 1, high + self._size)
        return _gap(Gap, (at, at + self._size)) if at >= 0 else None

    def first(self, low: int, high: int) -> Gap | None:
        at = self._text.find(self._needle, low + 1, high + self._size)
        return Gap(at, at + self._size) if at >= 0 else None

    def first_start(self, low: int, high: int) -> int | None:
        at = self._text.find(self._needle, max(0, low - self._size), high)
        if at >= 0 and low <= at + self._size < high and "!" <= self._text[at + self._size] <= "~":
            return at + self._size
        while at >= 0:
            start = skip_space(self._text, at, high)
            if start >= high:
                return None
            if start >= low:
                return start
            at = self._text.find(self._needle, start, high)
        return None


class _BlankLines(_Needle):
    """Blank lines where lines end in `\\n`: empty ones by str.rfind, those of spaces only where one may be nearer."""

    __slots__ = ("spaced",)

    def __init__(self, text: str) -> None:
        super().__init__(text, "\n\n", "blank-line")
        self.spaced = Scanned(text, _ANY_BLANK_LINE, "blank-line", at_start=True)

    def last(self, low: int, high: int) -> Gap | None:
        text = self._text
        at = text.rfind("\n\n", low + 1, high + 2)
        above = at if at >= 0 else low
        if self.may_be_spaced(above, high):
            nearer = self.spaced.last(above, high)
            if nearer is not None:
                return nearer
        return _gap(Gap, (at, at + 2)) if at >= 0 else None

    def first(self, low: int, high: int) -> Gap | None:
        at = self._text.find("\n\n", low + 1, high + 2)
        below = at if at >= 0 else high
        if self.may_be_spaced(low, below):
            nearer = self.spaced.first(low, below)
            if nearer is not None:
                return nearer
        return _gap(Gap, (at, at + 2)) if at >= 0 else None

    def may_be_spaced(self, low: int, high: int) -> bool:
        """Whether some line between the offsets ends in a space or tab, as a blank one that is not empty does."""
        return TRAILING.search(self._text, low + 1, high + 2) is not None


class Scanned:
    """Matches of a pattern near an offset: blocks of text are scanned, growing as they lead away from it."""

    __slots__ = ("_accept", "_at_start", "_pattern", "_text", "_width", "cut")
    soft = True
    _SLACK = 64

    def __init__(
        self,
        text: str,
        pattern: re.Pattern[str],
        cut: Cut,
        *,
        accept: Callable[[str, re.Match[str]], bool] | None = None,
        at_start: bool = False,
        width: int = 256,
    ) -> None:
        self._text, self._pattern, self.cut = text, pattern, cut
        self._accept, self._at_start, self._width = accept, at_start, width

    def last(self, low: int, high: int) -> Gap | None:
        width, stop = self._width, high
        while stop > low:
            start = max(low, stop - width)
            for found in reversed(list(self._matches(start, stop))):
                end = found.start() if self._at_start else found.end()
                if low < end <= stop and (self._accept is None or self._accept(self._text, found)):
                    return _gap(Gap, (end, found.end()))
            stop, width = start, width * 4
        return None

    def first(self, low: int, high: int) -> Gap | None:
        width, start = self._width, low
        while start < high:
            stop = min(high, start + width)
            for found in self._matches(start, stop):
                end = found.start() if self._at_start else found.end()
                if max(low, start) < end <= stop and (self._accept is None or self._accept(self._text, found)):
                    return Gap(end, found.end())
            start, width = stop, width * 4
        return None

    def first_start(self, low: int, high: int) -> int | None:
        for found in self._pattern.finditer(self._text, self._lead(low), high):
            start = skip_space(self._text, found.end(), high)
            if start >= high:
                return None
            if start >= low and (self._accept is None or self._accept(self._text, found)):
                return start
        return None

    def _lead(self, low: int) -> int:
        """Where to look from for the boundary whose piece starts at `low`: before the white space in front of it."""
        text = self._text
        if low and text[low - 1].isspace():
            low = trim_space(text, max(0, low - _MOST_SPACE), low)
        return max(0, low - 4)

    def _matches(self, start: int, stop: int) -> Iterator[re.Match[str]]:
        """Matches that reach into `start..stop`, whole: a run of marks is never entered in its middle."""
        text, begin = self._text, max(0, start - 1)
        floor = max(0, begin - self._SLACK)
        while begin > floor and text[begin - 1] in ".!?。！？…\n\r":
            begin -= 1
        last = min(len(text), stop + self._SLACK)
        if self._at_start and text[last - 1] in " \t" and text[begin:last].rstrip(" \t")[-1:] in ("\n", "\r"):
            last = _BLANKS.match(text, last).end() + 2  # type: ignore[union-attr]  # as long as a blank line may be
        return self._pattern.finditer(text, begin, last)


class Sentences(Scanned):
    """Sentence ends, most of which one look at the letters around tells for sure."""

    __slots__ = ()

    def __init__(self, text: str) -> None:
        pattern = ASCII_SENTENCE_END
        if not text.isascii():
            pattern = SENTENCE_END_OR_BULLET if any(mark in text for mark in BULLETS) else SENTENCE_END
        super().__init__(text, pattern, "sentence", accept=is_sentence_end, width=192)

    def first_start(self, low: int, high: int) -> int | None:
        start = first_easy_start(self._text, low, high)
        if start >= 0:
            return start
        if self._text.isascii() or not OTHER_STOP.search(self._text, low, high):
            return None
        return super().first_start(low, high)


class _Graphemes:
    __slots__ = ("_text", "cut")
    soft = True

    def __init__(self, text: str, cut: Cut) -> None:
        self._text, self.cut = text, cut

    def last(self, low: int, high: int) -> Gap | None:
        edge = floor_edge(self._text, high, low)
        return Gap(edge, edge) if edge > low else None

    def first(self, low: int, high: int) -> Gap | None:
        edge = next_edge(self._text, low, len(self._text)) if low < high else high + 1
        return Gap(edge, edge) if edge <= high else None

    def first_start(self, low: int, high: int) -> int | None:
        return low if low < high else None  # whoever asks knows an edge nearby, and checks

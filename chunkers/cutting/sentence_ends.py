"""Where sentences end: at their marks, at blank lines, and at lines that something new starts behind."""

from __future__ import annotations

import re

from chunkers.cutting.levels import BoundLevel, Gap
from chunkers.text.lines import EMPTY, NEWLINE

# What a line starts with that can only be the start of something new.
_FRESH = re.compile(
    r"[ \t\u3000]*+(?:[\r\n]|\Z|[-*+•‣⁃][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|\||\((?:\d{1,3}|[a-z]|[ivx]{2,5})\)[ \t]"
    r"|[a-z]\)[ \t]|[a-z]\.[ \t](?!\w\.)|[ivx]{2,5}[.)][ \t]|[①-⑳●■◆]|[（(][\d一二三四五六七八九十]{1,3}[）)]"
    r"|(?:[一二三四五六七八九十]{1,3}|\d{1,3})、|[０-９]{1,2}[．、])"
)


class Ends:
    """Those of one text, found next to an offset; `marks` is its level of sentence marks."""

    __slots__ = ("_has_returns", "_marks", "_text")

    def __init__(self, text: str, marks: BoundLevel) -> None:
        self._text, self._marks, self._has_returns = text, marks, "\r" in text

    def first(self, low: int, high: int) -> tuple[int, int] | None:
        """The first end in `low < end <= high`, and where the next sentence starts or white space in front of it."""
        text, fresh = self._text, _FRESH.match
        blank = None if self._has_returns else EMPTY.search(text, low + 1, high + 2)
        mark: Gap | None = self._marks.first(low, blank.start() if blank is not None else high)
        stop = high if mark is None else mark[0]
        if self._has_returns:
            for line in NEWLINE.finditer(text, low + 1, stop + 1):
                if (start := self._behind(line.start())) and fresh(text, start):
                    return line.start(), start
            return mark
        at = text.find("\n", low + 1, stop + 1)
        while at >= 0:
            if fresh(text, at + 1):
                return at, at + 1
            at = text.find("\n", at + 1, stop + 1)
        return mark

    def last(self, low: int, high: int) -> tuple[int, int] | None:
        """The last end in `low < end <= high`, likewise."""
        text, fresh = self._text, _FRESH.match
        if self._has_returns:
            return self._last_of_any(low, high)
        blank = text.rfind("\n\n", low + 1, high + 2)  # marks before it are not the last
        mark: Gap | None = self._marks.last(low if blank < 0 else blank, high)
        floor = low + 1 if mark is None else mark[0]
        at = text.rfind("\n", floor, high + 1)
        while at >= 0:
            if fresh(text, at + 1):
                return at, at + 1
            at = text.rfind("\n", floor, at)
        return mark

    def _last_of_any(self, low: int, high: int) -> tuple[int, int] | None:
        """`last` where lines end in any way."""
        text, fresh = self._text, _FRESH.match
        mark: Gap | None = self._marks.last(low, high)
        floor = low if mark is None else mark[0] - 1
        at = high + 1
        while True:
            at = max(text.rfind("\n", floor + 1, at), text.rfind("\r", floor + 1, at))
            if at < 0:
                return mark
            if (start := self._behind(at)) and fresh(text, start):
                return at, start

    def _behind(self, at: int) -> int:
        """Where the line behind the line end at `at` starts; 0 for the second half of a line end."""
        text = self._text
        if text[at] == "\n":
            return 0 if at and text[at - 1] == "\r" else at + 1
        return at + 2 if text.startswith("\r\n", at) else at + 1

    def is_break(self, stop: int, start: int) -> bool:
        """Whether it was a line end and no mark that a cut from `stop` to `start` was made for."""
        text = self._text
        between = text[stop:start]
        return ("\n" in between or "\r" in between) and self._marks.first(stop - 1, stop) is None

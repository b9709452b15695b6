"""Sentence ends at the marks that a user names instead of the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chunkers.cutting.levels import BoundLevel, Scanned
from chunkers.text.scripts import CLOSERS, HAN_KANA, inside_class
from chunkers.text.sentences import is_abbreviation

_CLOSE = inside_class(CLOSERS)


@dataclass(frozen=True, slots=True)
class Enders:
    """An end behind each of `marks`, however long, and the quotes and brackets that close behind it.

    Behind a mark that is ASCII stands white space, or a Chinese or Japanese letter: `3.14` is whole. The full stop of
    an abbreviation is none.
    """

    marks: Sequence[str]

    def bind(self, text: str) -> BoundLevel:
        choices = "|".join(re.escape(mark) for mark in sorted(self.marks, key=len, reverse=True))
        ascii_last = inside_class("".join(sorted({mark[-1] for mark in self.marks if mark[-1].isascii()})))
        behind = rf"(?:(?=[\s{HAN_KANA}]|\Z)|(?<![{ascii_last}{_CLOSE}])|(?<=\s))" if ascii_last else ""
        pattern = re.compile(rf"(?:{choices})(?:{choices})*[{_CLOSE}]*{behind}")
        return Scanned(text, pattern, "sentence", accept=_is_end, width=192)


def _is_end(text: str, found: re.Match[str]) -> bool:
    return not (found[0][0] == "." and found[0][1:2] != "." and is_abbreviation(text, found.start()))

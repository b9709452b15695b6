"""Sentence ends at the marks that a user names instead of the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chunkers.cutting.levels import BoundLevel, Scanned
from chunkers.text.full_stops import is_abbreviation
from chunkers.text.scripts import CLOSERS, HAN_KANA, inside_class

_CLOSE = inside_class(CLOSERS)
_OPENS_NEXT = re.compile(rf"[\s{HAN_KANA}]|\Z")


@dataclass(frozen=True, slots=True)
class Enders:
    """An end behind each of `marks`, however long, and the quotes and brackets that close behind it.

    Behind a mark that is ASCII stands white space, or a Chinese or Japanese letter: `3.14` is whole. The full stop of
    an abbreviation is none.
    """

    marks: Sequence[str]

    def bind(self, text: str) -> BoundLevel:
        # Runs are matched atomically: marks may be made of each other, and a run in front of a letter ends nothing.
        spaces = _any_of([mark for mark in self.marks if mark[-1].isspace()])
        others = _any_of([mark for mark in self.marks if not mark[-1].isspace()])
        runs = [rf"(?P<marks>(?>(?:{others})+))[{_CLOSE}]*+"] if others else []
        runs += [rf"(?>(?:{spaces})+)"] if spaces else []
        return Scanned(text, re.compile("|".join(runs)), "sentence", accept=_is_end, width=192)


def _any_of(marks: Sequence[str]) -> str:
    return "|".join(re.escape(mark) for mark in sorted(marks, key=len, reverse=True))


def _is_end(text: str, found: re.Match[str]) -> bool:
    if "marks" not in found.re.groupindex or not (marks := found["marks"]):
        return True
    if marks[-1].isascii() and not _OPENS_NEXT.match(text, found.end()):
        return False
    return not (marks[0] == "." and marks[1:2] != "." and is_abbreviation(text, found.start()))

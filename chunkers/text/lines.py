"""Lines, as `\\r\\n`, `\\n` and `\\r` end them and nothing else does (str.splitlines knows eight more)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

NEWLINE = re.compile(r"\r\n|\n|\r")
_RETURN = re.compile(r"\r\n")
NON_SPACE = re.compile(r"\S")
# Where lines end in `\n`. (Patterns: str.find takes three times as long to look for two characters.)
EMPTY = re.compile(r"\n\n")
BLANK = re.compile(r"\n[ \t]*+\n")
SPACED = re.compile(r"\n[ \t]++(?:\n|\Z)")
TRAILING = re.compile(r"\n(?<=[ \t]\n)")


def unreturned(text: str) -> tuple[str, Callable[[int], int]]:
    """`text` with `\\n` for every line end, and what tells where an offset in that lies in `text`."""
    if "\r" not in text:
        return text, int
    feeds = [found.start() - number for number, found in enumerate(_RETURN.finditer(text))]
    return _RETURN.sub("\n", text).replace("\r", "\n"), lambda offset: offset + bisect_left(feeds, offset)


def line_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Offsets of the line starts in `text[start:end]`; the first is `start`, one after a final newline is left out."""
    end = len(text) if end is None else end
    starts = [start]
    starts.extend(m.end() for m in NEWLINE.finditer(text, start, end) if m.end() < end)
    return starts


def line_start(text: str, position: int, floor: int = 0) -> int:
    """The start of the line that holds `position`, not before `floor`."""
    return max(text.rfind("\n", floor, position), text.rfind("\r", floor, position), floor - 1) + 1


def skip_space(text: str, start: int, end: int) -> int:
    """The first offset in `[start, end)` that is not white space, or `end`."""
    found = NON_SPACE.search(text, start, end)
    return found.start() if found else end


def trim_space(text: str, start: int, end: int) -> int:
    """The end of `text[start:end]` without its trailing white space (`start` if it is blank)."""
    if end <= start or not text[end - 1].isspace():
        return end
    width = 64
    while end > start:
        low = max(start, end - width)
        kept = len(text[low:end].rstrip())
        if kept:
            return low + kept
        end, width = low, width * 4
    return start

"""Words: one Han or Kana character, or a maximal run of other characters that are not space."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Ranges, not a script property: the answer must not depend on which Unicode version a library carries.
_HAN_KANA_RANGES = (
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x1AFF0, 0x1B16F),  # Kana extensions
    (0x20000, 0x3FFFF),
)
_HAN_KANA = "".join(f"{chr(low)}-{chr(high)}" for low, high in _HAN_KANA_RANGES)
_WORD = re.compile(rf"[{_HAN_KANA}]|[^\s{_HAN_KANA}]+")
_SPACES = tuple(code for code in range(0x3001) if chr(code).isspace())


@dataclass(frozen=True, slots=True)
class Words:
    """The unit; see the module."""

    name: str = "words"

    def measure(self, text: str) -> int:
        """The number of words of `text`."""
        return len(text.split()) if text.isascii() else sum(1 for _ in _WORD.finditer(text))

    def ruler(self, text: str) -> WordRuler:
        """A ruler for the slices of `text`."""
        return WordRuler(text)


class WordRuler:
    """Where each word of the text starts and ends, found once; every question is a bisection."""

    __slots__ = ("ends", "size", "starts")

    def __init__(self, text: str) -> None:
        self.size = len(text)
        self.starts, self.ends = _word_edges(text)

    def length(self, start: int, end: int) -> int:
        """The number of words of `text[start:end]`."""
        if end <= start:
            return 0
        first = bisect_left(self.starts, start)
        return bisect_left(self.starts, end, first) - first + self._inside(start, first)

    def reach(self, start: int, limit: int) -> int:
        """The largest `end >= start` with `length(start, end) <= limit`."""
        first = bisect_left(self.starts, start)
        inside = self._inside(start, first)
        if inside > limit:
            return start
        after = first + limit - inside
        return self.starts[after] if after < len(self.starts) else self.size

    def back(self, end: int, limit: int, floor: int) -> int:
        """The smallest `start` in `floor..end` with `length(start, end) <= limit`."""
        before = bisect_left(self.starts, end) - limit - 1
        start = min(self.ends[before], end) if before >= 0 else 0
        return max(start, floor)

    def _inside(self, position: int, first: int) -> int:
        """1 if a word that started before `position` goes on there. `first` is the first word at or after it."""
        return 1 if first and self.ends[first - 1] > position else 0


def _word_edges(text: str) -> tuple[list[int], list[int]]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = np.zeros(len(codes) + 2, dtype=np.uint8)  # 0 space, also beyond both ends; 1 word character; 2 Han or Kana
    kinds[1:-1] = _kinds(codes)
    here, before = kinds[1:], kinds[:-1]
    edge = (here != before) | (here == 2)
    starts = np.flatnonzero(edge & (here != 0))
    ends = np.flatnonzero(edge & (before != 0) | (before == 2))
    return starts.tolist(), ends.tolist()


def _kinds(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    small = np.ones(0x10000, dtype=np.uint8)
    small[list(_SPACES)] = 0
    for low, high in _HAN_KANA_RANGES:
        small[low : high + 1] = 2
    kinds: npt.NDArray[np.uint8] = small[np.minimum(codes, 0xFFFF)]
    if len(codes) and codes.max() > 0xFFFF:
        for low, high in _HAN_KANA_RANGES:
            if low > 0xFFFF:
                kinds[(codes >= low) & (codes <= high)] = 2
    return kinds

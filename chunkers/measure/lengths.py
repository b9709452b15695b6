"""How long a text is: the units `max_size`, `min_size` and `overlap` are measured in.

A `Unit` measures a string. Its `ruler(text)` is bound to one document and answers the questions that cutting asks,
on offsets (code points, 0-based, end exclusive), without measuring the same text over and over.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from chunkers.errors import InvalidOption, InvalidResult
from chunkers.measure.tokens import DEFAULT_ENCODING, Encoding, TokenMap, encoding

UNITS = ("characters", "tokens", "words", "bytes")


class Ruler(Protocol):
    """Lengths of the slices of one text."""

    def length(self, start: int, end: int) -> int:
        """The exact length of `text[start:end]`, measured on its own."""

    def reach(self, start: int, limit: int) -> int:
        """The largest `end >= start` with `length(start, end) <= limit`.

        Exact, but for tokens: there it is where `limit` tokens of the whole text end, and the slice, tokenized on its
        own, may be a token or two off. Check with `length`.
        """

    def back(self, end: int, limit: int, floor: int) -> int:
        """The smallest `start` in `floor..end` with `length(start, end) <= limit` (tokens: at a token edge)."""


class Unit(Protocol):
    """A way to measure text. Frozen, hashable, picklable when its callable is."""

    @property
    def name(self) -> str:
        """`characters`, `tokens`, `words`, `bytes` or `length_function`."""

    def measure(self, text: str) -> int:
        """The length of `text`."""

    def ruler(self, text: str) -> Ruler:
        """A ruler for the slices of `text`."""


def unit_for(
    unit: str = "characters",
    length_function: Callable[[str], int] | None = None,
    encoding_name: str | Encoding | None = None,
) -> Unit:
    """The unit that the options ask for; `length_function` takes the place of a named unit.

    Raises InvalidOption for an unknown unit or encoding, or a `length_function` that is not callable.
    """
    if length_function is not None:
        return function(length_function)
    if unit == "characters":
        return characters()
    if unit == "words":
        return words()
    if unit == "bytes":
        return bytes_()
    if unit == "tokens":
        return tokens(encoding_name if encoding_name is not None else DEFAULT_ENCODING)
    raise InvalidOption("unit", unit, f"one of {', '.join(UNITS)}")


def characters() -> Unit:
    """Code points."""
    return _Characters()


def words() -> Unit:
    """A word is one Han or Kana character, or a maximal run of other characters that are not space."""
    return _Words()


def bytes_() -> Unit:
    """Bytes of UTF-8; a lone surrogate is 3 bytes."""
    return _Bytes()


def tokens(encoding_name: str | Encoding = DEFAULT_ENCODING) -> Unit:
    """Tokens of an encoding, special-token text being ordinary text. Raises InvalidOption for an unknown name."""
    name = encoding_name.name if isinstance(encoding_name, Encoding) else encoding_name
    encoding(name)
    return _Tokens(name)


def function(length_function: Callable[[str], int]) -> Unit:
    """Whatever `length_function` returns; assumed not to shrink as a text grows.

    Its ruler calls it O(log n) times a question. It raises InvalidResult when the function raises or returns anything
    but an integer that is 0 or more.
    """
    if not callable(length_function):
        raise InvalidOption("length_function", length_function, "callable")
    return _Function(length_function)


@dataclass(frozen=True, slots=True)
class _Characters:
    name: str = "characters"

    def measure(self, text: str) -> int:
        return len(text)

    def ruler(self, text: str) -> Ruler:
        return _CharacterRuler(len(text))


class _CharacterRuler:
    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size

    def length(self, start: int, end: int) -> int:
        return end - start

    def reach(self, start: int, limit: int) -> int:
        end = start + limit
        return min(self.size, end)

    def back(self, end: int, limit: int, floor: int) -> int:
        start = end - limit
        return max(floor, start)


@dataclass(frozen=True, slots=True)
class _Bytes:
    name: str = "bytes"

    def measure(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))

    def ruler(self, text: str) -> Ruler:
        return _CharacterRuler(len(text)) if text.isascii() else _ByteRuler(text)


class _ByteRuler:
    """Encodes the slice it is asked about and nothing else: a character has 1 to 4 bytes, so a slice of `limit`
    characters holds every answer."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def length(self, start: int, end: int) -> int:
        return len(self.text[start:end].encode("utf-8", "surrogatepass"))

    def reach(self, start: int, limit: int) -> int:
        data = self.text[start : start + limit].encode("utf-8", "surrogatepass")
        if len(data) > limit:
            while limit and data[limit] & 0xC0 == 0x80:
                limit -= 1
            data = data[:limit]
        return start + len(data.decode("utf-8", "surrogatepass"))

    def back(self, end: int, limit: int, floor: int) -> int:
        data = self.text[max(floor, end - limit) : end].encode("utf-8", "surrogatepass")
        skip = max(0, len(data) - limit)
        while skip < len(data) and data[skip] & 0xC0 == 0x80:
            skip += 1
        return end - len(data[skip:].decode("utf-8", "surrogatepass"))


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
class _Words:
    name: str = "words"

    def measure(self, text: str) -> int:
        return len(text.split()) if text.isascii() else sum(1 for _ in _WORD.finditer(text))

    def ruler(self, text: str) -> Ruler:
        return _WordRuler(text)


class _WordRuler:
    """Where each word of the text starts and ends, found once; every question is a bisection."""

    __slots__ = ("ends", "size", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self.starts, self.ends = _word_edges(text)

    def length(self, start: int, end: int) -> int:
        if end <= start:
            return 0
        first = bisect_left(self.starts, start)
        return bisect_left(self.starts, end, first) - first + self._inside(start, first)

    def reach(self, start: int, limit: int) -> int:
        first = bisect_left(self.starts, start)
        inside = self._inside(start, first)
        if inside > limit:
            return start
        after = first + limit - inside
        return self.starts[after] if after < len(self.starts) else self.size

    def back(self, end: int, limit: int, floor: int) -> int:
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


@dataclass(frozen=True, slots=True)
class _Tokens:
    encoding_name: str
    name: str = "tokens"

    def measure(self, text: str) -> int:
        return encoding(self.encoding_name).count(text)

    def ruler(self, text: str) -> Ruler:
        return TokenMap(text, encoding(self.encoding_name))


@dataclass(frozen=True, slots=True)
class _Function:
    call: Callable[[str], int]
    name: str = "length_function"

    def measure(self, text: str) -> int:
        return _checked(self.call, text, 0)

    def ruler(self, text: str) -> Ruler:
        return _FunctionRuler(text, self.call)


class _FunctionRuler:
    """Gallops from `limit` characters, then bisects; a function that does not shrink gives exact answers."""

    __slots__ = ("call", "text")

    def __init__(self, text: str, call: Callable[[str], int]) -> None:
        self.text = text
        self.call = call

    def length(self, start: int, end: int) -> int:
        return _checked(self.call, self.text[start:end], start)

    def reach(self, start: int, limit: int) -> int:
        return start + _largest(lambda size: self.length(start, start + size) <= limit, len(self.text) - start, limit)

    def back(self, end: int, limit: int, floor: int) -> int:
        return end - _largest(lambda size: self.length(end - size, end) <= limit, end - floor, limit)


def _largest(fits: Callable[[int], bool], size: int, guess: int) -> int:
    """The largest of 0..size that fits, 0 being taken for granted."""
    low, high = 0, max(1, guess)
    while high < size and fits(high):
        low, high = high, high * 2
    if high >= size:
        if size <= low or fits(size):
            return max(size, low)
        high = size
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def _checked(call: Callable[[str], int], text: str, position: int) -> int:
    try:
        result = call(text)
    except Exception as error:
        raise InvalidResult(f"length_function raised {type(error).__name__}: {error}", position=position) from error
    try:
        length = operator.index(result)
    except TypeError:
        length = -1
    if length < 0 or isinstance(result, bool):
        raise InvalidResult(f"length_function returned {result!r}; it must return an integer >= 0", position=position)
    return length

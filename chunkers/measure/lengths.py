"""How long a text is: the units `max_size`, `min_size` and `overlap` are measured in.

A `Unit` measures a string. Its `ruler(text)` is bound to one document and answers the questions that cutting asks,
on offsets (code points, 0-based, end exclusive), without measuring the same text over and over.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from chunkers.budget import PER_MEASUREMENT, current
from chunkers.errors import InvalidOption, InvalidResult
from chunkers.measure.tokens import DEFAULT_ENCODING, Encoding, TokenMap, encoding
from chunkers.measure.words import Words

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
    return Words()


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
        raise InvalidOption(
            "length_function", length_function, "a function (from Python only; elsewhere, name a `unit`)"
        )
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

    __slots__ = ("call", "meter", "text")

    def __init__(self, text: str, call: Callable[[str], int]) -> None:
        self.text = text
        self.call = call
        self.meter = current()

    def length(self, start: int, end: int) -> int:
        if self.meter is not None:
            self.meter.spend(PER_MEASUREMENT + (end - start) // 4)
            self.meter.look()  # nobody knows how long the function takes
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

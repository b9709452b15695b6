"""A JSON text without the white space between its tokens, and the way back to where a character was.

White space inside strings stays, and so does what stands between two tokens that would grow together: such a text is no
JSON with it or without. All of it is counted in arrays, about ten steps over the text in C.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_APART = np.zeros(256, dtype=np.bool_)
_APART[list(b"[]{}:,")] = True


class Compact:
    """`source[start:]` as `text`, without white space between tokens."""

    __slots__ = ("_at", "_before", "_start", "text")

    def __init__(self, source: str, start: int) -> None:
        raw = source[start:] if start else source
        # One byte a character; what is not in Latin-1 is no mark of JSON.
        data = np.frombuffer(raw.encode("latin-1", "replace"), dtype=np.uint8)
        drop = _space_between(raw, data)
        starts, stops = _runs(data, drop)
        if not len(starts):
            self.text = raw
        elif raw.isascii():
            self.text = data[~drop].tobytes().decode("ascii")
        else:
            wide = np.frombuffer(raw.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
            self.text = wide[~drop].tobytes().decode("utf-32-le", "surrogatepass")
        self._start = start
        self._before = np.zeros(len(starts) + 1, dtype=np.int64)  # how much was left out up to each run
        np.cumsum(stops - starts, out=self._before[1:])
        self._at = starts - self._before[:-1]  # where in `text` each run would stand

    def sources(self, offsets: list[int], *, is_end: bool) -> list[int]:
        """The offsets in the source of those in `text`, where tokens start or (`is_end`) where they end."""
        found = np.array(offsets, dtype=np.int64)
        before = found - 1 if is_end else np.minimum(found, len(self.text) - 1)
        found += self._before[self._at.searchsorted(before, "right")] + self._start
        return found.tolist()  # type: ignore[no-any-return]


def _space_between(raw: str, data: Any) -> Any:
    """Which characters are white space outside of strings."""
    space = (data == 32) | (data == 10) | (data == 13) | (data == 9)
    quotes = data == _QUOTE
    if "\\" in raw:
        quotes[_escaped(data)] = False
    space &= ~np.logical_xor.accumulate(quotes)
    return space


def _escaped(data: Any) -> Any:
    """Where the characters stand that a backslash makes part of a string: behind an odd number of them."""
    marks = np.flatnonzero(data == _BACKSLASH)
    breaks = np.flatnonzero(np.diff(marks) != 1)
    first, last = np.concatenate(([0], breaks + 1)), np.concatenate((breaks, [len(marks) - 1]))
    behind = marks[last[(last - first) % 2 == 0]] + 1
    return behind[behind < len(data)]


def _runs(data: Any, drop: Any) -> tuple[Any, Any]:
    """Where the runs of `drop` start and stop; without those that keep two tokens apart, which are taken out of it.

    Those stand between two characters of which neither is a bracket, colon or comma.
    """
    edges = np.flatnonzero(drop[1:] != drop[:-1]) + 1
    if len(drop) and drop[0]:
        edges = np.concatenate(([0], edges))
    if len(edges) % 2:
        edges = np.concatenate((edges, [len(drop)]))
    starts, stops = edges[::2], edges[1::2]
    if not len(starts):
        return starts, stops
    apart = _APART[data[starts - 1]] | _APART[data[np.minimum(stops, len(data) - 1)]]
    apart |= (starts == 0) | (stops == len(data))  # nothing stands on one side
    for at in np.flatnonzero(~apart):
        drop[starts[at] : stops[at]] = False
    return starts[apart], stops[apart]

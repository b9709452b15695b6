"""How much fits into a chunk: one limit in the unit asked for, and one in tokens where that is set too."""

from __future__ import annotations

from collections.abc import Sequence

from chunkers.budget import PER_MEASUREMENT, current
from chunkers.measure.lengths import Ruler, Unit

Bounds = Sequence[tuple[Unit, int]]
"""Limits of any document: (unit, most) pairs."""


class Limit:
    """The limits of one document's chunks, bound to its text.

    `bounds` are (unit, most) pairs; every chunk has to keep all of them. No pairs: unbounded.
    """

    __slots__ = ("_bound", "_bounds", "_meter", "_text")

    def __init__(self, text: str, bounds: Bounds) -> None:
        self._text, self._bounds, self._meter = text, bounds, current()
        self._bound: list[tuple[Unit, Ruler, int]] | None = None

    def _rulers(self) -> list[tuple[Unit, Ruler, int]]:
        """The bounds with their rulers, made when the first chunk is measured."""
        if self._bound is None:
            self._bound = [(unit, unit.ruler(self._text), most) for unit, most in self._bounds]
        return self._bound

    def ruler(self, unit: Unit) -> Ruler:
        """A ruler of `unit` for this text: that of a limit where one is in it, since making one may cost a pass."""
        for known, ruler, _ in self._rulers():
            if known is unit or known == unit:
                return ruler
        return unit.ruler(self._text)

    @property
    def characters(self) -> int | None:
        """The limit where it is one, in characters; else None."""
        if len(self._bounds) == 1 and self._bounds[0][0].name == "characters":
            return self._bounds[0][1]
        return None

    def reach(self, start: int, end: int, context: str = "") -> int:
        """The largest offset up to `end` that a chunk from `start` can end at; check it with `fits`."""
        for unit, ruler, most in self._rulers():
            end = min(end, ruler.reach(start, most - unit.measure(context) if context else most))
        return max(end, start)

    def back(self, end: int, floor: int) -> int:
        """The smallest offset from `floor` that a chunk ending at `end` can start at; check it with `fits`."""
        for _, ruler, most in self._rulers():
            floor = max(floor, ruler.back(end, most, floor))
        return floor

    def fits(self, start: int, end: int, context: str = "") -> bool:
        """Whether `context` and `text[start:end]` together keep every limit."""
        if self._meter is not None:
            self._meter.spend(PER_MEASUREMENT + end - start)
        if context:
            whole = context + self._text[start:end]
            return all(unit.measure(whole) <= most for unit, most in self._bounds)
        return all(ruler.length(start, end) <= most for _, ruler, most in self._rulers())

    def admits_context(self, context: str) -> bool:
        """Whether `context` takes at most half of every limit (SPEC law 4)."""
        return all(unit.measure(context) * 2 <= most for unit, most in self._bounds)

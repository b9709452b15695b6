"""A long string of a JSON document, cut like text into strings."""

from __future__ import annotations

from collections.abc import Iterator

from chunkers.cutting.levels import TEXT_LADDER
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Trim, pack
from chunkers.measure.lengths import Ruler, Unit, characters
from chunkers.records import Cut
from chunkers.structure.json_strings import Content
from chunkers.text.graphemes import floor_edge, next_edge

_KEPT = Trim(strip=False)


class StringPacker:
    """Cuts the strings of one emitted text, whose chunks have to keep `bounds`."""

    def __init__(self, text: str, bounds: Bounds) -> None:
        self.text, self.bounds = text, bounds
        self.in_characters = all(unit.name == "characters" for unit, _ in bounds)

    def cut(self, start: int, end: int, prefix: str, suffix: str) -> Iterator[tuple[int, int, Cut]]:
        """The parts of the string value `text[start:end]`: where they lie in it, and what ends them.

        A part is emitted between `prefix` and `suffix`. Together the parts are the string, white space included. No
        escape is cut, and no grapheme cluster of what the string says.
        """
        text = self.text
        if self.in_characters and text.find("\\", start, end) < 0:
            room = min(most for _, most in self.bounds) - len(prefix) - len(suffix)
            limit = Limit(text, [(characters(), max(1, room))])
            yield from self._tiled(text, start + 1, end - 1, limit, None)
            return
        content = Content(text, start, end)
        units: Bounds = [(_Emitted(unit, text, content, prefix, suffix), most) for unit, most in self.bounds]
        yield from self._tiled(content.text, 0, len(content.text), Limit(content.text, units), content)

    def _tiled(
        self, said: str, start: int, end: int, limit: Limit, content: Content | None
    ) -> Iterator[tuple[int, int, Cut]]:
        """The chunks of `said[start:end]`, and what lies between them: packing leaves out those of white space."""
        spans, _ = pack(said, start, end, TEXT_LADDER, limit, trim=_KEPT)
        at = start
        for span in spans:
            for low, high in _windows(said, at, span.start, limit):
                yield (*self._place(content, low, high), "word")
            cut: Cut = "item" if span.cut == "document-end" else span.cut
            yield (*self._place(content, span.start, span.end), cut)
            at = span.end
        for low, high in _windows(said, at, end, limit):
            yield (*self._place(content, low, high), "item" if high == end else "word")

    def _place(self, content: Content | None, start: int, end: int) -> tuple[int, int]:
        return (start, end) if content is None else (content.raw(start), content.raw(end))


def _windows(said: str, start: int, end: int, limit: Limit) -> Iterator[tuple[int, int]]:
    """Pieces of white space within the limit."""
    while start < end:
        stop = floor_edge(said, limit.reach(start, end), start)
        if stop <= start:
            stop = next_edge(said, start, end)
        yield start, stop
        start = stop


class _Emitted:
    """A unit that measures a part of a string as what is emitted for it, with all that is around it."""

    name = "emitted"

    def __init__(self, unit: Unit, text: str, content: Content, prefix: str, suffix: str) -> None:
        self.unit, self.text, self.content, self.prefix, self.suffix = unit, text, content, prefix, suffix

    def measure(self, text: str) -> int:
        return self.unit.measure(text)

    def ruler(self, text: str) -> Ruler:
        return _EmittedRuler(self, len(text))


class _EmittedRuler:
    """Gallops and bisects: what is emitted does not shrink as a part grows."""

    def __init__(self, unit: _Emitted, size: int) -> None:
        self.unit, self.size = unit, size
        self.last = 64

    def length(self, start: int, end: int) -> int:
        unit = self.unit
        raw = unit.content.raw
        return unit.unit.measure(unit.prefix + unit.text[raw(start) : raw(end)] + unit.suffix)

    def reach(self, start: int, limit: int) -> int:
        low, high = 0, max(1, self.last)
        while start + high < self.size and self.length(start, start + high) <= limit:
            low, high = high, high * 2
        high = min(high, self.size - start)
        if self.length(start, start + high) <= limit:
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.length(start, start + middle) <= limit else (low, middle)
        self.last = max(1, low)
        return start + low

    def back(self, end: int, limit: int, floor: int) -> int:
        return end  # parts do not overlap

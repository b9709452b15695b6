"""Where a JSON document is cut: whole members are packed together, and only one that is too long is gone into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from chunkers.cutting.limits import Bounds
from chunkers.records import Cut
from chunkers.strategies.json_paths import Node
from chunkers.strategies.json_strings import StringPacker
from chunkers.structure.json_emitted import Emitted
from chunkers.structure.json_grammar import member_ends, value_start

CARRIED = 4
"""What fills less than one part in so many of a chunk goes on into the long member behind it."""


class Piece(NamedTuple):
    """One chunk of the emitted text: `text[start:end]` between `prefix` and `suffix`.

    Its members start in `first`, from item number `item` up to `last_item` of it, and end in `last`. `alone`: it is a
    value by itself, or a part of a string if it has a number (`part`); then `first` is the container that holds it and
    `label` its key there. `holder` is the container that holds all of it, where that is not `first`.
    """

    start: int
    end: int
    prefix: str
    suffix: str
    cut: Cut
    first: Node | None
    last: Node | None
    item: int = 0
    last_item: int = 0
    label: str = ""
    alone: bool = False
    bare: bool = False
    part: int = -1
    holder: Node | None = None

    def text(self, emitted: str) -> str:
        """What is emitted."""
        return f"{self.prefix}{emitted[self.start : self.end]}{self.suffix}"


class _Frame:
    """A container on the way down: where its members start and end, and the one that comes next."""

    __slots__ = ("at", "ends", "node", "starts")

    def __init__(self, emitted: Emitted, node: Node) -> None:
        self.node, self.at = node, 0
        self.ends = member_ends(emitted.text, node.start, node.end, emitted.ends)
        self.starts = [node.start + 1]
        self.starts += [end + 1 for end in self.ends]


class JsonPacker:
    """One document that does not fit into a chunk. `run` gives its pieces, in order."""

    def __init__(self, emitted: Emitted, bounds: Bounds) -> None:
        self.emitted, self.text, self.bounds = emitted, emitted.text, bounds
        characters = [most for unit, most in bounds if unit.name == "characters"]
        self.most = min(characters, default=len(self.text) + 1)
        self.others = [(unit, most) for unit, most in bounds if unit.name != "characters"]
        self.pieces: list[Piece] = []
        self.strings = StringPacker(self.text, bounds)
        # The chunk that is being filled: from `start` among the members of `first` to `end` among those of `last`.
        self.first: Node | None = None
        self.last: Node | None = None
        self.start = self.end = self.item = self.last_item = 0

    def run(self) -> list[Piece]:
        text = self.text
        if text[0] not in "[{" or len(text) == 2:
            self._value(0, len(text), None, "")
            return self.pieces
        stack = [_Frame(self.emitted, Node(text, 0, len(text), None, ""))]
        while stack:
            frame = stack[-1]
            if frame.at >= len(frame.ends):
                self._flush("item")
                stack.pop()
                continue
            below = self._step(frame)
            if below is not None:
                stack.append(_Frame(self.emitted, below))
        return self.pieces

    def _step(self, frame: _Frame) -> Node | None:
        """Take as many members of `frame` as fit; a container that has to be gone into is returned."""
        at, node = frame.at, frame.node
        if self.first is not None:
            reach = self._reach(frame, self.start, self.first)
            if reach > at:
                self._extend(frame, reach)
                return None
        reach = self._reach(frame, frame.starts[at], node)
        if reach > at:
            self._flush("item")
            self.first, self.start, self.item = node, frame.starts[at], at
            self._extend(frame, reach)
            return None
        return self._too_long(frame)

    def _extend(self, frame: _Frame, reach: int) -> None:
        self.last, self.end = frame.node, frame.ends[reach - 1]
        frame.at = reach
        if self.last is self.first:
            self.last_item = reach - 1

    def _too_long(self, frame: _Frame) -> Node | None:
        """The next member does not fit into a chunk with what has to be around it."""
        at, node, text = frame.at, frame.node, self.text
        value, end = value_start(text, node.start, frame.starts[at]), frame.ends[at]
        frame.at += 1
        label = f'"{at}":' if node.is_list else text[frame.starts[at] : value]
        if text[value] not in "[{" or end == value + 2:
            self._flush("item")
            self._value(value, end, node, label)
            return None
        below = Node(text, value, end, node, label)
        bare = self.exceeds_half(below)
        if bare or self._is_worth_keeping():
            self._flush("item")
        if bare:
            if self.fits(text[value:end]):
                self._value(value, end, node, label)
                return None
            below = Node(text, value, end, node, label, base=True)
        elif self.first is node:
            self.last_item = at
        return below

    def exceeds_half(self, node: Node) -> bool:
        """Whether what is put around the members of a container takes more than half of the limit (SPEC law 4)."""
        if (node.opening + node.depth) * 2 > self.most:
            return True
        if not self.others:
            return False
        around = node.prefix() + node.suffix(node)
        return any(unit.measure(around) * 2 > most for unit, most in self.others)

    def _is_worth_keeping(self) -> bool:
        """Whether the chunk being filled is long enough to end in front of a member that is gone into."""
        if self.first is None or self.last is None:
            return False
        if (self.first.opening + self.end - self.start + self.last.depth) * CARRIED >= self.most:
            return True
        whole = self._rendered()
        return any(unit.measure(whole) * CARRIED >= most for unit, most in self.others)

    def _rendered(self) -> str:
        assert self.first is not None
        assert self.last is not None
        return self.first.prefix() + self.text[self.start : self.end] + self.last.suffix(self.first)

    def _flush(self, cut: Cut) -> None:
        first, last = self.first, self.last
        if first is None or last is None:
            return
        self.pieces.append(
            Piece(self.start, self.end, first.prefix(), last.suffix(first), cut, first, last, self.item, self.last_item)
        )
        self.first = self.last = None

    def fits(self, text: str) -> bool:
        """Whether a chunk of this text keeps every limit."""
        return len(text) <= self.most and all(unit.measure(text) <= most for unit, most in self.others)

    def _reach(self, frame: _Frame, start: int, first: Node) -> int:
        """How far the members of `frame` fit into a chunk that starts at `start` among those of `first`."""
        node, at, ends = frame.node, frame.at, frame.ends
        room = self.most - first.opening - node.depth
        reach = bisect_right(ends, start + room, at)
        if not self.others or reach == at:
            return reach
        prefix, suffix = first.prefix(), node.suffix(first)

        def keeps(upto: int) -> bool:
            whole = prefix + self.text[start : ends[upto - 1]] + suffix
            return all(unit.measure(whole) <= most for unit, most in self.others)

        low, step = at, 1
        while low + step <= reach and keeps(low + step):
            low, step = low + step, step * 2
        high = min(reach + 1, low + step)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if keeps(middle) else (low, middle)
        return low

    # --- values by themselves ----------------------------------------------------------------------------------------

    def _value(self, start: int, end: int, parent: Node | None, label: str) -> None:
        """A value that does not fit with what is around it: a string in parts, anything else bare."""
        text = self.text
        if text[start] == '"' and end > start + 2:
            self.pieces += self._string(start, end, parent, label)
            return
        cut: Cut = "item" if self.fits(text[start:end]) else "oversize"
        self.pieces.append(Piece(start, end, "", "", cut, parent, parent, 0, 0, label, alone=True, bare=True))

    def _string(self, start: int, end: int, parent: Node | None, label: str) -> Iterator[Piece]:
        """A string in parts: within what is around it, unless that is too much for it, or for one of its parts."""
        if parent is not None and not self._is_long_way(parent, label):
            prefix, suffix = parent.prefix()[:-1] + "{" + label, "}" * parent.depth
            within = self._parts(start, end, parent, label, (prefix, suffix), bare=False)
            if all(piece.cut != "oversize" for piece in within):
                yield from within
                return
        if self.fits(self.text[start:end]):
            yield Piece(start, end, "", "", "item", parent, parent, 0, 0, label, alone=True, bare=True)
            return
        yield from self._parts(start, end, parent, label, ("", ""), bare=True)

    def _parts(
        self, start: int, end: int, parent: Node | None, label: str, around: tuple[str, str], *, bare: bool
    ) -> list[Piece]:
        prefix, suffix = around[0] + '"', '"' + around[1]
        found = []
        for part, (low, high, cut) in enumerate(self.strings.cut(start, end, prefix, suffix)):
            made: Cut = cut if self.fits(f"{prefix}{self.text[low:high]}{suffix}") else "oversize"
            found.append(
                Piece(low, high, prefix, suffix, made, parent, parent, 0, 0, label, alone=True, bare=bare, part=part)
            )
        return found

    def _is_long_way(self, parent: Node, label: str) -> bool:
        around = parent.opening + len(label) + parent.depth
        if around * 2 > self.most:
            return True
        whole = parent.prefix() + label + "}" * parent.depth if self.others else ""
        return any(unit.measure(whole) * 2 > most for unit, most in self.others)

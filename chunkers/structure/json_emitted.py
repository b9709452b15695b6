"""A JSON document the way it is emitted: no white space between tokens, and what the options ask for.

Everything that is cut is cut in this text, where a chunk's size is a difference of two offsets. `source` leads back.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from json.encoder import encode_basestring_ascii

from chunkers.errors import MalformedDocument
from chunkers.structure.json_compact import Compact
from chunkers.structure.json_grammar import SCALAR, STRING, container_ends
from chunkers.text.patterns import compile_pattern

_NOT_ASCII = compile_pattern(r"[^\x00-\x7f]++")
_TOKEN = compile_pattern(rf"({STRING})|({SCALAR})|([\[{{])|([\]}}])|[:,]")


class Emitted:
    """A valid document in its emitted form. `text` is that form, `ends` the ends of its containers that nest.

    Raises MalformedDocument unless `source[start:]` is JSON.
    """

    def __init__(self, source: str, start: int, *, ensure_ascii: bool = False, convert_lists: bool = False) -> None:
        self._compact = Compact(source, start)
        self.compact = self._compact.text
        try:
            self.ends = container_ends(self.compact, compact=True)
        except MalformedDocument:
            container_ends(source, start)  # tells the position in the document
            raise
        self.text = self.compact
        self._pieces: list[tuple[int, int]] = []
        if convert_lists and "[" in self.text:
            self.text, self._pieces = _with_keys(self.compact)
            self.ends = container_ends(self.text, compact=True)
        self.rewritten = self.text is not self.compact or (ensure_ascii and not self.text.isascii())
        self.escaped = ensure_ascii and not self.text.isascii()
        if self.escaped:
            self._unescaped = self.text
            self.text = _NOT_ASCII.sub(_escape, self.text)
            self.ends = container_ends(self.text, compact=True)

    def source(self, offset: int, *, is_end: bool = False) -> int:
        """The offset in the source of an offset here, where a token (or, with `is_end`, the one before it) ends."""
        return self.sources([offset], is_end=is_end)[0]

    def sources(self, offsets: list[int], *, is_end: bool = False) -> list[int]:
        """`source` of each of many."""
        if self.rewritten:
            offsets = [self._to_compact(self._to_unescaped(offset, is_end), is_end) for offset in offsets]
        return self._compact.sources(offsets, is_end=is_end)

    def _to_compact(self, offset: int, is_end: bool) -> int:
        if not self._pieces:
            return offset
        at = bisect_right(self._piece_starts, offset - is_end) - 1
        start, compact = self._pieces[at]
        following = self._pieces[at + 1][1] if at + 1 < len(self._pieces) else len(self.compact)
        return min(compact + offset - start, following)

    @cached_property
    def _piece_starts(self) -> list[int]:
        return [start for start, _ in self._pieces]

    def _to_unescaped(self, offset: int, is_end: bool) -> int:
        if not self.escaped:
            return offset
        ends, lost = self._escapes
        at = bisect_right(ends, offset)
        if at == len(ends):
            return offset - (lost[-1] if lost else 0)
        before = lost[at - 1] if at else 0
        begin, count = self._escape_starts[at]
        if offset <= begin:
            return offset - before
        # inside of a run of escapes
        kept, grown = begin - before, begin
        for character in self._unescaped[kept : kept + count]:
            grown += 12 if character > "\uffff" else 6
            if grown > offset:
                break
            kept += 1
        return kept

    @cached_property
    def _escape_starts(self) -> list[tuple[int, int]]:
        found, lost = [], 0
        for run in _NOT_ASCII.finditer(self._unescaped):
            count = len(run[0])
            found.append((run.start() + lost, count))
            lost += _escaped_size(run[0]) - count
        return found

    @cached_property
    def _escapes(self) -> tuple[list[int], list[int]]:
        """Where runs of escapes end here, and how much longer the text has become up to there."""
        ends, grown, lost = [], [], 0
        for run in _NOT_ASCII.finditer(self._unescaped):
            lost += _escaped_size(run[0]) - len(run[0])
            ends.append(run.end() + lost)
            grown.append(lost)
        return ends, grown


def _escape(found: re.Match[str]) -> str:
    return encode_basestring_ascii(found[0])[1:-1]


def _escaped_size(text: str) -> int:
    return 6 * len(text) + 6 * sum(1 for character in text if character > "\uffff")


def _with_keys(text: str) -> tuple[str, list[tuple[int, int]]]:
    """`text` with lists as objects whose keys are the indexes, and (offset there, offset here) of what was kept."""
    out: list[str] = []
    pieces: list[tuple[int, int]] = []
    size, copied = 0, 0
    stack: list[int] = []  # the index of the item that comes next, or -1 in an object

    def put(upto: int, added: str, behind: int) -> None:
        nonlocal size, copied
        if upto > copied:
            pieces.append((size, copied))
            out.append(text[copied:upto])
            size += upto - copied
        if added:
            pieces.append((size, upto))
            out.append(added)
            size += len(added)
        copied = behind

    for token in _TOKEN.finditer(text):
        start, end = token.span()
        mark = text[start]
        if mark == "]":
            put(start, "}", end)
            stack.pop()
            continue
        if mark == "}":
            stack.pop()
            continue
        if mark in ",:":
            continue
        if stack and stack[-1] >= 0:
            put(start, f'"{stack[-1]}":', start)
            stack[-1] += 1
        if mark == "[":
            put(start, "{", end)
            stack.append(0)
        elif mark == "{":
            stack.append(-1)
    put(len(text), "", len(text))
    return "".join(out), pieces

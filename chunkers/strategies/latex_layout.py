"""What the structure of a LaTeX document means for cutting: boundaries, what stays whole, ends to avoid."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from chunkers.cutting.levels import (
    BlankLine,
    Clause,
    Grapheme,
    Ladder,
    Level,
    Line,
    Sentence,
    Syllable,
    Word,
)
from chunkers.cutting.limits import Limit
from chunkers.cutting.outside import Outside, Wholes
from chunkers.cutting.separators import Positions
from chunkers.records import Cut
from chunkers.structure.latex import Latex
from chunkers.text.lines import skip_space, trim_space
from chunkers.text.scripts import HAN_KANA

_DEEPEST = 3
_FIRST_WORD = re.compile(rf"[{HAN_KANA}]|[^\s{HAN_KANA}]+")
_MOST_WORD = 256
_LINE_START = re.compile(r"(?:\A|[\r\n])[ \t]*\Z")
_LINE_END = re.compile(r"[ \t]*(?:%[^\r\n]*)?(?:[\r\n]|\Z)")
_MOST_INDENT = 64


class LatexLayout:
    """One document, ready to be asked about offsets. All offsets are code points."""

    def __init__(self, text: str, document: Latex, limit: Limit) -> None:
        self.text, self.document, self.limit = text, document, limit
        self.sections = document.sections
        self.starts = [self._opening(section.start) for section in document.sections]
        spans = [*document.math, *document.verbatim, *((section.start, section.end) for section in document.sections)]
        self.wholes = Wholes(spans)

    # -- boundaries

    def ladder(self) -> Ladder:
        """Sections by level, then by depth environments and paragraphs, and items; then text outside of formulas."""
        text_levels: list[Level] = [Line(), Sentence(), Clause(), Word()]
        return [
            *self._section_levels(),
            *self._blocks(),
            *(Outside(level, self.wholes) for level in text_levels),
            *text_levels,
            Syllable(),
            Grapheme(),
        ]

    def atoms(self) -> Ladder:
        """What overlap is made of."""
        levels: list[Level] = [BlankLine(), Sentence(), Line(), Word()]
        return [Outside(level, self.wholes) for level in levels]

    def _section_levels(self) -> Iterator[Level]:
        """One level of boundaries per level of headings. A heading right under its parent's stays with it."""
        by_level: dict[int, list[int]] = {}
        level, end = 9, 0
        for start, section in zip(self.starts, self.sections, strict=True):
            if level >= section.level or skip_space(self.text, end, section.start) < section.start:
                by_level.setdefault(section.level, []).append(start)
            level, end = section.level, section.end
        for level in sorted(by_level):
            yield Positions.at("heading", by_level[level])

    def _blocks(self) -> Iterator[Level]:
        blocks: list[set[int]] = [set() for _ in range(_DEEPEST + 1)]
        items: list[set[int]] = [set() for _ in range(_DEEPEST + 2)]
        for environment in self.document.environments:
            at = blocks[min(environment.depth, _DEEPEST)]
            start = self._line_start(environment.start)
            if start >= 0:
                at.add(start)
            if environment.name != "document" and _LINE_END.match(self.text, environment.end):
                at.add(environment.end)
        for offset, depth in self.document.breaks:
            blocks[min(depth, _DEEPEST)].add(offset)
        for offset, depth in self.document.items:
            start = self._line_start(offset)
            if start >= 0:
                items[min(depth, _DEEPEST + 1)].add(start)
        for depth, offsets in enumerate(blocks):
            cut: Cut = "block"
            if found := self._unheld(offsets):
                yield Positions.at(cut, found)
            if found := self._unheld(items[depth + 1] | (items[0] if depth == 0 else set())):
                yield Positions.at("item", found)

    def _unheld(self, offsets: set[int]) -> list[int]:
        return [offset for offset in sorted(offsets) if offset and self.wholes.around(offset) is None]

    def _opening(self, offset: int) -> int:
        """Where a chunk starts that starts with the command at `offset`: with its indentation."""
        start = self._line_start(offset)
        return start if start >= 0 else offset

    def _line_start(self, offset: int) -> int:
        """The start of the line, if only indentation stands before `offset` there; else -1."""
        low = max(0, offset - _MOST_INDENT)
        found = _LINE_START.search(self.text[low:offset])
        if found is None or (found.start() == 0 and low and self.text[low] not in "\r\n"):
            return -1
        return low + found.start() + (1 if self.text[low + found.start()] in "\r\n" else 0)

    # -- what the merge asks

    def section_start(self, offset: int) -> int:
        """Where the section that holds `offset` starts: overlap never reaches farther back."""
        at = bisect_right(self.starts, skip_space(self.text, offset, len(self.text))) - 1
        return self.starts[at] if at >= 0 else 0

    def should_not_end(self, offset: int) -> bool:
        """Whether a chunk that ends at `offset` leaves a heading without its body."""
        text = self.text
        end = trim_space(text, 0, offset)
        at = bisect_left(self.starts, end) - 1
        if at < 0:
            return False
        section = self.sections[at]
        if end > section.end or skip_space(text, end, section.end) < section.end:
            return False
        body, level = skip_space(text, section.end, self.document.end), section.level
        while at + 1 < len(self.starts) and self.starts[at + 1] <= body:
            at += 1
            if self.sections[at].level <= level:
                return False
            body, level = skip_space(text, self.sections[at].end, self.document.end), self.sections[at].level
        if body >= self.document.end:
            return False
        word = _FIRST_WORD.match(text, body, body + _MOST_WORD)
        return self.limit.fits(section.start, word.end() if word else body + 1)

    # -- what a chunk is told about itself

    def paths(self) -> list[tuple[str, ...]]:
        """For each section the titles above it, outermost first, and its own; empty ones are left out."""
        found: list[tuple[str, ...]] = []
        levels: list[int] = []
        titles: list[str] = []
        for section in self.sections:
            while levels and levels[-1] >= section.level:
                levels.pop()
                titles.pop()
            levels.append(section.level)
            titles.append(section.title)
            found.append(tuple(filter(None, titles)))
        return found

    def section_of(self, start: int, end: int) -> int:
        """The section of the first content of `text[start:end]` that is no heading; -1 in front of the first one."""
        text, sections = self.text, self.sections
        start = skip_space(text, start, end)
        at = bisect_right(self.starts, start) - 1
        while at >= 0 and start < sections[at].end:
            start = skip_space(text, sections[at].end, end)
            if start >= end or at + 1 == len(sections) or start < self.starts[at + 1]:
                break
            at += 1
        return at

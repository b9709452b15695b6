"""The sections of an HTML page: which stretches of its text lie below which headings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from chunkers.records import NOTHING
from chunkers.structure.html_names import HEADINGS
from chunkers.structure.html_page import Marked, Page
from chunkers.text.lines import skip_space

DEEPEST = 64
"""Levels of sections; what lies deeper belongs to the last of them."""


class Section(NamedTuple):
    """A stretch of the visible text, `start` to `end`, and what stands above it.

    `metadata` are the titles under their keys, and the `xpath` of the innermost element that opened a section.
    """

    start: int
    end: int
    titles: tuple[str, ...]
    metadata: Mapping[str, str]


class Selectors:
    """The selectors of the options, and how sections nest.

    If all are names of headings, those nest by their level, and a higher one that is not among them ends a section too.
    Otherwise they nest in the order given.
    """

    def __init__(self, pairs: Sequence[Sequence[str]] | None, *, sections: bool) -> None:
        self.keys = [key for _, key in pairs] if pairs is not None else []
        selectors = [selector.strip().lower() if is_name(selector) else selector for selector, _ in pairs or ()]
        self.names = {name: rank for rank, name in enumerate(selectors) if is_name(name)}
        self.others = [(selector, rank) for rank, selector in enumerate(selectors) if not is_name(selector)]
        self.all = pairs is None
        if self.all:
            self.names = {name: level - 1 for name, level in HEADINGS.items()}
        self.by_level = not self.others and all(name in HEADINGS for name in self.names)
        self.holds = sections and not self.by_level

    def level(self, marked: Marked) -> int:
        """How deep the section of an element is, 1 outermost; 0 if it opens none and ends none."""
        if self.by_level:
            return marked.level
        return marked.rank + 1

    def key(self, marked: Marked) -> str | None:
        """The metadata key of the element's title."""
        return None if self.all or marked.rank < 0 else self.keys[marked.rank]


def is_name(selector: str) -> bool:
    """Whether a selector is the plain name of an element."""
    selector = selector.strip()
    return selector.isascii() and selector.replace("-", "").isalnum() and selector[:1].isalpha()


class _Open:
    """A section that is open. `says` are the title's offsets; `is_said`: some chunk has it in its path."""

    __slots__ = ("end", "is_held", "is_said", "key", "level", "says", "title", "xpath")

    def __init__(
        self,
        level: int,
        key: str | None,
        title: str,
        xpath: str | None,
        says: Marked | None,
        end: int,
        *,
        is_held: bool,
    ) -> None:
        self.level, self.key, self.title, self.xpath, self.says, self.end = level, key, title, xpath, says, end
        self.is_held, self.is_said = is_held, False


class Outline:
    """Walks over the elements that open sections. `told` are the headings that are in the paths of chunks."""

    def __init__(self, page: Page, selectors: Selectors) -> None:
        self.page, self.selectors = page, selectors
        self.open: list[_Open] = []
        self.told: list[Marked] = []
        self.at = 0

    def sections(self) -> Iterator[Section]:
        """All sections that have text, in order."""
        marked = self.page.marked
        for number, each in enumerate(marked):
            if each.start < self.at and not (self.selectors.holds and each.level == 0):
                continue  # inside of a heading
            yield from self._close_held(each.start)
            if self.selectors.holds and each.level == 0:
                yield from self._enter(each, marked[number + 1 : number + 2])
                continue
            level = self.selectors.level(each)
            title_of = self._holder_of(each)
            if title_of is None and (not level or (each.rank < 0 and not self._ends_any(level))):
                continue
            yield from self._until(each.start)
            if title_of is None and each.rank < 0:
                yield from self._close_levels(level)
                continue
            self.at = each.end
            if title_of is None:
                yield from self._close_levels(level)
                title = self.title(each)
                self.open.append(_Open(level, self.selectors.key(each), title, each.xpath, each, -1, is_held=False))
        yield from self._close_held(len(self.page.text) + 1)
        yield from self._until(len(self.page.text))
        while self.open:
            yield from self._close()

    def title(self, marked: Marked) -> str:
        """The text of a heading in one line."""
        text = self.page.text[marked.start : marked.end]
        return " ".join(
            part for part in text.replace("\n", " ").replace("\t", " ").replace("\r", " ").split(" ") if part
        )

    def _enter(self, marked: Marked, following: Sequence[Marked]) -> Iterator[Section]:
        """A section with what it holds begins. Its title is the heading in it that comes first."""
        if sum(each.is_held for each in self.open[-DEEPEST:]) >= DEEPEST:
            return
        yield from self._until(marked.start)
        level = marked.rank + 1
        heading = next((each for each in following if each.level and each.rank < 0 and each.begin < marked.stop), None)
        title = self.title(heading) if heading else ""
        opened = _Open(level, self.selectors.key(marked), title, marked.xpath, heading, marked.end, is_held=True)
        self.open.append(opened)

    def _holder_of(self, marked: Marked) -> _Open | None:
        """The section whose title this heading is."""
        return next((each for each in self.open[-1:] if each.says is marked), None)

    def _ends_any(self, level: int) -> bool:
        return any(each.level >= level for each in self.open) and self.selectors.by_level

    def _close_levels(self, level: int) -> Iterator[Section]:
        """Close the sections that a heading of this level ends."""
        while self.open and not self.open[-1].is_held and self.open[-1].level >= level:
            yield from self._close()

    def _close_held(self, start: int) -> Iterator[Section]:
        """Close the sections whose element has ended in front of `start`."""
        while True:
            ended = [number for number, each in enumerate(self.open) if each.is_held and each.end <= start]
            last = max((number for number, each in enumerate(self.open) if each.is_held), default=-1)
            if not ended or last not in ended:
                return
            yield from self._until(self.open[last].end)
            while len(self.open) > last:
                yield from self._close()

    def _close(self) -> Iterator[Section]:
        """Close the innermost section. One without text has its heading as its text."""
        closed = self.open.pop()
        if closed.is_said or closed.says is None:
            if closed.says is not None:
                self.told.append(closed.says)
            return
        marked = closed.says
        if self._has_ink(marked.start, marked.end):
            yield self._section(marked.start, marked.end, closed)

    def _until(self, end: int) -> Iterator[Section]:
        """The text up to `end`, in the section that is open."""
        if self.at < end:
            if self._has_ink(self.at, end):
                yield self._section(self.at, end, None)
            self.at = end

    def _has_ink(self, start: int, end: int) -> bool:
        return skip_space(self.page.text, start, end) < end

    def _section(self, start: int, end: int, heading: _Open | None) -> Section:
        """A stretch below what is open; `heading`: it is the heading of this section, which has no text."""
        titles, metadata, xpath = [], {}, None
        for each in self.open:
            each.is_said = True
            if each.title:
                titles.append(each.title)
                if each.key is not None:
                    metadata[each.key] = each.title
            xpath = each.xpath
        if heading is not None:
            xpath = heading.xpath
            if heading.title and heading.key is not None:
                metadata[heading.key] = heading.title
        if xpath is not None:
            metadata["xpath"] = xpath
        return Section(start, end, tuple(titles), metadata or NOTHING)

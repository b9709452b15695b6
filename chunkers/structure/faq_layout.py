"""The layout of a web page for questions: its lines of visible text, and the pairs and headings in offsets of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from chunkers.records import Drop
from chunkers.structure import html_names as names
from chunkers.structure.faq_data import Asked
from chunkers.structure.html_elements import Elements
from chunkers.structure.html_tokens import (
    PARTS,
    SPACE,
    attributes,
    decoded,
    is_hidden,
    raw_end,
    reference,
    reference_end,
)
from chunkers.structure.html_walking import Walker

_INLINE = frozenset(
    re.findall(
        r"\w+",
        """
        a abbr acronym b bdi bdo big button cite code data del dfn em font i img input ins kbd label mark meter output
        progress q rp rt ruby s samp select small span strike strong sub sup time tt u var wbr
        """,
    )
)
_APART = frozenset(
    re.findall(r"\w+", "p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote section article details form figure")
)


@dataclass(slots=True)
class _Element:
    """What an open element is to the reader. `start` is an offset of the layout."""

    start: int
    heading: bool = False
    details: bool = False
    question: bool = False
    asked: bool = False
    answer: bool = False


@dataclass(slots=True)
class _Pair:
    """A pair that is being read: `start`, `asked` and `answer` are offsets of the layout, -1 for not yet."""

    start: int
    asked: tuple[int, int] = (-1, -1)
    answer: int = -1


class Found(NamedTuple):
    """A pair that was read; its question is `text[first:last]`."""

    start: int
    answer: int
    end: int
    first: int
    last: int
    kind: str


@dataclass(slots=True)
class _State:
    parts: list[str] = field(default_factory=list)
    size: int = 0
    starts: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)


class Layout(Walker):
    """Lays the page out. `unseen` is the element that is not shown, by its depth."""

    def __init__(self, source: str, asked: dict[int, list[Asked]]) -> None:
        super().__init__(source)
        self.asked = asked  # the questions to lay out, by where their script starts
        self.data_scripts: list[tuple[int, int, int]] = []  # of JSON-LD: its tag, its content's start and end
        self.elements = Elements()
        self.elements.told = self.leave
        self.open: dict[int, _Element] = {}  # by depth
        self.out = _State()
        self.gap = ""  # white space due before the next word
        self.kept = 0  # elements open whose white space is kept
        self.headings: list[tuple[int, int, int]] = []
        self.pairs: list[_Pair] = []
        self.found: list[Found] = []
        self.terms: list[tuple[int, int]] = []  # of <dt>: start, end
        self.titles: list[str] = []

    def read(self) -> None:
        """Lay the whole document out."""
        self.walk()
        self.elements.end_all(len(self.text))

    # --- text

    def put(self, word: str, source: int, width: int = 0) -> None:
        """Add text that stands at `source`: character by character, or all of it for `width` characters."""
        out = self.out
        if self.gap and out.size:
            out.parts.append(self.gap)
            out.size += len(self.gap)
        self.gap = ""
        out.starts.append(out.size)
        out.sources.append(source)
        out.widths.append(width)
        out.sizes.append(len(word))
        out.parts.append(word)
        out.size += len(word)

    def break_line(self, apart: bool) -> None:
        """End the line; with `apart`, leave one blank."""
        if self.gap != "\n\n":
            self.gap = "\n\n" if apart else "\n"

    @property
    def here(self) -> int:
        """Where the next word will start."""
        return self.out.size + (len(self.gap) if self.out.size else 0)

    def data(self, start: int, end: int) -> None:
        """Text of the source that is shown."""
        for part in PARTS.finditer(self.text, start, end):
            said = part[0]
            if said[0] == "&":
                self.reference(said, part.start())
            elif said[0] not in SPACE:
                self.put(said, part.start())
            elif not self.kept:
                self.gap = self.gap or " "
            elif "\n" not in self.gap:
                self.gap += said.replace("\r\n", "\n").replace("\r", "\n")

    def reference(self, written: str, start: int) -> None:
        """Add what a character reference says."""
        said = reference(written)
        if said.isspace():
            self.gap = self.gap or " "
        elif said == written:
            self.put(written, start)
        else:
            width = reference_end(written, said)
            tail = len(written) - width
            self.put(said[: len(said) - tail], start, width)
            if tail:
                self.put(written[width:], start + width)

    # --- elements

    def start(self, name: str, attributes_: str, begin: int, end: int) -> int:
        """A start tag; where to go on."""
        elements = self.elements
        elements.make_room(name, begin)
        if self.unseen < 0:
            if name == "br":
                self.break_line(False)
            elif name not in _INLINE:
                self.break_line(name in _APART)
        if name in names.VOID or (attributes_[-1:] == "/" and elements.is_foreign(name)):
            elements.void(name, begin)
            return end
        elements.open(name, begin)
        elements.top.is_watched = True
        is_raw = name in names.RAW or name in names.RCDATA
        stop = raw_end(self.text, end, name) if is_raw else end
        if self.unseen < 0:
            if name in names.UNSEEN or is_hidden(attributes_):
                self.hide(name, attributes_, begin, (end, stop))
            else:
                self.open_seen(name, attributes_)
                if end < stop:
                    self.data(end, stop)
        return stop

    def hide(self, name: str, attributes_: str, begin: int, content: tuple[int, int]) -> None:
        """An element that is not shown was opened; what it tells all the same."""
        self.unseen = self.elements.depth
        if name == "title" and not self.elements.in_svg:
            self.titles.append(decoded(self.text[slice(*content)]))
        if name == "script" and attributes(attributes_).get("type", "").strip().lower() == "application/ld+json":
            self.data_scripts.append((begin, *content))
            for each in self.asked.get(begin, ()):
                self.put_asked(each)

    def open_seen(self, name: str, attributes_: str) -> None:
        """An element that is shown was opened; what that means for pairs."""
        element = self.open[self.elements.depth] = _Element(self.here)
        self.kept += name in names.VERBATIM
        given = attributes(attributes_) if "item" in attributes_.lower() else {}
        kind, prop = given.get("itemtype", ""), given.get("itemprop", "").split()
        if kind.rstrip("/").endswith("schema.org/Question"):
            element.question = True
            self.break_line(True)
            element.start = self.here
            self.pairs.append(_Pair(self.here))
        elif name == "details" and not self.pairs:
            element.details = True
            self.pairs.append(_Pair(self.here))
        elif self.pairs and ("acceptedAnswer" in prop or "suggestedAnswer" in prop):
            self.break_line(False)
            if self.pairs[-1].answer < 0:
                self.pairs[-1].answer = self.here
        elif self.pairs and ("name" in prop or name == "summary") and self.pairs[-1].asked[0] < 0:
            element.asked = True
        element.heading = name in names.HEADINGS
        if name == "dd" and self.terms:
            element.answer = True
            self.pairs.append(_Pair(self.terms[0][0], self.terms[0], self.here))

    def end(self, name: str, end: int) -> None:
        """An end tag, which ends at `end`."""
        self.elements.end(name, end)
        if self.unseen < 0:
            if name == "br":
                self.break_line(False)
            elif name == "p":
                self.break_line(True)

    def leave(self, end: int) -> None:
        """An element was closed, at `end` of the source."""
        closing, depth = self.elements.closing, self.elements.depth + 1
        name = closing.name
        if self.unseen >= 0:
            if depth > self.unseen:
                return
            self.unseen = -1
            if not self.asked.get(closing.begin):
                self.drops.append(Drop(closing.begin, end, name if name in names.UNSEEN else "hidden"))
            return
        element = self.open.pop(depth)
        self.kept -= name in names.VERBATIM
        size = self.out.size
        if element.asked and self.pairs and size > element.start:
            self.pairs[-1].asked = (element.start, size)
            if name == "summary":
                self.pairs[-1].answer = -2  # starts behind it
        if element.heading and size > element.start:
            self.headings.append((element.start, size, int(name[1])))
        if name not in _INLINE:
            self.break_line(name in _APART)
        if self.pairs and self.pairs[-1].answer == -2:
            self.pairs[-1].answer = self.here
        if name == "dt" and size > element.start:
            self.terms = [(element.start, size)]
        if element.answer:
            self.terms = []
            self.finish_pair(self.pairs.pop(), size, "term")
        if element.question or element.details:
            self.break_line(True)
            self.finish_pair(self.pairs.pop(), size, "details" if element.details else "given")

    def finish_pair(self, pair: _Pair, end: int, kind: str) -> None:
        """Keep a pair whose answer ends at `end`, if it is whole."""
        first, last = pair.asked
        if first >= 0 and pair.start < pair.answer < end and not self.pairs:
            self.found.append(Found(pair.start, pair.answer, end, first, last, kind))

    def put_asked(self, asked: Asked) -> None:
        """Lay out a question that only a script tells."""
        self.break_line(True)
        start = self.here
        self.put(asked.question, asked.start)
        self.gap = "\n"
        answer = self.here
        self.put(asked.answer, asked.start + len(asked.question) + 1)
        self.out.ends[self.out.size] = asked.end
        self.found.append(Found(start, answer, self.out.size, start, answer - 1, "data"))
        self.gap = "\n\n"

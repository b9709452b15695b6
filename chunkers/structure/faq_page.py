"""A web page as questions: its visible text with the way back to the source, and the pairs that its markup tells of.

The text is laid out in lines, white space collapsed; what is not shown (scripts, styles, navigation, hidden elements)
is left out and named. FAQPage data (JSON-LD) that the page does not show as well is laid out where its script stands.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

from chunkers.records import Drop
from chunkers.structure.faq import Faq, Given, assemble
from chunkers.structure.faq_data import SCRIPT, Asked, asked_in
from chunkers.structure.markdown import Heading

_SHOWN_TOO = 0.8
_DROPPED = {
    "script": "script",
    "style": "style",
    "template": "template",
    "noscript": "noscript",
    "nav": "navigation",
    "title": "title",
}
_VOID = frozenset(re.findall(r"\w+", "area base br col embed hr img input link meta param source track wbr"))
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
_HEADING = re.compile(r"h[1-6]\Z")
_WORD = re.compile(r"[^ \t\n\r\f]+")
_SNIFF = re.compile(r"\s*(?:<!--.{0,1000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_SCHEMA = re.compile(r"\s*<[a-z]", re.IGNORECASE)


def is_page(text: str, path: str | None, media_type: str | None) -> bool:
    """Whether the text is to be read as HTML: its path or media type says so, or it begins like a page."""
    if media_type and "html" in media_type:
        return True
    if path and "." in path:
        return path.lower().endswith((".html", ".htm", ".xhtml"))
    if _SNIFF.match(text):
        return True
    return bool(_SCHEMA.match(text)) and "schema.org" in text and ("FAQPage" in text or "/Question" in text)


@dataclass(slots=True)
class Page:
    """A page laid out as `text`. `faq` is in offsets of it; `source_of` leads back to the page."""

    text: str
    faq: Faq
    drops: list[Drop]
    _starts: list[int]
    _sources: list[int]
    _widths: list[int]
    _ends: dict[int, int]

    def source_of(self, start: int, end: int) -> tuple[int, int]:
        """Where in the page `text[start:end]` comes from, which starts and ends with no white space."""
        return self._source(start)[0], self._ends.get(end) or self._source(end - 1)[1]

    def _source(self, offset: int) -> tuple[int, int]:
        at = bisect_right(self._starts, offset) - 1
        source, width = self._sources[at], self._widths[at]
        if width:  # a character reference
            return source, source + width
        source += offset - self._starts[at]
        return source, source + 1


def read_page(source: str) -> Page:
    """The questions of an HTML page."""
    layout = _Layout(source)
    layout.feed(source)
    layout.close()
    return layout.page()


@dataclass(slots=True)
class _Element:
    name: str
    start: int
    drops: str = ""
    heading: bool = False
    details: bool = False
    question: bool = False
    answer: bool = False
    asked: bool = False


@dataclass(slots=True)
class _Pair:
    """A pair that is being read: `start`, `asked` and `answer` are offsets of the layout, -1 for not yet."""

    start: int
    asked: tuple[int, int] = (-1, -1)
    answer: int = -1


class _Found(NamedTuple):
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
    ends: dict[int, int] = field(default_factory=dict)


class _Layout(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self.source = source
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", source))]
        self.out = _State()
        self.gap = ""  # white space due before the next word
        self.stack: list[_Element] = []
        self.count: dict[str, int] = {}
        self.dropping: tuple[str, int] | None = None
        self.depth = 0  # of the stack where dropping began
        self.drops: list[Drop] = []
        self.headings: list[tuple[int, int, int]] = []
        self.pairs: list[_Pair] = []
        self.found: list[_Found] = []
        self.terms: list[tuple[int, int]] = []  # of <dt>: start, end
        self.titles: list[str] = []
        self.data = _data_of(source)

    @property
    def at(self) -> int:
        """Where in the source the parser is."""
        line, column = self.getpos()
        return self.line_starts[line - 1] + column

    # --- text

    def put(self, word: str, source: int, width: int = 0) -> None:
        out = self.out
        if self.gap and out.size:
            out.parts.append(self.gap)
            out.size += len(self.gap)
        self.gap = ""
        out.starts.append(out.size)
        out.sources.append(source)
        out.widths.append(width)
        out.parts.append(word)
        out.size += len(word)

    def break_line(self, apart: bool) -> None:
        if self.gap != "\n\n":
            self.gap = "\n\n" if apart else "\n"

    @property
    def here(self) -> int:
        """Where the next word will start."""
        return self.out.size + (len(self.gap) if self.out.size else 0)

    def handle_data(self, data: str) -> None:
        start = self.at
        if self.dropping is not None:
            if self.dropping[0] == "title":
                self.titles.append(data)
            return
        if self.count.get("pre"):
            if data.strip():
                self.put(data, start)
            elif data:
                self.gap = self.gap or "\n" * data.count("\n")
            return
        for match in _WORD.finditer(data):
            if match.start() and not self.gap:
                self.gap = " "
            self.put(match[0], start + match.start())
        if data[-1:] in " \t\n\r\f" and not self.gap:
            self.gap = " "

    def handle_entityref(self, name: str) -> None:
        self.reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self.reference(f"&#{name}")

    def reference(self, raw: str) -> None:
        start = self.at
        if self.dropping is not None:
            if self.dropping[0] == "title":
                self.titles.append(html.unescape(f"{raw};"))
            return
        width = len(raw) + (self.source[start + len(raw) : start + len(raw) + 1] == ";")
        text = html.unescape(self.source[start : start + width])
        if text.isspace():
            self.gap = self.gap or " "
        elif len(text) == 1:
            self.put(text, start, width)
        else:
            self.put(text, start)

    # --- elements

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        start = self.at
        if self.dropping is None:
            if tag == "br":
                self.break_line(False)
            elif tag not in _INLINE:
                self.break_line(tag in _APART)
        if tag in _VOID:
            return
        element = _Element(tag, self.here)
        values = {name: value or "" for name, value in attrs}
        self.stack.append(element)
        self.count[tag] = self.count.get(tag, 0) + 1
        if self.dropping is not None:
            return
        drops = _DROPPED.get(tag, "")
        style = values.get("style", "").replace(" ", "")
        if "hidden" in values or values.get("aria-hidden") == "true" or "display:none" in style:
            drops = drops or "hidden"
        if drops:
            element.drops = drops
            self.dropping, self.depth = (drops, start), len(self.stack)
            if tag == "script" and (asked := self.data.get(start)):
                self.dropping = ("data", start)
                for each in asked:
                    self.put_asked(each)
            return
        kind, prop = values.get("itemtype", ""), values.get("itemprop", "").split()
        if kind.rstrip("/").endswith("schema.org/Question"):
            element.question = True
            self.break_line(True)
            element.start = self.here
            self.pairs.append(_Pair(self.here))
        elif tag == "details" and not self.pairs:
            element.details = True
            self.pairs.append(_Pair(self.here))
        elif self.pairs and ("acceptedAnswer" in prop or "suggestedAnswer" in prop):
            self.break_line(False)
            if self.pairs[-1].answer < 0:
                self.pairs[-1].answer = self.here
        elif self.pairs and ("name" in prop or tag == "summary") and self.pairs[-1].asked[0] < 0:
            element.asked = True
        element.heading = bool(_HEADING.match(tag))
        if tag == "dd" and self.terms:
            self.pairs.append(_Pair(self.terms[0][0], self.terms[0], self.here))

    def handle_endtag(self, tag: str) -> None:
        if not self.count.get(tag):
            return
        while self.stack:
            element = self.stack.pop()
            self.count[element.name] -= 1
            self.leave(element, len(self.stack))
            if element.name == tag:
                break

    def leave(self, element: _Element, depth: int) -> None:
        """Close an element that lay `depth` deep."""
        tag = element.name
        if self.dropping is not None:
            if depth < self.depth:
                kind, start = self.dropping
                end = self.source.find(">", self.at) + 1 or len(self.source)
                if kind != "data":
                    self.drops.append(Drop(start, max(end, start + 1), kind))
                self.dropping = None
            return
        size = self.out.size
        if element.asked and self.pairs and size > element.start:
            self.pairs[-1].asked = (element.start, size)
            if tag == "summary":
                self.pairs[-1].answer = -2  # starts behind it
        if element.heading and size > element.start:
            self.headings.append((element.start, size, int(tag[1])))
        if tag not in _INLINE:
            self.break_line(tag in _APART)
        if self.pairs and self.pairs[-1].answer == -2:
            self.pairs[-1].answer = self.here
        if tag == "dt" and size > element.start:
            self.terms = [(element.start, size)]
        if tag == "dd" and self.terms:
            self.terms = []
            self.finish_pair(self.pairs.pop(), size, "term")
        if element.question or element.details:
            self.break_line(True)
            self.finish_pair(self.pairs.pop(), size, "details" if element.details else "given")

    def finish_pair(self, pair: _Pair, end: int, kind: str) -> None:
        first, last = pair.asked
        if first >= 0 and pair.start < pair.answer < end and not self.pairs:
            self.found.append(_Found(pair.start, pair.answer, end, first, last, kind))

    def put_asked(self, asked: Asked) -> None:
        """Lay out a question that only a script tells."""
        self.break_line(True)
        start = self.here
        self.put(asked.question, asked.start)
        self.gap = "\n"
        answer = self.here
        self.put(asked.answer, asked.start + len(asked.question) + 1)
        self.out.ends[self.out.size] = asked.end
        self.found.append(_Found(start, answer, self.out.size, start, answer - 1, "data"))
        self.gap = "\n\n"

    def page(self) -> Page:
        while self.stack:
            self.leave(self.stack.pop(), len(self.stack))
        out = self.out
        text = "".join(out.parts)

        def line_end(offset: int) -> int:
            newline = text.find("\n", offset)
            return len(text) if newline < 0 else newline + 1

        headings = [
            Heading(start, line_end(end), level, " ".join(text[start:end].split()))
            for start, end, level in self.headings
        ]
        given = []
        end = 0
        for pair in sorted(self.found):
            at_line = pair.start == 0 or text[pair.start - 1] == "\n"
            if pair.start >= end and at_line:
                end = line_end(pair.end)
                question = " ".join(text[pair.first : pair.last].split())
                given.append(Given(pair.start, pair.answer, end, question, pair.kind))
        faq = assemble(text, sorted(headings), given)
        title = " ".join("".join(self.titles).split()) or faq.title
        faq = Faq(faq.units, faq.heads, title)
        return Page(text, faq, sorted(self.drops), out.starts, out.sources, out.widths, out.ends)


def _data_of(source: str) -> dict[int, list[Asked]]:
    """The questions in JSON-LD by where their script starts; none if the page shows them as well."""
    found = {match.start(): asked_in(source, match.start(1), match.end(1)) for match in SCRIPT.finditer(source)}
    questions = [each.question for asked in found.values() for each in asked]
    if not questions:
        return {}
    shown = " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", SCRIPT.sub(" ", source))).split())
    visible = sum(" ".join(question.split()) in shown for question in questions)
    return {} if visible >= _SHOWN_TOO * len(questions) else {start: asked for start, asked in found.items() if asked}

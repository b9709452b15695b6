"""A web page as questions: its visible text with the way back to the source, and the pairs that its markup tells of.

The text is laid out in lines, white space collapsed; what is not shown (scripts, styles, navigation, hidden elements)
is left out and named. FAQPage data (JSON-LD) that the page does not show as well is laid out where its script stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from chunkers.records import Drop
from chunkers.structure.faq import assemble
from chunkers.structure.faq_data import asked_in
from chunkers.structure.faq_layout import Layout
from chunkers.structure.faq_units import Faq, Given
from chunkers.structure.markdown import Heading
from chunkers.text.patterns import compile_pattern

_SHOWN_TOO = 0.8
_MOST_LOOKED_FOR = 100
"""Questions of JSON-LD that are looked for in what the page shows; of more, as many of them from all over."""
_SNIFF = compile_pattern(
    r"\ufeff?\s*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_SCHEMA = re.compile(r"\ufeff?\s*<[a-z]", re.IGNORECASE)


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
    _sizes: list[int]
    _ends: dict[int, int]

    def source_of(self, start: int, end: int) -> tuple[int, int]:
        """Where in the page `text[start:end]` comes from. White space between words is where the word before ends."""
        return self._source(start)[0], self._ends.get(end) or self._source(end - 1)[1]

    def _source(self, offset: int) -> tuple[int, int]:
        at = bisect_right(self._starts, offset) - 1
        source, width, inside = self._sources[at], self._widths[at], offset - self._starts[at]
        size = self._sizes[at]
        if inside >= size:
            behind = self._ends.get(self._starts[at] + size) or source + (width or size)
            return behind, behind
        if width:  # a character reference
            return source, source + width
        return source + inside, source + inside + 1


def read_page(source: str) -> Page:
    """The questions of an HTML page. Linear in its length."""
    layout = Layout(source, {})
    layout.read()
    asked = {begin: asked_in(source, start, end) for begin, start, end in layout.data_scripts}
    questions = [each.question for found in asked.values() for each in found]
    if questions and not _are_shown(questions, "".join(layout.out.parts)):
        layout = Layout(source, asked)
        layout.read()
    return _page(layout)


def _are_shown(questions: list[str], text: str) -> bool:
    """Whether a page that shows `text` shows the questions that its data tells of."""
    shown = " ".join(text.split())
    some = questions[:: len(questions) // _MOST_LOOKED_FOR + 1]
    return sum(" ".join(question.split()) in shown for question in some) >= _SHOWN_TOO * len(some)


def _page(layout: Layout) -> Page:
    out = layout.out
    text = "".join(out.parts)

    def line_end(offset: int) -> int:
        newline = text.find("\n", offset)
        return len(text) if newline < 0 else newline + 1

    headings = [
        Heading(start, line_end(end), level, " ".join(text[start:end].split())) for start, end, level in layout.headings
    ]
    given = []
    end = 0
    for pair in sorted(layout.found):
        at_line = pair.start == 0 or text[pair.start - 1] == "\n"
        if pair.start >= end and at_line:
            end = line_end(pair.end)
            question = " ".join(text[pair.first : pair.last].split())
            given.append(Given(pair.start, pair.answer, end, question, pair.kind))
    faq = assemble(text, sorted(headings), given)
    title = " ".join("".join(layout.titles).split()) or faq.title
    faq = Faq(faq.units, faq.heads, title, faq.asked)
    return Page(text, faq, sorted(layout.drops), out.starts, out.sources, out.widths, out.sizes, out.ends)

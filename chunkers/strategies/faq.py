"""`faq`: one chunk a question with its answer; long answers split between sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from chunkers.cutting.levels import TEXT_ATOMS, TEXT_LADDER, Grapheme
from chunkers.cutting.limits import Bounds
from chunkers.cutting.packing import Overlap, Trim
from chunkers.cutting.sections import Section, cut_sections
from chunkers.records import Span, Split
from chunkers.strategies.base import with_start_index
from chunkers.strategies.contexts import StructuredSizes
from chunkers.strategies.front import from_offset, without_front_matter
from chunkers.strategies.html_drops import with_markup, without_inner
from chunkers.structure.faq import read_faq
from chunkers.structure.faq_page import Page, is_page, read_page
from chunkers.structure.faq_units import Faq, Pair, Part


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqOptions(StructuredSizes):
    """Options of `faq`: those for sizes."""


@dataclass(frozen=True)
class FaqStrategy:
    """The strategy; see the module."""

    options: FaqOptions = field(default_factory=FaqOptions)
    name: ClassVar[str] = "faq"
    version: ClassVar[int] = 1
    Options: ClassVar[type[FaqOptions]] = FaqOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` between questions; what is no question makes chunks of its own. HTML is read as a page."""
        if is_page(text, path, media_type):
            page = read_page(text)
            spans = [_placed(page, span) for span in self._spans(page.text, page.faq)]
            drops = with_markup(text, spans, without_inner(page.drops))
            faq, split = page.faq, Split(spans, self.name, drops, title=page.faq.title)
        else:
            front, rest = without_front_matter(text, path)
            faq = read_faq(rest)
            split = front.of(Split(self._spans(text, faq, front.end), self.name, title=faq.title))
        if not faq.pairs and split.spans:
            split = split._replace(notes=("no question was found",))
        return with_start_index(split) if self.options.add_start_index else split

    def _spans(self, text: str, faq: Faq, start: int = 0) -> list[Span]:
        bounds, trim, overlap = self._plan
        sections = from_offset((_section(unit) for unit in faq.units), start)
        return cut_sections(
            text, sections, faq.heads, TEXT_LADDER, bounds=bounds, trim=trim, overlap=overlap, texts=faq.asked
        )

    @cached_property
    def _plan(self) -> tuple[Bounds, Trim, Overlap | None]:
        """Everything that does not depend on the document."""
        options = self.options
        return options.bounds(), options.trim(keep_indent=True), options.overlap_of(TEXT_ATOMS, (Grapheme(),))


def _section(unit: Pair | Part) -> Section:
    if isinstance(unit, Pair):
        return Section(unit.start, unit.end, "record", unit.path, {"question": unit.question})
    return Section(unit.start, unit.end, "heading", unit.path)


def _placed(page: Page, span: Span) -> Span:
    """A span of a page's text as one of the page itself."""
    start, end = page.source_of(span.start, span.end)
    return span._replace(start=start, end=end, rendered=span.text(page.text))

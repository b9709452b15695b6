"""`html`: the visible text of a page, one section of its headings at a time, each long one cut to size."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from chunkers.cutting.levels import TEXT_ATOMS, BlankLine, Clause, Grapheme, Ladder, Line, Sentence, Word
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Trim, pack
from chunkers.cutting.separators import Positions
from chunkers.errors import InvalidOption, OptionWarning
from chunkers.records import Cut, Drop, Span, Split
from chunkers.strategies.base import check_flag, with_start_index
from chunkers.strategies.contexts import StructuredSizes
from chunkers.strategies.html_drops import with_markup, without_inner
from chunkers.strategies.html_sections import Outline, Section, Selectors, is_name
from chunkers.structure.html_names import BLOCK, ITEM, ROW
from chunkers.structure.html_page import Page, Selected, read_page
from chunkers.structure.html_selecting import check_selector, select
from chunkers.text.graphemes import floor_edge, trimmed_end
from chunkers.text.lines import line_start, skip_space

_ALLOWED = 'a list of [selector, key] pairs such as [["h1", "title"], ["h2", "section"]]'


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlOptions(StructuredSizes):
    """Options of `html`.

    `headers` are pairs of a CSS selector and a metadata key: each element that one selects is a heading, its text is
    the title of what follows. `sections` are pairs of the same kind, for elements that hold their section; the first
    heading in one is its title. `headers` win over `sections`. Without both, sections begin at `h1` to `h6`.
    `return_each_line` makes each line a chunk; preformatted text stays whole.
    """

    headers: Sequence[Sequence[str]] | None = None
    sections: Sequence[Sequence[str]] | None = None
    return_each_line: bool = False

    def __post_init__(self) -> None:
        super(HtmlOptions, self).__post_init__()
        check_flag("return_each_line", self.return_each_line)
        for name in ("headers", "sections"):
            if (pairs := getattr(self, name)) is not None:
                _check_pairs(name, pairs)
        if self.headers is not None and self.sections is not None:
            warnings.warn("headers take precedence over sections", OptionWarning, stacklevel=4)

    @property
    def selectors(self) -> Selectors:
        """What opens sections."""
        pairs = self.headers if self.headers is not None else self.sections
        return Selectors(pairs, sections=self.headers is None and pairs is not None)


def _check_pairs(name: str, pairs: Any) -> None:
    if isinstance(pairs, str) or not isinstance(pairs, Sequence) or not pairs:
        raise InvalidOption(name, pairs, _ALLOWED)
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InvalidOption(name, pairs, _ALLOWED)
        selector, key = pair
        if not isinstance(selector, str) or not isinstance(key, str) or not selector.strip() or not key:
            raise InvalidOption(name, pairs, _ALLOWED)
        if not is_name(selector):
            check_selector(name, selector)
    selectors = [pair[0].strip() for pair in pairs]
    if twice := next((each for each in selectors if selectors.count(each) > 1), None):
        raise InvalidOption(name, pairs, f"without {twice!r} twice")


@dataclass(frozen=True)
class Html:
    """The strategy; see the module."""

    options: HtmlOptions = field(default_factory=HtmlOptions)
    name: ClassVar[str] = "html"
    version: ClassVar[int] = 1
    Options: ClassVar[type[HtmlOptions]] = HtmlOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut the visible text of a page. Raises BudgetExceeded if it is too large for a CSS selector."""
        selectors, bounds, trim, overlap = self._plan
        by_offset = select(text, selectors.others) if selectors.others else {}
        page = read_page(text, Selected(selectors.names, by_offset, selectors.holds))
        outline = Outline(page, selectors)
        cutter = _Cutter(text, page, Limit(page.text, bounds), trim, overlap)
        cut = cutter.lines if self.options.return_each_line else cutter.cut
        for section in outline.sections():
            cut(section)
        spans = cutter.spans
        if spans and spans[-1].cut != "oversize":
            spans[-1] = spans[-1]._replace(cut="document-end")
        drops = without_inner([*page.drops, *(Drop(each.begin, each.stop, "heading") for each in outline.told)])
        title = page.title or next((outline.title(each) for each in page.marked if each.level == 1), None)
        split = Split(spans, self.name, with_markup(text, spans, drops), title=title or None)
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _plan(self) -> tuple[Selectors, Bounds, Trim, Overlap | None]:
        """Everything that does not depend on the document."""
        options = self.options
        overlap = options.overlap_of(TEXT_ATOMS, (Grapheme(),))
        return options.selectors, options.bounds(), options.trim(keep_indent=True), overlap


class _Cutter:
    """Cuts the sections of one page into `spans`."""

    def __init__(self, source: str, page: Page, limit: Limit, trim: Trim, overlap: Overlap | None) -> None:
        self.source, self.page, self.text = source, page, page.text
        self.limit, self.trim, self.overlap = limit, trim, overlap
        self.spans: list[Span] = []
        self.plain = source.isascii()
        self.headers = [table.header_end for table in page.tables]

    def cut(self, section: Section) -> None:
        """Add the chunks of a section."""
        start, end, titles, metadata = section
        begin, stop = self.trimmed(start, end)
        if begin >= stop:
            return
        if self.limit.fits(begin, stop):
            self.spans.append(self.span(begin, stop, "heading", titles, metadata))
            return
        found, _ = pack(
            self.text,
            start,
            end,
            self.ladder,
            self.limit,
            trim=self.trim,
            overlap=self.overlap,
            context_at=self.header_at if self.page.tables else None,
            avoid=self.is_header_end if self.page.tables else None,
        )
        for span in found:
            cut: Cut = "heading" if span.cut == "document-end" else span.cut
            made = self.span(span.start, span.end, cut, titles, metadata)
            self.spans.append(made._replace(context=span.context, overlap=span.overlap))

    def lines(self, section: Section) -> None:
        """Add each line of a section by itself, preformatted text whole."""
        start, end, titles, metadata = section
        while start < end:
            at = bisect_right(self.verbatim_starts, start) - 1
            stop = self.text.find("\n", start, end) + 1 or end
            if at >= 0 and start < self.verbatim[at][1]:
                stop = min(end, self.verbatim[at][1])
            before = len(self.spans)
            self.cut(Section(start, stop, titles, metadata))
            if stop < end and len(self.spans) > before and self.spans[-1].cut != "oversize":
                self.spans[-1] = self.spans[-1]._replace(cut="line")
            start = stop

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """`text[start:end]` as a chunk would have it."""
        text = self.text
        if not self.trim.strip:
            return start, end
        begin = skip_space(text, start, end)
        if begin >= end:
            return begin, begin
        indent = line_start(text, begin, start)
        if indent > start or start == 0 or text[start - 1] in "\r\n":
            begin = indent
        elif not "!" <= text[begin] <= "~":
            begin = floor_edge(text, begin, start)
        return begin, trimmed_end(text, begin, end)

    def span(self, begin: int, stop: int, cut: Cut, titles: tuple[str, ...], metadata: Any) -> Span:
        """The chunk `text[begin:stop]` with the range of the source that it came from."""
        text, source, sources = self.text, self.source, self.page.sources
        start, end = sources.start(begin), sources.end(stop)
        if not self.plain:
            # A mark behind a tag makes a cluster of the document with the tag's end, which takes it in.
            before = self.spans[-1] if self.spans else None
            whole = floor_edge(source, start, before.start if before else 0)
            start = whole if before is None or whole >= before.end else start
        return Span(start, end, cut, titles, "", text[begin:stop], 0, metadata)

    @cached_property
    def ladder(self) -> Ladder:
        """Blocks, rows and items, then as in any text."""
        breaks = self.page.breaks
        kinds: tuple[tuple[Cut, int], ...] = (("block", BLOCK), ("row", ROW), ("item", ITEM))
        levels: list[Any] = [Positions.at(cut, [at for at, kind in breaks if kind == want]) for cut, want in kinds]
        return (levels[0], BlankLine(), *levels[1:], Line(), Sentence(), Clause(), Word(), Grapheme())

    @cached_property
    def verbatim(self) -> list[tuple[int, int]]:
        return sorted(self.page.verbatim)

    @cached_property
    def verbatim_starts(self) -> list[int]:
        return [start for start, _ in self.verbatim]

    def header_at(self, start: int) -> str:
        """The header of the table that a chunk starts in the rows of, if it takes no more than half of the limit."""
        at = bisect_right(self.headers, start) - 1
        if at < 0 or start >= self.page.tables[at].end:
            return ""
        table = self.page.tables[at]
        header = self.text[table.start : table.header_end].strip("\n") + "\n"
        return header if self.limit.admits_context(header) else ""

    def is_header_end(self, offset: int) -> bool:
        at = bisect_left(self.headers, offset)
        return at < len(self.headers) and self.headers[at] == offset

"""`markdown`: along the structure of a document by size, or one chunk a section of the headings asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from chunkers.cutting.levels import TEXT_ATOMS, Grapheme
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Trim
from chunkers.errors import InertOption, InvalidOption
from chunkers.records import NOTHING, Cut, Drop, Span, Split
from chunkers.strategies.base import Sizes, check_flag, with_start_index
from chunkers.strategies.markdown_layout import Layout
from chunkers.strategies.markdown_packing import MarkdownPacker
from chunkers.strategies.markdown_sections import (
    NO_PATH,
    Opened,
    Path,
    dialect_of,
    keys_of,
    opened_by,
    paths_of,
    ranked,
)
from chunkers.structure.frontmatter import read_front_matter
from chunkers.structure.markdown import Heading, Reading
from chunkers.text.graphemes import trimmed_end
from chunkers.text.lines import NEWLINE, line_start, skip_space

_new = tuple.__new__  # a third of the time of Span(…)
_WHOLE = ("fence", "table", "math")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownOptions(Sizes):
    """Options of `markdown`.

    `headers` are pairs of a mark and a metadata key: `[["#", "title"], ["##", "section"]]`. Each section of these
    headings is cut by itself, its chunks carry the titles above them under the keys. Headings of other levels are text
    (a higher one still ends the section). A mark that is no run of `#` is one of your own: every line of text that
    starts with it is a heading, and marks nest in the order given. `strip_headers` leaves the headings' lines out.
    `return_each_line` makes each line a chunk; fences, tables and math stay whole.
    """

    headers: Sequence[Sequence[str]] | None = None
    strip_headers: bool = True
    return_each_line: bool = False

    def __post_init__(self) -> None:
        super(MarkdownOptions, self).__post_init__()
        check_flag("strip_headers", self.strip_headers)
        check_flag("return_each_line", self.return_each_line)
        if self.headers is not None:
            _check_headers(self.headers)
        elif not self.strip_headers:
            raise InertOption("strip_headers", "markdown", "there are no `headers`")
        elif self.return_each_line:
            raise InertOption("return_each_line", "markdown", "there are no `headers`")


def _check_headers(headers: Any) -> None:
    allowed = 'a list of [mark, key] pairs such as [["#", "title"], ["##", "section"]]'
    if isinstance(headers, str) or not isinstance(headers, Sequence) or not headers:
        raise InvalidOption("headers", headers, allowed)
    marks = set()
    for pair in headers:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InvalidOption("headers", headers, allowed)
        mark, key = pair
        if not isinstance(mark, str) or not isinstance(key, str) or not mark.strip() or not key or "\n" in mark:
            raise InvalidOption("headers", headers, allowed)
        if set(mark) == {"#"} and len(mark) > 6:
            raise InvalidOption("headers", headers, "made of marks of at most six #")
        if mark in marks:
            raise InvalidOption("headers", headers, f"without {mark!r} twice")
        marks.add(mark)


@dataclass(frozen=True)
class Markdown:
    """The strategy; see the module."""

    options: MarkdownOptions = field(default_factory=MarkdownOptions)
    name: ClassVar[str] = "markdown"
    version: ClassVar[int] = 1
    Options: ClassVar[type[MarkdownOptions]] = MarkdownOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text`; front matter becomes the metadata of the document, `.mdx` is read as MDX."""
        bounds, trim, overlap, keys = self._plan
        front = read_front_matter(text)
        start = front.end if front else 0
        reading = Reading(text, dialect=dialect_of(path, media_type), start=start)
        document = _Document(reading, Limit(text, bounds), trim, overlap)
        spans, drops = document.by_size() if self.options.headers is None else document.by_headers(self.options, keys)
        if front:
            drops.insert(0, Drop(0, front.end, "front-matter"))
        metadata = dict(front.metadata) if front else {}
        title = metadata.get("title")
        if title is None:
            title = next((each.title for each in reading.headings if each.level == 1), None)
        notes = _notes(reading, front.note if front else None)
        split = _new(Split, (spans, self.name, drops, metadata, None if title is None else str(title), notes))
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _plan(self) -> tuple[Bounds, Trim, Overlap | None, dict[int, str]]:
        """Everything that does not depend on the document; the last are the metadata keys by rank of the heading."""
        options = self.options
        overlap = options.overlap_of(TEXT_ATOMS, (Grapheme(),))
        return options.bounds(), options.trim(keep_indent=True), overlap, keys_of(options.headers or ())


def _notes(reading: Reading, front_matter: str | None) -> tuple[str, ...]:
    found = [front_matter] if front_matter else []
    if reading.open_fence:
        found.append("a code fence is never closed")
    return tuple(found)


class _Document:
    """One document on its way through the strategy."""

    def __init__(self, reading: Reading, limit: Limit, trim: Trim, overlap: Overlap | None) -> None:
        self.reading, self.text, self.start = reading, reading.text, reading.start
        self.limit, self.trim, self.overlap = limit, trim, overlap

    def by_size(self) -> tuple[list[Span], list[Drop]]:
        """Chunks along the structure, whatever sections they take in."""
        headings = self.reading.headings
        cutter = _Cutter(self, headings)
        cutter.cut(self.start, len(self.text), NO_PATH)
        spans = cutter.spans
        if not headings:
            return spans, []
        section_of, coming = cutter.layout.section_of, paths_of(headings)
        paths: list[tuple[str, ...]] = []
        for number, span in enumerate(spans):
            section = section_of(span.start, span.end)
            if section >= 0:
                while len(paths) <= section:
                    paths.append(next(coming))
                spans[number] = _titled(span, paths[section], NOTHING)
        return spans, []

    def by_headers(self, options: MarkdownOptions, keys: Mapping[int, str]) -> tuple[list[Span], list[Drop]]:
        """Chunks of one section each, of the headings that `options` name and `keys` are the keys of."""
        text, strip = self.text, options.strip_headers
        headings = ranked(options.headers or (), self.reading)
        opened = opened_by(keys, headings)
        cutter = _Cutter(self, self.known(headings, opened))
        cut = cutter.lines if options.return_each_line else cutter.cut
        drops: list[Drop] = []
        begin, path = self.start, NO_PATH
        for number, (heading, listed, its_path) in enumerate(opened):
            end = heading[0]
            if strip or not self.folds(opened, number - 1, begin, end):
                if begin < end:
                    cut(begin, end, path)
                begin = end
            path = its_path
            if strip and listed:
                begin = heading[1]
                drops.append(_new(Drop, (end, begin, "heading")))
        cut(begin, len(text), path)
        _end_with(cutter.spans, "document-end")
        return cutter.spans, drops

    def known(self, headings: Sequence[Heading], opened: Sequence[Opened]) -> Sequence[Heading]:
        """All headings of the document, those of the user's own marks among them."""
        if headings is self.reading.headings:
            return headings
        by_start = {each.start: each for each in self.reading.headings}
        return sorted((by_start | {each.heading.start: each.heading for each in opened}).values())

    def folds(self, opened: Sequence[Opened], number: int, begin: int, end: int) -> bool:
        """Whether section `number`, a heading alone, goes into its first subsection's chunk."""
        if number < 0 or number + 1 >= len(opened):
            return False
        this, child = opened[number], opened[number + 1]
        alone = skip_space(self.text, max(begin, this.heading.end), end) >= end
        return (
            alone
            and child.path.titles[: len(this.path.titles)] == this.path.titles
            and this.listed
            and (len(child.path.titles) > len(this.path.titles))
        )


def _end_with(spans: list[Span], cut: Cut) -> None:
    """Name the end of the last span, unless it is one that is too long."""
    if spans and spans[-1].cut not in (cut, "oversize"):
        spans[-1] = spans[-1]._replace(cut=cut)


def _titled(span: Span, titles: tuple[str, ...], metadata: Mapping[str, Any]) -> Span:
    """`span` with its headings: half the time of `_replace`."""
    return _new(Span, (*span[:3], titles, span[4], None, span[6], metadata, None))


class _Cutter:
    """Cuts stretches of one document to size, into `spans`."""

    def __init__(self, document: _Document, headings: Sequence[Heading]) -> None:
        self.document, self.text, self.headings = document, document.text, headings
        self.size, self.strip = len(self.text), document.trim.strip
        self.spans: list[Span] = []
        most = document.limit.characters
        self.most = -1 if most is None else most

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.document.reading, self.headings, self.document.limit)

    @cached_property
    def packer(self) -> MarkdownPacker:
        document, layout = self.document, self.layout
        return MarkdownPacker(layout, layout.ladder(), document.limit, document.trim, document.overlap)

    def cut(self, start: int, end: int, path: Path) -> None:
        """Add the chunks of `text[start:end]`, which lies under `path`; none if it is blank."""
        last: Cut = "document-end" if end == self.size else "heading"
        if self.strip:
            text, begin, stop = self.text, start, end
            while begin < stop and text[begin] == "\n":
                begin += 1
            while begin < stop and text[stop - 1] == "\n":
                stop -= 1
            if begin < stop and not ("!" <= text[begin] <= "~" and "!" <= text[stop - 1] <= "~"):
                begin, stop = self.trimmed(start, end)
            if begin >= stop:
                return
            if stop - begin <= self.most or (self.most < 0 and self.document.limit.fits(begin, stop)):
                self.spans.append(_new(Span, (begin, stop, last, path[0], "", None, 0, path[1], None)))
                return
        spans = self.packer.pack(start, end)
        if path.titles:
            titles, metadata = path
            spans = [
                _new(Span, (begin, stop, cut, titles, context, None, overlap, metadata, None))
                for begin, stop, cut, _, context, _, overlap, _, _ in spans
            ]
        _end_with(spans, last)
        self.spans += spans

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """`text[start:end]` without white space at its ends, but for indentation; an empty range if it is blank."""
        text = self.text
        kept = text[start:end].rstrip()
        stop = start + len(kept)
        begin = stop - len(kept.lstrip())
        if kept and text[stop - 1] >= "\u0600":
            stop = trimmed_end(text, start, end)
        if begin > start and text[begin - 1] != "\n":
            begin = line_start(text, begin, start)
        return begin, stop

    def lines(self, start: int, end: int, path: Path) -> None:
        """Add each line of `text[start:end]` by itself, but fences, tables and math whole."""
        spans, whole = self.spans, self.whole
        at = bisect_left(whole, (start, start))
        while start < end:
            if at < len(whole) and whole[at][0] <= start:
                stop = min(end, whole[at][1])
                at += 1
            else:
                newline = NEWLINE.search(self.text, start, end)
                stop = newline.end() if newline else end
            before = len(spans)
            self.cut(start, stop, path)
            if stop < end and len(spans) > before:
                _end_with(spans, "line")
            start = max(stop, start + 1)

    @cached_property
    def whole(self) -> list[tuple[int, int]]:
        return [(block.start, block.end) for block in self.document.reading.blocks if block.kind in _WHOLE]

"""`markdown`: along the structure of a document by size, or one chunk a section of the headings asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from chunkers.cutting.levels import TEXT_ATOMS, Grapheme
from chunkers.cutting.limits import Limit
from chunkers.errors import InertOption, InvalidOption
from chunkers.records import NOTHING, Drop, Span, Split
from chunkers.strategies.base import check_flag, with_start_index
from chunkers.strategies.contexts import StructuredSizes
from chunkers.strategies.markdown_cutting import Cutter, Plan, end_with
from chunkers.strategies.markdown_sections import (
    NO_PATH,
    are_plain,
    dialect_of,
    keys_of,
    opened_by,
    paths_of,
    ranked,
)
from chunkers.structure.frontmatter import read_front_matter
from chunkers.structure.markdown import Heading, Reading

_new = tuple.__new__  # a third of the time of Span(…)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownOptions(StructuredSizes):
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
        plan, options = self._plan, self.options
        front = read_front_matter(text)
        start = front.end if front else 0
        reading = Reading(text, dialect=dialect_of(path, media_type), start=start)
        spans, drops = _by_size(reading, plan) if options.headers is None else _by_headers(reading, plan, options)
        metadata: dict[str, Any] = {}
        if front:
            drops.insert(0, _new(Drop, (0, start, "front-matter")))
            metadata.update(front.metadata)
        title = metadata.get("title")
        if title is None:
            title = _title(reading.headings)
        notes = _notes(reading, front.note if front else None)
        split = _new(Split, (spans, self.name, drops, metadata, None if title is None else str(title), notes))
        return with_start_index(split) if options.add_start_index else split

    @cached_property
    def _plan(self) -> Plan:
        options = self.options
        headers = options.headers or ()
        most = Limit("", options.bounds()).characters
        return Plan(
            bounds=options.bounds(),
            most=-1 if most is None else most,
            trim=options.trim(keep_indent=True),
            overlap=options.overlap_of(TEXT_ATOMS, (Grapheme(),)),
            are_plain=are_plain(headers),
            keys=keys_of(headers),
        )


def _title(headings: Sequence[Heading]) -> str | None:
    for _, _, level, title in headings:
        if level == 1:
            return title
    return None


def _notes(reading: Reading, front_matter: str | None) -> tuple[str, ...]:
    found = [front_matter] if front_matter else []
    if reading.open_fence:
        found.append("a code fence is never closed")
    return tuple(found)


def _by_size(reading: Reading, plan: Plan) -> tuple[list[Span], list[Drop]]:
    """Chunks along the structure, whatever sections they take in."""
    headings = reading.headings
    cutter = Cutter(reading, plan, headings)
    cutter.cut(reading.start, len(reading.text), NO_PATH)
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


def _by_headers(reading: Reading, plan: Plan, options: MarkdownOptions) -> tuple[list[Span], list[Drop]]:
    """Chunks of one section each, of the headings that `options` name."""
    headings = known = reading.headings
    if not plan.are_plain:
        headings = ranked(options.headers or (), reading)
        known = sorted({each.start: each for each in (*known, *headings)}.values())
    opened = opened_by(plan.keys, headings)
    cutter = Cutter(reading, plan, known)
    cut = cutter.lines if options.return_each_line else cutter.cut
    drops: list[Drop] = []
    if options.strip_headers:
        drops = cutter.without_headings(opened, cut)
    else:
        cutter.with_headings(opened, cut)
    end_with(cutter.spans, "document-end")
    return cutter.spans, drops


def _titled(span: Span, titles: tuple[str, ...], metadata: Mapping[str, Any]) -> Span:
    """`span` with its headings: half the time of `_replace`."""
    return _new(Span, (*span[:3], titles, span[4], None, span[6], metadata, None))

"""`semantic-markdown`: sections of a Markdown document, small ones merged with those they belong to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from chunkers.cutting.levels import TEXT_ATOMS, Grapheme
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Trim
from chunkers.measure.tokens import Encoding, TokenMap, encoding
from chunkers.records import Span, Split
from chunkers.strategies.base import check_count, resolve_encoding, with_start_index
from chunkers.strategies.contexts import StructuredSizes
from chunkers.strategies.markdown_layout import Layout
from chunkers.strategies.markdown_opening import MarkdownDocument, open_markdown
from chunkers.strategies.markdown_packing import MarkdownPacker
from chunkers.strategies.special_tokens import allowed_tokens, check_special, disallowed_tokens, refuse_special
from chunkers.text.lines import skip_space, trim_space

_new = tuple.__new__  # a third of the time of Span(…)


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticMarkdownOptions(StructuredSizes):
    """Options of `semantic-markdown`.

    A section is merged into the one before it, which has to be of the same or a higher level, while both together have
    fewer than `join_threshold` tokens; the deepest ones first. Sections that are larger stay whole, up to `max_size`
    (unbounded unless set), beyond which they are cut along their structure. Tokens are those of `encoding_name`, or of
    `model_name`'s encoding; special tokens as in `token`.
    """

    max_size: int | None = None
    join_threshold: int = 500
    allowed_special: Collection[str] | Literal["all"] | None = None
    disallowed_special: Collection[str] | Literal["all"] | None = None

    def __post_init__(self) -> None:
        super(SemanticMarkdownOptions, self).__post_init__()
        check_count("join_threshold", self.join_threshold, least=1)
        known = self.tokenizer.special
        check_special("allowed_special", self.allowed_special, known)
        check_special("disallowed_special", self.disallowed_special, known)

    @property
    def counts_tokens(self) -> bool:
        """Always: `join_threshold` is in tokens."""
        return True

    @property
    def tokenizer(self) -> Encoding:
        """The encoding in use."""
        return encoding(resolve_encoding(self.encoding_name, self.model_name))


@dataclass(frozen=True)
class SemanticMarkdown:
    """The strategy; see the module."""

    options: SemanticMarkdownOptions = field(default_factory=SemanticMarkdownOptions)
    name: ClassVar[str] = "semantic-markdown"
    version: ClassVar[int] = 1
    Options: ClassVar[type[SemanticMarkdownOptions]] = SemanticMarkdownOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text`; front matter becomes the metadata of the document, `.mdx` is read as MDX."""
        options = self.options
        plan = self._plan
        refuse_special(text, plan.disallowed)
        document = open_markdown(text, path, media_type)
        counted = TokenMap(text, plan.encoding, plan.allowed)
        limit = Limit(text, plan.bounds)
        packer = _packer(document, limit, plan)
        merged = merge(sections_of(text, document, counted, limit), options.join_threshold, limit)
        spans: list[Span] = []
        for section in merged:
            made = packer.pack(section.start, section.end)
            if made and section.end < len(text) and made[-1].cut == "document-end":
                made[-1] = made[-1]._replace(cut="heading")
            spans += made
        if spans and spans[-1].cut == "heading":
            spans[-1] = spans[-1]._replace(cut="document-end")
        spans = list(self._described(text, spans, document, packer.layout, counted))
        split = Split(spans, self.name, document.drops, document.metadata, document.title, document.notes)
        return with_start_index(split) if options.add_start_index else split

    def count_tokens(self, text: str) -> int:
        """The tokens of `text`, with special ones as the options say."""
        return len(self._plan.encoding.encode(text, self._plan.allowed))

    def _described(
        self, text: str, spans: list[Span], document: MarkdownDocument, layout: Layout, counted: TokenMap
    ) -> Iterator[Span]:
        """The spans with their heading paths and token counts."""
        for start, end, cut, _, context, _, overlap, _, _ in spans:
            section = layout.section_of(start, end) if document.headings else -1
            titles = document.paths[section] if section >= 0 else ()
            count = self.count_tokens(context + text[start:end]) if context else counted.count(start, end)
            yield _new(Span, (start, end, cut, titles, context, None, overlap, {"token_count": count}, None))

    @cached_property
    def _plan(self) -> Plan:
        options = self.options
        tokenizer = options.tokenizer
        return Plan(
            options.bounds(),
            options.trim(keep_indent=True),
            options.overlap_of(TEXT_ATOMS, (Grapheme(),)),
            tokenizer,
            allowed_tokens(options.allowed_special, tokenizer),
            disallowed_tokens(options.allowed_special, options.disallowed_special, tokenizer),
        )


class Plan(NamedTuple):
    """Everything that does not depend on the document."""

    bounds: Bounds
    trim: Trim
    overlap: Overlap | None
    encoding: Encoding
    allowed: frozenset[str]
    disallowed: frozenset[str]


class Section(NamedTuple):
    """A stretch of the document under one heading, or several merged ones: `level` is the first one's.

    `tokens` are those of its sections, each counted by itself. What stands before the first heading has level 0.
    """

    start: int
    end: int
    level: int
    tokens: int


def sections_of(text: str, document: MarkdownDocument, counted: TokenMap, limit: Limit) -> list[Section]:
    """The sections in order, without blank ones; a heading without text is in the section of the first one below it."""
    starts = [(document.start, 0), *((heading.start, heading.level) for heading in document.headings)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    bodies = [document.start, *(heading.end for heading in document.headings)]
    found = []
    above: list[Section] = []  # headings whose text is still to come
    for (start, level), body, end in zip(starts, bodies, ends, strict=True):
        first = skip_space(text, start, end)
        if first >= end:
            continue
        section = _new(Section, (start, end, level, counted.count(first, trim_space(text, first, end))))
        if above and level <= above[-1].level:
            found += above
            above = []
        if level and skip_space(text, body, end) >= end and end < len(text):
            above.append(section)
        elif above:
            found.append(_new(Section, (above[0].start, end, above[0].level, section.tokens + _tokens(above))))
            above = []
        else:
            found.append(section)
    return found + above


def _tokens(sections: Sequence[Section]) -> int:
    return sum(section.tokens for section in sections)


def merge(sections: Sequence[Section], threshold: int, limit: Limit) -> Sequence[Section]:
    """Merge sections into the one before them, the deepest first, while the sum of their tokens is below `threshold`.

    Never into a deeper one, and never beyond `limit`.
    """
    for level in sorted({section.level for section in sections}, reverse=True):
        kept: list[Section] = []
        for section in sections:
            before = kept[-1] if kept else None
            if (
                before is not None
                and section.level == level
                and before.level <= level
                and before.tokens + section.tokens < threshold
                and limit.fits(before.start, section.end)
            ):
                kept[-1] = Section(before.start, section.end, before.level, before.tokens + section.tokens)
            else:
                kept.append(section)
        sections = kept
    return sections


def _packer(document: MarkdownDocument, limit: Limit, plan: Plan) -> MarkdownPacker:
    layout = Layout(document.reading, document.headings, limit)
    return MarkdownPacker(layout, layout.ladder(), limit, plan.trim, plan.overlap)

"""`pages`: sentences packed to a size in characters; Markdown by section, with the heading path in front."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar, Literal

from chunkers.cutting import levels
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import Overlap, Trim
from chunkers.cutting.sentence_packing import SentencePacker, Sentencing
from chunkers.errors import InertOption, InvalidOption
from chunkers.measure.lengths import characters
from chunkers.records import Drop, Span, Split
from chunkers.strategies.markdown_layout import Layout
from chunkers.strategies.markdown_opening import MarkdownDocument, open_markdown
from chunkers.strategies.markdown_sections import paths_of
from chunkers.structure.markdown import Heading

SIZES = (200, 2000)
SIZE = 1200
OVERLAP = 200
DEPTHS = (1, 6)
MARKDOWN_SUFFIXES = (".md", ".markdown")
MARKDOWN_TYPES = ("text/markdown", "text/x-markdown")
REST: levels.Ladder = (levels.Line(), levels.Clause(), levels.Word(), levels.Syllable(), levels.Grapheme())

Mode = Literal["pages", "sentences"]
_new = tuple.__new__  # a third of the time of Span(…)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesOptions:
    """Options of `pages`. None is the default, and reads back as the value in use.

    `chunk_size` is the most characters of a chunk, 200 to 2000 (1200), its heading path included. `chunk_overlap` is 0
    to half of that (200, or half of `chunk_size` when smaller). `mode` is "pages", or "sentences" for one chunk a
    sentence, without overlap. Headings deeper than `markdown_header_depth`, 1 to 6 (6), start no section.
    """

    chunk_size: int | None = None
    chunk_overlap: int | None = None
    mode: Mode | None = None
    markdown_header_depth: int | None = None

    def __post_init__(self) -> None:
        size = _in_range("chunk_size", self.chunk_size, *SIZES, SIZE)
        mode = "pages" if self.mode is None else self.mode
        if mode not in ("pages", "sentences"):
            raise InvalidOption("mode", mode, "pages or sentences")
        if mode == "sentences" and self.chunk_overlap:
            raise InertOption("chunk_overlap", "pages", "chunks of one sentence do not overlap")
        half = size // 2
        overlap = _in_range("chunk_overlap", self.chunk_overlap, 0, half, min(OVERLAP, half))
        depth = _in_range("markdown_header_depth", self.markdown_header_depth, *DEPTHS, DEPTHS[1])
        values = {"chunk_size": size, "chunk_overlap": overlap, "mode": mode, "markdown_header_depth": depth}
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _in_range(name: str, value: Any, least: int, most: int, default: int) -> int:
    """`value`, or the default for None. Refuses anything but an integer from `least` to `most`."""
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidOption(name, value, f"an integer from {least} to {most}, or null")
    return value


@dataclass(frozen=True)
class Pages:
    """The strategy; see the module."""

    options: PagesOptions = field(default_factory=PagesOptions)
    name: ClassVar[str] = "pages"
    version: ClassVar[int] = 1
    Options: ClassVar[type[PagesOptions]] = PagesOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text`: by section if it is Markdown by its path or media type, else as plain text."""
        if not _is_markdown(path, media_type):
            return Split(SentencePacker(text, self._how, self._limit(text, "")).pack(0, len(text)), self.name)
        document = open_markdown(text, None, None)
        depth = self.options.markdown_header_depth or DEPTHS[1]
        spans, drops = _Sections(text, document, depth, self).cut()
        drops = sorted([*document.drops, *drops])
        return Split(spans, self.name, drops, document.metadata, document.title, document.notes)

    def packer(self, text: str, layout: Layout) -> SentencePacker:
        """A packer for the sections of one Markdown document."""
        return SentencePacker(text, self._how, self._limit(text, ""), avoid=layout.should_not_end)

    def _limit(self, text: str, context: str) -> Limit:
        """What fits behind `context`."""
        return Limit(text, [(characters(), (self.options.chunk_size or SIZE) - len(context))])

    def limits(self, text: str, titles: tuple[str, ...]) -> tuple[str, Limit]:
        """The heading path in front of a section's chunks, and what fits behind it.

        The path takes half of the size at most: the outermost titles go first.
        """
        titles = tuple(filter(None, titles))  # headings without a title
        while titles:
            context = " > ".join(titles) + "\n\n"
            if 2 * len(context) <= (self.options.chunk_size or SIZE):
                return context, self._limit(text, context)
            titles = titles[1:]
        return "", self._limit(text, "")

    @cached_property
    def _how(self) -> Sentencing:
        options = self.options
        by_sentence = options.mode == "sentences"
        overlap = None
        if options.chunk_overlap and not by_sentence:
            overlap = Overlap(
                most=options.chunk_overlap,
                unit=characters(),
                atoms=(),
                inside_words=(levels.Word(), levels.Grapheme()),
            )
        return Sentencing(
            ends=levels.Sentence(),
            unit=characters(),
            wanted=1 if by_sentence else None,
            least=0,
            rest=REST,
            to_clusters=True,
            trim=Trim(),
            overlap=overlap,
            overlap_by_words=True,
        )


class _Sections:
    """One Markdown document, cut section by section."""

    def __init__(self, text: str, document: MarkdownDocument, depth: int, strategy: Pages) -> None:
        self.text, self.document, self.strategy = text, document, strategy
        self.opening = [heading for heading in document.headings if heading.level <= depth]
        layout = Layout(document.reading, document.headings, Limit(text, []))
        self.packer = strategy.packer(text, layout)

    def cut(self) -> tuple[list[Span], list[Drop]]:
        """The chunks, and what is in none: lines of headings, sections without a letter or digit."""
        spans: list[Span] = []
        drops: list[Drop] = []
        for heading, start, end, titles in self.sections():
            if heading is not None:
                drops.append(Drop(heading.start, heading.end, "heading"))
            section = self.text[start:end]
            if not any(map(str.isalnum, section)):
                if section and not section.isspace():
                    drops.append(Drop(start, end, "no-words"))
                continue
            context, limit = self.strategy.limits(self.text, titles)
            made = self.packer.pack(start, end, limit)
            if end < len(self.text):
                made[-1] = made[-1]._replace(cut="heading")
            spans += [
                _new(Span, (begin, stop, cut, titles, context, None, overlap, metadata, None))
                for begin, stop, cut, _, _, _, overlap, metadata, _ in made
            ]
        if spans and spans[-1].cut == "heading":
            spans[-1] = spans[-1]._replace(cut="document-end")
        return spans, drops

    def sections(self) -> Iterator[tuple[Heading | None, int, int, tuple[str, ...]]]:
        """Each section's heading, where its text starts and ends, and the titles above it and its own."""
        opening = self.opening
        ends = [heading.start for heading in opening] + [len(self.text)]
        yield None, self.document.start, ends[0], ()
        for heading, end, titles in zip(opening, ends[1:], paths_of(opening), strict=True):
            yield heading, heading.end, end, titles


def _is_markdown(path: str | None, media_type: str | None) -> bool:
    """Whether the suffix says Markdown; where there is none, whether the media type does."""
    suffix = PurePosixPath(path).suffix.lower() if path else ""
    if suffix:
        return suffix in MARKDOWN_SUFFIXES
    return media_type is not None and media_type.partition(";")[0].strip().lower() in MARKDOWN_TYPES

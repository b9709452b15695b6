"""`character`: one separator, one piece, one chunk; only pieces over the limit are cut further, into windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import ClassVar

import regex

from chunkers.cutting.levels import BLANK_LINE, Grapheme, SeparatorPosition
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, pack
from chunkers.cutting.separators import separator_spans
from chunkers.errors import InertOption
from chunkers.records import Drop, Span, Split
from chunkers.strategies.base import Sizes, check_flag, check_text, with_start_index
from chunkers.strategies.separators import check_pattern, check_position, check_separators
from chunkers.text.graphemes import is_edge, trimmed_end
from chunkers.text.lines import skip_space

WINDOWS = (Grapheme(),)
PATTERN_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterOptions(Sizes):
    """Options of `character`.

    `separator` cuts wherever it stands. `separators` are tried in order instead: the first that occurs in the document
    cuts it, and each later one only pieces that are still over the limit. `separator_position` and `is_separator_regex`
    as in `recursive`. An empty separator cuts windows at once.
    """

    separator: str | None = None
    separators: Sequence[str] | None = None
    is_separator_regex: bool = False
    separator_position: SeparatorPosition | None = None

    def __post_init__(self) -> None:
        super(CharacterOptions, self).__post_init__()
        check_flag("is_separator_regex", self.is_separator_regex)
        check_position(self.separator_position)
        if self.separator is not None:
            check_text("separator", self.separator)
            if self.separators is not None:
                raise InertOption("separator", "character", "`separators` is given")
            if self.is_separator_regex:
                check_pattern("separator", self.separator)
        if self.separators is not None:
            check_separators("separators", self.separators, is_regex=self.is_separator_regex)
        if self.separator is None and self.separators is None and self.is_separator_regex:
            raise InertOption("is_separator_regex", "character", "there is no `separator`")

    @property
    def patterns(self) -> list[str]:
        """The separators in the order they are tried, as regular expressions, up to an empty one."""
        if self.separator is None and self.separators is None:
            return [BLANK_LINE]
        given = takewhile(bool, self.separators or [self.separator or ""])
        return [each if self.is_separator_regex else regex.escape(each) for each in given]


@dataclass(frozen=True)
class Character:
    """The strategy; see the module."""

    options: CharacterOptions = field(default_factory=CharacterOptions)
    name: ClassVar[str] = "character"
    version: ClassVar[int] = 1
    Options: ClassVar[type[CharacterOptions]] = CharacterOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` at its separators."""
        options = self.options
        bounds, overlap = self._plan
        cutter = _Cutter(text, options, Limit(text, bounds), overlap)
        cutter.cut(0, len(text), self._separators_in(text))
        split = Split(cutter.spans, self.name, cutter.drops)
        return with_start_index(split) if options.add_start_index else split

    @cached_property
    def _plan(self) -> tuple[Bounds, Overlap | None]:
        """Everything that does not depend on the document."""
        return self.options.bounds(), self.options.overlap_of(WINDOWS)

    def _separators_in(self, text: str) -> list[list[tuple[int, int]]]:
        """The places of each separator that occurs in the text, in the order they are tried."""
        found = (separator_spans(text, pattern, PATTERN_SECONDS) for pattern in self.options.patterns)
        return [spans for spans in found if spans]


class _Cutter:
    def __init__(self, text: str, options: CharacterOptions, limit: Limit, overlap: Overlap | None) -> None:
        self.text, self.options, self.limit, self.overlap = text, options, limit, overlap
        self.spans: list[Span] = []
        self.drops: list[Drop] = []

    def cut(self, start: int, end: int, separators: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Cut `text[start:end]` at the first of the separators; pieces over the limit at the next ones."""
        if not separators:
            self._windows(start, end)
            return
        for piece_start, piece_end in self._pieces(start, end, separators[0]):
            begin, stop = self._trim(piece_start, piece_end, start)
            if begin >= stop or self.text[begin:stop].isspace():
                continue
            if self.limit.fits(begin, stop):
                self.spans.append(Span(begin, stop, "document-end" if stop == len(self.text) else "separator"))
            else:
                self.cut(piece_start, piece_end, separators[1:])

    def _pieces(self, start: int, end: int, places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The pieces of `text[start:end]` between separators, which go where `separator_position` says."""
        position, at = self.options.separator_position, start
        for low, high in places:
            if low < at or high > end or (low == high and low in (start, end)):
                continue
            if not (is_edge(self.text, low, at) and is_edge(self.text, high, low)):
                continue
            stop, begin = {"start": (low, low), "end": (high, high)}.get(position or "", (low, high))
            if position is None and not self.text[low:high].isspace() and low < high:
                self.drops.append(Drop(low, high, "separator"))
            if stop > at:
                yield at, stop
            at = begin
        if at < end:
            yield at, end

    def _trim(self, start: int, end: int, floor: int) -> tuple[int, int]:
        if not self.options.strip_whitespace:
            return start, end
        begin = skip_space(self.text, start, end)
        while begin > start and not is_edge(self.text, begin, floor):
            begin -= 1
        return begin, trimmed_end(self.text, begin, end)

    def _windows(self, start: int, end: int) -> None:
        spans, _ = pack(
            self.text,
            start,
            end,
            WINDOWS,
            self.limit,
            trim=self.options.trim(position=self.options.separator_position),
            overlap=self.overlap,
        )
        self.spans.extend(
            span._replace(cut="separator") if span.cut == "document-end" and span.end < len(self.text) else span
            for span in spans
        )

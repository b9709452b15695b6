"""`recursive`: the coarsest boundary first, finer ones only inside pieces that are too long."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from chunkers.cutting.languages import CODE_ATOMS, LANGUAGES, MARKUP
from chunkers.cutting.levels import TEXT_ATOMS, TEXT_LADDER, Grapheme, Ladder, SeparatorPosition
from chunkers.cutting.line_packing import LinePacking
from chunkers.cutting.marks import MarkLadder
from chunkers.cutting.plain import Packing
from chunkers.errors import InertOption, InvalidOption, OptionWarning
from chunkers.records import NOTHING, Split
from chunkers.strategies.base import Sizes, check_flag, with_start_index
from chunkers.strategies.separators import check_position, check_separators, separator_ladder

_new = tuple.__new__  # a third of the time of Split(…)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveOptions(Sizes):
    """Options of `recursive`.

    `separators`, coarsest first, replace the default ladder (blank line, line, sentence, clause, word, grapheme). They
    are dropped where a cut falls on them unless `separator_position` keeps them at the `start` of the next chunk or the
    `end` of this one; inside a chunk they always stay. With `is_separator_regex` they are regular expressions.
    `language` takes the ladder of a programming or markup language instead: before definitions, statements, blank
    lines, lines; the indentation of a chunk's first line stays then. It takes precedence over `separators`.
    """

    separators: Sequence[str] | None = None
    is_separator_regex: bool = False
    separator_position: SeparatorPosition | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        super(RecursiveOptions, self).__post_init__()
        check_flag("is_separator_regex", self.is_separator_regex)
        check_position(self.separator_position)
        if self.separators is not None:
            check_separators("separators", self.separators, is_regex=self.is_separator_regex)
        elif self.is_separator_regex:
            raise InertOption("is_separator_regex", "recursive", "there are no `separators`")
        if self.language is not None:
            self._check_language(self.language)

    def _check_language(self, language: str) -> None:
        if not isinstance(language, str) or language not in LANGUAGES:
            raise InvalidOption("language", language, f"one of {', '.join(sorted(LANGUAGES))}")
        if self.separator_position == "end":
            raise InvalidOption("separator_position", "end", "start with a `language`: its boundaries lie before words")
        if self.separators is not None:
            message = f"language {language!r} takes precedence over separators"
            warnings.warn(message, OptionWarning, stacklevel=5)


@dataclass(frozen=True)
class Recursive:
    """The strategy; see the module."""

    options: RecursiveOptions = field(default_factory=RecursiveOptions)
    name: ClassVar[str] = "recursive"
    version: ClassVar[int] = 1
    Options: ClassVar[type[RecursiveOptions]] = RecursiveOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` to size."""
        spans, drops = self._packing.pack(text)
        split = _new(Split, (spans, self.name, drops, NOTHING, None, ()))
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _packing(self) -> Packing:
        options = self.options
        ladder, atoms, inside_words = self._ladders()
        bounds = options.bounds()
        trim = options.trim(position=options.separator_position, keep_indent=options.language is not None)
        overlap = options.overlap_of(atoms, inside_words)
        if isinstance(ladder, MarkLadder):
            return LinePacking(ladder=ladder, bounds=bounds, trim=trim, overlap=overlap, marks=ladder)
        return Packing(ladder=ladder, bounds=bounds, trim=trim, overlap=overlap)

    def _ladders(self) -> tuple[Ladder, Ladder, Ladder]:
        """Where to cut, what overlap is made of, and what it is made of behind a cut inside a word."""
        options = self.options
        if options.language is not None:
            atoms = TEXT_ATOMS if options.language in MARKUP else CODE_ATOMS
            return LANGUAGES[options.language], atoms, (Grapheme(),)
        if options.separators is None:
            return TEXT_LADDER, TEXT_ATOMS, (Grapheme(),)
        ladder = separator_ladder(
            options.separators, is_regex=options.is_separator_regex, position=options.separator_position
        )
        return ladder, ladder[:-1], ladder[-1:]

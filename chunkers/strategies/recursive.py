"""`recursive`: the coarsest boundary first, finer ones only inside pieces that are too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from chunkers.cutting.levels import TEXT_ATOMS, TEXT_LADDER, Grapheme, Ladder, SeparatorPosition
from chunkers.cutting.plain import Packing
from chunkers.errors import InertOption
from chunkers.records import Split
from chunkers.strategies.base import Sizes, check_flag, with_start_index
from chunkers.strategies.separators import check_position, check_separators, separator_ladder


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveOptions(Sizes):
    """Options of `recursive`.

    `separators`, coarsest first, replace the default ladder (blank line, line, sentence, clause, word, grapheme). They
    are dropped where a cut falls on them unless `separator_position` keeps them at the `start` of the next chunk or the
    `end` of this one; inside a chunk they always stay. With `is_separator_regex` they are regular expressions.
    """

    separators: Sequence[str] | None = None
    is_separator_regex: bool = False
    separator_position: SeparatorPosition | None = None

    def __post_init__(self) -> None:
        super(RecursiveOptions, self).__post_init__()
        check_flag("is_separator_regex", self.is_separator_regex)
        check_position(self.separator_position)
        if self.separators is not None:
            check_separators("separators", self.separators, is_regex=self.is_separator_regex)
        elif self.is_separator_regex:
            raise InertOption("is_separator_regex", "recursive", "there are no `separators`")


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
        split = Split(spans, self.name, drops)
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _packing(self) -> Packing:
        options = self.options
        ladder, atoms, inside_words = self._ladders()
        return Packing(
            ladder=ladder,
            bounds=options.bounds(),
            trim=options.trim(position=options.separator_position),
            overlap=options.overlap_of(atoms, inside_words),
        )

    def _ladders(self) -> tuple[Ladder, Ladder, Ladder]:
        """Where to cut, what overlap is made of, and what it is made of behind a cut inside a word."""
        options = self.options
        if options.separators is None:
            return TEXT_LADDER, TEXT_ATOMS, (Grapheme(),)
        ladder = separator_ladder(
            options.separators, is_regex=options.is_separator_regex, position=options.separator_position
        )
        return ladder, ladder[:-1], ladder[-1:]

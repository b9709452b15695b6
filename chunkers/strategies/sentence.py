"""`sentence`: whole sentences, packed until a chunk has the size that is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from chunkers.cutting.enders import Enders
from chunkers.cutting.levels import Clause, Grapheme, Ladder, Line, Sentence, Syllable, Word
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap
from chunkers.cutting.sentence_packing import SentencePacker, Sentencing
from chunkers.errors import InvalidOption, MissingOption
from chunkers.records import Split
from chunkers.strategies.base import ROOM_FOR_OVERLAP, Sizes, check_count, check_flag, with_start_index

LEAST = 50
WANTED_SHARE = 0.8
WORDS: Ladder = (Line(), Clause(), Word(), Syllable())


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceOptions(Sizes):
    """Options of `sentence`.

    `max_size` has to be given; `overlap` is 0 unless set. A chunk takes whole sentences until it has `target_size` (80%
    of `max_size` unless set). One with less than `min_size` goes to a neighbour where both fit: 50 unless set, 0 where
    `max_size` is below 100. `sentence_enders` are the marks that end a sentence, instead of those of all scripts. A
    sentence over the limit is cut at lines, clauses and words if `fallback_to_words`, and a word over the limit inside
    if `fallback_to_characters` too; else it is a chunk by itself.
    """

    max_size: int | None = None
    min_size: int | None = None
    target_size: int | None = None
    sentence_enders: Sequence[str] | None = None
    fallback_to_words: bool = True
    fallback_to_characters: bool = True

    def __post_init__(self) -> None:
        super(SentenceOptions, self).__post_init__()
        if self.max_size is None:
            raise MissingOption("max_size", "sentence")
        for name, value, least in (("min_size", self.min_size, 0), ("target_size", self.target_size, 1)):
            check_count(name, value, least=least, optional=True)
            if value is not None and value > self.max_size:
                raise InvalidOption(name, value, f"at most max_size, which is {self.max_size}")
        check_flag("fallback_to_words", self.fallback_to_words)
        check_flag("fallback_to_characters", self.fallback_to_characters)
        if self.sentence_enders is not None:
            _check_enders(self.sentence_enders)

    @property
    def resolved_overlap(self) -> int:
        """The overlap in use, in `unit`."""
        return self.overlap or 0

    @property
    def resolved_min_size(self) -> int:
        """The least size in use, in `unit`."""
        if self.min_size is not None:
            return self.min_size
        return LEAST if self.max_size is not None and self.max_size >= ROOM_FOR_OVERLAP else 0

    @property
    def resolved_target_size(self) -> int:
        """The wanted size in use, in `unit`."""
        if self.target_size is not None:
            return self.target_size
        return max(1, int((self.max_size or 0) * WANTED_SHARE))


def _check_enders(value: Any) -> None:
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise InvalidOption("sentence_enders", value, 'a list of at least one mark, such as [".", "!", "?"]')
    for mark in value:
        if not isinstance(mark, str) or not mark:
            raise InvalidOption("sentence_enders", value, "a list of strings that are not empty")


@dataclass(frozen=True)
class SentenceStrategy:
    """The strategy; see the module."""

    options: SentenceOptions
    name: ClassVar[str] = "sentence"
    version: ClassVar[int] = 1
    Options: ClassVar[type[SentenceOptions]] = SentenceOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` between sentences."""
        bounds, how = self._plan
        spans = SentencePacker(text, how, Limit(text, bounds)).pack(0, len(text))
        split = Split(spans, self.name)
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _plan(self) -> tuple[Bounds, Sentencing]:
        """Everything that does not depend on the document."""
        options = self.options
        rest: Ladder = ()
        if options.fallback_to_words:
            rest = (*WORDS, Grapheme()) if options.fallback_to_characters else WORDS
        overlap = None
        if options.resolved_overlap:
            overlap = Overlap(
                most=options.resolved_overlap, unit=options.measure(), atoms=(), inside_words=(Word(), Grapheme())
            )
        how = Sentencing(
            ends=Sentence() if options.sentence_enders is None else Enders(tuple(options.sentence_enders)),
            unit=options.measure(),
            wanted=max(options.resolved_target_size, options.resolved_min_size),
            least=options.resolved_min_size,
            rest=rest,
            to_clusters=options.fallback_to_characters,
            trim=options.trim(),
            overlap=overlap,
        )
        return options.bounds(), how

"""`legal`: one chunk an article, under the path of its divisions; long ones split at paragraphs and items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from chunkers.cutting.levels import TEXT_ATOMS, TEXT_LADDER, Grapheme, Ladder
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Trim
from chunkers.cutting.sections import Section, cut_sections
from chunkers.cutting.separators import Positions
from chunkers.records import NOTHING, Cut, Split
from chunkers.strategies.base import with_start_index
from chunkers.strategies.contexts import StructuredSizes
from chunkers.strategies.front import from_offset, without_front_matter
from chunkers.structure.legal import Article, Legal, Part, read_law
from chunkers.structure.legal_pieces import DEEPEST, pieces_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalOptions(StructuredSizes):
    """Options of `legal`: those for sizes."""


@dataclass(frozen=True)
class LegalStrategy:
    """The strategy; see the module."""

    options: LegalOptions = field(default_factory=LegalOptions)
    name: ClassVar[str] = "legal"
    version: ClassVar[int] = 1
    Options: ClassVar[type[LegalOptions]] = LegalOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` at its articles; what stands before, between and behind them makes chunks of its own."""
        front, rest = without_front_matter(text, path)
        law = read_law(rest)
        sections = from_offset((_section(unit) for unit in law.units), front.end)
        bounds, trim, overlap = self._plan
        ladder = _ladder(text, law, Limit(text, bounds).characters)
        labels = frozenset(article.line for article in law.articles)
        spans = cut_sections(text, sections, law.heads, ladder, bounds=bounds, trim=trim, overlap=overlap, texts=labels)
        notes = () if law.articles or not text.strip() else ("no article was found",)
        split = front.of(Split(spans, self.name, title=law.title, notes=notes))
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _plan(self) -> tuple[Bounds, Trim, Overlap | None]:
        """Everything that does not depend on the document."""
        options = self.options
        return options.bounds(), options.trim(keep_indent=True), options.overlap_of(TEXT_ATOMS, (Grapheme(),))


def _section(unit: Article | Part) -> Section:
    metadata: Mapping[str, Any] = NOTHING
    if isinstance(unit, Article):
        metadata = {"article": unit.label}
        if unit.number:
            metadata["article_number"] = unit.number
        if unit.title:
            metadata["article_title"] = unit.title
    return Section(unit.start, unit.end, "heading", unit.path, metadata)


def _ladder(text: str, law: Legal, most: int | None) -> Ladder:
    """Paragraphs, items, items in items, then text. Only articles that may not fit are read that closely."""
    starts: list[list[int]] = [[] for _ in range(DEEPEST + 1)]
    for article in law.articles:
        if most is not None and article.end - article.start <= most:
            continue
        for piece in pieces_of(text, article.line, article.end)[1:]:
            starts[piece.depth].append(piece.start)
    cuts: list[Cut] = ["block", *["item"] * DEEPEST]  # type: ignore[list-item]
    return [*(Positions.at(cut, found) for cut, found in zip(cuts, starts, strict=True) if found), *TEXT_LADDER]

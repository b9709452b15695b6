"""`latex`: along sections, environments and paragraphs, with formulas and verbatim text whole where they fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from chunkers.cutting.boundary_packing import pack_along
from chunkers.cutting.levels import Grapheme, SeparatorPosition
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Packer, Trim
from chunkers.cutting.separators import Positions
from chunkers.records import NOTHING, Drop, Span, Split
from chunkers.strategies.base import with_start_index
from chunkers.strategies.contexts import StructuredSizes
from chunkers.strategies.latex_layout import LatexLayout
from chunkers.strategies.separators import check_position
from chunkers.structure.latex import read_latex
from chunkers.text.lines import skip_space

_new = tuple.__new__  # a third of the time of Span(…)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatexOptions(StructuredSizes):
    """Options of `latex`: the shared ones.

    A command that opens something is never left out and always starts its chunk. `separator_position` says which side
    of a cut gets the white space there, where it is not stripped.
    """

    separator_position: SeparatorPosition | None = None

    def __post_init__(self) -> None:
        super(LatexOptions, self).__post_init__()
        check_position(self.separator_position)


@dataclass(frozen=True)
class LatexStrategy:
    """The strategy; see the module."""

    options: LatexOptions = field(default_factory=LatexOptions)
    name: ClassVar[str] = "latex"
    version: ClassVar[int] = 1
    Options: ClassVar[type[LatexOptions]] = LatexOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text`. Files that it names are in the metadata as `includes`; none is read."""
        bounds, trim = self._plan
        document = read_latex(text)
        limit = Limit(text, bounds)
        layout = LatexLayout(text, document, limit)
        ladder = layout.ladder()
        packer = Packer(
            text,
            document.end,
            ladder,
            limit,
            trim,
            self.options.overlap_of(layout.atoms(), (Grapheme(),)),
            None,
            layout.section_start,
            layout.should_not_end if document.sections else None,
        )
        levels = [level for level in ladder if isinstance(level, Positions)]
        spans = pack_along(packer, levels, layout.starts, by_lines=False)
        if document.sections:
            paths = layout.paths()
            spans = [self._titled(span, layout, paths) for span in spans]
        drops = []
        if skip_space(text, document.end, len(text)) < len(text):
            drops.append(Drop(document.end, len(text), "after-document"))
        metadata: Mapping[str, Any] = NOTHING
        if document.includes:
            metadata = {"includes": json.dumps(document.includes, ensure_ascii=False, separators=(",", ":"))}
        split = Split(spans, self.name, drops, metadata, document.title)
        return with_start_index(split) if self.options.add_start_index else split

    def _titled(self, span: Span, layout: LatexLayout, paths: list[tuple[str, ...]]) -> Span:
        section = layout.section_of(span.start, span.end)
        return _new(Span, (*span[:3], paths[section], *span[4:])) if section >= 0 else span

    @cached_property
    def _plan(self) -> tuple[Bounds, Trim]:
        options = self.options
        return options.bounds(), options.trim(position=options.separator_position, keep_indent=True)

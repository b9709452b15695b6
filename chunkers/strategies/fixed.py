"""`fixed`: windows of so many characters, whatever they hold. The baseline for the other strategies."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from chunkers.cutting.levels import Grapheme
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Trim
from chunkers.cutting.plain import pack_plain
from chunkers.records import Split
from chunkers.strategies.base import Sizes, with_start_index

WINDOWS = (Grapheme(cut="limit"),)


@dataclass(frozen=True)
class Fixed:
    """Windows of `max_size` with `overlap`, moved to the edge of a grapheme cluster where they would cut one."""

    options: Sizes = field(default_factory=Sizes)
    name: ClassVar[str] = "fixed"
    version: ClassVar[int] = 1
    Options: ClassVar[type[Sizes]] = Sizes

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` into windows."""
        bounds, trim, overlap = self._plan
        spans, drops = pack_plain(text, WINDOWS, Limit(text, bounds), trim=trim, overlap=overlap)
        split = Split(spans, self.name, drops)
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _plan(self) -> tuple[Bounds, Trim, Overlap | None]:
        """Everything that does not depend on the document."""
        return self.options.bounds(), self.options.trim(), self.options.overlap_of(WINDOWS)

"""`fixed`: windows of so many characters, whatever they hold. The baseline for the other strategies."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from chunkers.cutting.levels import Grapheme
from chunkers.cutting.plain import Packing
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
        spans, drops = self._packing.pack(text)
        split = Split(spans, self.name, drops)
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _packing(self) -> Packing:
        options = self.options
        overlap = options.overlap_of(WINDOWS)
        return Packing(ladder=WINDOWS, bounds=options.bounds(), trim=options.trim(), overlap=overlap)

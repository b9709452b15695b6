"""`fixed`: windows of so many characters, whatever they hold. The baseline that the other strategies are held against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from chunkers.cutting.levels import Grapheme, bind
from chunkers.cutting.packing import pack
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
        options = self.options
        spans, drops = pack(
            text,
            0,
            len(text),
            bind(WINDOWS, text),
            options.limit(text),
            trim=options.trim(),
            overlap=options.overlap_in(text, WINDOWS),
        )
        split = Split(spans=spans, strategy=self.name, drops=drops)
        return with_start_index(split) if options.add_start_index else split

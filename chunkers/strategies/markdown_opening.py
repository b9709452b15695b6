"""What strategies that read Markdown do first: set front matter apart, find the headings, name the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chunkers.records import NOTHING, Drop
from chunkers.strategies.markdown_sections import dialect_of, paths_of
from chunkers.structure.frontmatter import read_front_matter
from chunkers.structure.markdown import Heading, Reading


@dataclass(frozen=True, kw_only=True)
class MarkdownDocument:
    """One Markdown document. It goes on at `start`, behind its front matter, which is in `drops`."""

    reading: Reading
    start: int
    metadata: Mapping[str, Any]
    drops: Sequence[Drop]
    notes: tuple[str, ...]

    @property
    def headings(self) -> list[Heading]:
        """The headings that open a section, in order."""
        return self.reading.headings

    @cached_property
    def paths(self) -> list[tuple[str, ...]]:
        """For each heading the titles above it, outermost first, and its own."""
        return list(paths_of(self.headings))

    @property
    def title(self) -> str | None:
        """The front matter's title, else the first heading of level 1."""
        title = self.metadata.get("title")
        if title is None:
            title = next((each.title for each in self.headings if each.level == 1), None)
        return None if title is None else str(title)


def open_markdown(text: str, path: str | None, media_type: str | None) -> MarkdownDocument:
    """Read the front matter and the headings of `text`."""
    front = read_front_matter(text)
    start = front.end if front else 0
    reading = Reading(text, dialect=dialect_of(path, media_type), start=start)
    notes = [front.note] if front and front.note else []
    if reading.open_fence:
        notes.append("a code fence is never closed")
    return MarkdownDocument(
        reading=reading,
        start=start,
        metadata=front.metadata if front else NOTHING,
        drops=[Drop(0, start, "front-matter")] if front else [],
        notes=tuple(notes),
    )

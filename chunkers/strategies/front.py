"""Front matter of Markdown files, for strategies that read other texts as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from chunkers.cutting.sections import Section
from chunkers.records import NOTHING, Drop, Split
from chunkers.structure.frontmatter import read_front_matter

_MARKDOWN = frozenset((".md", ".markdown", ".mdx"))


class Front(NamedTuple):
    """What stands in front of a document: up to `end`; 0 where nothing does."""

    end: int = 0
    metadata: Mapping[str, Any] = NOTHING
    note: str | None = None

    def of(self, split: Split) -> Split:
        """`split` with the front matter as a drop and as metadata; its `title` is the document's."""
        if not self.end:
            return split
        title = self.metadata.get("title")
        return split._replace(
            drops=[Drop(0, self.end, "front-matter"), *split.drops],
            metadata={**split.metadata, **self.metadata},
            title=split.title if title is None else str(title),
            notes=(*split.notes, self.note) if self.note else split.notes,
        )


def without_front_matter(text: str, path: str | None) -> tuple[Front, str]:
    """The front matter of a file of Markdown, or of a text without a path, and the text with empty lines instead."""
    if path is not None and PurePosixPath(path).suffix.lower() not in _MARKDOWN:
        return Front(), text
    found = read_front_matter(text)
    if found is None or (path is None and not found.metadata):
        return Front(), text
    return Front(found.end, found.metadata, found.note), "\n" * found.end + text[found.end :]


def from_offset(sections: Iterable[Section], start: int) -> list[Section]:
    """The sections, without what lies in front of `start`."""
    if not start:
        return list(sections)
    return [each._replace(start=max(each.start, start)) for each in sections if each.end > start]

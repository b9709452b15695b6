"""The sections of a Markdown document: which headings open one, and the path above each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from chunkers.records import NOTHING
from chunkers.structure.markdown import Block, Dialect

_VERBATIM = ("fence", "code", "table", "html", "math", "expression", "definition")


def dialect_of(path: str | None, media_type: str | None) -> Dialect:
    """How a document of this path and media type is read: `.mdx` as MDX, everything else as CommonMark."""
    suffix = PurePosixPath(path).suffix.lower() if path else ""
    is_mdx = suffix == ".mdx" or (not suffix and media_type is not None and media_type.startswith("text/mdx"))
    return "mdx" if is_mdx else "commonmark"


class Section(NamedTuple):
    """A heading as a section's start: the lines `start` to `end`, its rank (1 is outermost) and title."""

    start: int
    end: int
    level: int
    title: str


def sections_of(blocks: Iterable[Block]) -> list[Section]:
    """The headings that open sections."""
    return [
        Section(block.start, block.end, block.level, block.title)
        for block in blocks
        if block.kind == "heading" and block.depth == 0
    ]


def paths_of(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    """For each section the titles above it, outermost first, and its own."""
    paths: list[tuple[str, ...]] = []
    levels: list[int] = []
    path: tuple[str, ...] = ()
    for section in sections:
        while levels and levels[-1] >= section.level:
            levels.pop()
        path = (*path[: len(levels)], section.title)
        levels.append(section.level)
        paths.append(path)
    return paths


class Path(NamedTuple):
    """The headings above a section, as titles and as metadata."""

    titles: tuple[str, ...]
    metadata: Mapping[str, str]


NO_PATH = Path((), NOTHING)


class Opened(NamedTuple):
    """A heading that ends the section before it. One that is not `listed` opens none: what follows is text above."""

    heading: Section
    listed: bool
    path: Path


def opened_by(
    headers: Sequence[Sequence[str]], text: str, start: int, blocks: Sequence[Block], headings: Sequence[Section]
) -> Iterator[Opened]:
    """The headings that end a section, with the path that starts there.

    `headings` are those of the document; `start` is where it begins behind its front matter.
    """
    keys, headings = _ranked(headers, text, start, blocks, headings)
    path: list[Section] = []
    for heading in headings:
        listed = heading.level in keys
        if not listed and not (path and path[-1].level >= heading.level):
            continue
        while path and path[-1].level >= heading.level:
            path.pop()
        if listed:
            path.append(heading)
        titles = tuple(section.title for section in path)
        yield Opened(heading, listed, Path(titles, {keys[each.level]: each.title for each in path}))


def _ranked(
    headers: Sequence[Sequence[str]], text: str, start: int, blocks: Sequence[Block], headings: Sequence[Section]
) -> tuple[dict[int, str], list[Section]]:
    """The metadata keys by level, and the headings that count, in order.

    With marks of the user's own a level is the place of the mark in `headers`; other headings are mere text then.
    """
    if all(set(mark) == {"#"} for mark, _ in headers):
        return {len(mark): key for mark, key in headers}, list(headings)
    keys = {rank: key for rank, (_, key) in enumerate(headers, 1)}
    ranks = {len(mark): rank for rank, (mark, _) in enumerate(headers, 1) if set(mark) == {"#"}}
    found = [each._replace(level=ranks[each.level]) for each in headings if each.level in ranks]
    taken = {each.start for each in headings}
    own = [(mark, rank) for rank, (mark, _) in enumerate(headers, 1) if set(mark) != {"#"}]
    found += [each for each in _own_headings(own, text, start, blocks) if each.start not in taken]
    return keys, sorted(found)


def _own_headings(
    marks: Sequence[tuple[str, int]], text: str, start: int, blocks: Sequence[Block]
) -> Iterator[Section]:
    """Lines of text that start with one of `marks`, the longest that fits; code, tables and the like have none."""
    ranks = dict(marks)
    choices = "|".join(re.escape(mark) for mark in sorted(ranks, key=len, reverse=True))
    verbatim = [block for block in blocks if block.kind in _VERBATIM]
    at = 0
    for line in re.finditer(rf"(?:^|(?<=[\r\n]))({choices})([^\r\n]*)(?:\r\n|[\r\n]|\Z)", text[start:]):
        begin = start + line.start()
        while at < len(verbatim) and verbatim[at].end <= begin:
            at += 1
        if at < len(verbatim) and verbatim[at].start <= begin:
            continue
        title = line[2].strip().removesuffix(line[1].strip()).strip()
        yield Section(begin, start + line.end(), ranks[line[1]], title or line[0].strip())

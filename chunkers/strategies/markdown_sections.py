"""The sections of a Markdown document: which headings open one, and the path above each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from chunkers.records import NOTHING
from chunkers.structure.markdown import Dialect, Heading, Reading

_VERBATIM = ("fence", "code", "table", "html", "math", "expression", "definition")


def dialect_of(path: str | None, media_type: str | None) -> Dialect:
    """How a document of this path and media type is read: `.mdx` as MDX, everything else as CommonMark."""
    if media_type is None and (path is None or ".mdx" not in path.lower()):
        return "commonmark"  # without taking the path apart
    suffix = PurePosixPath(path).suffix.lower() if path else ""
    is_mdx = suffix == ".mdx" or (not suffix and media_type is not None and media_type.startswith("text/mdx"))
    return "mdx" if is_mdx else "commonmark"


def paths_of(headings: Iterable[Heading]) -> Iterator[tuple[str, ...]]:
    """For each heading the titles above it, outermost first, and its own."""
    levels: list[int] = []
    path: tuple[str, ...] = ()
    for _, _, level, title in headings:
        while levels and levels[-1] >= level:
            levels.pop()
        path = (*path[: len(levels)], title)
        levels.append(level)
        yield path


Path = tuple[tuple[str, ...], Mapping[str, str]]
"""The headings above a section, as titles and as metadata."""

NO_PATH: Path = ((), NOTHING)

Opened = tuple[int, int, bool, Path]
"""A heading that ends the section before it: its start and end, whether it is listed, the path below it.

One that is not listed opens no section: what follows is text above.
"""


def opened_by(keys: Mapping[int, str], headings: Iterable[Heading]) -> list[Opened]:
    """The headings that end a section, with the path that starts there; `keys` are the metadata keys by level."""
    found: list[Opened] = []
    levels = [0]
    paths = [NO_PATH]  # above all, then down to the section that is open
    for heading in headings:
        level = heading[2]
        key = keys.get(level)
        if key is None and levels[-1] < level:
            continue
        while levels[-1] >= level:
            levels.pop()
            paths.pop()
        path = paths[-1]
        if key is not None:
            title = heading[3]
            titles, metadata = path
            path = ((*titles, title), {**metadata, key: title})
            levels.append(level)
            paths.append(path)
        found.append((heading[0], heading[1], key is not None, path))
    return found


def are_plain(headers: Sequence[Sequence[str]]) -> bool:
    """Whether `headers` name Markdown's own headings only."""
    return not any(mark.strip("#") for mark, _ in headers)


def keys_of(headers: Sequence[Sequence[str]]) -> dict[int, str]:
    """The metadata keys by level of the headings that `ranked` gives."""
    plain = are_plain(headers)
    return {len(mark) if plain else rank: key for rank, (mark, key) in enumerate(headers, 1)}


def ranked(headers: Sequence[Sequence[str]], reading: Reading) -> list[Heading]:
    """The headings that count, in order.

    With marks of the user's own a level is the place of the mark in `headers`; other headings are mere text then.
    """
    if are_plain(headers):
        return reading.headings
    headings = reading.headings
    ranks = {len(mark): rank for rank, (mark, _) in enumerate(headers, 1) if set(mark) == {"#"}}
    found = [each._replace(level=ranks[each.level]) for each in headings if each.level in ranks]
    taken = {each.start for each in headings}
    own = [(mark, rank) for rank, (mark, _) in enumerate(headers, 1) if set(mark) != {"#"}]
    found += [each for each in _own_headings(own, reading) if each.start not in taken]
    return sorted(found)


def _own_headings(marks: Sequence[tuple[str, int]], reading: Reading) -> Iterator[Heading]:
    """Lines of text that start with one of `marks`, the longest that fits; code, tables and the like have none."""
    ranks = dict(marks)
    choices = "|".join(re.escape(mark) for mark in sorted(ranks, key=len, reverse=True))
    text, start = reading.text, reading.start
    verbatim = [block for block in reading.blocks if block.kind in _VERBATIM]
    at = 0
    for line in re.finditer(rf"(?:^|(?<=[\r\n]))({choices})([^\r\n]*)(?:\r\n|[\r\n]|\Z)", text[start:]):
        begin = start + line.start()
        while at < len(verbatim) and verbatim[at].end <= begin:
            at += 1
        if at < len(verbatim) and verbatim[at].start <= begin:
            continue
        title = line[2].strip().removesuffix(line[1].strip()).strip()
        yield Heading(begin, start + line.end(), ranks[line[1]], title or line[0].strip())

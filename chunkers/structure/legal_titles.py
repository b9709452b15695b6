"""Lines of law that are more than their label: the title below a division's, and what Markdown underlines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from chunkers.structure.legal_lines import Line
from chunkers.structure.markdown import Heading
from chunkers.structure.markdown.leaves import underlined_title

_TITLE_BELOW = re.compile(r"[ \t]*\n(?:[ \t]*\n)?[ \t]*(?P<title>[^\s#|>*-][^\n]{0,98}[^\s.;,:。；，])[ \t]*\s*\Z")


def with_titles_below(text: str, lines: list[Line]) -> list[Line]:
    """`lines` whose divisions take in the title that stands below them, right above the next line of `lines`."""
    found = []
    for line, below in zip(lines, [*lines[1:], None], strict=False):
        if line.underlined:
            found.append(line)
            continue
        if line.kind == "division" and below is not None and not text[line.label_end : line.end].strip(" \t\u3000*_.:"):
            match = _TITLE_BELOW.match(text, line.end, below.start)
            if match is not None:
                line = line._replace(end=match.end("title"))
        found.append(line)
    return found


def with_underlines(text: str, lines: list[Line], headings: Sequence[Heading]) -> tuple[list[Line], list[Heading]]:
    """`lines` with what underlines them, and `headings` without those lines.

    A paragraph above an underline is a heading in Markdown, however many lines it has. Where some of them are lines of
    law it goes on to the first of these; a division that it begins with takes in its other lines.
    """
    found, others, starts = list(lines), [], [line.start for line in lines]
    for heading in headings:
        bottom = _end(text, heading.start, heading.end)
        under = text.rfind("\n", heading.start, bottom)
        inside = range(
            bisect_left(starts, heading.start), bisect_left(starts, heading.end if under >= 0 else heading.start)
        )
        last = next((at for at in reversed(inside) if lines[at].kind != "caption"), None)
        if last is None:
            others.append(heading)
            continue
        line, first = lines[last], lines[inside[0]].start
        if heading.start < first:
            others.append(heading._replace(end=first, title=underlined_title(text[heading.start : first])))
        elif line.kind == "division" and line.start == first:
            line = line._replace(end=_end(text, line.start, under), hashes=heading.level)
        found[last] = line._replace(underlined=bottom)
    return found, others


def _end(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip("\n"))

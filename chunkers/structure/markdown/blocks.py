"""The record of one Markdown block."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal[
    "heading",
    "fence",
    "code",
    "table",
    "list",
    "item",
    "quote",
    "html",
    "rule",
    "definition",
    "footnote",
    "container",
    "math",
    "expression",
]


class Block(NamedTuple):
    """A block as whole lines: `start` is where its first line starts, `end` where the line after its last one does.

    Code points of the text that was scanned, 0-based, end exclusive. `depth` counts the containers around it (list,
    item, quote, footnote and `:::` each count one). `body` and `tail` bound what is inside: of a fence, the lines
    between opener and closer (`tail == end`: it is never closed); of a table, the rows under the delimiter row;
    of a container, its lines. Elsewhere they are `start` and `end`.
    """

    kind: Kind
    start: int
    end: int
    depth: int
    body: int
    tail: int
    level: int = 0
    title: str = ""

    @property
    def splits(self) -> bool:
        """Whether this is a heading that opens a section: one inside a container does not."""
        return self.kind == "heading" and self.depth == 0


class Heading(NamedTuple):
    """A heading that opens a section: the lines `start` to `end`, its level (1 is outermost) and title."""

    start: int
    end: int
    level: int
    title: str

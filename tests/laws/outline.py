"""The headings of a Markdown document by markdown-it-py, the reference parser: the oracle of the section laws."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tests.laws.mdx import mdx_plugin

LINE_END = re.compile(r"\r\n|\n|\r")


class Heading(NamedTuple):
    start: int
    end: int
    level: int
    title: str


@functools.lru_cache(maxsize=4)
def headings(document: str, front_matter_end: int = 0, is_mdx: bool = False) -> tuple[Heading, ...]:
    """Top-level headings (none inside quotes or lists) with the code point offsets of their lines."""
    text = document[front_matter_end:]
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin).disable(["inline", "text_join"])
    if is_mdx:
        parser.use(mdx_plugin)
    starts = [front_matter_end, *(front_matter_end + found.end() for found in LINE_END.finditer(text)), len(document)]
    tokens = parser.parse(text)
    found = []
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            first, last = token.map
            found.append(
                Heading(
                    starts[first], starts[min(last, len(starts) - 1)], int(token.tag[1]), tokens[number + 1].content
                )
            )
    return tuple(found)

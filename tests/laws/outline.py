"""The headings of a Markdown document by markdown-it-py, the reference parser: the oracle of the section laws."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import table
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote.index import footnote_def

from tests.laws.mdx import mdx_plugin

LINE_END = re.compile(r"\r\n|\n|\r")


BOX = re.compile(r"(?:\A|(?<=[\r\n]))(?P<before>[ \t>]*)(?P<marks>:::+)(?P<name>[^\r\n]*)")
FENCE = re.compile(r"```|~~~|\$\$|<!--|<[a-z]")


def box_line(document: str) -> int:
    """Where the first `:::` is from which on readers differ; the document's length if there is none.

    They agree on containers in the first column that are closed by marks of their length before another one opens, in
    documents without anything that a mark could stand inside of.
    """
    boxes = list(BOX.finditer(document))
    is_open = False
    for box in boxes:
        is_close = not box["name"].strip()
        if box["before"] or len(box["marks"]) > 3 or is_close != is_open or FENCE.search(document):
            return boxes[0].start()
        is_open = not is_open
    return boxes[0].start() if is_open else len(document)


class Heading(NamedTuple):
    start: int
    end: int
    level: int
    title: str


@functools.lru_cache(maxsize=4)
def headings(document: str, front_matter_end: int = 0, is_mdx: bool = False) -> tuple[Heading, ...]:
    """Top-level headings (none inside quotes or lists) with the code point offsets of their lines."""
    text = document[front_matter_end:]
    parser = MarkdownIt("commonmark").disable(["inline", "text_join"])
    # As in GFM, whose tables are paragraphs at first: what opens a block of HTML is no header of a table.
    parser.block.ruler.after("html_block", "gfm_table", table, {"alt": ["paragraph", "reference"]})
    # Where links lead matters to no heading, and an address with a lone surrogate cannot be written in percent signs.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.block.ruler.before("reference", "footnote", footnote_def, {"alt": ["paragraph", "reference"]})
    parser.use(dollarmath_plugin)
    if box_line(document) == len(document):
        parser.use(container_plugin, name="box", validate=lambda parameters, markup: True)
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

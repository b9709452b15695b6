"""What stands in front of a line or a list item: questions about text that is in no block."""

from __future__ import annotations

import re

from chunkers.structure.markdown import patterns

BLANK = " \t\n"


def line_before(text: str, line: int, done: int) -> int:
    """Where the line before `line` starts if it is paragraph text (not blank, not part of a block), else -1."""
    if line <= done:
        return -1
    before = text.rfind("\n", done, line - 1) + 1
    before = max(before, done)
    if text[line - 2] not in BLANK:
        return before if line - 2 >= done else -1
    return before if text[before:line].strip(BLANK) else -1


def paragraph_start(text: str, line: int, done: int) -> int:
    """Where the paragraph that the line before `line` belongs to starts."""
    start = line
    while (before := line_before(text, start, done)) >= 0:
        start = before
    return start


def item_interrupts(text: str, mark: int, match: re.Match[str]) -> bool:
    """Whether the list item at `mark` may end a paragraph: not if it is empty or a number other than 1."""
    digits = text[mark : match.end() - 1] if text[mark] in "0123456789" else "1"
    after = patterns.SPACE.match(text, max(match.end(), mark + 1))
    return int(digits) == 1 and after is not None and text[after.end()] != "\n"


def last_item(text: str, run: re.Match[str], first: str, indent: int) -> int:
    """Where the last item at the outer level of a plain list starts."""
    start, end = run.start(), run.end()
    if first not in ".)":
        return max(start, text.rfind("\n" + " " * indent + first, start, end) + 1)
    line = end
    while line > start:
        line = max(start, text.rfind("\n", start, line - 1) + 1)
        if patterns.ORDERED_ITEM.match(text, line + indent) and not text[line : line + indent].strip(" "):
            break
    return line

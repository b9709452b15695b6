"""Which leaf a line of a Markdown container opens: headings, rules, tables, HTML, definitions, math; and `:::`."""

from __future__ import annotations

import re

from chunkers.structure.markdown import leaves, patterns
from chunkers.structure.markdown.continuing import ContinuingBlocks
from chunkers.structure.markdown.openblocks import BOX, FENCE, HTML, MATH, TABLE

MAX_DEPTH = 100
"""Containers nested deeper than this are paragraph text, which keeps every line cheap."""


class OpeningBlocks(ContinuingBlocks):
    """Opens the blocks that hold no further containers, and the one that is opened like them."""

    __slots__ = ()

    def open_plain(
        self, kind: str, match: re.Match[str], matched: int, opened: bool, entered: bool, paragraph: bool, whole: bool
    ) -> bool | None:
        """Open the leaf or `:::` container at `mark`. None: it is none, False: all containers ended before it."""
        text, mark, end = self.text, self.mark, self.end
        continues = paragraph and whole
        if kind in "sdt":
            if self.dashes(matched, opened, entered, continues):
                return bool(self.stack) or not entered
            return None
        html = ""
        if kind == "l":
            if self.is_mdx:
                html = "g" if not paragraph and text[mark:end].rstrip().endswith(">") else ""
            else:
                html = leaves.html_kind(text, mark, interrupts=paragraph)
            if not html:
                return None
        elif kind == "k":
            if paragraph or leaves.definition_end(text, mark, end) < 0:
                return None
        elif kind == "c":
            if len(self.stack) >= MAX_DEPTH or not patterns.BOX_OPEN.match(text, mark):
                return None
        elif kind == "m":
            if paragraph or not self.math_closes(mark):
                return None
        elif kind not in "hfr":
            return None
        if not self.settle(matched, opened, entered) and kind != "c":
            return False
        if kind == "h":
            title = leaves.heading_title(text[match.end() : end])
            self.emit("heading", level=match.end() - mark, title=title)
        elif kind == "f":
            self.open_leaf(FENCE, closer=(text[mark], match.end() - mark))
        elif kind == "r":
            self.emit("rule")
        elif kind == "l":
            self.open_leaf(HTML, closer=(html, 0))
            if self.is_mdx or (html not in "fg" and patterns.HTML_CLOSE[html].search(text, mark, end)):
                self.close_leaf()
        elif kind == "k":
            self.emit("definition")
        elif kind == "c":
            self.push(BOX, "container", match.end() - mark)
            self.last_end = end
        else:
            self.open_leaf(MATH)
            if text[mark + 2 : end].rstrip().endswith("$$"):
                self.close_leaf()
        return True

    def dashes(self, matched: int, opened: bool, entered: bool, continues: bool) -> bool:
        """Read a line of `=`, `-`, `|`, `:` as a table's delimiter row, an underline or a rule, if it is one."""
        text, mark, end = self.text, self.mark, self.end
        if continues and not opened:
            if text[mark] != "=":
                header = self.header_line()
                if header >= 0 and leaves.opens_table(text[header : self.line], text[mark:end]):
                    header = text.rfind("\n", 0, header) + 1
                    self.settle(matched, opened, entered)
                    self.open_leaf(TABLE)
                    self.leaf_start = header
                    return True
            if text[mark] == "=" or patterns.DASH_UNDERLINE.match(text, mark):
                title = leaves.underlined_title("".join([text[a:b] for a, b in self.lines]))
                start = self.leaf_start
                self.settle(matched, opened, entered)
                self.emit("heading", level=1 if text[mark] == "=" else 2, title=title, start=start)
                return True
        if text[mark] == "-" and patterns.DASH_RULE.match(text, mark):
            if self.settle(matched, opened, entered):
                self.emit("rule")
            return True
        return False

    def header_line(self) -> int:
        """Where the content of the open paragraph's last line starts, or -1 if it cannot be a table's header.

        That is a line indented like code, or one that lies outside its container and only goes on lazily.
        """
        text = self.text
        first, _ = self.lines[-1]
        before = text.rfind("\n", 0, self.line - 1) + 1
        if self.quotes:
            return first
        if before <= first and len(self.lines) == 1:
            return first
        space = patterns.SPACE.match(text, before)
        mark = space.end() if space else before
        column = len(text[before:mark].expandtabs(4))
        return mark if 0 <= column - self.base <= 3 else -1

    def math_closes(self, mark: int) -> bool:
        if mark >= self.no_math_from:
            return False
        if patterns.MATH_CLOSE.search(self.text, mark + 2):
            return True
        self.no_math_from = mark
        return False

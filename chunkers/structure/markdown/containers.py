"""Markdown inside containers, line by line: the algorithm of the CommonMark specification's appendix.

Each line first walks the open containers, then may open new ones, and its rest is a leaf or paragraph text.
"""

from __future__ import annotations

import re

from chunkers.structure.markdown import patterns
from chunkers.structure.markdown.blocks import Block
from chunkers.structure.markdown.openblocks import (
    CODE,
    FENCE,
    ITEM,
    LIST,
    NONE,
    NOTE,
    PARAGRAPH,
    QUOTE,
    TABLE,
)
from chunkers.structure.markdown.opening import MAX_DEPTH, OpeningBlocks


class ContainerScanner(OpeningBlocks):
    """Reads containers of one text into `blocks`. `run` is entered with no container open and left with none."""

    __slots__ = ()

    def run(self, start: int) -> int:
        """Read the container that opens at `start` and all that belongs to it.

        Returns the start of the first line outside; `start` itself if the line opens no container.
        """
        text, size = self.text, len(self.text)
        line = self.last_end = start
        find = text.find
        while line < size:
            if self.leaf < TABLE and not self.quotes and self.stack:
                after = self.read_plain(line)
                if after < 0:
                    break
                if after > line:
                    line = after
                    continue
            end = find("\n", line) + 1
            if not self.read(line, end):
                break
            line = end
            if not self.stack:
                break
        self.close_to(0)
        return max(line, self.last_end)

    def read_plain(self, line: int) -> int:
        """Read items and paragraphs of nothing but text, many lines at once; only where no quote is open.

        Returns the start of the first line that it leaves to `read`, or -1 if all containers ended before `line`.
        """
        stack, blocks, match_run = self.stack, self.blocks, self.plain_run
        text = self.text
        while run := match_run(text, line):
            indent, marker, gap, _, blank = run.groups()
            column = len(indent)
            paragraph = self.leaf == PARAGRAPH
            if marker is None and paragraph:  # goes on with the open paragraph, wherever it stands
                self.lines.append((run.start(4), run.end(4)))
            else:
                base = matched = 0
                for entry in stack:
                    if entry[0] == ITEM or entry[0] == NOTE:
                        if column - base < entry[1]:
                            break
                        base += entry[1]
                        entry[3] = 1
                    matched += 1
                if column - base > 3:
                    return line
                if marker is None:
                    if matched and stack[matched - 1][0] == LIST:
                        matched -= 1
                    if not matched:
                        return -1
                    self.close_to(matched)
                else:
                    if paragraph and matched == len(stack) and len(marker) > 1 and int(marker[:-1]) != 1:
                        return line
                    if len(stack) >= MAX_DEPTH - 1:
                        return line
                    delimiter = ord(marker[-1])
                    if matched and stack[matched - 1][0] == LIST and stack[matched - 1][1] != delimiter:
                        matched -= 1
                    if not matched:
                        return -1
                    self.leaf = NONE
                    self.close_to(matched)
                    self.line = line
                    self.end = run.end(4)
                    if stack[-1][0] != LIST:
                        self.push(LIST, "list", delimiter)
                    stack.append([ITEM, column - base + len(marker) + len(gap), len(blocks), 1])
                    blocks.append(Block("item", line, self.end, len(stack) - 1, line, self.end))
                self.leaf_start = line
                self.lines = [(run.start(4), run.end(4))]
            self.leaf = NONE if blank else PARAGRAPH
            self.last_end = run.end(4)
            line = run.end()
        return line

    def read(self, line: int, end: int) -> bool:
        """Read one line. False: all containers ended before it."""
        self.line = line
        self.end = end
        stack = self.stack
        matched = self.walk()
        whole = matched == len(stack)
        leaf = self.leaf
        if whole and leaf >= FENCE and self.continue_verbatim():
            return True
        if not self.blank and self.text[self.mark] == ":" and self.close_box(matched):
            return True
        if leaf in (TABLE, CODE):
            if whole and self.continue_lines(leaf):
                return True
            leaf = NONE
        elif leaf > CODE:
            leaf = NONE
        if leaf == NONE and self.leaf:
            self.close_leaf()
        if self.blank:
            self.close_leaf()
            if not whole:
                self.close_to(matched)
            elif self.quotes:  # a line of quote marks alone
                self.last_end = end
            return True
        return self.open_blocks(matched, whole, leaf == PARAGRAPH)

    # -- opening containers and leaves

    def open_blocks(self, matched: int, whole: bool, paragraph: bool) -> bool:
        """Open what the rest of a line that is not blank opens. `paragraph`: one is open and may go on."""
        text, stack = self.text, self.stack
        entered = bool(stack)
        lazy = paragraph and not whole
        opened = False
        while not self.blank:
            if self.column - self.base > 3 and not self.is_mdx:
                if paragraph:
                    break
                if not self.settle(matched, opened, entered):
                    return False
                self.open_leaf(CODE)
                return True
            match = self.start_at(text, self.mark)
            if match is None:
                break
            kind = match.lastgroup
            if kind == "b" or (kind == "d" and text[self.mark + 1] in " \t\n"):
                if kind == "d" and self.dashes(matched, opened, entered, paragraph and whole):
                    return bool(stack) or not entered
                item = self.open_item(matched, opened, entered, match, paragraph and whole)
                if item is None:
                    return False
                if not item:
                    break
            elif kind == "q":
                if len(stack) >= MAX_DEPTH:
                    break
                if not self.settle(matched, opened, entered):
                    return False
                self.push(QUOTE, "quote", 0)
                self.enter_quote()
            elif kind == "k" and (note := patterns.FOOTNOTE.match(text, self.mark)) and len(stack) < MAX_DEPTH:
                if not self.settle(matched, opened, entered):
                    return False
                self.push(NOTE, "footnote", 4)
                self.base += 4
                self.skip_space(note.end(), self.base)
                self.base = min(self.column, self.base + 3)
            else:
                verdict = self.open_plain(kind or "", match, matched, opened, entered, paragraph, whole)
                if verdict is None:
                    break
                return verdict
            matched = len(stack)
            opened = whole = True
            paragraph = lazy = False
        if self.blank:
            self.last_end = self.end
            return True
        return self.add_text(matched, opened, entered, lazy, paragraph)

    def add_text(self, matched: int, opened: bool, entered: bool, lazy: bool, paragraph: bool) -> bool:
        if not lazy and not paragraph:
            if not self.settle(matched, opened, entered):
                return False
            self.leaf = PARAGRAPH
            self.leaf_start = self.line
            self.lines = []
        self.lines.append((self.mark, self.end))
        self.last_end = self.end
        return True

    def open_item(
        self, matched: int, opened: bool, entered: bool, match: re.Match[str], continues: bool
    ) -> bool | None:
        """Open the list item at `mark`, and its list if it does not continue the one before it.

        False: it is text. None: all containers ended before it.
        """
        text, mark, stack = self.text, self.mark, self.stack
        after = max(match.end(), mark + 1)
        space = patterns.SPACE.match(text, after)
        empty = space is not None and text[space.end()] == "\n"
        delimiter = ord(text[after - 1])
        if continues and not opened and (empty or (after > mark + 1 and int(text[mark : after - 1]) != 1)):
            return False
        if len(stack) >= MAX_DEPTH - 1:
            return False
        if not opened:
            continues_list = matched and stack[matched - 1][0] == LIST and stack[matched - 1][1] == delimiter
            if not self.settle(matched if continues_list else self.without_list(matched), False, entered, keep=True):
                return None
        if not (stack and stack[-1][0] == LIST):
            self.push(LIST, "list", delimiter)
        parent = self.base
        content = self.column + after - mark
        self.skip_space(after, content)
        self.base = content + 1 if self.blank or self.column - content > 4 else self.column
        self.push(ITEM, "item", self.base - parent)
        stack[-1][3] = 0 if self.blank else 1
        return True

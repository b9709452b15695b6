"""The headings of a Markdown document, found without reading the blocks between them.

A line that starts with `#` in its first column is a heading wherever it stands, unless a fence, an HTML block, math or
a `:::` container of document level holds it: everything else ends in front of it. So only the lines that open these
are looked for. A line whose meaning depends on what is around it (one that is indented, one that may underline a
paragraph) is left to the scanner, from the nearest line above in front of which nothing can be open.
"""

from __future__ import annotations

from typing import NamedTuple

from chunkers.structure.markdown import leaves, patterns
from chunkers.structure.markdown.blocks import Heading
from chunkers.structure.markdown.scanner import Scanner

_new = tuple.__new__  # a third of the time of Heading(…)
_HOLDING = ("fence", "html", "math", "container")


class Outline(NamedTuple):
    """The headings of document level and what else their search showed.

    `open_fence`: some code fence is never closed. `held` are starts and ends in turn, ascending, of blocks of document
    level: of every one that may go on behind a blank line with a line that starts in its first column.
    """

    headings: list[Heading]
    open_fence: bool
    held: list[int]


def read_outline(text: str, start: int) -> Outline:
    """The outline from the line `start` on.

    `text` is normalised, its dialect CommonMark. The headings are those of `scanner.scan`; linear in the text's length.
    """
    return _Outliner(text).run(start)


class _Outliner:
    __slots__ = ("blank", "decided", "headings", "held", "open_fence", "scanner", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.headings: list[Heading] = []
        self.held: list[int] = []
        self.open_fence = False
        self.scanner: Scanner | None = None
        self.decided = 0  # up to here the scanner has read
        self.blank = 0  # the last blank line that was looked for

    def run(self, start: int) -> Outline:
        text, headings, held = self.text, self.headings, self.held
        search, find = patterns.OUTLINE_JUMP.search, text.find
        # In front of `done` no block is open. Between there and a match is text, or containers that hide nothing.
        # From `plain` to the match stands nothing that was passed over.
        done = plain = start
        match = patterns.OUTLINE_LINE.match(text, start)
        before = 0  # what a match has of the line above: its end, but for the first line
        if match is None:
            match, before = search(text, start), 1
        while match is not None:
            line, end = match.span()
            line += before
            before = 1
            character = text[line]
            if character == "#":
                title = text[line:end].lstrip("#")
                level = end - line - len(title)
                title = title.strip(" \t\r")
                if title and title[-1] == "#":
                    title = leaves.heading_title(title)
                done = end + 1
                headings.append(_new(Heading, (line, done, level, title)))
                match = search(text, end)
            elif (
                character == "`"
                and (tail := find("```", end)) > 0
                and text[tail - 1] == text[tail + 3] == "\n"
                and end - line == 3
            ):
                done = tail + 4
                held += (line, done)
                match = search(text, tail + 3)
            elif character == "<" and text[line + 1 : line + 4] == "!--":
                tail = find("-->", line)
                done = find("\n", tail) + 1 if tail > 0 else len(text)
                held += (line, done)
                match = search(text, done - 1)
            elif character in " >" and (passed := self.pass_contained(max(done, plain), line, end)) > line:
                plain = passed
                match = search(text, passed - 1)
            elif (stop := self.block_end(done, line, end)) > line:
                done = stop
                match = search(text, stop - 1)
            else:
                match = search(text, line)
        return _new(Outline, (headings, self.open_fence, held))

    def block_end(self, done: int, line: int, end: int) -> int:
        """The end of the block that `line` is in, whose mark ends at `end`; `line` if it is paragraph text.

        In front of `done` no block is open.
        """
        text = self.text
        character = text[line]
        if character == "`" or character == "~":
            _, tail, stop = leaves.fence_ends(text, line, end - line)
            self.open_fence |= tail == stop
            self.held += (line, stop)
            return stop
        in_paragraph = line > done and text[line - 2] != "\n"
        if character == "<":
            kind = leaves.html_kind(text, line, interrupts=in_paragraph)
            if kind:
                stop = leaves.html_end(text, line, kind)
                self.held += (line, stop)
                return stop
            if not in_paragraph or not patterns.TAG_LINE.match(text, line):
                return line
        elif not in_paragraph and text[end - 1] in "=-":
            return line
        return self.scan(self.clean_line(done, line), line)

    def pass_contained(self, plain: int, line: int, end: int) -> int:
        """Where to go on behind an indented or quoted line that hides no heading; `line` if that is not sure.

        `end` is where its mark ends, of a fence or a tag. From `plain` on nothing was passed over.
        """
        text = self.text
        if text[end - 1] == "`":
            # As indented as the fence are all its lines, or quoted. They lie in one container with it, or are code.
            pattern = patterns.INDENTED_FENCE if text[line] == " " else patterns.QUOTED_FENCE
            fence = pattern.match(text, line)
            # Tags and math that are open where it starts could make its last line open one instead.
            if fence is None or text.find("<", plain, line) >= 0 or text.find("$$", plain, line) >= 0:
                return line
            return fence.end()
        mark = end - 2
        if text[mark] != "<":
            return line
        kind = leaves.html_kind(text, mark, interrupts=False)
        if kind and kind not in "fg":
            return line
        stop = text.index("\n", end) + 1
        if kind and self.blank < stop:
            self.blank = leaves.html_end(text, mark, kind)
        if kind and patterns.OUTLINE_JUMP.search(text, stop - 1, self.blank):
            return line
        return max(stop, self.blank) if kind else stop

    def clean_line(self, done: int, line: int) -> int:
        """A line above `line`, behind what was read, in front of which no block is open; -1 if the scanner can go on.

        Such is one that starts in the first column behind an empty line.
        """
        text = self.text
        above = max(done, self.decided)
        blank = text.rfind("\n\n", above, line)
        while blank >= 0 and text[blank + 2] in " \t\n":
            blank = text.rfind("\n\n", above, blank + 1)
        return blank + 2 if blank >= 0 else done if done >= self.decided else -1

    def scan(self, start: int, line: int) -> int:
        """Read blocks from `start` up to the one that `line` is in; its end, or `line` if it is paragraph text."""
        scanner = self.scanner
        if scanner is None:
            scanner = self.scanner = Scanner(self.text, "commonmark", items=False)
        if start >= 0:
            scanner.enter(start)
        scanner.blocks.clear()
        scanner.advance(line + 1)
        self.decided = line + 1
        for block in scanner.blocks:
            if block.kind == "heading":
                if block.depth == 0:
                    self.headings.append(Heading(block.start, block.end, block.level, block.title))
            elif block.kind == "fence":
                self.open_fence |= block.tail == block.end
            if block.depth == 0 and block.kind in _HOLDING:
                self.held += (block.start, block.end)
        return max(scanner.done, line)

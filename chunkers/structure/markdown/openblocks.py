"""What is open while Markdown containers are read: the line, the containers around it, the leaf in them."""

from __future__ import annotations

from chunkers.structure.markdown import patterns
from chunkers.structure.markdown.blocks import Block, Kind

# Kinds of containers. An entry of the stack is [kind, width or mark, index of its block, has content].
LIST, ITEM, QUOTE, NOTE, BOX = range(5)
# Kinds of open leaf. From TABLE on they are blocks of their own.
NONE, PARAGRAPH, TABLE, CODE, FENCE, HTML, MATH = range(7)
_LEAF_KINDS: dict[int, Kind] = {TABLE: "table", CODE: "code", FENCE: "fence", HTML: "html", MATH: "math"}

_space = patterns.SPACE.match


class OpenBlocks:
    """The state of reading one text line by line; closed blocks go to `blocks`, containers in front of their content.

    Offsets of text never change; indentation is kept as columns (`base` is the column where the innermost container's
    content starts), so that tabs need no expanding.
    """

    __slots__ = (
        "base",
        "blank",
        "blocks",
        "body",
        "closer",
        "column",
        "end",
        "has_tabs",
        "is_mdx",
        "last_end",
        "leaf",
        "leaf_start",
        "line",
        "lines",
        "mark",
        "never_closed",
        "no_math_from",
        "plain_run",
        "quotes",
        "stack",
        "start_at",
        "text",
    )

    def __init__(self, text: str, blocks: list[Block], is_mdx: bool) -> None:
        self.text = text
        self.blocks = blocks
        self.is_mdx = is_mdx
        self.plain_run = (patterns.MDX_PLAIN_RUN if is_mdx else patterns.PLAIN_RUN).match
        self.quotes = 0
        self.start_at = (patterns.MDX_START if is_mdx else patterns.START).match
        self.has_tabs = "\t" in text
        self.stack: list[list[int]] = []
        self.leaf = NONE
        self.leaf_start = self.body = self.last_end = 0
        self.closer: tuple[str, int] = ("", 0)
        self.lines: list[tuple[int, int]] = []  # of the open paragraph: content start and end of each line
        self.never_closed: dict[tuple[str, int], int] = {}
        self.no_math_from = len(text)
        # The line being read: its ends, the next character to look at and that character's column.
        self.line = self.end = self.mark = self.column = self.base = 0
        self.blank = False

    # -- the line

    def skip_space(self, position: int, column: int) -> None:
        text = self.text
        match = _space(text, position)
        mark = match.end() if match else position
        if self.has_tabs and mark > position:
            for character in text[position:mark]:
                column += 4 - column % 4 if character == "\t" else 1
            self.column = column
        else:
            self.column = column + mark - position
        self.mark = mark
        self.blank = text[mark] == "\n"

    def enter_quote(self) -> None:
        after = self.mark + 1
        self.base = self.column + 1
        self.skip_space(after, self.base)
        if self.mark > after:
            self.base += 1

    # -- the stack

    def without_list(self, matched: int) -> int:
        """The containers to keep when something other than an item follows: a list holds items only."""
        return matched - 1 if matched and self.stack[matched - 1][0] == LIST else matched

    def settle(self, matched: int, opened: bool, entered: bool, *, keep: bool = False) -> bool:
        """Close what the line does not continue. False: that was everything that had been open."""
        if not opened:
            self.close_leaf()
            self.close_to(matched if keep else self.without_list(matched))
        return bool(self.stack) or not entered

    def push(self, kind: int, name: Kind, width: int) -> None:
        stack = self.stack
        stack.append([kind, width, len(self.blocks), 1])
        self.quotes += kind == QUOTE
        body = self.end if kind == BOX else self.line
        self.blocks.append(Block(name, self.line, self.end, len(stack) - 1, body, self.end))

    def close_to(self, size: int) -> None:
        stack = self.stack
        if len(stack) > size:
            self.close_leaf()
            end = self.last_end
            while len(stack) > size:
                kind, _, index, _ = stack.pop()
                self.quotes -= kind == QUOTE
                block = self.blocks[index]
                if block.end != end:
                    self.blocks[index] = Block(block[0], block[1], end, block[3], min(block[4], end), end)

    def open_leaf(self, leaf: int, closer: tuple[str, int] = ("", 0)) -> None:
        self.leaf = leaf
        self.leaf_start = self.line
        self.body = self.end if leaf in (FENCE, TABLE, MATH) else self.line
        self.closer = closer
        self.last_end = self.end

    def close_leaf(self, tail: int | None = None) -> None:
        kind = _LEAF_KINDS.get(self.leaf)
        self.leaf = NONE
        if kind is not None:
            end = self.last_end
            body = min(self.body, end)
            tail = end if tail is None else tail
            self.blocks.append(Block(kind, self.leaf_start, end, len(self.stack), body, tail))

    def emit(self, kind: Kind, *, level: int = 0, title: str = "", start: int | None = None) -> None:
        begin = self.line if start is None else start
        if start is None and self.stack and self.stack[-1][0] == NOTE and begin > self.blocks[self.stack[-1][2]].start:
            begin = self.inside_note(begin)
        self.blocks.append(Block(kind, begin, self.end, len(self.stack), begin, self.end, level, title))
        self.last_end = self.end

    def inside_note(self, line: int) -> int:
        """Where a line of a footnote starts behind the indentation that makes it one."""
        text = self.text
        return line + 1 if text[line] == "\t" else line + 4 if text.startswith("    ", line) else line

"""Markdown inside containers, line by line: the algorithm of the CommonMark specification's appendix.

Each line first walks the open containers, then may open new ones, and its rest is a leaf or paragraph text. Offsets
of text never change; indentation is kept as columns (`base` is the column where the innermost container's content
starts), so that tabs need no expanding.
"""

from __future__ import annotations

import re

from chunkers.structure.markdown import leaves, patterns
from chunkers.structure.markdown.blocks import Block, Kind

MAX_DEPTH = 100
"""Containers nested deeper than this are paragraph text, which keeps every line cheap."""

# Kinds of containers. An entry of the stack is [kind, width or mark, index of its block, has content].
_LIST, _ITEM, _QUOTE, _NOTE, _BOX = range(5)
# Kinds of open leaf. From _TABLE on they are blocks of their own.
_NONE, _PARAGRAPH, _TABLE, _CODE, _FENCE, _HTML, _MATH = range(7)
_LEAF_KINDS: dict[int, Kind] = {_TABLE: "table", _CODE: "code", _FENCE: "fence", _HTML: "html", _MATH: "math"}

_space = patterns.SPACE.match


class ContainerScanner:
    """Reads containers of one text into `blocks`. `run` is entered with no container open and left with none."""

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
        self.leaf = _NONE
        self.leaf_start = self.body = self.last_end = 0
        self.closer: tuple[str, int] = ("", 0)
        self.lines: list[tuple[int, int]] = []  # of the open paragraph: content start and end of each line
        self.never_closed: dict[tuple[str, int], int] = {}
        self.no_math_from = len(text)
        # The line being read: its ends, the next character to look at and that character's column.
        self.line = self.end = self.mark = self.column = self.base = 0
        self.blank = False

    def run(self, start: int) -> int:
        """Read the container that opens at `start` and all that belongs to it.

        Returns the start of the first line outside; `start` itself if the line opens no container.
        """
        text, size = self.text, len(self.text)
        line = self.last_end = start
        find = text.find
        while line < size:
            if self.leaf < _TABLE and not self.quotes and self.stack:
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
            paragraph = self.leaf == _PARAGRAPH
            if marker is None and paragraph:  # goes on with the open paragraph, wherever it stands
                self.lines.append((run.start(4), run.end(4)))
            else:
                base = matched = 0
                for entry in stack:
                    if entry[0] == _ITEM or entry[0] == _NOTE:
                        if column - base < entry[1]:
                            break
                        base += entry[1]
                        entry[3] = 1
                    matched += 1
                if column - base > 3:
                    return line
                if marker is None:
                    if matched and stack[matched - 1][0] == _LIST:
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
                    if matched and stack[matched - 1][0] == _LIST and stack[matched - 1][1] != delimiter:
                        matched -= 1
                    if not matched:
                        return -1
                    self.leaf = _NONE
                    self.close_to(matched)
                    self.line = line
                    self.end = run.end(4)
                    if stack[-1][0] != _LIST:
                        self.push(_LIST, "list", delimiter)
                    stack.append([_ITEM, column - base + len(marker) + len(gap), len(blocks), 1])
                    blocks.append(Block("item", line, self.end, len(stack) - 1, line, self.end))
                self.leaf_start = line
                self.lines = [(run.start(4), run.end(4))]
            self.leaf = _NONE if blank else _PARAGRAPH
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
        if whole and leaf >= _FENCE and self.continue_verbatim():
            return True
        if not self.blank and self.text[self.mark] == ":" and self.close_box(matched):
            return True
        if leaf in (_TABLE, _CODE):
            if whole and self.continue_lines(leaf):
                return True
            leaf = _NONE
        elif leaf > _CODE:
            leaf = _NONE
        if leaf == _NONE and self.leaf:
            self.close_leaf()
        if self.blank:
            self.close_leaf()
            if not whole:
                self.close_to(matched)
            elif self.quotes:  # a line of quote marks alone
                self.last_end = end
            return True
        return self.open_blocks(matched, whole, leaf == _PARAGRAPH)

    # -- walking the open containers

    def walk(self) -> int:
        """How many open containers this line continues; leaves `mark`, `column`, `base` and `blank` behind them."""
        text = self.text
        self.base = 0
        self.skip_space(self.line, 0)
        matched = 0
        for entry in self.stack:
            kind = entry[0]
            if kind in (_ITEM, _NOTE):
                if self.blank:
                    if not entry[3]:
                        break
                elif self.column - self.base >= entry[1]:
                    self.base += entry[1]
                    entry[3] = 1
                else:
                    break
            elif kind == _QUOTE:
                if self.blank or text[self.mark] != ">" or self.column - self.base > 3:
                    break
                self.enter_quote()
            matched += 1
        return matched

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

    # -- continuing the open leaf

    def continue_verbatim(self) -> bool:
        """Whether this line belongs to the open fence, HTML block or math; closes it if this is its last line."""
        text, mark, end = self.text, self.mark, self.end
        character, length = self.closer
        if self.leaf == _FENCE:
            if not self.blank:
                if text[mark] == character and self.column - self.base <= 3:
                    run = text[mark:end].strip(" \t\n")
                    if len(run) >= length and not run.strip(character):
                        self.last_end = end
                        self.close_leaf(tail=self.line)
                        return True
                elif text[mark] == ":" and self.never_closes() and patterns.BOX_CLOSE.match(text, mark):
                    return False
        elif self.leaf == _HTML:
            if character in "fg":
                if self.blank or (text[mark] == ":" and patterns.BOX_CLOSE.match(text, mark)):
                    return False
            elif patterns.HTML_CLOSE[character].search(text, mark, end):
                self.last_end = end
                self.close_leaf()
                return True
        elif text[mark:end].rstrip().endswith("$$"):
            self.last_end = end
            self.close_leaf(tail=self.line)
            return True
        if not self.blank:
            self.last_end = end
        return True

    def never_closes(self) -> bool:
        """Whether no line below can close the open fence: then a `:::` line does not belong to it."""
        known = self.never_closed.get(self.closer)
        if known is not None and self.line >= known:
            return True
        character, length = self.closer
        position = self.line
        close = patterns.NESTED_FENCE_CLOSE[character]
        while match := close.search(self.text, position):
            if match.end(1) - match.start(1) >= length:
                return False
            position = match.end()
        self.never_closed[self.closer] = self.line
        return True

    def continue_lines(self, leaf: int) -> bool:
        """Whether this line is one more row of the open table or line of the open indented code."""
        if leaf == _CODE:
            if self.blank:
                return True
            if self.column - self.base < 4:
                return False
        elif self.blank or self.column - self.base > 3 or patterns.TABLE_STOP.match(self.text, self.mark):
            return False
        self.last_end = self.end
        return True

    def close_box(self, matched: int) -> bool:
        """Close the `:::` container that this line ends, if it ends one: one of its length, else the innermost."""
        if self.column - self.base > 3:
            return False
        match = patterns.BOX_CLOSE.match(self.text, self.mark)
        if match is None:
            return False
        length = match.end(1) - match.start(1)
        boxes = [i for i in range(matched - 1, -1, -1) if self.stack[i][0] == _BOX and self.stack[i][1] <= length]
        if not boxes:
            return False
        index = next((i for i in boxes if self.stack[i][1] == length), boxes[0])
        self.close_leaf()
        self.close_to(index + 1)
        self.last_end = self.end
        box = self.stack.pop()
        self.blocks[box[2]] = self.blocks[box[2]]._replace(end=self.end, tail=self.line)
        return True

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
                self.open_leaf(_CODE)
                return True
            match = self.start_at(text, self.mark)
            if match is None:
                break
            kind = match.lastgroup
            if kind == "b" or (kind == "d" and text[self.mark + 1] in " \t\n"):
                if kind == "d" and self.dashes(matched, opened, entered, paragraph and whole):
                    return bool(stack) or not entered
                item = self.open_item(matched, opened, match, paragraph and whole)
                if not item:
                    break
            elif kind == "q":
                if len(stack) >= MAX_DEPTH:
                    break
                self.settle(matched, opened, entered)
                self.push(_QUOTE, "quote", 0)
                self.enter_quote()
            elif kind == "k" and (note := patterns.FOOTNOTE.match(text, self.mark)) and len(stack) < MAX_DEPTH:
                self.settle(matched, opened, entered)
                self.push(_NOTE, "footnote", 4)
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
            self.leaf = _PARAGRAPH
            self.leaf_start = self.line
            self.lines = []
        self.lines.append((self.mark, self.end))
        self.last_end = self.end
        return True

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
            if not self.math_closes(mark):
                return None
        elif kind not in "hfr":
            return None
        if not self.settle(matched, opened, entered) and kind != "c":
            return False
        if kind == "h":
            title = leaves.heading_title(text[match.end() : end])
            self.emit("heading", level=match.end() - mark, title=title)
        elif kind == "f":
            self.open_leaf(_FENCE, closer=(text[mark], match.end() - mark))
        elif kind == "r":
            self.emit("rule")
        elif kind == "l":
            self.open_leaf(_HTML, closer=(html, 0))
            if self.is_mdx or (html not in "fg" and patterns.HTML_CLOSE[html].search(text, mark, end)):
                self.close_leaf()
        elif kind == "k":
            self.emit("definition")
        elif kind == "c":
            self.push(_BOX, "container", match.end() - mark)
            self.last_end = end
        else:
            self.open_leaf(_MATH)
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
                    self.open_leaf(_TABLE)
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
        space = _space(text, before)
        mark = space.end() if space else before
        column = len(text[before:mark].expandtabs(4))
        return mark if 0 <= column - self.base <= 3 else -1

    def open_item(self, matched: int, opened: bool, match: re.Match[str], continues: bool) -> bool:
        """Open the list item at `mark`, and its list if it does not continue the one before it."""
        text, mark, stack = self.text, self.mark, self.stack
        after = max(match.end(), mark + 1)
        space = _space(text, after)
        empty = space is not None and text[space.end()] == "\n"
        delimiter = ord(text[after - 1])
        if continues and not opened and (empty or (after > mark + 1 and int(text[mark : after - 1]) != 1)):
            return False
        if len(stack) >= MAX_DEPTH - 1:
            return False
        if not opened:
            continues_list = matched and stack[matched - 1][0] == _LIST and stack[matched - 1][1] == delimiter
            self.settle(matched if continues_list else self.without_list(matched), False, False, keep=True)
        if not (stack and stack[-1][0] == _LIST):
            self.push(_LIST, "list", delimiter)
        parent = self.base
        content = self.column + after - mark
        self.skip_space(after, content)
        self.base = content + 1 if self.blank or self.column - content > 4 else self.column
        self.push(_ITEM, "item", self.base - parent)
        stack[-1][3] = 0 if self.blank else 1
        return True

    def math_closes(self, mark: int) -> bool:
        if mark >= self.no_math_from:
            return False
        if patterns.MATH_CLOSE.search(self.text, mark + 2):
            return True
        self.no_math_from = mark
        return False

    def inside_note(self, line: int) -> int:
        """Where a line of a footnote starts behind the indentation that makes it one."""
        text = self.text
        return line + 1 if text[line] == "\t" else line + 4 if text.startswith("    ", line) else line

    # -- the stack

    def without_list(self, matched: int) -> int:
        """The containers to keep when something other than an item follows: a list holds items only."""
        return matched - 1 if matched and self.stack[matched - 1][0] == _LIST else matched

    def settle(self, matched: int, opened: bool, entered: bool, *, keep: bool = False) -> bool:
        """Close what the line does not continue. False: that was everything that had been open."""
        if not opened:
            self.close_leaf()
            self.close_to(matched if keep else self.without_list(matched))
        return bool(self.stack) or not entered

    def push(self, kind: int, name: Kind, width: int) -> None:
        stack = self.stack
        stack.append([kind, width, len(self.blocks), 1])
        self.quotes += kind == _QUOTE
        body = self.end if kind == _BOX else self.line
        self.blocks.append(Block(name, self.line, self.end, len(stack) - 1, body, self.end))

    def close_to(self, size: int) -> None:
        stack = self.stack
        if len(stack) > size:
            self.close_leaf()
            end = self.last_end
            while len(stack) > size:
                kind, _, index, _ = stack.pop()
                self.quotes -= kind == _QUOTE
                block = self.blocks[index]
                if block.end != end:
                    self.blocks[index] = Block(block[0], block[1], end, block[3], min(block[4], end), end)

    def open_leaf(self, leaf: int, closer: tuple[str, int] = ("", 0)) -> None:
        self.leaf = leaf
        self.leaf_start = self.line
        self.body = self.end if leaf in (_FENCE, _TABLE, _MATH) else self.line
        self.closer = closer
        self.last_end = self.end

    def close_leaf(self, tail: int | None = None) -> None:
        kind = _LEAF_KINDS.get(self.leaf)
        self.leaf = _NONE
        if kind is not None:
            end = self.last_end
            body = min(self.body, end)
            tail = end if tail is None else tail
            self.blocks.append(Block(kind, self.leaf_start, end, len(self.stack), body, tail))

    def emit(self, kind: Kind, *, level: int = 0, title: str = "", start: int | None = None) -> None:
        begin = self.line if start is None else start
        if start is None and self.stack and self.stack[-1][0] == _NOTE and begin > self.blocks[self.stack[-1][2]].start:
            begin = self.inside_note(begin)
        self.blocks.append(Block(kind, begin, self.end, len(self.stack), begin, self.end, level, title))
        self.last_end = self.end

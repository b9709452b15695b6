"""The Markdown block scanner: text to blocks with exact offsets, without building a tree.

At document level one compiled search jumps from one interesting line to the next; whatever lies between is paragraph
text and is never looked at line by line. As soon as a container (list, quote, footnote, `:::`) opens, `containers`
takes over until all containers are closed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from chunkers.structure.markdown import leaves, mdx, paragraphs, patterns
from chunkers.structure.markdown.blocks import Block
from chunkers.structure.markdown.containers import ContainerScanner

Dialect = Literal["commonmark", "mdx"]

_new = tuple.__new__  # a third of the time of Block(…)


def scan(text: str, *, dialect: Dialect = "commonmark", start: int = 0, items: bool = True) -> list[Block]:
    """The blocks of `text` from `start` (a line start) on, in order of their starts; paragraphs are what lies between.

    Headings, fences, tables and containers are those of CommonMark with GFM tables, footnotes, `:::` containers and
    `$$` math; `dialect="mdx"` reads MDX instead. Lines end at CR LF, LF and CR and nowhere else. A container comes
    before its content. Without `items` the insides of lists that hold nothing but text are not told: `list_items` does
    when asked. Linear in the length of the text; containers nested deeper than 100 are read as text.
    """
    if not text:
        return []
    scanner = Scanner(normalise(text), dialect, items)
    scanner.enter(start)
    scanner.advance(len(text) + 1)
    clip(scanner.blocks, len(text))
    return scanner.blocks


def list_items(text: str, lists: Iterable[Block], *, dialect: Dialect = "commonmark") -> list[Block]:
    """The items of some lists that `scan` found in `text`, those of nested lists included, in order."""
    return read_items(normalise(text), lists, dialect)


def read_items(text: str, lists: Iterable[Block], dialect: Dialect) -> list[Block]:
    """The same for a text that is normalised."""
    found: list[Block] = []
    inside: list[Block] = []
    reader = ContainerScanner(text, found, dialect == "mdx")
    for each in lists:
        found.clear()
        reader.run(each.start)
        inside += [block for block in found if block.kind == "item" and block.start < each.end]
    return inside


def plain_items(text: str, block: Block, first: str, indent: int) -> list[int]:
    """Where the items of a list start that holds nothing but text, those of nested lists left out."""
    return [item.start() + 1 for item in patterns.list_item(first, indent).finditer(text, block.start - 1, block.end)]


def normalise(text: str) -> str:
    """The text with every line ended by one `\\n` at the same offsets: the CR of a CR LF becomes a space."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    return text if text.endswith("\n") else text + "\n"


def clip(blocks: list[Block], size: int) -> None:
    """Keep blocks within the first `size` characters: a text that lacks its last line end was read with one."""
    index = len(blocks) - 1
    while index >= 0 and (blocks[index].end > size or blocks[index].depth):
        block = blocks[index]
        if block.end > size:
            blocks[index] = block._replace(end=size, body=min(block.body, size), tail=min(block.tail, size))
        index -= 1


class Scanner:
    """Reads one normalised text into `blocks`, from `enter` on and as far as `advance` is told.

    Everything before `done` belongs to finished blocks; text between `done` and `match` is paragraphs.
    """

    __slots__ = (
        "blocks",
        "containers",
        "done",
        "is_mdx",
        "items",
        "jump",
        "limit",
        "line",
        "match",
        "no_math_from",
        "plain_lists",
        "quote_run",
        "text",
        "tried_expressions",
    )

    def __init__(self, text: str, dialect: Dialect, items: bool) -> None:
        self.text = text
        self.is_mdx = is_mdx = dialect == "mdx"
        self.blocks: list[Block] = []
        self.containers = ContainerScanner(text, self.blocks, is_mdx)
        self.items = items
        self.plain_lists: dict[int, tuple[str, int]] = {}  # lists of nothing but text: how items start, indentation
        self.quote_run = (patterns.MDX_QUOTE_RUN if is_mdx else patterns.QUOTE_RUN).match
        self.line = (patterns.MDX_LINE if is_mdx else patterns.LINE).match
        self.jump = (patterns.MDX_JUMP if is_mdx else patterns.JUMP).search
        self.no_math_from = len(text)
        self.tried_expressions = mdx.Balance(text)
        self.done = 0
        self.limit = len(text)
        self.match: re.Match[str] | None = None

    def enter(self, start: int, limit: int | None = None) -> None:
        """Go to a line in front of which no block is open. Nobody will `advance` farther than to the line `limit`."""
        self.done = start
        self.limit = len(self.text) if limit is None else limit
        self.match = self.line(self.text, start) or self.jump(self.text, start, self.limit)

    def advance(self, stop: int) -> None:
        """Read all blocks that show in front of `stop`: a heading with its underline, a table with the row below."""
        text, blocks, search = self.text, self.blocks, self.jump
        match, done, limit = self.match, self.done, self.limit
        while match is not None:
            line = match.start()
            if text[line] == "\n":
                line += 1
            if line >= stop:
                break
            kind = match.lastgroup
            mark = match.end() if kind is None else match.start(kind)
            if kind == "h":
                end = text.index("\n", mark) + 1
                level = match.end() - mark
                title = leaves.heading_title(text[match.end() : end])
                blocks.append(_new(Block, ("heading", line, end, 0, line, end, level, title)))
            else:
                end = self.block(kind or "", line, mark, match, done)
            if end > line:
                done = end
                match = search(text, end - 1, limit)
            else:
                match = search(text, mark, limit)
        self.match, self.done = match, done

    def block(self, kind: str, line: int, mark: int, match: re.Match[str], done: int) -> int:
        """Read the block that starts at `line`; its end, or `line` if the line is paragraph text after all."""
        text = self.text
        if kind == "f":
            return self.fence(line, mark, match.end() - mark)
        if kind == "q":
            return self.quote(line)
        previous = paragraphs.line_before(text, line, done)
        if kind == "i":
            return line if previous >= 0 else self.code(line)
        if kind in "dt" and previous >= 0:
            end = self.table(line, mark, previous)
            if end > line:
                return end
        if kind == "s" or (kind == "d" and previous >= 0 and patterns.DASH_UNDERLINE.match(text, mark)):
            return self.underline(line, mark, done) if previous >= 0 else line
        if kind == "r" or (kind == "d" and patterns.DASH_RULE.match(text, mark)):
            end = text.index("\n", mark) + 1
            self.blocks.append(_new(Block, ("rule", line, end, 0, line, end, 0, "")))
            return end
        if kind == "b" or (kind == "d" and text[mark + 1] in paragraphs.BLANK):
            if previous >= 0 and not paragraphs.item_interrupts(text, mark, match):
                return line
            return self.list(line, mark, match)
        if kind == "l":
            return self.html(line, mark, previous >= 0)
        if kind == "k":
            return self.bracket(line, mark, previous >= 0)
        if kind == "c":
            return self.containers.run(line) if patterns.BOX_OPEN.match(text, mark) else line
        if kind == "m":
            return line if previous >= 0 else self.math(line, mark)
        if kind in "xe" and previous < 0:
            return self.expression(kind, line, mark)
        return line

    def fence(self, line: int, mark: int, length: int) -> int:
        body, tail, end = leaves.fence_ends(self.text, mark, length, self.is_mdx)
        self.blocks.append(_new(Block, ("fence", line, end, 0, body, tail, 0, "")))
        return end

    def code(self, line: int) -> int:
        match = patterns.CODE_LINES.match(self.text, line)
        if match is None:
            return line
        self.blocks.append(_new(Block, ("code", line, match.end(), 0, line, match.end(), 0, "")))
        return match.end()

    def table(self, line: int, mark: int, header: int) -> int:
        text = self.text
        body = text.index("\n", mark) + 1
        if text[header] in " \t" and patterns.CODE_LINES.match(text, header):
            return line
        if not leaves.opens_table(text[header:line], text[mark:body]):
            return line
        rows = patterns.TABLE_ROWS.match(text, body)
        end = rows.end() if rows else body
        self.blocks.append(_new(Block, ("table", header, end, 0, body, end, 0, "")))
        return end

    def underline(self, line: int, mark: int, done: int) -> int:
        text = self.text
        end = text.index("\n", mark) + 1
        start = paragraphs.paragraph_start(text, line, done)
        level = 1 if text[mark] == "=" else 2
        title = leaves.underlined_title(text[start:line])
        self.blocks.append(Block("heading", start, end, 0, start, end, level, title))
        return end

    def quote(self, line: int) -> int:
        run = None if self.items else self.quote_run(self.text, line)
        if run is None:
            return self.containers.run(line)
        end = run.end()
        self.blocks.append(Block("quote", line, end, 0, line, end))
        return end

    def list(self, line: int, mark: int, match: re.Match[str]) -> int:
        """Read a list: what is plain of it in one match, from the last item on line by line if there is more."""
        text = self.text
        if self.items:
            return self.containers.run(line)
        after = max(match.end(), mark + 1)
        delimiter = text[after - 1]
        first = delimiter if delimiter in ".)" else text[mark : mark + (3 if text.startswith("  ", mark + 1) else 2)]
        pattern = patterns.list_run(first, mark - line, self.is_mdx)
        run = pattern.match(text, line) if pattern else None
        if run is None:
            return self.containers.run(line)
        end = run.end()
        following = patterns.BLANK_LINES.match(text, end)
        behind = following.end() if following else end
        if behind == len(text) or (
            not patterns.LIST_MAY_GO_ON.match(text, behind) if behind > end else patterns.LIST_ENDS.match(text, behind)
        ):
            self.blocks.append(_new(Block, ("list", line, end, 0, line, end, 0, "")))
            self.plain_lists[line] = (first, mark - line)
            return end
        number = len(self.blocks)
        end = self.containers.run(paragraphs.last_item(text, run, first, mark - line))
        self.blocks[number] = self.blocks[number]._replace(start=line, body=line)
        return end

    def html(self, line: int, mark: int, in_paragraph: bool) -> int:
        text = self.text
        if self.is_mdx and not text.startswith("<!", mark):
            if in_paragraph:
                return line
            end = self.tried_expressions.tag_end(mark)
            kind = "g" if end > mark else ""
        else:
            kind = leaves.html_kind(text, mark, interrupts=in_paragraph)
            end = leaves.html_end(text, mark, kind) if kind else line
        if not kind:
            return line
        self.blocks.append(_new(Block, ("html", line, end, 0, line, end, 0, "")))
        return end

    def bracket(self, line: int, mark: int, in_paragraph: bool) -> int:
        text = self.text
        if patterns.FOOTNOTE.match(text, mark):
            return self.containers.run(line)
        end = -1 if in_paragraph else leaves.definition_end(text, mark)
        if end < 0:
            return line
        self.blocks.append(_new(Block, ("definition", line, end, 0, line, end, 0, "")))
        return end

    def math(self, line: int, mark: int) -> int:
        text = self.text
        body = text.index("\n", mark) + 1
        inner = mark + 2
        if mark >= self.no_math_from:
            return line
        close = patterns.MATH_CLOSE.search(text, inner)
        if close is None:
            self.no_math_from = mark
            return line
        tail = text.rfind("\n", 0, close.start()) + 1 if close.start() >= body else close.start()
        self.blocks.append(Block("math", line, close.end(), 0, min(body, tail), tail))
        return close.end()

    def expression(self, kind: str, line: int, mark: int) -> int:
        if kind == "e" and mark > line:
            return line
        end = self.tried_expressions.esm_end(mark) if kind == "e" else self.tried_expressions.expression_end(mark)
        if end <= mark:
            return line
        self.blocks.append(Block("expression", line, end, 0, line, end))
        return end

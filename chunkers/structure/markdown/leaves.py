"""Questions about one block that do not depend on what surrounds it."""

from __future__ import annotations

import re

from chunkers.structure.markdown import patterns

_PARENTHESES = re.compile(r"\\.|[()]")
_DELIMITER_CELL = re.compile(r"[ \t]*+:?-++:?[ \t]*+")


def heading_title(content: str) -> str:
    """The title of an ATX heading, given what follows its opening marks: closing marks and space around it go."""
    content = content.strip(" \t\r\n")
    if not content.endswith("#"):
        return content
    opened = content.rstrip("#")
    return content if opened and opened[-1] not in " \t" else opened.rstrip(" \t")


def underlined_title(lines: str) -> str:
    """The title of a setext heading: its lines without the space around each."""
    if "\n" not in lines and "\r" not in lines:
        return lines.strip()
    return "\n".join(line.strip() for line in lines.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n"))


def opens_table(header: str, delimiter: str) -> bool:
    """Whether the two lines (stripped or not) are the head of a GFM table: as many cells in both."""
    if "|" not in header:
        return False
    delimiter = delimiter.strip(" \t\n")
    if len(delimiter) < 2 or (delimiter[0] == "-" and delimiter[1] in " \t"):
        return False
    cells = delimiter.split("|")
    # Only the outermost cells may be empty (the bars at both ends).
    columns = 0
    for number, cell in enumerate(cells):
        if not cell.strip(" \t"):
            if 0 < number < len(cells) - 1:
                return False
        elif not _DELIMITER_CELL.fullmatch(cell):
            return False
        else:
            columns += 1
    header = header.strip(" \t\n")
    bars = header.count("|") - header.count("\\|")
    outer = header.startswith("|") + (len(header) > 1 and header.endswith("|") and not header.endswith("\\|"))
    return 0 < columns == bars + 1 - outer and header != "|"


def fence_ends(text: str, mark: int, length: int, is_mdx: bool = False) -> tuple[int, int, int]:
    """Of the top-level fence whose `length` marks start at `mark`: where its body starts, its closer, what follows.

    All three are line starts. One that is never closed reaches to the end of the text, and so does its body. MDX has
    no indented code, so there the closer may be indented by any amount.
    """
    body = text.index("\n", mark) + 1
    position = body - 1
    close = (patterns.MDX_FENCE_CLOSE if is_mdx else patterns.FENCE_CLOSE)[text[mark]]
    while match := close.search(text, position):
        if match.end(1) - match.start(1) >= length:
            return body, match.start() + 1, match.end() + 1
        position = match.end()
    return body, len(text), len(text)


def definition_end(text: str, start: int, limit: int | None = None) -> int:
    """Where the link definition that starts at `start` (its `[`) ends, as the start of the next line; -1: it is none.

    `limit` ends the search, else the first line that would interrupt a paragraph does.
    """
    end = len(text) if limit is None else limit
    head = patterns.DEFINITION.match(text, start, end)
    if head is None or not head["label"].strip() or not _balanced(head["dest"]):
        return -1
    after = head.end()
    title = patterns.DEFINITION_TITLE.match(text, after, end)
    rest = title or patterns.REST_BLANK.match(text, after, end)
    if rest is None:
        return -1
    if limit is None:
        line = text.find("\n", start, rest.end() - 1) + 1
        while line:
            if patterns.INTERRUPT.match(text, line):
                return definition_end(text, start, line)
            line = text.find("\n", line, rest.end() - 1) + 1
    return rest.end()


def _balanced(destination: str) -> bool:
    if destination.startswith("<") or ("(" not in destination and ")" not in destination):
        return True
    depth = 0
    for mark in _PARENTHESES.findall(destination):
        depth += (mark == "(") - (mark == ")")
        if depth < 0 or depth > 32:
            return False
    return depth == 0


def html_kind(text: str, start: int, *, interrupts: bool) -> str:
    """The kind of HTML block that opens at `start`: `a` to `g` for CommonMark's 1 to 7, or empty.

    `interrupts`: a paragraph is open, which kind 7 must not end. Kinds `f` and `g` end before a blank line, the others
    with the line that has what `patterns.HTML_CLOSE` looks for.
    """
    tag = patterns.HTML_TAG.match(text, start)
    if tag is not None:
        closing, name, behind = tag.groups()
        name = name.lower()
        if name in patterns.HTML_NAMES:
            return "f"
        if not closing and behind != "/>" and name in patterns.HTML_VERBATIM:
            return "a"
    elif text[start + 1] in "!?" and (mark := patterns.HTML_MARK.match(text, start)):
        return mark.lastgroup or ""
    return "g" if not interrupts and patterns.TAG_LINE.match(text, start) else ""


def html_end(text: str, start: int, kind: str) -> int:
    """The start of the line after the HTML block at `start` where no container ends it."""
    if kind in "fg":
        line_end = text.find("\n", start)
        if text.startswith("\n", line_end + 1):  # most are one line
            return line_end + 1
        blank = patterns.BLANK_LINE.search(text, line_end)
        return blank.start() + 1 if blank else len(text)
    close = patterns.HTML_CLOSE[kind].search(text, start)
    return text.find("\n", close.start()) + 1 if close else len(text)

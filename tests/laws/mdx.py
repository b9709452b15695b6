"""The blocks that MDX adds to Markdown, as rules of markdown-it-py: what the outline oracle needs for `.mdx` documents.

Expressions, import and export statements and tags are followed character by character, JavaScript's strings and
comments included. There is no indented code, and of HTML only what starts with `<!`. What never ends is text: a
compiler would refuse the document, a chunker may not.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, html_block, lheading, paragraph, reference

STATEMENT = re.compile(r"(?:import|export)[ \t{*'\"]")
Rule = Callable[[StateBlock, int, int, bool], bool]
TAG = re.compile(r"<[A-Za-z/>]")


def mdx_plugin(parser: MarkdownIt) -> None:
    """Read what is parsed as MDX. None of its blocks interrupts a paragraph, comments apart."""
    parser.disable("code")
    parser.block.ruler.at("html_block", comment, {"alt": ["paragraph", "reference", "blockquote"]})
    for rule in (reference, lheading, paragraph):
        parser.block.ruler.at(rule.__name__, however_indented(rule))
    for name, rule in (("statement", statement), ("expression", expression), ("tags", tags)):
        parser.block.ruler.before("table", f"mdx_{name}", rule)


def however_indented(rule: Rule) -> Rule:
    """The rule for text whose lines end it even if they are indented by four columns or more."""

    def wrapped(state: StateBlock, line: int, last: int, silent: bool) -> bool:
        stop = next((number for number in range(line, last) if state.isEmpty(number)), last)
        columns = state.sCount[line:stop]
        state.sCount[line:stop] = [min(column, state.blkIndent + 3) for column in columns]
        try:
            return rule(state, line, last, silent)
        finally:
            state.sCount[line:stop] = columns

    return wrapped


def comment(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    return state.src.startswith("<!", begin(state, line)) and html_block(state, line, last, silent)


def statement(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    """`import …` and `export …` in the first column, up to a blank line that no braces hold."""
    at = state.bMarks[line]
    if state.level or not STATEMENT.match(state.src, at):
        return False
    end, position = line, at
    while end < last and not state.isEmpty(end):
        while position < state.eMarks[end]:
            if state.src[position] == "{":
                closed = closing(state.src, position)
                if closed < 0:
                    position = state.eMarks[end]
                else:
                    end, position = line_of(state, closed, end), closed
            else:
                position += 1
        end += 1
        position = state.bMarks[end] if end < last else position
    return block(state, end, "statement", line)


def expression(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    """`{…}` and nothing else on its lines."""
    at = begin(state, line)
    if state.level or not state.src.startswith("{", at):
        return False
    closed = closing(state.src, at)
    end = line_of(state, closed, line)
    return closed > 0 and alone(state, closed, end) and block(state, end + 1, "expression", line)


def tags(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    """Tags, expressions behind them and nothing else on their lines; a blank line inside of a tag ends the try."""
    position = begin(state, line)
    if not TAG.match(state.src, position):
        return False
    blank = next((number for number in range(line, last) if state.isEmpty(number)), last)
    stop = state.eMarks[blank - 1]
    while True:
        position = closing(state.src, position, stop, "}" if state.src[position] == "{" else ">")
        if position < 0:
            return False
        end = line_of(state, position, line)
        if alone(state, position, end):
            return block(state, end + 1, "tags", line)
        position += len(state.src[position:]) - len(state.src[position:].lstrip(" \t"))
        if state.src[position] not in "<{":
            return False


def closing(text: str, start: int, stop: int | None = None, mark: str = "}") -> int:
    """Behind the first `mark` outside braces, strings and comments (`}`: the one of the brace at `start`); or -1."""
    stop, depth, at = len(text) if stop is None else stop, 0, start
    while at < stop:
        character = text[at]
        if character in "\"'`":
            at = string_end(text, at, stop)
        elif text.startswith("//", at):
            at = find(text, "\n", at, stop)
        elif text.startswith("/*", at):
            at = find(text, "*/", at + 2, stop) + 2
        else:
            at += 1
            depth += (character == "{") - (character == "}")
            if character == mark and depth == 0:
                return at
    return -1


def string_end(text: str, start: int, stop: int) -> int:
    """Behind the string that starts at `start`; behind its quote if it is none, at `stop` if a template never ends."""
    at, quote = start + 1, text[start]
    while at < stop and text[at] != quote:
        if text[at] == "\n" and quote != "`":
            return start + 1
        at += 2 if text[at] == "\\" else 1
    return min(stop, at + 1) if at < stop or quote == "`" else start + 1


def find(text: str, needle: str, start: int, stop: int) -> int:
    found = text.find(needle, start, stop)
    return stop if found < 0 else found


def begin(state: StateBlock, line: int) -> int:
    return state.bMarks[line] + state.tShift[line]


def line_of(state: StateBlock, position: int, line: int) -> int:
    """The line that `position` lies in or at the end of, from `line` on."""
    while line < state.lineMax - 1 and state.eMarks[line] < position:
        line += 1
    return line


def alone(state: StateBlock, position: int, line: int) -> bool:
    return not state.src[position : state.eMarks[line]].strip(" \t")


def block(state: StateBlock, end: int, name: str, line: int) -> bool:
    token = state.push(f"mdx_{name}", "", 0)
    token.map = [line, end]
    state.line = end
    return True

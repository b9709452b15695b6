"""Source code as its grammar has it: definitions with their paths, and where statements start.

tree-sitter counts bytes of UTF-8; everything that leaves this module is in code points.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from chunkers.structure.grammars import engine

DEEPEST = 10
"""Levels of nesting that are told apart."""

_BODIES = ("block", "body", "declaration_list", "compound_statement", "statements", "cases")
_ROOTS = frozenset({"program", "module", "source_file", "translation_unit", "compilation_unit"})
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "doc_comment"})
_ATTACHED = frozenset({"attribute_item", "attribute_list", "decorator", "attribute_declaration"})
_MOST_LEAD = 4000
_SPACE = re.compile(r"[ \t]*")
_GENERIC = re.compile(r"<.*\Z|\[.*\Z", re.DOTALL)
_MOST_NAME = 200
_MOST_INDENT = 256
_TRUSTED = 0.5
_SLICE = 1 << 16
_LEAST_REPORTS = 2000
_BYTES_PER_REPORT = 8


class Definition(NamedTuple):
    """A function, class or the like: `text[start:end]`, decorators and `export` included.

    `lead` is where the comments and attributes start that stand right above it, or `start`; at the line's start if
    nothing else is on it. `parent` is the index of the definition around it, -1 for none.
    """

    lead: int
    start: int
    end: int
    path: tuple[str, ...]
    parent: int


class Source(NamedTuple):
    """A text as code. `levels` are offsets where it may be cut, outermost first: of definitions and of statements.

    `error` is where its first syntax error is, if it has one; `is_trusted` tells whether enough of it was understood.
    """

    definitions: list[Definition]
    levels: list[tuple[list[int], list[int]]]
    error: int | None
    is_trusted: bool

    def path_of(self, start: int, end: int, starts: Sequence[int]) -> tuple[str, ...]:
        """The path of the innermost definition that holds `start…end`; `starts` are the leads of all of them."""
        at = bisect_right(starts, start) - 1
        while at >= 0 and self.definitions[at].end < end:
            at = self.definitions[at].parent
        return self.definitions[at].path if at >= 0 else ()


def read_code(text: str, language: str, most: int) -> Source:
    """`text` in the language of a grammar; nodes of at most `most` characters are not looked into.

    Raises MissingEngine if the grammar is not installed.
    """
    tree_sitter: Any = importlib.import_module("tree_sitter")
    grammar = engine(language)
    data = text.encode("utf-8", "surrogatepass")
    root = _parse(tree_sitter.Parser(grammar.language), data)
    if root is None:
        return Source([], [], 0, False)
    offsets = None if len(data) == len(text) else _offsets(data)
    error, lost = _errors(root) if root.has_error else (None, 0)
    if error is not None and offsets is not None:
        error = int(offsets[error])
    if lost > _TRUSTED * len(data):
        return Source([], [], error, False)
    definitions = _definitions(text, data, root, tree_sitter.QueryCursor(grammar.query), offsets)
    levels = _Boundaries(text, offsets, definitions, most).read(root)
    return Source(definitions, levels, error, True)


def _parse(parser: Any, data: bytes) -> Any:
    """The root of the tree; None if the parser loses itself in errors, where it takes quadratic time.

    It reports every hundred or so of its steps, which is every 30 to 150 bytes of what it understands.
    """
    reports = 0
    most = _LEAST_REPORTS + len(data) // _BYTES_PER_REPORT

    def is_lost(offset: int, has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > most

    def read(offset: int, point: Any) -> bytes:
        return data[offset : offset + _SLICE]

    try:
        tree = parser.parse(read, progress_callback=is_lost)
    except ValueError:  # it was stopped
        return None
    return None if tree is None or reports > most else tree.root_node


def _offsets(data: bytes) -> Any:
    """The code point offset of every byte offset."""
    bytes_ = np.frombuffer(data, dtype=np.uint8)
    counted = np.empty(len(data) + 1, dtype=np.int64)
    counted[0] = 0
    np.cumsum((bytes_ & 0xC0) != 0x80, out=counted[1:])
    return counted


def _errors(root: Any) -> tuple[int, int]:
    """Where the first syntax error is, and how many bytes were not understood (of the outermost two levels)."""
    first, lost = root.end_byte, 0
    if root.type == "ERROR":
        return root.start_byte, root.end_byte - root.start_byte
    for child in root.children:
        if child.type == "ERROR":
            lost += child.end_byte - child.start_byte
        if child.has_error:
            first = min(first, child.start_byte)
    return first, lost


# --- definitions -----------------------------------------------------------------------------------------------------


def _definitions(text: str, data: bytes, root: Any, cursor: Any, offsets: Any) -> list[Definition]:
    found: dict[int, tuple[int, int, str]] = {}  # by where the name starts: the outermost that has it
    for _, captures in cursor.matches(root):
        whole, name = captures["def"][0], captures["name"][0]
        start, end, key = whole.start_byte, whole.end_byte, name.start_byte
        known = found.get(key)
        if known is not None and known[0] <= start and end <= known[1]:
            continue
        owner = captures.get("owner")
        title = _title(data, name)
        if owner:
            title = f"{_title(data, owner[0]).lstrip('*')}.{title}"
        found[key] = (start, end, title)
    ordered = sorted(found.values(), key=lambda each: (each[0], -each[1]))
    definitions: list[Definition] = []
    open_: list[int] = []
    floor = 0
    for start, end, title in ordered:
        if offsets is not None:
            start, end = int(offsets[start]), int(offsets[end])
        while open_ and definitions[open_[-1]].end < end:
            open_.pop()
        parent = open_[-1] if open_ else -1
        path = definitions[parent].path if parent >= 0 else ()
        floor = max(definitions[-1].start + 1 if definitions else 0, floor)
        lead = _lead(text, start, floor)
        open_.append(len(definitions))
        definitions.append(Definition(lead, start, end, (*path, *title.split(".")), parent))
    return definitions


def _title(data: bytes, name: Any) -> str:
    title = data[name.start_byte : min(name.end_byte, name.start_byte + _MOST_NAME)].decode("utf-8", "replace")
    title = title.replace("\\ufffd", "")
    return " ".join(_GENERIC.sub("", title).split()) or title


def _lead(text: str, start: int, floor: int) -> int:
    """Where the comments and attributes above the definition at `start` begin, not before `floor`."""
    line = text.rfind("\n", floor, start) + 1
    if (line <= floor and floor) or not _is_blank(text, line, start):
        return start if line <= floor and floor else (start if not _is_blank(text, line, start) else line)
    lead, lowest = line, max(floor, start - _MOST_LEAD)
    while lead > lowest:
        above = text.rfind("\n", lowest, lead - 1) + 1
        if above <= lowest and lowest:
            break
        content = text[above : lead - 1].strip()
        if content.endswith("*/") and not content.startswith("/*"):
            opener = text.rfind("/*", lowest, lead)
            above = text.rfind("\n", lowest, opener) + 1 if opener >= 0 else -1
            if opener < 0 or (above <= lowest and lowest) or not _is_blank(text, above, opener):
                break
        elif (
            not content.startswith(("//", "/*", "#", "--", "@", "["))
            or content.startswith(("#!", "#include", "#define"))
            or (content.startswith("[") and not content.endswith("]"))
        ):
            break
        lead = above
    return lead


def _is_blank(text: str, start: int, end: int) -> bool:
    return _SPACE.fullmatch(text, start, end) is not None


# --- where statements start ------------------------------------------------------------------------------------------


class _Boundaries:
    """Reads the children of nodes that do not fit, level by level."""

    def __init__(self, text: str, offsets: Any, definitions: list[Definition], most: int) -> None:
        self.text, self.offsets, self.most = text, offsets, most
        self.leads = {each.start: each.lead for each in definitions}
        self.levels: list[tuple[list[int], list[int]]] = []

    def at(self, offset: int) -> int:
        return offset if self.offsets is None else int(self.offsets[offset])

    def read(self, root: Any) -> list[tuple[list[int], list[int]]]:
        level: Iterable[Any] = [root]
        while level:
            large: list[Any] = []
            definitions: list[int] = []
            statements: list[int] = []
            for node in level:
                large += self.children(node, definitions, statements)
            if definitions or statements:
                if len(self.levels) < DEEPEST:
                    self.levels.append((sorted(set(definitions)), sorted(set(statements))))
                else:
                    first, second = self.levels[-1]
                    self.levels[-1] = (sorted({*first, *definitions}), sorted({*second, *statements}))
            level = large
        return self.levels

    def children(self, node: Any, definitions: list[int], statements: list[int]) -> list[Any]:
        """Add where the children of `node` start; returns those that are too large themselves."""
        text, most, large = self.text, self.most, []
        kind = node.type
        is_body = kind in _ROOTS or kind.endswith(_BODIES)
        behind = -1  # the end of a comment that belongs to what is right below it
        was_definition = False
        for child in node.children:
            start, end = self.at(child.start_byte), self.at(child.end_byte)
            if end - start > most:
                large.append(child)
            if not child.is_named:
                continue
            lead = self.leads.get(start)
            at = start if lead is None else lead
            line = text.rfind("\n", max(0, at - _MOST_INDENT), at) + 1
            begins_line = (line > 0 or at <= _MOST_INDENT) and _is_blank(text, line, at)
            kind = child.type
            is_lead = (kind in _COMMENTS or kind in _ATTACHED) and begins_line
            attached = behind >= 0 and text.count("\n", behind, start) < 2 and not text[behind:start].strip()
            behind = end if is_lead else -1
            if kind in _COMMENTS and not begins_line:
                continue
            if not begins_line and not (is_body or lead is not None):
                continue
            if not attached or lead is not None:
                (definitions if lead is not None or was_definition else statements).append(line if begins_line else at)
            if not is_lead:
                was_definition = lead is not None
        return large

"""Source code as its grammar has it: definitions with their paths, and where statements start.

tree-sitter counts bytes of UTF-8; everything that leaves this module is in code points. Only nodes that do not fit into
a chunk are looked into: nothing else is ever cut inside.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from chunkers.structure.code_names import Names, clean_name
from chunkers.structure.grammars import GRAMMARS, language_of_grammar

DEEPEST = 10
"""Levels of nesting that are told apart."""

_BODIES = ("block", "body", "declaration_list", "compound_statement", "statements", "cases")
_ROOTS = frozenset({"program", "module", "source_file", "translation_unit", "compilation_unit"})
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "doc_comment"})
_ATTACHED = frozenset({"attribute_item", "decorator", "attribute_declaration"}) | _COMMENTS
_TRUSTED = 0.5
_MOST_INDENT = 256
_SLICE = 1 << 16
_LEAST_REPORTS = 2000
_BYTES_PER_REPORT = 8
_FEW = 1 << 16


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

    `error` is where its first syntax error is, about, if it has one; `is_trusted` tells whether enough of it was
    understood.
    """

    definitions: list[Definition]
    levels: list[tuple[list[int], list[int]]]
    error: int | None
    is_trusted: bool

    def path_of(self, start: int, end: int, leads: Sequence[int]) -> tuple[str, ...]:
        """The path of the innermost definition that holds `start…end`; `leads` are those of all of them."""
        at = bisect_right(leads, start) - 1
        while at >= 0 and self.definitions[at].end < end:
            at = self.definitions[at].parent
        return self.definitions[at].path if at >= 0 else ()


_LONE_RETURN = re.compile(r"\r(?!\n)")


def read_code(text: str, language: str, most: int) -> Source:
    """`text` in the language of a grammar; nodes of at most `most` characters are not looked into.

    Raises MissingEngine if the grammar is not installed.
    """
    if "\r" in text:
        text = _LONE_RETURN.sub("\n", text)  # grammars take one for a space, so that a comment would never end
    data = text.encode("utf-8", "surrogatepass")
    root = _parse(language_of_grammar(language), data)
    if root is None:
        return Source([], [], 0, False)
    inside = _inside_characters(data) if len(data) != len(text) else ()
    error = None
    if root.has_error:
        error, lost = _errors(root)
        error -= bisect_left(inside, error)
        if lost > _TRUSTED * len(data):
            return Source([], [], error, False)
    reader = _Reader(text, data, inside, Names(GRAMMARS[language].definitions), most)
    levels = reader.read(root)
    return Source(_nested(reader.found), levels, error, True)


def _parse(language: Any, data: bytes) -> Any:
    """The root of the tree; None if the parser loses itself in errors, where it takes quadratic time.

    It reports every hundred or so of its steps, which is every 30 to 150 bytes of what it understands.
    """
    tree_sitter: Any = importlib.import_module("tree_sitter")
    reports = 0
    most = _LEAST_REPORTS + len(data) // _BYTES_PER_REPORT

    def is_lost(offset: int, has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > most

    def read(offset: int, point: Any) -> bytes:
        return data[offset : offset + _SLICE]

    try:
        tree = tree_sitter.Parser(language).parse(read, progress_callback=is_lost)
    except ValueError:  # it was stopped
        return None
    return None if tree is None or reports > most else tree.root_node


def _inside_characters(data: bytes) -> Sequence[int]:
    """The bytes that go on a character. A byte offset less the number of those before it is in code points."""
    inside = np.flatnonzero((np.frombuffer(data, dtype=np.uint8) & 0xC0) == 0x80)
    return inside.tolist() if len(inside) < _FEW else inside.data  # which gives ints too, later


def _errors(root: Any) -> tuple[int, int]:
    """Where the first syntax error is, and how many bytes were not understood (of the outermost two levels)."""
    if root.type == "ERROR":
        return root.start_byte, root.end_byte - root.start_byte
    first, lost = root.end_byte, 0
    for child in root.children:
        if child.has_error:
            first = min(first, child.start_byte)
            if child.type == "ERROR":
                lost += child.end_byte - child.start_byte
    return first, lost


def _nested(found: list[tuple[int, int, int, tuple[str, ...]]]) -> list[Definition]:
    """The definitions (lead, start, end, name) with their paths."""
    definitions: list[Definition] = []
    open_: list[int] = []
    found.sort(key=itemgetter(2), reverse=True)
    found.sort(key=itemgetter(0))
    for lead, start, end, name in found:
        while open_ and definitions[open_[-1]].end < end:
            open_.pop()
        parent = open_[-1] if open_ else -1
        path = definitions[parent].path if parent >= 0 else ()
        open_.append(len(definitions))
        definitions.append(Definition(lead, start, end, (*path, *name), parent))
    return definitions


class _Reader:
    """Reads the children of nodes that do not fit, level by level."""

    def __init__(self, text: str, data: bytes, inside: Sequence[int], names: Names, most: int) -> None:
        self.text, self.data, self.names, self.most, self.inside = text, data, names, most, inside
        self.found: list[tuple[int, int, int, tuple[str, ...]]] = []
        self.levels: list[tuple[list[int], list[int]]] = []

    def read(self, root: Any) -> list[tuple[list[int], list[int]]]:
        """The levels of boundaries below `root`; what is defined there goes to `found`."""
        level = [root]
        while level:
            definitions: set[int] = set()
            statements: set[int] = set()
            large: list[Any] = []
            for node in level:
                large += self.children(node, definitions, statements)
            if len(self.levels) == DEEPEST:
                known = self.levels.pop()
                definitions.update(known[0])
                statements.update(known[1])
            if definitions or statements:
                self.levels.append((sorted(definitions), sorted(statements)))
            level = large
        return self.levels

    def children(self, node: Any, definitions: set[int], statements: set[int]) -> list[Any]:
        """Add where the children of `node` start; returns those that are too large themselves."""
        text, inside, most, large = self.text, self.inside, self.most, []
        kinds, found = self.names.kinds, self.found
        parent = node.type
        is_root = parent in _ROOTS
        is_body = is_root or parent.endswith(_BODIES)
        lead, behind = -1, -1  # of comments and attributes right above what comes next
        known = statements  # where a start goes to: definitions, behind one
        own = -1  # where it starts, its parent has said
        if not is_root:
            own = node.start_byte
            own -= bisect_left(inside, own)
        is_first = is_body and not is_root  # the first statement stays with what its body belongs to
        for child in node.named_children:  # nothing is inside of the others
            start, end = child.start_byte, child.end_byte
            if inside:
                start -= bisect_left(inside, start)
                end -= bisect_left(inside, end)
            if end - start > most:
                large.append(child)
            kind = child.type
            first, begins_line = start, True
            before = text[start - 1] if start else ""
            if before in " \t":
                first = text.rfind("\n", max(0, start - _MOST_INDENT), start) + 1
                begins_line = (first > 0 or start <= _MOST_INDENT) and not text[first:start].strip(" \t")
                first = first if begins_line else start
            elif before != "\n":
                begins_line = False
            if lead >= 0 and (text.count("\n", behind, start) > 1 or text[behind:start].strip()):
                lead = -1
            if kind in _ATTACHED:
                if begins_line:
                    if lead < 0:
                        lead = first
                        if start > own:
                            known.add(first)
                    behind = end - (text[end - 1] == "\n")
                continue
            name = self.names.of(child, kind, self.data) if kind in kinds else None
            if name is not None:
                found.append((first if lead < 0 else lead, start, end, clean_name(name)))
                if lead >= 0:
                    statements.discard(lead)
                definitions.add(first if lead < 0 else lead)
                known = definitions
            else:
                if lead < 0 and (begins_line or is_body) and start > own and not (is_first or kind.endswith(_BODIES)):
                    known.add(first)
                known = statements
            lead, is_first = -1, False
        return large

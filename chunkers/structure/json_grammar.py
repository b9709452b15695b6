"""JSON as RFC 8259 has it: whether a text is, where its containers end, and where it goes wrong.

One regular expression takes all members of a container up to the next one that nests deeper, so that the text is read
in C for the most part. Nothing is decoded: numbers, escapes, order and repeated keys stay what they are.
"""

from __future__ import annotations

import re

from chunkers.errors import MalformedDocument
from chunkers.text.lines import NEWLINE
from chunkers.text.patterns import compile_pattern

DEEPEST = 50_000
"""Levels of nesting that a document may have."""

_PLAIN = r'[^"\\\x00-\x1f]*+'
STRING = rf'"{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*+"'
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
SCALAR = rf"(?:{STRING}|{NUMBER}|true|false|null)"
_WS = r"[ \t\n\r]*+"


class _Grammar:
    """The patterns for texts with `space` between tokens.

    A step takes all members up to the end of their container (group 1) or one that nests deeper (group 2: it opens
    there). Containers that hold scalars only are taken in one.
    """

    def __init__(self, space: str) -> None:
        self.key = key = rf"{STRING}{space}:{space}"
        self.value = value = (
            rf"(?:{SCALAR}|\[{space}(?:{SCALAR}{space}(?:,{space}{SCALAR}{space})*+)?\]"
            rf"|\{{{space}(?:{key}{SCALAR}{space}(?:,{space}{key}{SCALAR}{space})*+)?\}})"
        )
        self.behind = compile_pattern(rf"{space}([,\]}}])")
        self.steps = {"{": _step(space, key, value, r"\}"), "[": _step(space, "", value, r"\]")}
        self.deepest = {"{": _step(space, key, SCALAR, r"\}"), "[": _step(space, "", SCALAR, r"\]")}


def _step(space: str, key: str, value: str, close: str) -> re.Pattern[str]:
    return compile_pattern(rf"{space}(?:{key}{value}{space},{space})*+{key}(?:{value}{space}({close})|([\[{{]))")


_SPACED, _COMPACT = _Grammar(_WS), _Grammar("")
_WHOLE = compile_pattern(rf"{_WS}{_SPACED.value}{_WS}\Z")
_OPEN = compile_pattern(rf"{_WS}([\[{{])")
_EMPTY = compile_pattern(rf"{_WS}[\]}}]")
_SPACE = compile_pattern(_WS)
_STRING, _SCALAR, _VALUE = compile_pattern(STRING), compile_pattern(SCALAR), compile_pattern(_SPACED.value)
_STRING_PART = compile_pattern(STRING.removesuffix('"'))
_MEMBERS = {
    "{": compile_pattern(rf"{_COMPACT.key}({_COMPACT.value}|[\[{{])"),
    "[": compile_pattern(rf"({_COMPACT.value}|[\[{{])"),
}


def container_ends(text: str, start: int = 0, *, compact: bool = False) -> dict[int, int]:
    """The end of every container that holds another one, by its start. Linear.

    `compact` is for a text without white space between tokens: others are refused.
    Raises MalformedDocument, with the position, unless `text[start:]` is one JSON value of at most `DEEPEST` levels.
    """
    ends: dict[int, int] = {}
    if _WHOLE.match(text, start):
        return ends
    opened = _OPEN.match(text, start)
    if opened is None:
        raise _error_at_value(text, start)
    at, stack, fresh = opened.end(), [opened.end() - 1], True
    grammar = _COMPACT if compact else _SPACED
    steps = {opener: step.match for opener, step in grammar.steps.items()}
    find_behind = grammar.behind.match
    while stack:
        opener = text[stack[-1]]
        found = steps[opener](text, at) if len(stack) < DEEPEST else _deepest(text, at, grammar.deepest[opener])
        if found is None and fresh and (empty := _EMPTY.match(text, at)) and _closes(opener, text[empty.end() - 1]):
            at = empty.end()
        elif found is None:
            raise _error_in(text, at, opener, fresh=fresh)
        else:
            at = found.end()
            if found.lastindex == 2:
                stack.append(at - 1)
                fresh = True
                continue
        ends[stack.pop()] = at
        while stack:
            behind = find_behind(text, at)
            if behind is None:
                raise _error(text, _SPACE.match(text, at).end(), "a comma or the end of the container")  # type: ignore[union-attr]
            at, mark = behind.end(), behind[1]
            if mark == ",":
                break
            if not _closes(text[stack[-1]], mark):
                raise _error(text, at - 1, "a comma or the end of the container")
            ends[stack.pop()] = at
        fresh = False
    rest = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if rest < len(text):
        raise _error_behind(text, rest)
    return ends


def member_ends(text: str, start: int, end: int, ends: dict[int, int]) -> list[int]:
    """Where each member of the container `text[start:end]` ends, in a valid text without white space between tokens.

    The first one starts behind the bracket, each other behind the comma that follows.
    """
    match, nested = _MEMBERS[text[start]].match, ends.get
    found: list[int] = []
    at, last = start + 1, end - 1
    while at < last:
        stop = match(text, at).end()  # type: ignore[union-attr]
        stop = nested(stop - 1, stop)  # it has come to the bracket of a container that holds others
        found.append(stop)
        at = stop + 1
    return found


def value_start(text: str, container: int, member: int) -> int:
    """Where the value starts of the member that starts at `member`, behind its key in an object."""
    return _MEMBERS[text[container]].match(text, member).start(1)  # type: ignore[union-attr]


def value_spans(text: str, start: int = 0) -> list[tuple[int, int]]:
    """Where the values of a text lie that holds several in a row (JSON Lines, for one).

    Raises MalformedDocument where one is not JSON.
    """
    found: list[tuple[int, int]] = []
    at = _SPACE.match(text, start).end()  # type: ignore[union-attr]
    while at < len(text):
        end = _value_end(text, at)
        found.append((at, end))
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    return found


_TOKEN = compile_pattern(rf"{STRING}|[\[\]{{}}]|[^\[\]{{}}\"]++")


def _value_end(text: str, start: int) -> int:
    """The end of the value that starts at `start`, which is read to be sure that it is one."""
    scalar = _SCALAR.match(text, start)
    if scalar is not None:
        return scalar.end()
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(text[token.start()], 0)
        if depth <= 0:
            try:
                container_ends(text[start : token.end()])
            except MalformedDocument as error:
                raise MalformedDocument(str(error), position=start + (error.position or 0)) from None
            return token.end()
    raise _error_at_value(text, start)


def _closes(opener: str, mark: str) -> bool:
    return mark == ("}" if opener == "{" else "]")


def _deepest(text: str, at: int, step: re.Pattern[str]) -> re.Match[str] | None:
    """A step on the last level that is allowed."""
    found = step.match(text, at)
    if found is not None and found.lastindex == 2:
        raise MalformedDocument(f"JSON nested deeper than {DEEPEST:,} levels", position=found.end() - 1)
    return found


# --- where it goes wrong ---------------------------------------------------------------------------------------------


def _error_in(text: str, at: int, opener: str, *, fresh: bool) -> MalformedDocument:
    """What is wrong with the members from `at`, the first of which is the container's first one if it is `fresh`."""
    is_object = opener == "{"
    while True:
        at = _space(text, at)
        if is_object:
            key = _STRING.match(text, at)
            if key is None:
                wanted = "a key in double quotes" + (" or the end of the object" if fresh else "")
                return _error_in_string(text, at) if text[at : at + 1] == '"' else _error(text, at, wanted)
            at = _space(text, key.end())
            if text[at : at + 1] != ":":
                return _error(text, at, "a colon")
            at = _space(text, at + 1)
        value = _VALUE.match(text, at)
        if value is None:
            return _error_at_value(text, at)
        at = _space(text, value.end())
        if text[at : at + 1] != ",":
            return _error(text, at, f"a comma or the end of the {'object' if is_object else 'list'}")
        at, fresh = at + 1, False


def _error_at_value(text: str, at: int) -> MalformedDocument:
    at = _space(text, at)
    scalar = _SCALAR.match(text, at)
    if scalar is not None:
        return _error_behind(text, _space(text, scalar.end()))
    return _error_in_string(text, at) if text[at : at + 1] == '"' else _error(text, at, "a value")


def _error_in_string(text: str, at: int) -> MalformedDocument:
    part = _STRING_PART.match(text, at)
    return _error(text, part.end() if part else at, "the rest of a string")


def _error_behind(text: str, at: int) -> MalformedDocument:
    error = _error(text, at, "the end of the document behind its one value")
    try:
        more = len(value_spans(text[at:]))
    except MalformedDocument:
        return error
    return MalformedDocument(
        f"{error}; {more + 1} values stand in a row, as in JSON Lines: those are records", position=at
    )


def _error(text: str, at: int, wanted: str) -> MalformedDocument:
    line_ends = [found.end() for found in NEWLINE.finditer(text, 0, at)]
    column = at - (line_ends[-1] if line_ends else 0) + 1
    got = repr(text[at]) if at < len(text) else "the end of the text"
    place = f"line {len(line_ends) + 1} column {column}"
    return MalformedDocument(f"not JSON: {got} at {place}, where {wanted} has to be", position=at)


def _space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]

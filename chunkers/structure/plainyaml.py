"""The YAML that most front matter is: nested keys, lists of scalars, nothing that could be read in two ways.

A hundred times faster than a full parser, and never different: whatever is not surely the same is left to it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

Plain = str | int | None | list["Plain"] | dict[str, "Plain"]

# Characters that every scalar may hold, besides those of ASCII; YAML folds or refuses the others.
_SAFE = r"\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_SCALAR = (
    rf"\"(?P<double>[\x20-!#-\[\]-\x7e{_SAFE}]*+)\"|'(?P<single>[\x20-&(-\x7e{_SAFE}]*+)'|(?P<int>0|[1-9][0-9]{{0,17}})"
    rf"|(?P<text>[A-Za-z](?:[\x20-\"$-9;-\x7e{_SAFE}]++|:(?![ \n])|(?<!\ )\#)*+)"
)
_LINE = re.compile(
    rf"(\ *)(?:(?P<item>-)\ +|(?P<key>[A-Za-z_][A-Za-z0-9_-]*):(?:\ +|(?=\n)))(?:{_SCALAR})?\ *\n", re.VERBOSE
)
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"])


class _Line(NamedTuple):
    indent: int
    key: str | None  # None: a list item
    value: str | int | None


def load_plain(source: str) -> dict[str, Plain] | None:
    """The mapping that `source` (lines ended by `\\n`) is, or None where only a full parser can tell."""
    lines: list[_Line] = []
    position = 0
    while position < len(source):
        match = _LINE.match(source, position)
        if match is None:
            return None
        kind = match.lastgroup
        value = None if kind in ("item", "key", None) else match[kind or 0]
        key = match["key"]
        if key is not None and key.lower() in _WORDS:
            return None
        if kind == "text" and value is not None:
            value = value.rstrip(" ")
            if value.lower() in _WORDS:
                return None
        if key is None and value is None:
            return None
        lines.append(_Line(len(match[1]), key, int(value) if kind == "int" and value else value))
        position = match.end()
    if not lines or lines[0].indent or lines[0].key is None:
        return None
    values, end = _mapping(lines, 0)
    return values if end == len(lines) else None


def _mapping(lines: list[_Line], at: int) -> tuple[dict[str, Plain], int]:
    """The mapping whose first line is `at`, and the line after it; a line that fits nowhere ends the whole early."""
    indent = lines[at].indent
    values: dict[str, Plain] = {}
    while at < len(lines) and lines[at].indent == indent and (key := lines[at].key) is not None:
        value: Plain = lines[at].value
        at += 1
        if value is None and at < len(lines):
            below = lines[at]
            if below.key is None and below.indent >= indent:
                value, at = _items(lines, at)
            elif below.indent > indent:
                value, at = _mapping(lines, at)
        values[key] = value
    return values, at


def _items(lines: list[_Line], at: int) -> tuple[list[Plain], int]:
    indent = lines[at].indent
    values: list[Plain] = []
    while at < len(lines) and lines[at].indent == indent and lines[at].key is None:
        values.append(lines[at].value)
        at += 1
    return values, at

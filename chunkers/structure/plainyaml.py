"""The YAML that most front matter is: nested keys, lists of scalars, nothing that could be read in two ways.

A hundred times faster than a full parser, and never different: whatever is not surely the same is left to it.
"""

from __future__ import annotations

import datetime
import re
from functools import cache

from chunkers.text.patterns import compile_pattern

Plain = str | int | datetime.date | None | list["Plain"] | dict[str, "Plain"]

# Characters that every scalar may hold, besides those of ASCII; YAML folds or refuses the others.
_SAFE = r"\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_KEY = r"[A-Za-z_][A-Za-z0-9_-]*+"
_QUOTED = rf"\"[\x20-!#-\[\]-\x7e{_SAFE}]*+\"|'[\x20-&(-\x7e{_SAFE}]*+'"
_ITEM = rf"\ *+(?:{_QUOTED}|[A-Za-z][A-Za-z0-9_./-]*+(?:\ ++[A-Za-z0-9_./-]++)*+)\ *+"
_SCALAR = (
    rf"{_QUOTED}|(?:0|[1-9][0-9]{{0,17}}+)(?=\ *+\n)|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?=\ *+\n)"
    rf"|[A-Za-z](?:[\x20-\"$-9;-\x7e{_SAFE}]++|:(?![ \n])|(?<!\ )\#)*+|\[(?:{_ITEM}(?:,{_ITEM})*+)?\]"
)
PLAIN_LINES = rf"(?:\ *+(?:-\ ++(?:{_SCALAR})|{_KEY}:(?:\ *+(?=\n)|\ ++(?:{_SCALAR})))\ *+\n)++"
"""Some lines that `read_plain` can read, if any can, as a regular expression."""
_NESTED = re.compile(r"\n(?:[ \-]|(?<=:\n))")
_BOOLEANS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"])
_LONGEST = max(map(len, _WORDS))
_Line = tuple[int, str, Plain]  # indentation, the key ("": a list item), the value


# They take milliseconds to compile, and few programs read front matter.


@cache
def _lines() -> re.Pattern[str]:
    return compile_pattern(PLAIN_LINES)


@cache
def _line() -> re.Pattern[str]:
    return compile_pattern(rf"(\ *+)(?:-|({_KEY}):)\ *+({_SCALAR}|)\ *+\n")


@cache
def _flow_item() -> re.Pattern[str]:
    return compile_pattern(rf"({_QUOTED}|[^\[\], ]++(?:\ ++[^\[\], ]++)*+)\ *+[,\]]")


class _NotPlain(Exception):
    """Only a full parser can tell."""


def load_plain(source: str) -> dict[str, Plain] | None:
    """The mapping that `source` (lines ended by `\\n`) is, or None where only a full parser can tell."""
    return read_plain(source) if _lines().fullmatch(source) else None


def read_plain(source: str) -> dict[str, Plain] | None:
    """The same for lines that `PLAIN_LINES` matched."""
    try:
        if source[0] not in " -" and not _NESTED.search(source):
            return _read_flat(source)
        lines: list[_Line] = [
            (len(space), _checked(key), _value(scalar) if scalar else None)
            for space, key, scalar in _line().findall(source)
        ]
    except _NotPlain:
        return None
    if lines[0][0] or not lines[0][1]:
        return None
    values, end = _mapping(lines, 0)
    return values if end == len(lines) else None


def _read_flat(source: str) -> dict[str, Plain]:
    """`read_plain` for lines of a key and a value each, if not a blank one."""
    values: dict[str, Plain] = {}
    for line in source[:-1].split("\n"):
        key, _, scalar = line.partition(":")
        scalar = scalar.strip(" ")
        values[_checked(key)] = _value(scalar) if scalar else None
    return values


def _checked(key: str) -> str:
    if len(key) <= _LONGEST and key.lower() in _WORDS:
        raise _NotPlain
    return key


def _value(scalar: str) -> Plain:
    """What a scalar means that has no space before it. Raises _NotPlain."""
    first = scalar[0]
    if first in "\"'":
        return scalar.rstrip(" ")[1:-1]
    if first == "[":
        return [_value(item) for item in _flow_item().findall(scalar)]
    if "0" <= first <= "9":
        if "-" not in scalar:
            return int(scalar)
        try:
            return datetime.date.fromisoformat(scalar.rstrip(" "))
        except ValueError:
            raise _NotPlain from None
    scalar = scalar.rstrip(" ")
    if len(scalar) > _LONGEST or scalar.lower() not in _WORDS:
        return scalar
    if scalar in _BOOLEANS:
        return _BOOLEANS[scalar]
    raise _NotPlain


def _mapping(lines: list[_Line], at: int) -> tuple[dict[str, Plain], int]:
    """The mapping whose first line is `at`, and the line after it; a line that fits nowhere ends the whole early."""
    indent = lines[at][0]
    values: dict[str, Plain] = {}
    while at < len(lines) and lines[at][0] == indent and lines[at][1]:
        _, key, scalar = lines[at]
        value: Plain = scalar
        at += 1
        if value is None and at < len(lines):
            below, below_key, _ = lines[at]
            if not below_key and below >= indent:
                value, at = _items(lines, at)
            elif below > indent:
                value, at = _mapping(lines, at)
        values[key] = value
    return values, at


def _items(lines: list[_Line], at: int) -> tuple[list[Plain], int]:
    indent = lines[at][0]
    values: list[Plain] = []
    while at < len(lines) and lines[at][0] == indent and not lines[at][1]:
        values.append(lines[at][2])
        at += 1
    return values, at

"""The YAML that most front matter is: nested keys, lists of scalars, nothing that could be read in two ways.

A hundred times faster than a full parser, and never different: whatever is not surely the same is left to it.
"""

from __future__ import annotations

from chunkers.text.patterns import compile_pattern

Plain = str | int | None | list["Plain"] | dict[str, "Plain"]

# Characters that every scalar may hold, besides those of ASCII; YAML folds or refuses the others.
_SAFE = r"\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_KEY = r"[A-Za-z_][A-Za-z0-9_-]*+"
_SCALAR = (
    rf"\"[\x20-!#-\[\]-\x7e{_SAFE}]*+\"|'[\x20-&(-\x7e{_SAFE}]*+'|(?:0|[1-9][0-9]{{0,17}}+)(?=\ *+\n)"
    rf"|[A-Za-z](?:[\x20-\"$-9;-\x7e{_SAFE}]++|:(?![ \n])|(?<!\ )\#)*+"
)
PLAIN_LINES = rf"(?:\ *+(?:-\ ++(?:{_SCALAR})|{_KEY}:(?:\ *+(?=\n)|\ ++(?:{_SCALAR})))\ *+\n)++"
"""Some lines that `read_plain` can read, if any can, as a regular expression."""
_LINES = compile_pattern(PLAIN_LINES)
_LINE = compile_pattern(rf"(\ *+)(?:-|({_KEY}):)\ *+({_SCALAR}|)\ *+\n")
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"])
_Line = tuple[int, str, str | int | None]  # indentation, the key ("": a list item), the value


def load_plain(source: str) -> dict[str, Plain] | None:
    """The mapping that `source` (lines ended by `\\n`) is, or None where only a full parser can tell."""
    return read_plain(source) if _LINES.fullmatch(source) else None


def read_plain(source: str) -> dict[str, Plain] | None:
    """The same for lines that `PLAIN_LINES` matched."""
    lines: list[_Line] = []
    words, is_flat = _WORDS, True
    for space, key, scalar in _LINE.findall(source):
        value: str | int | None = scalar
        if not scalar:
            value = None
        elif (first := scalar[0]) in "\"'":
            value = scalar[1:-1]
        elif "0" <= first <= "9":
            value = int(scalar)
        else:
            value = scalar.rstrip(" ")
            if scalar.lower().rstrip(" ") in words:
                return None
        if key.lower() in words:
            return None
        if space or not key or value is None:
            is_flat = False
        lines.append((len(space), key, value))
    if is_flat:
        return {key: value for _, key, value in lines}
    if lines[0][0] or not lines[0][1]:
        return None
    values, end = _mapping(lines, 0)
    return values if end == len(lines) else None


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

"""Globs on `/`-joined paths: the include, exclude and match patterns of a configuration.

    **        any characters, `/` too; as a whole folder name (`a/**/b`) also no folder at all
    *         any characters except `/`
    ?         one character except `/`
    [a-z]     one character of a set, [!a-z] or [^a-z] one that is not in it; never `/`

A pattern covers the whole path and case counts. Object storage has no hidden files, so a leading dot is an ordinary
character. Braces and backslashes are refused rather than read as literals, because shells give them a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

MAX_DEEP_WILDCARDS = 4
"""`**` in one pattern. Each may multiply the time of a mismatch by the depth of the path."""


class GlobError(ValueError):
    """A pattern that means nothing, or not what it seems to. The message is a predicate: `has no closing ]`."""


@dataclass(frozen=True)
class Globs:
    """Patterns as one compiled expression. Picklable and hashable by its patterns."""

    patterns: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether any pattern matches the whole of `path`."""
        return self._compiled.fullmatch(path) is not None

    def first(self, path: str) -> int | None:
        """The index of the first pattern that matches the whole of `path`."""
        found = self._compiled.fullmatch(path)
        return None if found is None or found.lastindex is None else found.lastindex - 1

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        # An expression that never matches stands for no pattern at all: an empty alternation would match "".
        return re.compile("|".join(f"({translate(pattern)})" for pattern in self.patterns) or r"(?!)", re.DOTALL)

    def __reduce__(self) -> tuple[type[Globs], tuple[tuple[str, ...]]]:
        return (Globs, (self.patterns,))


def compile_globs(patterns: Iterable[str]) -> Globs:
    """Compiled `patterns`; GlobError when one cannot be used."""
    globs = Globs(tuple(patterns))
    for pattern in globs.patterns:
        translate(pattern)
    return globs


def translate(pattern: str) -> str:
    """`pattern` as a regular expression for `fullmatch`, without capturing groups. Raises GlobError."""
    _check(pattern)
    folders = pattern.split("/")
    parts: list[str] = []
    for number, folder in enumerate(folders):
        last = number == len(folders) - 1
        if folder == "**" and last:
            parts.append(".+" if number else ".*")
        elif folder == "**":
            parts.append("(?:.*/)?")
        else:
            parts.append(_translate_name(folder) + ("" if last else "/"))
    return "".join(parts)


def _check(pattern: str) -> None:
    if not pattern:
        raise GlobError("is empty")
    if pattern.startswith("/"):
        raise GlobError("starts with '/'; patterns are relative to the source")
    if pattern.endswith("/"):
        raise GlobError(f"ends with '/'; write {pattern + '**'!r} for everything in that folder")
    folders = pattern.split("/")
    if "." in folders or ".." in folders:
        raise GlobError("has a '.' or '..' folder; patterns are relative to the source")
    if "" in folders:
        raise GlobError("has an empty folder name ('//')")
    if re.search(r"\*{3}", pattern):
        raise GlobError("has more than two '*' in a row")
    if pattern.count("**") > MAX_DEEP_WILDCARDS:
        raise GlobError(f"has more than {MAX_DEEP_WILDCARDS} '**'")


def _translate_name(name: str) -> str:
    """One folder or file name. `[^/]*` runs are made atomic up to the next literal, so a mismatch stays linear."""
    pieces: list[str] = [""]
    deep = "**" in name
    position = 0
    while position < len(name):
        character = name[position]
        position += 1
        if name.startswith("**", position - 1):
            pieces[-1] += ".*"
            position += 1
        elif character == "*" and deep:
            pieces[-1] += "[^/]*"
        elif character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[":
            expression, position = _translate_set(name, position)
            pieces[-1] += expression
        elif character in "{}\\":
            raise GlobError(_unsupported(character))
        else:
            pieces[-1] += re.escape(character)
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _translate_set(name: str, start: int) -> tuple[str, int]:
    """The set that opens before `start`, and where the name goes on after it."""
    negated = name[start : start + 1] in ("!", "^")
    first = start + negated
    end = name.find("]", first + 1)  # a ] right after the opening is a member
    if end < 0:
        raise GlobError("has a '[' without a closing ']'; write '[[]' for a literal one")
    members = ""
    for low, high, single in re.findall(r"(.)-(.)|(.)", name[first:end], re.DOTALL):
        if low > high:
            raise GlobError(f"has the range '{low}-{high}' the wrong way round")
        members += re.escape(single) if single else f"{re.escape(low)}-{re.escape(high)}"
    return ("(?!/)[^" if negated else "(?!/)[") + members + "]", end + 1


def _unsupported(character: str) -> str:
    if character == "\\":
        return "has a backslash; folders are separated by '/', and '[\\]' is a literal backslash"
    return f"has {character!r}; write one pattern per alternative, or '[{character}]' for a literal one"

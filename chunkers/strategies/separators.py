"""Options that name separators: checked once, turned into levels of a ladder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regex

from chunkers.cutting.levels import Grapheme, Level, SeparatorPosition
from chunkers.cutting.separators import Separator, SeparatorPattern
from chunkers.errors import InvalidOption


def check_separators(name: str, value: Any, *, is_regex: bool) -> None:
    """Refuse anything but a non-empty list of strings, or of patterns that compile."""
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(each, str) for each in value):
        raise InvalidOption(name, value, "a list of at least one string")
    if is_regex:
        for each in value:
            check_pattern(name, each)


def check_pattern(name: str, value: str) -> None:
    """Refuse a pattern that does not compile."""
    try:
        regex.compile(value)
    except regex.error as error:
        raise InvalidOption(name, value, f"a regular expression ({error})") from error


def check_position(value: Any) -> None:
    """Refuse anything but the two documented positions, or none."""
    if value not in (None, "start", "end"):
        raise InvalidOption("separator_position", value, "start, end or null (dropped at cuts)")


def separator_ladder(separators: Sequence[str], *, is_regex: bool, position: SeparatorPosition | None) -> list[Level]:
    """One level a separator, in the order given; `""` is a cut anywhere, which also ends every ladder."""
    levels: list[Level] = []
    for each in separators:
        if each == "":
            break
        levels.append(SeparatorPattern(each, position) if is_regex else Separator(each, position))
    return [*levels, Grapheme()]

"""Regular expressions that mean the same on every Python we run on.

Up to Python 3.11.4 a possessive repeat of a group (`(?:a|b)*+`) that holds something which can be retried may give
wrong matches (CPython issue 106052). There, each is compiled as the atomic group of a plain repeat (`(?>(?:a|b)*)`),
which has the same meaning and no such fault, and takes more memory on long matches.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

FIRST_SOUND = (3, 11, 5)


def _sound(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def _mended(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`pattern` with atomic groups in the places of possessive ones: same matches, from the parsed form."""
    # The parsed form is not public, but it is final in the versions that come here.
    constants, parser = re._constants, re._parser  # type: ignore[attr-defined]

    def atomic(parsed: Any) -> None:
        for at, (operation, value) in enumerate(parsed.data):
            for inner in _groups_in(value, parser.SubPattern):
                atomic(inner)
            if operation is constants.POSSESSIVE_REPEAT:
                plain = parser.SubPattern(parsed.state, [(constants.MAX_REPEAT, value)])
                parsed.data[at] = (constants.ATOMIC_GROUP, plain)

    parsed = parser.parse(pattern, flags)
    atomic(parsed)
    compiled: re.Pattern[str] = re._compiler.compile(parsed, flags)  # type: ignore[attr-defined]
    return compiled


def _groups_in(value: Any, group: type) -> list[Any]:
    if isinstance(value, group):
        return [value]
    if isinstance(value, (tuple, list)):
        return [found for item in value for found in _groups_in(item, group)]
    return []


compile_pattern: Callable[..., re.Pattern[str]] = _sound if sys.version_info >= FIRST_SOUND else _mended
"""`re.compile` for patterns with possessive groups: `compile_pattern(pattern, flags=0)`."""

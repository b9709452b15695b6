"""The inside of a JSON string: what it says, and which offset of the text each character comes from."""

from __future__ import annotations

import re
from bisect import bisect_right
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")


class Content:
    """The characters of a string value that lies at `text[start:end]`, its quotes included."""

    __slots__ = ("_decoded", "_raw", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text: str = scanstring(text, start + 1, False)[0]
        # Where a stretch of characters that are one for one starts, decoded and raw; an escape is a stretch of one.
        self._decoded, self._raw = [0], [start + 1]
        shorter = start + 1
        for escape in _ESCAPE.finditer(text, start + 1, end - 1):
            at = escape.start() - shorter
            if at > self._decoded[-1]:
                self._decoded.append(at)
                self._raw.append(escape.start())
            shorter = escape.end() - at - 1
            self._decoded.append(at + 1)
            self._raw.append(escape.end())

    def raw(self, offset: int) -> int:
        """The offset in the JSON text of a character's start."""
        at = bisect_right(self._decoded, offset) - 1
        return self._raw[at] + offset - self._decoded[at]


def unescaped(text: str) -> str:
    """What a string says, given with its quotes."""
    return str(scanstring(text, 1, False)[0])

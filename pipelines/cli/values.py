"""Values on the command line that several commands take."""

from __future__ import annotations

import argparse
import re

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhdw])", re.ASCII)


def whole_number(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


def version_number(text: str) -> int:
    """A version of a table."""
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a version; versions are whole numbers from 0")
    return int(text)


def duration(text: str) -> float:
    """A span of time in seconds, written as 90s, 15m, 12h, 30d or 2w; 0 needs no unit."""
    found = _DURATION.fullmatch(text)
    if found is None and text != "0":
        raise argparse.ArgumentTypeError(f"{text!r} is no span of time; write 90s, 15m, 12h, 30d or 2w")
    return float(found[1]) * _UNITS[found[2]] if found else 0.0

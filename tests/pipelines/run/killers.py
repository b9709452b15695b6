"""Length functions of documents that take their process along. Worker processes import them by name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

KILLER = "THE KILLER"
SLOW = "THE SLOW ONE"


def deadly(text: str) -> int:
    """The length of a text; one with KILLER in it ends the process."""
    if KILLER in text:
        os._exit(7)
    return len(text)


def quietly_deadly(text: str) -> int:
    """As `deadly`, as if all were well."""
    if KILLER in text:
        os._exit(0)
    return len(text)


def slow(text: str) -> int:
    """The length of a text; one with SLOW in it takes its time."""
    if SLOW in text:
        time.sleep(0.05)
    return len(text)


def endless(text: str) -> int:
    """The length of a text; with SLOW in it, it is waited for without end, whatever happens."""
    while SLOW in text:
        try:
            time.sleep(3600)
        except Exception:
            continue
    return len(text)


def leaving(text: str) -> int:
    """The length of a text; one with KILLER in it is a reason to leave, as scripts do."""
    if KILLER in text:
        raise SystemExit(3)
    return len(text)


class Unloadable:
    """A length function that ends every process it is sent to."""

    def __init__(self) -> None:
        self.__qualname__ = type(self).__name__  # as a function has

    def __call__(self, text: str) -> int:
        return len(text)

    def __reduce__(self) -> tuple[Callable[..., None], tuple[int, ...]]:
        return os._exit, (9,)

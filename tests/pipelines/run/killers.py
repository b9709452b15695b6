"""Length functions of documents that take their process along. Worker processes import them by name."""

from __future__ import annotations

import os
import time

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

"""What a document's text tells about its strategy, beyond its path: laws and questions, by strict evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chunkers.structure.faq import is_faq
from chunkers.structure.legal import is_law

_EVIDENCE: Mapping[str, Callable[[str], bool]] = {"legal": is_law, "faq": is_faq}
DETECTED = tuple(_EVIDENCE)
"""The strategies that a text may choose."""

LOOKED_AT = frozenset({"recursive", "markdown"})
"""The strategies in whose place they may be chosen: those of plain and Markdown text."""


def detected(text: str) -> str | None:
    """The strategy that the text itself asks for, if it certainly does."""
    return next((name for name, is_one in _EVIDENCE.items() if is_one(text)), None)

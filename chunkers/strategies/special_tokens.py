"""Options that name special tokens: checked once, and what they mean for a document."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from chunkers.errors import InvalidOption, SpecialTokenFound
from chunkers.measure.tokens import Encoding

Special = Collection[str] | Literal["all"] | None


def allowed_tokens(allowed: Special, tokenizer: Encoding) -> frozenset[str]:
    """The special tokens that count as one token each."""
    return _special(allowed, tokenizer)


def disallowed_tokens(allowed: Special, disallowed: Special, tokenizer: Encoding) -> frozenset[str]:
    """The special tokens that no document may hold; "all" are the ones not allowed."""
    found = _special(disallowed, tokenizer)
    return found - _special(allowed, tokenizer) if disallowed == "all" else found


def _special(option: Special, tokenizer: Encoding) -> frozenset[str]:
    if option is None:
        return frozenset()
    return frozenset(tokenizer.special) if option == "all" else frozenset(option)


def check_special(name: str, option: object, known: Collection[str]) -> None:
    """Refuse anything but "all", or tokens that the encoding has."""
    if option is None or option == "all":
        return
    listed = list(option) if isinstance(option, Collection) and not isinstance(option, str) else [None]
    if not all(isinstance(token, str) and token in known for token in listed):
        raise InvalidOption(name, option, f'"all" or a list of special tokens of the encoding: {", ".join(known)}')


def refuse_special(text: str, disallowed: frozenset[str]) -> None:
    """Raise SpecialTokenFound if the text holds one of `disallowed`."""
    found = token_pattern(disallowed).search(text) if disallowed else None
    if found:
        raise SpecialTokenFound(
            f"the text holds the special token {found[0]!r} at {found.start()}; allow it in allowed_special, or "
            "leave it out of disallowed_special to take it for ordinary text",
            position=found.start(),
        )


def token_pattern(special: frozenset[str]) -> re.Pattern[str]:
    """Any of the tokens, literally."""
    return re.compile("|".join(re.escape(token) for token in sorted(special)))

"""A faster tokenizer, used only where it is sure to give the same tokens: toktok-rs, in the extra `fast`.

It brings its own vocabulary and its own idea of the pattern that splits text into words. So when an encoding is loaded,
the whole vocabulary is compared, and the tokens of a text made of what tokenizers disagree about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

NAMES = frozenset({"cl100k_base", "o200k_base"})
"""Encodings that toktok-rs has."""


class FastCore(Protocol):
    """What is used of toktok-rs's tokenizer."""

    def count(self, text: str) -> int: ...

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode_to_buffer(self, text: str, allowed_special: set[str], disallowed_special: tuple[str, ...]) -> bytes: ...


def load_fast(name: str, ranks: Mapping[bytes, int], reference: Callable[[str], list[int]]) -> FastCore | None:
    """The fast tokenizer of an encoding with these ranks. None: not installed, not known to it, or not the same.

    `reference` gives the right token ids of a text, special tokens as ordinary text.
    """
    if name not in NAMES:
        return None
    try:
        from toktok import _encoding as load  # its documented functions give numbers of tokens only

        core = load(name)
        values = core.token_byte_values()
        same = all(values[rank] == token for token, rank in ranks.items()) and _agrees(core, reference)
    except Exception:  # another version of it: whatever it lacks, nothing is lost but time
        return None
    return core if same else None


def _agrees(core: FastCore, reference: Callable[[str], list[int]]) -> bool:
    text = touchstone()
    ids = reference(text)
    buffer = memoryview(core.encode_to_buffer(text, set(), ())).cast("B").cast("I")
    return core.encode_ordinary(text) == ids == buffer.tolist() and core.count(text) == len(ids)


def touchstone() -> str:
    """Contractions, numbers, spaces and line ends, letters and marks of every script, emoji, special-token text."""
    words = "I'll we'VE don'T it's 'S 12345 3.14 ½ Ⅻ x² ___ --- \u00a0\u3000 \t\t\n \r\n\n  end  \n\n\n  </p>"
    tokens = " <|endoftext|><|fim_prefix|> <|endofprompt|>"
    repeats = "a" * 50 + " " * 90 + "\n" * 20 + "=" * 70 + "é" * 30 + "漢字" * 20 + "🙂👨‍👩‍👧‍👦🇩🇪" * 5
    scripts = "".join(
        f"{chr(code)}a {chr(code)}1\n" for code in range(0x80, 0x20000, 61) if not 0xD800 <= code < 0xE000
    )
    return f"{words}{tokens}{repeats}\n{scripts}{words}"

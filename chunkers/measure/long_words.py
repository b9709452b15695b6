"""Very long words, encoded in parts: byte pair encoding of a word gets slower for each letter the longer it is.

Text in Chinese, Japanese or Korean without punctuation is one word to a tokenizer. Parts of it overlap, and two
neighbours are joined behind a token that both have at the same place. That is the encoding of the whole: tokens are
one if and only if each two neighbours among them are the encoding of what they say together, and all are neighbours
in one part or the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]

PART = 8_192  # code points
_SHARED = 64
_LETTER = re.compile(
    "[\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
)  # no case, no marks
_LETTERS = re.compile(_LETTER.pattern + "++")
_BEFORE_WORD = frozenset(" \t\n\r\u3000.,:;!?()\"'。，、；：！？「」『』（）…")


def encode_in_parts(text: str, encode: Callable[[str], Ids], bytes_of: Callable[[int], bytes]) -> Ids:
    """The ids of `text`: `encode(text)`, found part by part where a word is longer than two parts."""
    borders = list(_borders(text)) if len(text) > 2 * PART and not text.isascii() else []
    if not borders:
        return encode(text)
    parts: list[Ids] = []
    left, skipped = encode(text[: borders[0] + _SHARED]), 0
    for border, end in zip(borders, [*(each + _SHARED for each in borders[1:]), len(text)], strict=True):
        right = encode(text[border:end])
        common = _common(left, right, len(text[border : border + _SHARED].encode()), bytes_of)
        if common is None:
            return encode(text)
        parts.append(left[skipped : common[0]])
        left, skipped = right, common[1]
    return np.concatenate([*parts, left[skipped:]])


def _borders(text: str) -> Iterator[int]:
    """Where parts may end: well inside of words that are longer than two parts."""
    position = PART
    while position < len(text):
        word = _LETTERS.match(text, position)
        if word is None or word.end() - position < PART:
            position += PART
            continue
        if _starts_word(text, position):
            yield from range(position, word.end() - 4 * _SHARED, PART)
        position = word.end() + PART


def _starts_word(text: str, position: int) -> bool:
    """Whether the letters around `position` start a word: nothing in front of them decides where it ends."""
    while position and _LETTER.match(text, position - 1):
        position -= 1
    return not position or text[position - 1] in _BEFORE_WORD


def _common(left: Ids, right: Ids, shared: int, bytes_of: Callable[[int], bytes]) -> tuple[int, int] | None:
    """Behind which tokens of `left`, whose last `shared` bytes `right` starts with, and of `right` both go on alike."""
    starts: dict[int, int] = {}
    at = 0
    for index, token in enumerate(right):
        if at >= shared:
            break
        starts[at] = index
        at += len(bytes_of(int(token)))
    at = shared
    for index in range(len(left) - 1, -1, -1):
        at -= len(bytes_of(int(left[index])))
        if at < 0:
            return None
        if at in starts and right[starts[at]] == left[index]:
            return index + 1, starts[at] + 1
    return None

"""Tokens: encodings read from package data, and where the tokens of a text lie.

Nothing here touches the network. Special-token text is ordinary text. A lone surrogate, which no tokenizer can take,
counts as the U+FFFD that would be written in its place; offsets are not affected.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
import tiktoken
import tiktoken.model

from chunkers.errors import InvalidOption
from chunkers.measure.fast_tokens import load_fast
from chunkers.measure.long_words import encode_in_parts

DEFAULT_ENCODING = "cl100k_base"
_NO_SPECIAL: frozenset[str] = frozenset()
ENCODINGS = ("cl100k_base", "o200k_base", "p50k_base", "r50k_base", "gpt2")


@lru_cache(maxsize=len(ENCODINGS))
def encoding(name: str) -> Encoding:
    """The encoding of that name, built once a process. Raises InvalidOption for a name not in `ENCODINGS`."""
    if name not in ENCODINGS:
        raise InvalidOption("encoding_name", name, f"one of {', '.join(ENCODINGS)}")
    return Encoding(name)


def encoding_for_model(model_name: str) -> str:
    """The name of the encoding that a model uses. Raises InvalidOption for a model that is not known or supported."""
    try:
        name: str = tiktoken.model.encoding_name_for_model(model_name)
    except KeyError:
        name = ""
    if name not in ENCODINGS:
        raise InvalidOption("model_name", model_name, f"a model that uses one of {', '.join(ENCODINGS)}") from None
    return name


class Encoding:
    """A tokenizer. Pickles by name. Get one from `encoding()`: building one reads and checks megabytes.

    `digest` is the SHA-256 of the rank file; `special` maps special-token text to its id.
    """

    __slots__ = ("_characters", "_continues", "bpe", "digest", "fast", "name", "special")

    def __init__(self, name: str) -> None:
        ranks_name, pattern, special = _DEFINITIONS[name]
        ranks, self.digest = _load_ranks(ranks_name)
        self.name = name
        self.special: dict[str, int] = dict(special)
        self.bpe = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=self.special)
        self.fast = load_fast(name, ranks, self.bpe._core_bpe.encode_ordinary)
        self._characters, self._continues = _token_tables({**ranks, **{t.encode(): i for t, i in special.items()}})

    def __reduce__(self) -> tuple[Any, ...]:
        return (encoding, (self.name,))

    def __repr__(self) -> str:
        return f"Encoding({self.name!r})"

    def encode(self, text: str, allowed_special: frozenset[str] = _NO_SPECIAL) -> list[int]:
        """Token ids; special-token text is ordinary text unless allowed."""
        core = self.bpe._core_bpe
        try:
            ids = core.encode(text, allowed_special) if allowed_special else (self.fast or core).encode_ordinary(text)
        except UnicodeEncodeError:
            return self.encode(_replace_surrogates(text), allowed_special)
        return ids

    def count(self, text: str) -> int:
        """The number of tokens of `text`."""
        if self.fast is None:
            return len(self.encode(text))
        try:
            return self.fast.count(text)
        except UnicodeEncodeError:
            return self.fast.count(_replace_surrogates(text))

    def edges(
        self, text: str, allowed_special: frozenset[str] = _NO_SPECIAL
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """`edges` and `whole` of a `TokenMap`."""
        core = self.bpe._core_bpe
        fast = None if allowed_special else self.fast

        def encode(part: str) -> npt.NDArray[np.uint32]:
            if fast is not None:
                return np.frombuffer(fast.encode_to_buffer(part, set(), ()), dtype=np.uint32)
            return np.frombuffer(core.encode_to_tiktoken_buffer(part, allowed_special), dtype=np.uint32)

        try:
            ids = encode_in_parts(text, encode, core.decode_single_token_bytes)
        except UnicodeEncodeError:
            return self.edges(_replace_surrogates(text), allowed_special)
        edges = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum(self._characters[ids], out=edges[1:])
        whole = np.ones(len(edges), dtype=np.bool_)
        if not text.isascii():
            inside = self._continues[ids]
            edges[:-1] -= inside
            np.logical_not(inside, out=whole[:-1])
        return edges, whole


class TokenMap:
    """The tokens of one text, encoded once; a `Ruler` in tokens. Each of `allowed_special` is one token.

    `edges` are code point offsets, int64, one more than there are tokens, never falling. Where a token ends inside a
    character, its edge is that character's offset and `whole` (bool, same length) is False there.
    """

    __slots__ = ("_answer", "_asked", "edges", "encoding", "size", "special", "text", "whole")

    def __init__(self, text: str, encoding: Encoding, allowed_special: frozenset[str] = _NO_SPECIAL) -> None:
        self.text = text
        self.encoding = encoding
        self.size = len(text)
        self.special = frozenset(token for token in allowed_special if token in text)
        self.edges, self.whole = encoding.edges(text, self.special)
        self._asked, self._answer = (0, 0), 0

    def length(self, start: int, end: int) -> int:
        """The exact number of tokens of `text[start:end]` encoded on its own."""
        if self._asked != (start, end):  # a chunk that was just found to fit is measured again
            self._answer, self._asked = self.count(start, end), (start, end)
        return self._answer

    def reach(self, start: int, limit: int) -> int:
        """Where `limit` tokens of the whole text end, counted from the token that `start` lies in."""
        first = int(self.edges.searchsorted(start))
        if first and self.edges[first] != start:
            first -= 1
        return max(start, int(self.edges[min(first + limit, len(self.edges) - 1)]))

    def back(self, end: int, limit: int, floor: int) -> int:
        """The smallest `floor` or token edge in `floor..end` from where at most `limit` tokens lead to `end`."""
        index = max(0, int(self.edges.searchsorted(end)) - limit)
        while True:
            start = self.edge(index)
            start = max(start, floor)
            if start >= end:
                return end
            if self.count(start, end) <= limit:
                return start
            index = max(index, int(self.edges.searchsorted(start))) + 1

    def count(self, start: int, end: int) -> int:
        """The exact number of tokens of `text[start:end]` encoded on its own, without encoding all of it again.

        Between two places where every encoding ends a pre-token, whatever surrounds them, the tokens of the slice are
        those of the whole text; only the slice's two ends are encoded.
        """
        text = self.text
        if self.special:
            return len(self.encoding.encode(text[start:end], self.special))
        if end - start <= _WHOLE:
            return self.encoding.count(text[start:end]) if end > start else 0
        left = start if start == 0 or _syncs(text, start) else _sync_after(text, start, end)
        right = end if end == self.size or _syncs(text, end) else _sync_before(text, start, end)
        if left < 0 or right < left:
            return self.encoding.count(text[start:end])
        count = int(self.edges.searchsorted(right) - self.edges.searchsorted(left))
        if left > start:
            count += self.encoding.count(text[start:left])
        if right < end:
            count += self.encoding.count(text[right:end])
        return count

    def edge(self, index: int) -> int:
        """Where token `index` starts, or the character edge behind that if it starts inside a character."""
        if index >= len(self.edges):
            return self.size
        return int(self.edges[index]) + (0 if self.whole[index] else 1)


def _replace_surrogates(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


_SURROGATE = re.compile("[\ud800-\udfff]")

# A sync is a position between a letter or number and one of these. No alternative of any pattern below spans it (only
# `o200k_base` lets anything but a letter or mark follow a letter: an apostrophe), and none looks past it: patterns look
# ahead after white space only, and never behind. A list, not "no letter": that depends on the version of Unicode.
_AFTER_WORD = frozenset(
    " \t\n\r\x0b\x0c\xa0\u3000"
    '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'
    "\u3001\u3002\u300a\u300b\u300c\u300d\u300e\u300f\u3010\u3011"
    "\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
    "\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u0964\u060c\u061b\u061f\u06d4"
)
_WINDOW = 256
_WHOLE = 48


def _syncs(text: str, position: int) -> bool:
    return text[position] in _AFTER_WORD and text[position - 1].isalnum()


def _sync_after(text: str, start: int, end: int) -> int:
    for position in range(start + 1, min(end, start + _WINDOW)):
        if text[position] in _AFTER_WORD and text[position - 1].isalnum():
            return position
    return -1


def _sync_before(text: str, start: int, end: int) -> int:
    for position in range(end - 1, max(start, end - _WINDOW), -1):
        if text[position] in _AFTER_WORD and text[position - 1].isalnum():
            return position
    return -1


def _token_tables(tokens: dict[bytes, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """By token id: how many characters start in the token, and whether it goes on with one that started before it."""
    ids = np.fromiter(tokens.values(), dtype=np.int64)
    ends = np.cumsum(np.fromiter(map(len, tokens), dtype=np.int64))
    starts = np.concatenate(([0], ends[:-1]))
    leads = np.frombuffer(b"".join(tokens), dtype=np.uint8) & 0xC0 != 0x80
    characters = np.zeros(int(ids.max()) + 1, dtype=np.int64)
    characters[ids] = np.add.reduceat(leads, starts, dtype=np.int64)
    continues = np.zeros(len(characters), dtype=np.bool_)
    continues[ids] = ~leads[starts]
    return characters, continues


def _load_ranks(name: str) -> tuple[dict[bytes, int], str]:
    folder = resources.files("chunkers.measure.encodings")
    data = (folder / f"{name}.tiktoken").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if f"{digest}  {name}.tiktoken" not in (folder / "SHA256SUMS").read_text("ascii").splitlines():
        raise RuntimeError(
            f"{name}.tiktoken is damaged: SHA-256 {digest} is not the one in SHA256SUMS; reinstall rechunk"
        )
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in data.splitlines())}, digest


# The published patterns with all that needs no look-ahead in one group: the regex engine of tiktoken hands such a group
# to its linear matcher as a whole, which encodes 1.3 to 1.7 times as fast (benchmarks/). Same matches: where the
# originals are possessive, nothing that follows could use what they would give back.
_LAST_SPACES = r"|\s+(?!\S)|\s"
_GPT2_PATTERN = r"(?:'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$)" + _LAST_SPACES
_CL100K_PATTERN = (
    r"(?:'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n])"
    + _LAST_SPACES
)
_O200K_PATTERN = (
    r"(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+)|\s+(?!\S)|\s+"
)
_END_OF_TEXT = "<|endoftext|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_END_OF_PROMPT = "<|endofprompt|>"
_DEFINITIONS: dict[str, tuple[str, str, dict[str, int]]] = {
    "cl100k_base": (
        "cl100k_base",
        _CL100K_PATTERN,
        {_END_OF_TEXT: 100257, **dict(zip(_FIM, (100258, 100259, 100260), strict=True)), _END_OF_PROMPT: 100276},
    ),
    "o200k_base": ("o200k_base", _O200K_PATTERN, {_END_OF_TEXT: 199999, _END_OF_PROMPT: 200018}),
    "p50k_base": ("p50k_base", _GPT2_PATTERN, {_END_OF_TEXT: 50256}),
    "r50k_base": ("r50k_base", _GPT2_PATTERN, {_END_OF_TEXT: 50256}),
    "gpt2": ("r50k_base", _GPT2_PATTERN, {_END_OF_TEXT: 50256}),
}

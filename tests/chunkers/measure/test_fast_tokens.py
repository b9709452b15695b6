"""The faster tokenizer gives the same tokens or is not used."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.measure import fast_tokens
from chunkers.measure.fast_tokens import NAMES, load_fast, touchstone
from chunkers.measure.tokens import Encoding, encoding

pytest.importorskip("toktok")


@pytest.fixture(params=sorted(NAMES), scope="module")
def names(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def assert_same(found: Encoding, text: str) -> None:
    """Ids, counts and edges, with the fast tokenizer and without."""
    assert found.fast is not None
    plain = slow(found)
    assert found.encode(text) == plain.encode(text)
    assert found.count(text) == plain.count(text)
    for fast, right in zip(found.edges(text), plain.edges(text), strict=True):
        assert np.array_equal(fast, right)


def slow(found: Encoding) -> Encoding:
    """The same encoding without the fast tokenizer."""
    plain = Encoding.__new__(Encoding)
    for name in Encoding.__slots__:
        setattr(plain, name, None if name == "fast" else getattr(found, name))
    return plain


def test_it_is_used_where_it_is_installed(names: str) -> None:
    assert encoding(names).fast is not None
    assert encoding("p50k_base").fast is None


TEXTS = [
    "",
    " ",
    "\n",
    "half a pair \ud83d and more",
    "<|endoftext|> is text",
    "a" * 20_000,
    "漢" * 5_000,
    " " * 9_000,
    "\r\n" * 3_000,
    "e\u0301" * 2_000,
    "x\0y\x7f\x80",
    touchstone(),
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_texts_that_tokenizers_disagree_about(names: str, text: str) -> None:
    assert_same(encoding(names), text)


@given(st.text(st.characters(), max_size=300))
@settings(deadline=None, max_examples=200)
def test_any_text(text: str) -> None:
    for name in NAMES:
        assert_same(encoding(name), text)


@pytest.mark.slow
def test_every_character(names: str) -> None:
    found = encoding(names)
    for start in range(0, 0x110000, 0x1000):
        codes = [code for code in range(start, start + 0x1000) if not 0xD800 <= code < 0xE000]
        assert_same(found, "".join(f"a{chr(code)}b {chr(code)}1{chr(code)}{chr(code)}'s\n" for code in codes))


def test_special_tokens_are_tokens_where_they_are_allowed(names: str) -> None:
    allowed = frozenset({"<|endoftext|>"})
    assert encoding(names).encode("a<|endoftext|>", allowed)[-1] == encoding(names).special["<|endoftext|>"]
    assert len(encoding(names).edges("a<|endoftext|>", allowed)[0]) == 3


class Other:
    """A tokenizer that is like toktok's but for one thing."""

    def __init__(self, **different: Any) -> None:
        self.core = encoding("cl100k_base").fast
        self.different = different

    def __getattr__(self, name: str) -> Any:
        return self.different.get(name) or getattr(self.core, name)


@pytest.mark.parametrize(
    "different",
    [
        {"count": lambda text: 7},
        {"encode_ordinary": lambda text: [1, 2, 3]},
        {"encode_to_buffer": lambda text, allowed, disallowed: b"\0\0\0\0"},
        {"token_byte_values": lambda: [b"x"] * 100_256},
        {"token_byte_values": lambda: [b"x"]},
    ],
    ids=["count", "ids", "buffer", "vocabulary", "size"],
)
def test_it_is_not_used_where_it_differs(monkeypatch: pytest.MonkeyPatch, different: dict[str, Any]) -> None:
    import toktok

    found = encoding("cl100k_base")
    ranks = {found.bpe.decode_single_token_bytes(rank): rank for rank in range(1000)}
    reference = found.bpe._core_bpe.encode_ordinary
    assert load_fast("cl100k_base", ranks, reference) is not None
    other = Other(**different)
    monkeypatch.setattr(toktok, "_encoding", lambda name: other)
    assert load_fast("cl100k_base", ranks, reference) is None


def test_it_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", None)
    assert fast_tokens.load_fast("cl100k_base", {}, lambda text: []) is None

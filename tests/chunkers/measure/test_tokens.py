"""Encodings from package data, and the token map of a text."""

from __future__ import annotations

import pickle
import socket
import time
from functools import lru_cache

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import InvalidOption
from chunkers.measure.lengths import tokens
from chunkers.measure.tokens import ENCODINGS, TokenMap, encoding, encoding_for_model

# As OpenAI publishes them (tiktoken_ext.openai_public).
GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
PUBLISHED = {
    "cl100k_base": r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
    "o200k_base": "|".join(
        [
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        ]
    ),
    "p50k_base": GPT2,
    "r50k_base": GPT2,
    "gpt2": GPT2,
}
PIECES = [
    *["word", "Word", "WORDS", "don't", "IT'S", "l'ſ", "we'll've", "naïve", "Straße", "ǅ", "ʰa", "ªº"],
    *["7", "1234567", "3.14", "²", "½", "Ⅷ", "㊀", "一二三", "１２３"],
    *[" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", " \n ", "\u3000", "\xa0", "\u2028", "\x85", "\x0b", "\x1c"],
    *[".", ",", "'", "’", "''", "...", "!?", "/", "//", "_", "__init__", "->", "();", "{}", "#", "``", "—", "…"],
    *["今天天气", "很好", "。", "，", "「", "」", "カタカナ", "ー", "が", "が", "한국어", "𠀀𠀁"],
    *["สวัสดี", "नमस्ते", "क्षि", "।", "مرحبا", "ـ", "؟", "שלום", "שָׁ", "Привет", "Ελληνικά", "ქართული", "ខ្មែរ"],
    *["😀", "👩‍👩‍👧", "🇩🇪", "é", "\u0301", "\u200d", "\ufeff", "\ufffd", "\x00", "\ud800", "\udc00", "\ufe0f"],
    *["<|endoftext|>", "<|fim_prefix|>", "def f(x):\n    return x\n", "https://example.org/a?b=c", "a" * 30],
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)


@lru_cache
def published(name: str) -> tiktoken.Encoding:
    ours = encoding(name)
    return tiktoken.Encoding(
        name,
        pat_str=PUBLISHED[name],
        mergeable_ranks=ours.bpe._mergeable_ranks,
        special_tokens=ours.special,
    )


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_ids_are_those_of_the_published_pattern(name: str, text: str) -> None:
    plain = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    assert encoding(name).encode(text) == published(name).encode_ordinary(plain)


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=TEXTS, data=st.data())
@settings(max_examples=200, deadline=None)
def test_count_of_any_slice_is_that_of_encoding_it_alone(name: str, text: str, data: st.DataObject) -> None:
    text = text * data.draw(st.integers(1, 3))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert TokenMap(text, encoding(name)).count(start, end) == len(encoding(name).encode(text[start:end]))


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=TEXTS)
@settings(deadline=None)
def test_edges_are_where_tokens_end(name: str, text: str) -> None:
    tokenizer = encoding(name)
    mapped = TokenMap(text, tokenizer)
    starts = [len(character.encode("utf-8", "surrogatepass")) for character in text]
    offsets = [sum(starts[:index]) for index in range(len(text) + 1)]
    position = 0
    expected = [(0, True)]
    for token in tokenizer.encode(text):
        position += len(tokenizer.bpe.decode_single_token_bytes(token))
        inside = position not in offsets
        expected.append((max(i for i, offset in enumerate(offsets) if offset <= position), not inside))
    assert list(zip(mapped.edges.tolist(), mapped.whole.tolist(), strict=True)) == expected


def test_edges_inside_a_character_are_marked() -> None:
    mapped = TokenMap("a😀b", encoding("cl100k_base"))
    assert mapped.edges.tolist() == [0, 1, 1, 2, 3]
    assert mapped.whole.tolist() == [True, True, False, True, True]


@given(text=TEXTS, limit=st.integers(0, 12), data=st.data())
@settings(deadline=None)
def test_back_never_gives_more_than_the_limit(text: str, limit: int, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(text)))
    floor = data.draw(st.integers(0, end))
    mapped = TokenMap(text, encoding("cl100k_base"))
    start = mapped.back(end, limit, floor)
    assert floor <= start <= end
    assert mapped.length(start, end) <= limit


def test_reach_and_back_count_tokens() -> None:
    ruler = tokens("cl100k_base").ruler("The quick brown fox jumps over the lazy dog today.")
    assert ruler.reach(0, 5) == 25
    assert ruler.reach(15, 5) == 39
    assert ruler.reach(40, 100) == 50
    assert ruler.back(25, 2, 0) == 15
    assert ruler.back(25, 2, 20) == 20
    assert ruler.back(25, 0, 0) == 25


def test_special_token_text_is_ordinary_text() -> None:
    assert encoding("cl100k_base").count("<|endoftext|>") == 7


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("cl100k_base", [9906, 1917]),
        ("o200k_base", [13225, 2375]),
        ("p50k_base", [15496, 995]),
        ("r50k_base", [15496, 995]),
        ("gpt2", [15496, 995]),
    ],
)
def test_known_ids(name: str, ids: list[int]) -> None:
    assert encoding(name).encode("Hello world") == ids


@pytest.mark.parametrize(
    ("model", "name"),
    [("gpt-4o", "o200k_base"), ("gpt-4-0613", "cl100k_base"), ("davinci", "r50k_base"), ("gpt2", "gpt2")],
)
def test_models_have_encodings(model: str, name: str) -> None:
    assert encoding_for_model(model) == name


@pytest.mark.parametrize("model", ["no-such-model", "gpt-oss-20b", "text-davinci-edit-001"])
def test_unknown_and_unsupported_models_are_refused(model: str) -> None:
    with pytest.raises(InvalidOption, match=r"a model that uses one of cl100k_base, o200k_base, .*") as caught:
        encoding_for_model(model)
    assert (caught.value.name, caught.value.value) == ("model_name", model)


def test_unknown_encodings_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidOption, match="one of cl100k_base, o200k_base, p50k_base, r50k_base, gpt2"):
        encoding("no-such")


def test_encodings_pickle_by_name() -> None:
    data = pickle.dumps(encoding("o200k_base"))
    assert len(data) < 200
    assert pickle.loads(data) is encoding("o200k_base")


def test_loading_never_touches_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    encoding.cache_clear()
    assert encoding("p50k_base").digest == "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"


@pytest.mark.parametrize("unit", ["a", " ", "\n", "今", "x ", " \n", "\u0301", "😀", "1", "'", " x", "\r\n\t"])
def test_a_megabyte_of_one_thing_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit.encode()))
        begin = time.process_time()
        mapped = TokenMap(text, encoding("cl100k_base"))
        mapped.count(1, len(text) - 1)
        return time.process_time() - begin

    seconds(10_000)
    assert seconds(1_000_000) <= 10 * max(min(seconds(250_000), seconds(250_000)), 0.05)

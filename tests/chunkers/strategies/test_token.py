"""`token`: windows of tokens."""

from __future__ import annotations

import pickle
import time
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import InvalidOption, OptionWarning, SpecialTokenFound
from chunkers.measure.tokens import encoding
from chunkers.records import Span
from chunkers.strategies.token import Token, TokenOptions

FOX = "The quick brown fox jumps over the lazy dog today."
SPECIALS = ["<|endoftext|>", "<|fim_prefix|>", "<|", "|>", " ", "a", "\u0301", "word ", "今", "😀", "\n", "<|endoftext"]


def split(text: str, **options: Any) -> list[Span]:
    return Token(TokenOptions(**options)).split(text).spans


def texts(text: str, **options: Any) -> list[str]:
    return [span.text(text) for span in split(text, **options)]


def test_windows_have_a_stride_of_max_size_less_overlap() -> None:
    assert split(FOX, max_size=5, overlap=2, strip_whitespace=False) == [
        Span(0, 25, "token"),
        Span(15, 39, "token", overlap=2),
        Span(30, 50, "document-end", overlap=2),
    ]


def test_white_space_is_stripped_by_moving_the_ends() -> None:
    assert split(f"  {FOX}\n\n", max_size=5, overlap=2) == [
        Span(2, 27, "token"),
        Span(18, 41, "token", overlap=2),
        Span(33, 52, "document-end", overlap=2),
    ]


def test_a_cluster_over_the_limit_stays_whole() -> None:
    text = "a👩‍👩‍👧b"
    assert split(text, max_size=3, overlap=0) == [
        Span(0, 1, "token"),
        Span(1, 6, "oversize"),
        Span(6, 7, "document-end"),
    ]


def test_a_cut_never_splits_a_character_that_has_several_tokens() -> None:
    assert texts("猫が魚🐟を食べた", max_size=2, overlap=0) == ["猫", "が", "魚", "🐟", "を", "食", "べ", "た"]


def test_overlap_that_grows_when_encoded_alone_is_shrunk() -> None:
    text = "at five. Visitors register at the northern entrance"
    assert encoding("cl100k_base").count(" Visitors register at") == 3
    assert encoding("cl100k_base").count("Visitors register at") == 4
    assert [(span.text(text), span.overlap) for span in split(text, max_size=6, overlap=3)] == [
        ("at five. Visitors register at", 0),
        ("register at the northern entrance", 2),
    ]


def test_a_window_of_white_space_is_no_chunk_and_nothing_overlaps_across_it() -> None:
    text = "one two" + "\n\t" * 40 + "three four"
    assert [(span.text(text), span.overlap) for span in split(text, max_size=8, overlap=3)] == [
        ("one two", 0),
        ("three four", 0),
    ]
    assert texts(" \n ", max_size=5) == []
    assert texts("", max_size=5) == []


def test_without_overlap_and_stripping_the_chunks_join_to_the_text() -> None:
    text = "a b\n\n  c d e\r\nf   g。今天天气很好，我们去公园散步。" * 20
    assert "".join(texts(text, max_size=7, overlap=0, strip_whitespace=False)) == text


def test_no_limit_gives_one_chunk() -> None:
    assert split(FOX, max_size=None) == [Span(0, 50, "document-end")]


def test_start_index_is_metadata_on_request() -> None:
    found = split(FOX, max_size=5, overlap=2, add_start_index=True)
    assert [span.metadata for span in found] == [{"start_index": 0}, {"start_index": 16}, {"start_index": 31}]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["hi <|endo", "ftext|", "> there"]),
        ({"disallowed_special": []}, ["hi <|endo", "ftext|", "> there"]),
        ({"allowed_special": ["<|endoftext|>"]}, ["hi <|endoftext|>", "there"]),
        ({"allowed_special": "all", "disallowed_special": "all"}, ["hi <|endoftext|>", "there"]),
        ({"disallowed_special": ["<|fim_prefix|>"]}, ["hi <|endo", "ftext|", "> there"]),
    ],
)
def test_special_tokens_are_ordinary_text_unless_allowed(options: dict[str, Any], expected: list[str]) -> None:
    assert texts("hi <|endoftext|> there", max_size=3, overlap=0, **options) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"disallowed_special": "all"},
        {"disallowed_special": ["<|endoftext|>"]},
        {"disallowed_special": ["<|endoftext|>"], "allowed_special": ["<|endoftext|>"]},
        {"disallowed_special": "all", "allowed_special": ["<|fim_prefix|>"]},
    ],
)
def test_a_disallowed_special_token_fails_the_document(options: dict[str, Any]) -> None:
    with pytest.raises(SpecialTokenFound, match=r"the special token '<\|endoftext\|>' at 3") as caught:
        split("hi <|endoftext|> there", **options)
    assert caught.value.position == 3


@given(text=st.lists(st.sampled_from(SPECIALS), max_size=30).map("".join), size=st.integers(2, 9), data=st.data())
@settings(deadline=None)
def test_allowed_special_tokens_are_never_cut(text: str, size: int, data: st.DataObject) -> None:
    allowed = ["<|endoftext|>", "<|fim_prefix|>"]
    overlap = data.draw(st.integers(0, size - 1))
    found = split(text, max_size=size, overlap=overlap, allowed_special=allowed)
    inside = {
        start + offset
        for token in allowed
        for start in range(len(text))
        if text.startswith(token, start)
        for offset in range(1, len(token))
    }
    assert not inside & {at for span in found for at in (span.start, span.end)}
    for span in found:
        count = len(encoding("cl100k_base").encode(span.text(text), frozenset(allowed)))
        assert count <= size or span.cut == "oversize"


def test_a_model_takes_precedence_over_an_encoding_with_a_warning() -> None:
    with pytest.warns(OptionWarning, match="model_name 'gpt-4o' takes precedence over encoding_name 'gpt2'"):
        strategy = Token(TokenOptions(max_size=3, overlap=0, model_name="gpt-4o", encoding_name="gpt2"))
    text = "今天天气很好,我们去公园散步。"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = strategy.split(text).spans
    assert [span.text(text) for span in found] == ["今天天气", "很好,我们", "去公园", "散步。"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_size": 0}, "max_size is 0; max_size must be an integer of at least 1, or null"),
        ({"max_size": 5, "overlap": 5}, "overlap is 5; overlap must be smaller than max_size, which is 5"),
        ({"encoding_name": "cl100k"}, "encoding_name is 'cl100k'; encoding_name must be one of cl100k_base, .*"),
        ({"model_name": "gpt-x"}, "model_name is 'gpt-x'; model_name must be a model that uses one of .*"),
        ({"allowed_special": "<|endoftext|>"}, r"allowed_special must be \"all\" or a list of special tokens .*"),
        ({"allowed_special": ["<|nope|>"]}, r"allowed_special must be .* <\|endoftext\|>, <\|fim_prefix\|>, .*"),
        ({"disallowed_special": [3]}, "disallowed_special must be .*"),
        ({"encoding_name": "o200k_base", "disallowed_special": ["<|fim_prefix|>"]}, "disallowed_special must be .*"),
        ({"strip_whitespace": 1}, "strip_whitespace must be true or false"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        TokenOptions(**options)


def test_the_strategy_pickles() -> None:
    strategy = Token(TokenOptions(max_size=9, encoding_name="o200k_base"))
    assert len(pickle.dumps(strategy)) < 1000
    assert pickle.loads(pickle.dumps(strategy)) == strategy


@pytest.mark.parametrize("unit", ["a", " ", "\n", "今", "\u0301", "สวัสดี", "👩‍", "é\r\n"])
def test_a_long_run_of_one_thing_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        begin = time.process_time()
        split(text, max_size=512, overlap=50)
        return time.process_time() - begin

    seconds(5_000)
    assert seconds(200_000) <= 10 * max(min(seconds(50_000), seconds(50_000)), 0.05)

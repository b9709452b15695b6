"""`custom`: the function is checked when it is named, and what it returns when it is called."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from chunkers import InvalidOption, InvalidResult, NotAChunker, Span, UnknownOption, build, chunk

HERE = "tests.chunkers.strategies.chunker_samples"


def placed(text: str, chunker: Any) -> list[tuple[str, int | None, int | None]]:
    return [(piece.text, piece.start, piece.end) for piece in chunk(text, "custom", chunker=chunker)]


def test_strings_are_located_in_the_text() -> None:
    assert placed("one\n\ntwo\n\none", f"{HERE}:paragraphs") == [("one", 0, 3), ("two", 5, 8), ("one", 10, 13)]
    assert placed("one\n\n \n\none", f"{HERE}.paragraphs") == [("one", 0, 3), ("one", 8, 11)]


def test_a_repeated_string_is_the_next_one_that_is_like_it() -> None:
    assert placed("ab ab", lambda text: ["ab", "ab"]) == [("ab", 0, 2), ("ab", 3, 5)]
    assert placed("the cat. the", lambda text: ["the cat.", "the"]) == [("the cat.", 0, 8), ("the", 9, 12)]


def test_a_string_follows_the_one_before_where_it_can() -> None:
    """Not where the one before has the same words in it, or some that only begin alike."""
    placed_ = placed("rain. wind. rain.\n\nrain.\n\nrain. wind.", lambda text: text.split("\n\n"))
    assert [place[1:] for place in placed_] == [(0, 17), (19, 24), (26, 37)]
    windows = placed("x" * 10, lambda text: [text[at : at + 4] for at in range(0, 10, 4)])
    assert [place[1:] for place in windows] == [(0, 4), (4, 8), (8, 10)]
    marked = placed("a. b. a|a. b|b", lambda text: text.split("|"))
    assert [place[1:] for place in marked] == [(0, 7), (8, 12), (13, 14)]
    assert placed("a \n b", lambda text: ["a ", " b"]) == [("a ", 0, 2), (" b", 3, 5)]


def test_a_string_that_only_the_one_before_has_is_inside_of_it() -> None:
    assert placed("the cat. End", lambda text: ["the cat.", "cat"]) == [("the cat.", 0, 8), ("cat", 4, 7)]
    assert placed("the", lambda text: ["the", "the"]) == [("the", 0, 3), ("the", 0, 3)]


def test_a_text_that_is_not_in_the_document_has_no_offsets() -> None:
    assert placed("abc", f"{HERE}:shouted") == [("ABC", None, None), ("abc", 0, 3)]


def test_spans_are_taken_as_they_are() -> None:
    made = build("custom", chunker=f"{HERE}:spans").split("abcdef")
    assert made.spans == [
        Span(0, 3, "limit"),
        Span(2, 6, "document-end", ("A",), overlap=1, metadata={"k": 1}),
    ]


def test_overlap_of_strings_is_recorded() -> None:
    made = build("custom", chunker=lambda text: ["abc", "bcd"]).split("abcd").spans
    assert [(span.start, span.end, span.overlap, span.cut) for span in made] == [
        (0, 3, 0, "record"),
        (1, 4, 2, "document-end"),
    ]


@pytest.mark.parametrize(
    ("chunker", "message"),
    [
        (f"{HERE}:later", "a function that is not async"),
        (f"{HERE}:later_object", "a function that is not async"),
        (f"{HERE}:NUMBER", "a function from text to a list of strings or spans, by its import path"),
        (f"{HERE}:missing", "has no attribute 'missing'"),
        ("no.such.module:f", "(No module named 'no'; is its folder on PYTHONPATH?)"),
        ("f", "the import path of a function, such as package.module:function"),
        (":f", "the import path of a function, such as package.module:function"),
        (f"{HERE}:takes_two", "missing a required argument: 'more'"),
        (5, "a function from text to a list of strings or spans, by its import path"),
    ],
)
def test_what_is_no_chunker_is_a_type_error_when_the_strategy_is_built(chunker: Any, message: str) -> None:
    with pytest.raises(TypeError, match="chunker") as caught:
        build("custom", chunker=chunker)
    assert isinstance(caught.value, NotAChunker)
    assert isinstance(caught.value, InvalidOption)
    assert message in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "chunker raised RuntimeError: no"),
        ("returns_text", "chunker returned str; it must return a list of strings or spans"),
        ("returns_numbers", "chunker returned a list with int; it must be one of strings or one of spans"),
        ("awaits", "chunker returned something to await; it must return a list"),
        ("long", "chunk 1 of chunker has 2001 characters; at most 2000 are allowed"),
        ("backwards", "span 1 of chunker, 0-3, does not lie behind the one before, 2-4"),
    ],
)
def test_what_it_returns_otherwise_fails_the_document(name: str, message: str) -> None:
    with pytest.raises(InvalidResult) as caught:
        build("custom", chunker=f"{HERE}:{name}").split("long")
    assert str(caught.value) == message


def test_two_thousand_characters_are_fine() -> None:
    assert placed("x", f"{HERE}:long") == [("a" * 2000, None, None)]


def test_sizes_do_nothing_here() -> None:
    with pytest.raises(Exception, match="max_size"):
        build("custom", chunker=f"{HERE}:paragraphs", max_size=10)
    with pytest.raises(UnknownOption):
        build("custom", chunker=f"{HERE}:paragraphs", chunks=1)


def test_it_pickles_and_its_code_is_part_of_it() -> None:
    strategy = build("custom", chunker=f"{HERE}:paragraphs")
    assert pickle.loads(pickle.dumps(strategy)).split("a\n\nb") == strategy.split("a\n\nb")
    assert [(name, len(digest)) for name, digest in strategy.depends_on.items()] == [("chunker", 64)]  # type: ignore[attr-defined]

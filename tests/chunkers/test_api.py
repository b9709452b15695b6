"""The front door: `chunk`, `build`, `chunks_of`; what a chunk holds and which metadata wins."""

from __future__ import annotations

import pickle
import threading

import pytest

from chunkers import (
    BudgetExceeded,
    Chunk,
    Cut,
    Drop,
    InvalidOption,
    InvalidResult,
    Span,
    Split,
    Strategy,
    api,
    build,
    chunk,
    chunks_of,
    strategy_kinds,
)

DOCUMENT = "# One\n\n" + "A sentence here, and more of it. " * 30 + "\n\n## Two\n\n" + "今天天气很好。" * 30
STRATEGIES = [
    build("recursive", max_size=100),
    build("recursive", separators=[r"\s+"], is_separator_regex=True, max_tokens=30),
    build("recursive", max_size=90, length_function=len),
    build("character", separator="."),
    build("fixed", unit="words", max_size=20),
    build("token", model_name="gpt-4o", max_size=30),
    build("markdown", headers=[["#", "title"]], max_size=200),
    build("auto", max_size=100, per_type={"markdown": {"headers": [["#", "title"]]}}),
]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)


def test_a_chunk_says_everything_about_itself() -> None:
    assert chunk("one two three", "recursive", max_size=9, overlap=3, metadata={"by": "me"}) == [
        Chunk(text="one two", start=0, end=7, index=0, strategy="recursive", cut="word", metadata={"by": "me"}),
        Chunk(
            text="two three",
            start=4,
            end=13,
            index=1,
            strategy="recursive",
            cut="document-end",
            overlap=3,
            metadata={"by": "me"},
        ),
    ]


def test_embed_text_is_context_and_text() -> None:
    piece = Chunk(text="b", start=0, end=1, index=0, strategy="x", cut="line", context="A\n\n")
    assert piece.embed_text == "A\n\nb"


def test_front_matter_wins_over_the_document_and_findings_win_over_both() -> None:
    text = "---\ntitle: front\nk: front\n---\n# Heading\n\nbody"
    given = {"title": "document", "k": "document", "h": "document", "start_index": -1, "x": 1}
    (piece,) = chunk(text, "markdown", metadata=given, headers=[["#", "h"]], add_start_index=True)
    assert piece.metadata == {"title": "front", "k": "front", "h": "Heading", "start_index": 41, "x": 1}
    assert piece.title == "front"


def test_given_metadata_is_copied() -> None:
    given = {"a": 1}
    pieces = chunk("one two three", "recursive", max_size=5, metadata=given)
    given["a"] = 2
    pieces[0].metadata["b"] = 3  # type: ignore[index]
    assert [dict(piece.metadata) for piece in pieces] == [{"a": 1, "b": 3}, {"a": 1}, {"a": 1}]


def test_calls_with_lists_in_their_options_share_one_strategy() -> None:
    first, again = ({"headers": [["#", "title"]], "max_size": 9} for _ in range(2))
    assert api._strategy("markdown", first) is api._strategy("markdown", again)
    assert api._strategy("markdown", first) is not api._strategy("markdown", {**first, "max_size": 10})
    per_type = {"markdown": {"max_size": 99}}
    assert api._strategy("auto", {"per_type": per_type}) is api._strategy("auto", {"per_type": dict(per_type)})


def test_a_list_that_is_changed_between_calls_counts_as_it_is() -> None:
    headers = [["#", "title"]]
    text = "# One\n\na\n\n## Two\n\nb\n"
    assert [each.metadata for each in chunk(text, "markdown", headers=headers)] == [{"title": "One"}]
    headers.append(["##", "section"])
    both = [{"title": "One"}, {"title": "One", "section": "Two"}]
    assert [each.metadata for each in chunk(text, "markdown", headers=headers)] == both
    headers.pop()
    assert [each.metadata for each in chunk(text, "markdown", headers=headers)] == [{"title": "One"}]


def test_equal_values_of_other_types_are_other_options() -> None:
    headers = [["#", "title"]]
    assert chunk("# A\n\nb", "markdown", headers=headers, max_size=1)
    with pytest.raises(InvalidOption, match="max_size"):
        chunk("# A\n\nb", "markdown", headers=headers, max_size=True)


def test_chunks_of_numbers_spans_and_slices_text() -> None:
    split = Split([Span(0, 1, "line"), Span(2, 3, "document-end", rendered="!")], "hand-made", metadata={"m": 1})
    assert [(piece.index, piece.text, piece.metadata) for piece in chunks_of("abc", split)] == [
        (0, "a", {"m": 1}),
        (1, "!", {"m": 1}),
    ]


@pytest.mark.parametrize("text", [b"bytes", None, 5])
def test_a_text_that_is_no_str_is_refused(text: object) -> None:
    with pytest.raises(InvalidOption, match=r"; text must be a str \(decode bytes first\)$"):
        chunk(text)  # type: ignore[arg-type]


def test_every_strategy_can_be_built_by_its_name() -> None:
    needed = {"sentence": {"max_size": 100}, "custom": {"chunker": "json:dumps"}}
    names = {name: build(name, **needed.get(name, {})).name for name in strategy_kinds()}
    assert names == {name: name for name in strategy_kinds()}


@every_strategy
def test_strategies_and_their_results_pickle(strategy: Strategy) -> None:
    made = strategy.split(DOCUMENT, path="a.md")
    again = pickle.loads(pickle.dumps(strategy))
    assert again == strategy
    assert again.split(DOCUMENT, path="a.md") == made
    assert pickle.loads(pickle.dumps(made)) == made


@every_strategy
def test_one_strategy_serves_many_threads(strategy: Strategy) -> None:
    fresh, found = pickle.loads(pickle.dumps(strategy)), []
    wanted = strategy.split(DOCUMENT, path="a.md")

    def work() -> None:
        found.extend(fresh.split(DOCUMENT, path="a.md") == wanted for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 24


def refuse(text: str) -> int:
    raise ValueError("no")


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (refuse, "length_function raised ValueError: no"),
        (lambda text: 1.5, "length_function returned 1.5; it must return an integer >= 0"),
        (lambda text: -1, "length_function returned -1; it must return an integer >= 0"),
        (lambda text: True, "length_function returned True; it must return an integer >= 0"),
        (lambda text: None, "length_function returned None; it must return an integer >= 0"),
    ],
)
@pytest.mark.parametrize("strategy", ["recursive", "character", "fixed", "markdown", "auto"])
def test_a_length_function_that_breaks_its_promise_fails_the_document(
    strategy: str, length: object, message: str
) -> None:
    with pytest.raises(InvalidResult) as caught:
        chunk("aaa bbb ccc", strategy, max_size=4, length_function=length)
    assert str(caught.value) == message


def test_a_pattern_that_takes_too_long_fails_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkers.strategies.character.PATTERN_SECONDS", 0.05)
    with pytest.raises(BudgetExceeded, match=r"^separator '\(a\+\)\+b' took more than 0.05 s on this document$"):
        chunk("a" * 5000, "character", separator="(a+)+b", is_separator_regex=True)


CHARACTER: list[tuple[str, dict[str, object], list[str]]] = [
    ("a\n\nb\r\n\r\nc\n \nd", {}, ["a", "b", "c", "d"]),
    ("a.b", {"separators": ["", "."]}, ["a.b"]),
    ("a.b-c.dddd", {"separators": ["-", "."], "max_size": 3, "overlap": 0}, ["a.b", "c", "ddd", "d"]),
    ("One. Two. Three.", {"separator": ". "}, ["One", "Two", "Three."]),
    (",a,b", {"separator": ",", "separator_position": "start"}, [",a", ",b"]),
    (",a,b", {"separator": ",", "separator_position": "end"}, [",", "a,", "b"]),
    ("a1b22c", {"separator": r"(?=\d)", "is_separator_regex": True}, ["a", "1b", "2", "2c"]),
    ("\u0600\xa0", {"separator": ".", "is_separator_regex": True}, ["\u0600\xa0"]),
    ("今天晴。明天雨。", {"separator": "。", "separator_position": "end"}, ["今天晴。", "明天雨。"]),
]


@pytest.mark.parametrize(("text", "options", "expected"), CHARACTER)
def test_character_cuts_at_every_separator(text: str, options: dict[str, object], expected: list[str]) -> None:
    assert [piece.text for piece in chunk(text, "character", **options)] == expected


@pytest.mark.parametrize("text", ["hello,,world, again,", ",,a", "日本、、、語、", "x"])
@pytest.mark.parametrize("position", ["start", "end"])
@pytest.mark.parametrize("strategy", ["character", "recursive"])
def test_kept_separators_join_to_the_document(text: str, position: str, strategy: str) -> None:
    options = {"separator": ","} if strategy == "character" else {"separators": [",", "、"]}
    pieces = chunk(
        text, strategy, **options, max_size=5, overlap=0, separator_position=position, strip_whitespace=False
    )
    assert "".join(piece.text for piece in pieces) == text


def test_fixed_windows_keep_white_space_and_overlap_to_the_character() -> None:
    text = "aaaa bbbb cc  dddd"
    pieces = chunk(text, "fixed", max_size=6, overlap=2, strip_whitespace=False)
    assert [piece.text for piece in pieces] == [text[at : at + 6] for at in (0, 4, 8, 12)]
    assert [piece.overlap for piece in pieces] == [0, 2, 2, 2]


def test_every_kind_of_record_is_a_plain_value() -> None:
    cut: Cut = "line"
    assert Span(1, 2, cut) == (1, 2, "line", (), "", None, 0, {}, None)
    assert Drop(1, 2, "separator") == (1, 2, "separator")

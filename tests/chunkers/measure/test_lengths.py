"""Units and rulers: characters, bytes, words and functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import InvalidOption, InvalidResult
from chunkers.measure.lengths import Ruler, Unit, bytes_, characters, function, tokens, unit_for, words

TEXTS = st.text(alphabet=st.sampled_from("ab \n\té中。カー한\U00020000😀\u0301\ud800\u3000,"), max_size=40)


def twice(text: str) -> int:
    return 2 * len(text)


UNITS = [characters(), words(), bytes_(), function(twice)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" \n\t\u3000", 0),
        ("one two", 2),
        ("你好", 2),
        ("你好 world再见", 5),
        ("カタカナー", 5),
        ("abc,def", 1),
        ("한국어 문장", 2),
        ("\U00020000\U00020001", 2),
        ("a\x1cb\x85c\u2028d", 4),
        ("你。好", 3),
        ("don't 'stop'", 2),
    ],
)
def test_words_are_han_or_kana_characters_or_runs_of_other_characters(text: str, expected: int) -> None:
    assert words().measure(text) == expected
    assert words().ruler(text).length(0, len(text)) == expected


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("ab", 2), ("é", 2), ("中", 3), ("😀", 4), ("\ud800a", 4)])
def test_bytes_are_utf8_and_a_lone_surrogate_is_three(text: str, expected: int) -> None:
    assert bytes_().measure(text) == expected
    assert bytes_().ruler(text).length(0, len(text)) == expected


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@given(text=TEXTS, limit=st.integers(0, 12), data=st.data())
@settings(deadline=None)
def test_rulers_agree_with_measuring_the_slices(unit: Unit, text: str, limit: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    floor = data.draw(st.integers(0, end))
    ruler = unit.ruler(text)
    assert ruler.length(start, end) == unit.measure(text[start:end])
    reached = max(at for at in range(start, len(text) + 1) if unit.measure(text[start:at]) <= limit)
    assert ruler.reach(start, limit) == reached
    back = min(at for at in range(floor, end + 1) if unit.measure(text[at:end]) <= limit)
    assert ruler.back(end, limit, floor) == back


@pytest.mark.parametrize("unit", [*UNITS, tokens()], ids=lambda unit: unit.name)
def test_rulers_answer_for_the_empty_text(unit: Unit) -> None:
    ruler = unit.ruler("")
    assert (ruler.length(0, 0), ruler.reach(0, 5), ruler.back(0, 5, 0)) == (0, 0, 0)


def test_a_function_is_called_a_logarithmic_number_of_times() -> None:
    calls: list[int] = []

    def count_words(text: str) -> int:
        calls.append(len(text))
        return len(text.split())

    ruler: Ruler = function(count_words).ruler("word " * 100_000)
    assert ruler.reach(0, 1_000) == 5_000
    assert len(calls) <= 20
    assert max(calls) <= 8_000


@pytest.mark.parametrize("result", [-1, 1.0, "3", None, True])
def test_a_function_must_return_a_length(result: object) -> None:
    ruler = function(lambda text: result).ruler("some text")  # type: ignore[arg-type,return-value]
    with pytest.raises(InvalidResult, match=r"length_function returned .*; it must return an integer >= 0") as caught:
        ruler.length(5, 9)
    assert caught.value.position == 5


def test_a_function_that_raises_fails_the_document() -> None:
    def broken(text: str) -> int:
        raise KeyError("no vocabulary")

    with pytest.raises(InvalidResult, match="length_function raised KeyError: 'no vocabulary'"):
        function(broken).measure("text")


@pytest.mark.parametrize("name", ["characters", "tokens", "words", "bytes"])
def test_units_are_chosen_by_name_and_pickle(name: str) -> None:
    unit = unit_for(name)
    assert unit.name == name
    assert pickle.loads(pickle.dumps(unit)) == unit


def test_a_length_function_takes_the_place_of_the_unit() -> None:
    unit = unit_for("tokens", twice)
    assert (unit.name, unit.measure("abc")) == ("length_function", 6)
    assert pickle.loads(pickle.dumps(unit)) == unit


@pytest.mark.parametrize(
    ("call", "name", "allowed"),
    [
        (lambda: unit_for("chars"), "unit", "one of characters, tokens, words, bytes"),
        (
            lambda: unit_for("characters", 3),  # type: ignore[arg-type]
            "length_function",
            "a function (from Python only; elsewhere, name a `unit`)",
        ),
        (
            lambda: unit_for("tokens", None, "cl200k"),
            "encoding_name",
            "one of cl100k_base, o200k_base, p50k_base, r50k_base, gpt2",
        ),
    ],
)
def test_what_cannot_measure_is_refused(call: Callable[[], Unit], name: str, allowed: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        call()
    assert (caught.value.name, caught.value.allowed) == (name, allowed)

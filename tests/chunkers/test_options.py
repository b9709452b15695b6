"""Options that make no sense are refused when the strategy is built, with messages that say what would be right."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest

from chunkers import (
    BudgetExceeded,
    ChunkersError,
    DocumentError,
    InertOption,
    InvalidOption,
    InvalidResult,
    MalformedDocument,
    MissingEngine,
    MissingOption,
    OptionError,
    OptionWarning,
    SpecialTokenFound,
    UnknownOption,
    UnknownStrategy,
    build,
)

ENCODINGS = "cl100k_base, o200k_base, p50k_base, r50k_base, gpt2"
SPECIAL = (
    '"all" or a list of special tokens of the encoding: '
    "<|endoftext|>, <|fim_prefix|>, <|fim_middle|>, <|fim_suffix|>, <|endofprompt|>"
)
SIZED = (
    "max_size, overlap, unit, length_function, max_tokens, encoding_name, model_name, strip_whitespace, add_start_index"
)
POSITIONS = "start, end or null (dropped at cuts)"


def refused(strategy: Any, **options: Any) -> OptionError:
    with pytest.raises(OptionError) as caught:
        build(strategy, **options)
    return caught.value


@pytest.mark.parametrize("value", ["10", 2.0, True, -1, 0, float("nan"), [10]])
@pytest.mark.parametrize("strategy", ["recursive", "character", "fixed", "token", "markdown", "auto"])
def test_max_size_is_a_positive_integer(strategy: str, value: Any) -> None:
    error = refused(strategy, max_size=value)
    assert str(error) == f"max_size is {value!r}; max_size must be an integer of at least 1, or null"
    assert (type(error), error.name) == (InvalidOption, "max_size")


@pytest.mark.parametrize(
    ("strategy", "options", "message"),
    [
        ("recursive", {"overlap": -1}, "overlap is -1; overlap must be an integer of at least 0, or null"),
        ("fixed", {"overlap": 1.0}, "overlap is 1.0; overlap must be an integer of at least 0, or null"),
        ("fixed", {"max_size": 50, "overlap": 50}, "overlap is 50; overlap must be smaller than max_size, which is 50"),
        ("token", {"max_size": 5, "overlap": 6}, "overlap is 6; overlap must be smaller than max_size, which is 5"),
        ("auto", {"overlap": 4000}, "overlap is 4000; overlap must be smaller than max_size, which is 4000"),
        ("recursive", {"max_tokens": 0}, "max_tokens is 0; max_tokens must be an integer of at least 1, or null"),
        ("recursive", {"unit": "chars"}, "unit is 'chars'; unit must be one of characters, tokens, words, bytes"),
        ("recursive", {"unit": None}, "unit is None; unit must be one of characters, tokens, words, bytes"),
        ("recursive", {"unit": "tokens", "encoding_name": "no"}, f"encoding_name is 'no'; encoding_name must be one of {ENCODINGS}"),
        ("recursive", {"unit": "tokens", "encoding_name": ["a"]}, "encoding_name is ['a']; encoding_name must be a string"),
        ("recursive", {"unit": "tokens", "model_name": 5}, "model_name is 5; model_name must be a string"),
        ("token", {"model_name": "no"}, f"model_name is 'no'; model_name must be a model that uses one of {ENCODINGS}"),
        ("recursive", {"length_function": 5}, "length_function is 5; length_function must be a function (from Python only; elsewhere, name a `unit`)"),
        ("recursive", {"separators": "ab"}, "separators is 'ab'; separators must be a list of at least one string"),
        ("recursive", {"separators": []}, "separators is []; separators must be a list of at least one string"),
        ("character", {"separators": [1]}, "separators is [1]; separators must be a list of at least one string"),
        ("character", {"separator": 5}, "separator is 5; separator must be a string"),
        ("recursive", {"separators": ["a", "("], "is_separator_regex": True}, "separators is '('; separators must be a regular expression (missing ) at position 1)"),
        ("character", {"separator": "(", "is_separator_regex": True}, "separator is '('; separator must be a regular expression (missing ) at position 1)"),
        ("recursive", {"separators": ["a"], "is_separator_regex": "yes"}, "is_separator_regex is 'yes'; is_separator_regex must be true or false"),
        ("recursive", {"separator_position": "middle"}, f"separator_position is 'middle'; separator_position must be {POSITIONS}"),
        ("fixed", {"strip_whitespace": None}, "strip_whitespace is None; strip_whitespace must be true or false"),
        ("markdown", {"add_start_index": 1}, "add_start_index is 1; add_start_index must be true or false"),
        ("token", {"allowed_special": "x"}, f"allowed_special is 'x'; allowed_special must be {SPECIAL}"),
        ("token", {"disallowed_special": [["a"]]}, f"disallowed_special is [['a']]; disallowed_special must be {SPECIAL}"),
        ("auto", {"per_type": 5}, "per_type is 5; per_type must be a mapping from strategy to options"),
        ("auto", {"per_type": {"markdown": None}}, "per_type.markdown is None; per_type.markdown must be a mapping of options"),
        ("auto", {"per_type": {"recursive": {"overlap": 20}}, "max_size": 20}, "overlap is 20; overlap must be smaller than max_size, which is 20"),
    ],
)  # fmt: skip
def test_wrong_values(strategy: str, options: dict[str, Any], message: str) -> None:
    assert str(refused(strategy, **options)) == message


def test_auto_takes_options_only_for_what_it_may_choose() -> None:
    error = refused("auto", per_type={"token": {}})
    assert (type(error), error.name, error.value) == (InvalidOption, "per_type.token", {})
    assert str(error).startswith("per_type.token is {}; per_type.token must be one of ")


@pytest.mark.parametrize(
    ("strategy", "options", "name", "why"),
    [
        ("recursive", {"encoding_name": "gpt2"}, "encoding_name", "nothing is measured in tokens without `unit: tokens` or max_tokens"),
        ("auto", {"model_name": "gpt-4o"}, "model_name", "nothing is measured in tokens without `unit: tokens` or max_tokens"),
        ("recursive", {"length_function": len, "unit": "words"}, "unit", "length_function takes its place"),
        ("recursive", {"is_separator_regex": True}, "is_separator_regex", "there are no `separators`"),
        ("character", {"is_separator_regex": True}, "is_separator_regex", "there is no `separator`"),
        ("character", {"separator": "a", "separators": ["b"]}, "separator", "`separators` is given"),
        ("markdown", {"strip_headers": False}, "strip_headers", "there are no `headers`"),
        ("fixed", {"separators": ["a"]}, "separators", f"fixed reads {SIZED}"),
        ("token", {"unit": "tokens"}, "unit", "token reads max_size, overlap, encoding_name, model_name, allowed_special, disallowed_special, strip_whitespace, add_start_index"),
        ("auto", {"per_type": {"markdown": {"strip_headers": False}}}, "per_type.markdown.strip_headers", "there are no `headers`"),
    ],
)  # fmt: skip
def test_options_that_would_do_nothing(strategy: str, options: dict[str, Any], name: str, why: str) -> None:
    error = refused(strategy, **options)
    assert str(error) == f"option {name!r} does nothing in strategy {strategy!r}: {why}; remove it"
    assert (type(error), error.name) == (InertOption, name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("max_sise", "max_size"),
        ("size", "max_size"),
        ("qqq", ""),
    ],
)
def test_unknown_options_are_refused_with_the_nearest_name(name: str, hint: str) -> None:
    error = refused("fixed", **{name: 1})
    shown = f" (did you mean {hint!r}?)" if hint else ""
    assert str(error) == (
        f"unknown option {name!r} for strategy 'fixed'{shown}; options: {', '.join(sorted(SIZED.split(', ')))}"
    )
    assert type(error) is UnknownOption


@pytest.mark.parametrize(("name", "hint"), [("chunk_size", "max_size"), ("chunk_overlap", "overlap")])
def test_an_option_of_another_strategy_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    error = refused("fixed", **{name: 1})
    assert str(error) == (
        f"option {name!r} does nothing in strategy 'fixed': fixed reads {SIZED} (did you mean {hint!r}?); remove it"
    )
    assert type(error) is InertOption


@pytest.mark.parametrize(
    ("strategy", "hint"),
    [("recursiv", " (did you mean 'recursive'?)"), ("Token", " (did you mean 'token'?)"), ("", "")],
)
def test_unknown_strategies_are_refused_with_the_nearest_name(strategy: str, hint: str) -> None:
    error = refused(strategy)
    assert str(error) == f"unknown strategy {strategy!r}{hint}; strategies: {', '.join(error.allowed)}"
    assert type(error) is UnknownStrategy


@pytest.mark.parametrize("strategy", [None, 5, ["recursive"]])
def test_a_strategy_is_named_by_a_string(strategy: Any) -> None:
    assert type(refused(strategy)) is UnknownStrategy


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("token", {}),
        ("recursive", {"unit": "tokens"}),
        ("auto", {"unit": "tokens"}),
        ("auto", {"max_tokens": 9, "per_type": {"recursive": {"unit": "tokens"}}}),
    ],
)
def test_a_documented_precedence_warns_once(strategy: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build(strategy, **options, model_name="gpt-4o", encoding_name="gpt2")
    assert [(warning.category, str(warning.message)) for warning in caught] == [
        (OptionWarning, "model_name 'gpt-4o' takes precedence over encoding_name 'gpt2'")
    ]


@pytest.mark.parametrize(("max_size", "overlap"), [(None, 0), (1, 0), (99, 0), (100, 50), (4000, 50)])
def test_an_unset_overlap_yields_to_small_sizes(max_size: int | None, overlap: int) -> None:
    for strategy in ("recursive", "fixed", "token"):
        options: Any = build(strategy, max_size=max_size).options  # type: ignore[attr-defined]
        assert options.resolved_overlap == overlap


@pytest.mark.parametrize(
    "error",
    [
        ChunkersError("x"),
        OptionError("x", name="n", value=1, allowed=[2]),
        UnknownStrategy("a", ["b"]),
        UnknownOption("a", "b", ["c"]),
        InertOption("a", "b", "why"),
        InvalidOption("a", 1, "2"),
        MissingEngine("x", name="n"),
        DocumentError("x", position=3),
        MalformedDocument("x", position=3),
        SpecialTokenFound("x", position=3),
        InvalidResult("x", position=3),
        BudgetExceeded("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_pickle_with_their_data(error: ChunkersError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize(("strategy", "option"), [("custom", "chunker"), ("sentence", "max_size")])
def test_an_option_without_a_default_has_to_be_given(strategy: str, option: str) -> None:
    with pytest.raises(MissingOption, match=f"option '{option}' is missing: strategy '{strategy}' has no default"):
        build(strategy)

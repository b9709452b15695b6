"""`auto`: which strategy a document gets, and with which options."""

from __future__ import annotations

from typing import Any

import pytest

from chunkers import MalformedDocument, build, chunk
from chunkers.composing.auto import Auto


def options_for(path: str, **options: Any) -> Any:
    strategy = build("auto", **options)
    assert isinstance(strategy, Auto)
    return strategy.resolve(path, None).options  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "media_type", "strategy"),
    [
        ("a.md", None, "markdown"),
        ("A.MD", None, "markdown"),
        ("x/y.markdown", None, "markdown"),
        ("z.mdx", None, "markdown"),
        ("a.md.txt", None, "recursive"),
        (".md", None, "recursive"),
        ("dir.md/x", None, "recursive"),
        ("a.html", None, "html"),
        ("A.HTM", None, "html"),
        (None, "text/html; charset=utf-8", "html"),
        (None, "application/xhtml+xml", "html"),
        ("a.txt", None, "recursive"),
        ("notes [draft] #2.md", None, "markdown"),
        (None, None, "recursive"),
        ("", None, "recursive"),
        (None, "text/markdown", "markdown"),
        (None, "TEXT/MARKDOWN; charset=utf-8", "markdown"),
        (None, "text/plain", "recursive"),
        ("a", "text/markdown", "markdown"),
        ("a.md", "text/plain", "markdown"),
    ],
)
def test_the_suffix_decides_then_the_media_type(path: str | None, media_type: str | None, strategy: str) -> None:
    assert build("auto").split("# a\n\nb", path=path, media_type=media_type).strategy == strategy


def test_json_is_cut_as_json_and_what_is_none_fails() -> None:
    assert [piece.strategy for piece in chunk('{"a":1}', path="a.json")] == ["json"]
    assert [piece.strategy for piece in chunk("[1]", media_type="application/json")] == ["json"]
    with pytest.raises(MalformedDocument, match="line 1 column 1"):
        chunk("no JSON", path="a.json")


def test_the_chosen_strategy_is_stored() -> None:
    assert [piece.strategy for piece in chunk("# a\n\nb", path="a.md")] == ["markdown"]
    assert [piece.strategy for piece in chunk("# a\n\nb", path="a.txt")] == ["recursive"]


def test_shared_sizes_reach_every_strategy_and_per_type_replaces_them() -> None:
    shared = {"max_size": 70, "overlap": 7, "per_type": {"recursive": {"max_size": 30}}}
    assert (options_for("a.md", **shared).max_size, options_for("a.md", **shared).overlap) == (70, 7)
    assert (options_for("a.txt", **shared).max_size, options_for("a.txt", **shared).overlap) == (30, 7)


def test_options_of_one_type_do_not_touch_the_others() -> None:
    text = "# One\n\nbody"
    options: dict[str, Any] = {"per_type": {"markdown": {"headers": [["#", "title"]]}}}
    assert [piece.text for piece in chunk(text, path="a.md", **options)] == ["body"]
    assert [piece.text for piece in chunk(text, path="a.txt", **options)] == [text]


def test_per_type_takes_the_place_of_shared_options_that_it_contradicts() -> None:
    options = options_for("a.md", length_function=len, per_type={"markdown": {"unit": "words"}})
    assert (options.unit, options.length_function) == ("words", None)
    options = options_for("a.md", unit="words", per_type={"markdown": {"length_function": len}})
    assert (options.unit, options.length_function) == ("characters", len)
    options = options_for("a.md", unit="tokens", encoding_name="gpt2", per_type={"markdown": {"unit": "bytes"}})
    assert (options.unit, options.encoding_name) == ("bytes", None)
    options = options_for("a.txt", unit="tokens", encoding_name="gpt2", per_type={"markdown": {"unit": "bytes"}})
    assert (options.unit, options.encoding_name) == ("tokens", "gpt2")

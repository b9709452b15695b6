"""Lines end at CRLF, LF and CR; white space is what `str.isspace` says."""

from __future__ import annotations

import pytest

from chunkers.text.lines import line_start, line_starts, skip_space, trim_space


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\n", [0]),
        ("a\nb\r\nc\rd", [0, 2, 5, 7]),
        ("\n\n", [0, 1]),
        ("a\x0bb\x0cc\x85d\u2028e\u2029f\x1cg", [0]),
    ],
)
def test_line_starts(text: str, starts: list[int]) -> None:
    assert line_starts(text) == starts


def test_line_starts_of_a_stretch() -> None:
    assert line_starts("a\nb\nc\nd", 2, 6) == [2, 4]


@pytest.mark.parametrize(("position", "start"), [(0, 0), (1, 0), (2, 2), (3, 2), (5, 5), (7, 7), (8, 7)])
def test_line_start(position: int, start: int) -> None:
    assert line_start("a\nb\r\nc\rd", position) == start


def test_line_start_is_not_before_the_floor() -> None:
    assert line_start("abcdef", 4, 2) == 2


@pytest.mark.parametrize("space", [" ", "\t", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"])
def test_white_space_of_any_kind_is_skipped_and_trimmed(space: str) -> None:
    text = "a" + space * 100 + "b"
    assert skip_space(text, 1, len(text)) == 101
    assert skip_space(text, 1, 50) == 50
    assert trim_space(text, 0, 101) == 1
    assert trim_space(text, 1, 101) == 1
    assert trim_space(text, 0, 102) == 102


def test_zero_width_space_is_no_white_space() -> None:
    assert skip_space("\u200b", 0, 1) == 0

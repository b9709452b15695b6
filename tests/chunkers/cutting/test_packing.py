"""The merge: what it packs together, where it goes finer, what it does with white space, overlap and lone atoms."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chunkers import build, chunk
from chunkers.cutting.levels import TEXT_ATOMS, TEXT_LADDER, Grapheme, Ladder, SeparatorPosition
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import Overlap, Trim, pack
from chunkers.cutting.separators import Separator
from chunkers.measure.lengths import Unit, bytes_, characters, function, tokens, words
from chunkers.records import Drop

COMMA: Ladder = (Separator(","), Grapheme())
KEEP: SeparatorPosition = "end"


def packed(
    text: str,
    most: int,
    *,
    ladder: Ladder = TEXT_LADDER,
    unit: Unit | None = None,
    overlap: int = 0,
    atoms: Ladder = TEXT_ATOMS,
    trim: Trim | None = None,
    start: int = 0,
    end: int | None = None,
) -> list[tuple[str, str]]:
    """(text, cut) of each chunk."""
    unit = unit or characters()
    wanted = Overlap(most=overlap, unit=unit, atoms=atoms, inside_words=(Grapheme(),)) if overlap else None
    limit = Limit(text, [(unit, most)])
    spans, _ = pack(text, start, len(text) if end is None else end, ladder, limit, trim=trim or Trim(), overlap=wanted)
    return [(span.text(text), span.cut) for span in spans]


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("one two\n\nthree four", 12, [("one two", "blank-line"), ("three four", "document-end")]),
        ("one two\nthree four", 12, [("one two", "line"), ("three four", "document-end")]),
        ("One. Two. Three.", 10, [("One. Two.", "sentence"), ("Three.", "document-end")]),
        ("one, two, three", 10, [("one, two,", "clause"), ("three", "document-end")]),
        ("one two three", 8, [("one two", "word"), ("three", "document-end")]),
        ("abcdef", 4, [("abcd", "grapheme"), ("ef", "document-end")]),
        ("a\r\n\r\nb c", 4, [("a", "blank-line"), ("b c", "document-end")]),
        ("今天好。明天好。", 5, [("今天好。", "sentence"), ("明天好。", "document-end")]),
        ("👩\u200d👩\u200d👧ab", 3, [("👩\u200d👩\u200d👧", "oversize"), ("ab", "document-end")]),
        ("👩\u200d👩\u200d👧", 3, [("👩\u200d👩\u200d👧", "oversize")]),
        ("", 3, []),
        (" \n\u3000", 3, []),
        ("  a  ", 1, [("a", "document-end")]),
        ("\u0600 气", 2, [("\u0600 ", "grapheme"), ("气", "document-end")]),
    ],
)
def test_the_coarsest_boundary_in_reach_is_the_cut(text: str, most: int, expected: list[tuple[str, str]]) -> None:
    assert packed(text, most) == expected


def test_a_stretch_is_packed_by_itself() -> None:
    assert packed("xx one two yy", 4, start=3, end=10) == [("one", "word"), ("two", "document-end")]


@pytest.mark.parametrize(
    ("unit", "most", "expected"),
    [
        (bytes_(), 6, ["你好", "世界"]),
        (words(), 3, ["你好世", "界"]),
        (function(lambda text: 3 * len(text)), 9, ["你好世", "界"]),
        (tokens("cl100k_base"), 3, ["你好", "世界"]),
    ],
)
def test_limits_in_every_unit(unit: Unit, most: int, expected: list[str]) -> None:
    assert [text for text, _ in packed("你好世界", most, unit=unit)] == expected


def test_an_atom_that_fits_alone_is_not_oversize_where_tokens_of_the_whole_text_divide_it() -> None:
    assert packed("हिन", 1, unit=tokens("o200k_base")) == [("हि", "grapheme"), ("न", "document-end")]


def test_indentation_stays_where_only_counting_tells_that_it_fits() -> None:
    """`\\tZone` is two tokens and so is its `\\t`, but `\\tZ` is one."""
    trim, unit = Trim(keep_indent=True), tokens("cl100k_base")
    assert packed("a\n\tZone", 1, unit=unit, trim=trim) == [("a", "line"), ("\tZ", "grapheme"), ("one", "document-end")]
    assert [text for text, _ in packed("a\n \n", 1, unit=unit, trim=Trim(strip=False))] == ["a"]


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (None, ["aaa bbb", " ccc ", "ddd"]),
        ("start", ["aaa bbb", " ccc", " ddd"]),
        ("end", ["aaa ", "bbb ", "ccc ddd"]),
    ],
)
def test_white_space_stays_on_the_side_asked_for(position: SeparatorPosition | None, expected: list[str]) -> None:
    found = packed("aaa bbb ccc ddd", 7, trim=Trim(strip=False, position=position))
    assert [text for text, _ in found] == expected


def test_a_word_is_not_cut_to_keep_white_space_behind_it() -> None:
    found = packed("aaaaaaa bbb", 7, trim=Trim(strip=False, position="end"))
    assert [text for text, _ in found] == ["aaaaaaa", " bbb"]


def test_white_space_that_leaves_no_room_is_left_out() -> None:
    assert packed("\r\n\r\ne\u0301x", 5, trim=Trim(strip=False)) == [("e\u0301x", "document-end")]


def test_indentation_is_kept_where_asked_for() -> None:
    found = packed("a:\n    b\n    c", 6, trim=Trim(keep_indent=True))
    assert [text for text, _ in found] == ["a:", "    b", "    c"]


def test_an_overlap_keeps_its_indentation_where_a_second_limit_makes_it_shorter() -> None:
    """The overlap first leaves room for a word of the last item, but the chunk then ends before that item."""
    text = "5 .\n- m\n  }\\\n \n   \n\t\t#  elrds\n- t\n\n  l-kn"
    found = chunk(text, "markdown", unit="words", max_size=30, overlap=15, max_tokens=14)
    assert [piece.text for piece in found] == [
        "5 .",
        ".\n- m\n  }\\",
        "  }\\\n \n   \n\t\t#  elrds",
        "#  elrds\n- t\n\n  l-kn",
    ]
    assert [piece.overlap for piece in found] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "most", "overlap", "expected"),
    [
        ("aaa bbb ccc ddd eee", 12, 4, ["aaa bbb ccc", "ccc ddd eee"]),
        ("aaa bbb ccc ddd eee", 12, 2, ["aaa bbb ccc", "ddd eee"]),
        ("abcdefgh", 4, 2, ["abcd", "cdef", "efgh"]),
        ("One two. Three. Four five.", 17, 7, ["One two. Three.", "Three. Four five."]),
        ("今天天气很好", 4, 2, ["今天天气", "天气很好"]),
        ("abc\n\ndef\n\nghi", 8, 4, ["abc\n\ndef", "def\n\nghi"]),
    ],
)
def test_overlap_is_made_of_whole_atoms(text: str, most: int, overlap: int, expected: list[str]) -> None:
    assert [found for found, _ in packed(text, most, overlap=overlap)] == expected


def test_dropped_separators_are_named_and_kept_ones_are_not() -> None:
    text = "one,two,three"
    spans, drops = pack(text, 0, len(text), COMMA, Limit(text, [(characters(), 5)]), trim=Trim())
    assert [span.text(text) for span in spans] == ["one", "two", "three"]
    assert drops == [Drop(3, 4, "separator"), Drop(7, 8, "separator")]


def test_a_separator_inside_a_cluster_is_no_boundary() -> None:
    text = "xxx\u0301"
    spans, drops = pack(text, 0, len(text), (Separator("x"), Grapheme()), Limit(text, [(characters(), 2)]), trim=Trim())
    assert [span.text(text) for span in spans] == ["x", "x\u0301"]
    assert drops == [Drop(1, 2, "separator")]


def test_a_length_function_is_called_a_logarithmic_number_of_times_a_chunk() -> None:
    calls = 0

    def length(text: str) -> int:
        nonlocal calls
        calls += 1
        return len(text)

    text = "word " * 20_000
    found = packed(text, 1000, unit=function(length))
    assert len(found) == 100
    assert calls < 100 * 25


def test_context_counts_and_may_be_left_out_for_an_atom() -> None:
    def header(start: int) -> str:
        return "HEAD:" if start else ""

    def of(most: int, context: Callable[[int], str] | None) -> list[tuple[str, str]]:
        text = "one two three"
        found = pack(text, 0, 13, TEXT_LADDER, Limit(text, [(characters(), most)]), trim=Trim(), context_at=context)
        return [(span.context, span.text(text)) for span in found[0]]

    assert of(8, None) == [("", "one two"), ("", "three")]
    assert of(8, header) == [("", "one two"), ("HEAD:", "thr"), ("HEAD:", "ee")]
    assert of(5, header) == [("", "one"), ("", "two"), ("", "three")]


def test_an_overlap_leaves_room_for_white_space_that_a_cluster_holds() -> None:
    text = "aaa don'tbrown\u0600 "
    made = build("fixed", max_size=200, overlap=50, unit="bytes", max_tokens=5).split(text)
    assert [(span.text(text), span.overlap) for span in made.spans] == [("aaa don'tbrown", 0), ("'tbrown\u0600 ", 7)]

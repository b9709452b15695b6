"""The short way of packing cuts as the general way does: random texts, limits, overlaps and ladders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.cutting.levels import TEXT_ATOMS, TEXT_LADDER, Grapheme, Ladder, SeparatorPosition
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import Overlap, Trim, pack
from chunkers.cutting.plain import Packing
from chunkers.cutting.separators import Separator
from chunkers.measure.lengths import characters
from tests.laws.generators import MARKS, ODD, RARE_SPACES, SPACES, WORDS

ENGLISH = [
    "the",
    "Quick",
    "a,",
    "b.",
    "jump?",
    "(yes)",
    '"no."',
    "e.g.",
    "x",
    " ",
    " ",
    " ",
    ". ",
    "\n",
    "\n\n",
    "  ",
    "\t\n",
]
CHINESE = ["今天", "天气。", "「好。」", "漢", "、", "の", "，", " ", "\n", "\n\n", "A", "。"]
TEXTS = st.one_of(
    st.lists(st.sampled_from(ENGLISH), max_size=120).map("".join),
    st.lists(st.sampled_from(CHINESE), max_size=80).map("".join),
    st.lists(st.sampled_from([*WORDS, *SPACES, *SPACES, *MARKS, *RARE_SPACES, *ODD]), max_size=50).map("".join),
)


def separated(position: SeparatorPosition | None, *separators: str) -> tuple[Ladder, Ladder, Ladder]:
    ladder = [*(Separator(each, position) for each in separators), Grapheme()]
    return ladder, ladder[:-1], ladder[-1:]


WINDOWS: Ladder = (Grapheme(cut="limit"),)
PROSE: tuple[Ladder, Ladder, Ladder] = (TEXT_LADDER, TEXT_ATOMS, (Grapheme(),))
LADDERS = [
    PROSE,
    PROSE,
    (WINDOWS, WINDOWS, ()),
    *(
        separated(position, *separators)
        for position in (None, "start", "end")
        for separators in (("\n\n", "\n", "。", " "), (" ",), ("a", "漢"), ("\u0301",), (". ",))
    ),
]


@settings(derandomize=True, database=None, max_examples=600, deadline=None)
@given(TEXTS, st.sampled_from(LADDERS), st.one_of(st.integers(1, 12), st.integers(1, 200)), st.floats(0, 0.99))
def test_both_ways_of_packing_cut_the_same(
    text: str, ladders: tuple[Ladder, Ladder, Ladder], most: int, share: float
) -> None:
    ladder, atoms, inside_words = ladders
    repeated, bounds = int(most * share), [(characters(), most)]
    overlap = Overlap(most=repeated, unit=characters(), atoms=atoms, inside_words=inside_words) if repeated else None
    plain = Packing(ladder=ladder, bounds=bounds, trim=Trim(), overlap=overlap).pack(text)
    general = pack(text, 0, len(text), ladder, Limit(text, bounds), trim=Trim(), overlap=overlap)
    assert plain == general


def test_a_mark_behind_white_space_makes_no_empty_chunk() -> None:
    ladder: Ladder = (Separator("\u0301"), Grapheme())
    text = "abcd \u0301<|"
    spans, _ = Packing(ladder=ladder, bounds=[(characters(), 3)], trim=Trim()).pack(text)
    assert [span.text(text) for span in spans] == ["abc", "d", "<|"]


@pytest.mark.parametrize(
    ("text", "most", "repeated", "starts"),
    [
        pytest.param(
            "。dd,\u2029\x1c\u2029\x1cccc.\n\x85 \x85\x0b。\na\x0c\x0c\x85\x1c\n\u2029\u2029a \x1c\x85aE漢 ccc.\u2029bb",
            13,
            9,
            [0, 8, 17, 31],
            id="a line whose line end the limit leaves no room for",
        ),
        pytest.param(f"a{' ' * 300}b a", 302, 1, [0, 301], id="a word behind hundreds of spaces"),
        pytest.param(
            "a\na    aaaaaa\naaaaaaa\naa\na\na\n\n    \na aaaaa\n\na\na\na\na \u0600\u200a",
            39,
            26,
            [0, 22],
            id="room for a rest whose last cluster holds a space",
        ),
        pytest.param("a\x1f\x1b\na", 3, 1, [0, 2], id="a word that is a control character"),
        pytest.param(
            "a؟。a\na\na\n\n\n\n\n\n\n\n\n\x0ca", 16, 7, [0, 3], id="a sentence whose stop the limit leaves no room for"
        ),
    ],
)
def test_overlap_starts_where_the_general_way_has_it(text: str, most: int, repeated: int, starts: list[int]) -> None:
    bounds = [(characters(), most)]
    overlap = Overlap(most=repeated, unit=characters(), atoms=TEXT_ATOMS, inside_words=(Grapheme(),))
    plain = Packing(ladder=TEXT_LADDER, bounds=bounds, trim=Trim(), overlap=overlap).pack(text)
    assert plain == pack(text, 0, len(text), TEXT_LADDER, Limit(text, bounds), trim=Trim(), overlap=overlap)
    assert [span.start for span in plain[0]] == starts


def test_a_blank_line_may_hold_any_number_of_spaces() -> None:
    text, bounds = f"a b\n{' ' * 700}\n c", [(characters(), 4)]
    plain = Packing(ladder=TEXT_LADDER, bounds=bounds, trim=Trim()).pack(text)
    assert plain == pack(text, 0, len(text), TEXT_LADDER, Limit(text, bounds), trim=Trim())
    assert [span.cut for span in plain[0]] == ["blank-line", "document-end"]

"""Edges of grapheme clusters, against `\\X` over the whole text, and at the places where looking around is tricky."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.text.graphemes import ceil_edge, floor_edge, is_edge, next_edge, trimmed_end
from tests.laws.measuring import cut_edges

PIECES = [
    *["a", "Z", " ", "\n", "\r", "\r\n", "\x00", "é", "e\u0301", "\u0301\u0301", "漢", "。", "か\u3099", "ﾞ", "\u200b"],
    *["🇹🇼", "🇹", "🇯🇵", "👩\u200d👩\u200d👧", "👍🏽", "\u200d", "\ufe0f", "1️⃣", "🏴\U000e0067\U000e007f", "©\ufe0f", "\U0001f3fb"],
    *["क्षि", "स्त्री", "क्", "త్", "က္", "ក្", "น้ำ", "ำ", "각", "가", "ᄀ", "ᆨ", "ᅡᅡ", "한", "\u0600", "\u06dd", "\u0d4e", "\U000110bd"],
    *["\ud800", "\udc00", "\u2028", "\u034f", "\u0903", "\u00ad", "\U000e0001"],
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(PIECES), st.characters()), max_size=20).map("".join)


@settings(derandomize=True, database=None, max_examples=400, deadline=None)
@given(TEXTS, st.randoms(use_true_random=False))
def test_edges_are_those_of_extended_grapheme_clusters(text: str, random: st.DataObject) -> None:
    edges = [at for at, fine in enumerate(cut_edges(text)) if fine]
    for position in range(len(text) + 1):
        below = max(edge for edge in edges if edge <= position)
        above = min(edge for edge in edges if edge >= position)
        floor = random.choice([edge for edge in edges if edge <= position])  # type: ignore[attr-defined]
        assert floor_edge(text, position, floor) == floor_edge(text, position, 0) == below
        assert ceil_edge(text, position, floor, len(text)) == above
        assert is_edge(text, position, floor) == (position in edges)
        if position in edges and position < len(text):
            assert next_edge(text, position, len(text)) == min(edge for edge in edges if edge > position)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("a\r\nb", [0, 1, 3, 4]),
        ("\n\r", [0, 1, 2]),
        ("🇹🇼🇯🇵🇰", [0, 2, 4, 5]),
        ("a🇹🇼🇯", [0, 1, 3, 4]),
        ("\u0600🇯🇵🇹🇼", [0, 3, 5]),
        ("👩\u200d👩\u200d👧\u200d👦!", [0, 7, 8]),
        ("क्षत्रिय", [0, 3, 7, 8]),
        ("ᄀ가각ᆨ", [0, 2, 4]),
        ("น้ำ", [0, 3]),
        (" \u0301", [0, 2]),
        ("\u0600 x", [0, 2, 3]),
        ("e" + "\u0301" * 150, [0, 64, 128, 151]),
    ],
)  # fmt: skip
def test_edges_of(text: str, edges: list[int]) -> None:
    assert [at for at in range(len(text) + 1) if is_edge(text, at, 0)] == edges


def test_a_cluster_is_capped_at_64_code_points() -> None:
    wall = "e" + "\u0301" * 150
    assert floor_edge(wall, 63, 0) == 0
    assert floor_edge(wall, 100, 0) == 64
    assert next_edge(wall, 0, len(wall)) == 64
    assert ceil_edge(wall, 65, 64, len(wall)) == 128


LONG_PIECES = [
    *["क", "र", "\u094d", "\u094d\u0930", "\u0301", "\u200d", "\u200c", "\u0902", "\u0903", "క", "\u0c4d", "a", "\n", " "],
    *["👩", "👩\u200d", "©", "\U0001f3fb", "\ufe0f", "🇹", "🇹🇼", "\u0600", "ᄀ", "ᅡ", "ᆨ", "가"],
]  # fmt: skip
LONG_TEXTS = st.lists(
    st.tuples(st.sampled_from(LONG_PIECES), st.sampled_from([1, 1, 1, 2, 3, 21, 31, 61, 62, 63, 64, 65, 127, 128])),
    max_size=8,
).map(lambda runs: "".join(piece * times for piece, times in runs))


@settings(derandomize=True, database=None, max_examples=400, deadline=None)
@given(LONG_TEXTS, st.randoms(use_true_random=False))
def test_edges_inside_long_clusters_are_every_64th_code_point_of_the_whole_cluster(
    text: str, random: st.DataObject
) -> None:
    edges = [at for at, fine in enumerate(cut_edges(text)) if fine]
    assert [next_edge(text, edge, len(text)) for edge in edges[:-1]] == edges[1:]
    for position in random.sample(range(len(text) + 1), min(30, len(text) + 1)):  # type: ignore[attr-defined]
        below = [edge for edge in edges if edge <= position]
        assert {floor_edge(text, position, floor) for floor in {0, random.choice(below), *below[-3:]}} == {below[-1]}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("क" + "\u094d" * 70 + "क" * 2, [0, 64, 72, 73]),
        ("क" + "\u0301" * 63 + "\u094d" + "क" * 2, [0, 64, 66, 67]),
        ("क\u094d" * 60 + "क", [0, 64, 121]),
        ("क\u094d" * 32 + "क", [0, 64, 65]),
        ("©" + "\u0301" * 70 + "\u200d©", [0, 64, 73]),
        ("\u0600" * 63 + "🇹" * 5, [0, 64, 65, 67, 68]),
        ("x" + "\u0301" * 70 + "क", [0, 64, 71, 72]),
    ],
    ids=["linkers", "a linker at the edge", "conjuncts", "a letter at the edge", "emoji", "flags", "nothing to tie"],
)  # fmt: skip
def test_what_an_edge_inside_a_cluster_is_followed_by_depends_on_what_comes_before(text: str, edges: list[int]) -> None:
    assert [at for at, fine in enumerate(cut_edges(text)) if fine] == edges
    assert [next_edge(text, edge, len(text)) for edge in edges[:-1]] == edges[1:]
    assert [at for at in range(len(text) + 1) if is_edge(text, at, 0)] == edges


def test_walking_along_a_long_cluster_is_linear() -> None:
    """Looking back to the cluster's start at each edge would take minutes: the suite's patience is the assertion."""
    for wall in ("क" + "\u0301" * 1_000_000 + "\u094dक", "क\u094d" * 500_000 + "क", "👩\u200d" * 500_000 + "👩"):
        position, steps = 0, 0
        while position < len(wall):
            position, steps = next_edge(wall, position, len(wall)), steps + 1
        assert steps == -(-len(wall) // 64)


def test_the_floor_is_the_least_answer() -> None:
    assert floor_edge("abc", 1, 2) == 2
    assert next_edge("👩\u200d👩", 0, 3) == 3


@pytest.mark.parametrize(
    ("text", "end"),
    [("a  \n", 1), ("a", 1), ("  ", 0), ("", 0), ("\u0600 \n", 2), ("a \u0301", 3), ("漢\u3000", 1), ("क \u200d ", 3)],
)
def test_trimming_leaves_white_space_that_a_cluster_holds(text: str, end: int) -> None:
    assert trimmed_end(text, 0, len(text)) == end

"""Simple selectors are told while a page is read: they find what Beautiful Soup's find in a tree of it."""

from __future__ import annotations

import random

import pytest

from chunkers.errors import BudgetExceeded
from chunkers.structure import html_simple_selectors
from chunkers.structure.html_selecting import LARGEST, select, select_in_tree
from chunkers.structure.html_simple_selectors import simple

SIMPLE = [
    "h2.x",
    ".a",
    "#x",
    ".a.b",
    "SPAN.A, .b",
    "p , h2",
    "[id]",
    "[ID]",
    "[class]",
    "[id=x]",
    "[data-k='1 2']",
    '[ name = "q" ]',
    "div div",
    "div > div",
    "div>.a",
    "table td.a",
    "table > tr > td",
    "ul li > p",
    ".a .b > .a",
    "body h2#x.a",
    "div p > em.b",
]
NOT_SIMPLE = [
    "p ~ h2",
    "h1 + p",
    "*",
    "a:not(.x)",
    "p:first-child",
    "[lang|=en]",
    "[type=x]",
    "[rel=x]",
    r".a\.b",
    "svg|a",
]
TAGS = (
    "div",
    "p",
    "h1",
    "h2",
    "ul",
    "li",
    "table",
    "tr",
    "td",
    "span",
    "em",
    "a",
    "b",
    "i",
    "body",
    "head",
    "pre",
    "br",
    "svg",
)
GIVEN = [
    "",
    "",
    ' class="a b"',
    " class=b",
    " CLASS='x\ta'",
    ' id=x class="a"',
    ' id="X"',
    ' id="x" id=y',
    ' data-k="1 2"',
    " name=q",
    ' class="&#97;"',
    " class",
    ' id="a>b',
    " hidden",
    " /",
]


def broken_page(chance: random.Random) -> str:
    parts = []
    for _ in range(chance.randrange(1, 60)):
        name = chance.choice(TAGS)
        kind = chance.random()
        if kind < 0.55:
            parts.append(f"<{name}{chance.choice(GIVEN)}>")
        else:
            parts.append(
                f"</{name}>" if kind < 0.8 else chance.choice(["text", "<", "&amp;", "<!-- c", '"', "\0", "漢"])
            )
    return "".join(parts)


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))])
def test_simple_selectors_find_what_a_tree_finds(seed: int) -> None:
    chance = random.Random(seed)
    matches = 0
    for _ in range(80):
        page = broken_page(chance)
        chosen = [(selector, rank) for rank, selector in enumerate(chance.sample(SIMPLE, 4))]
        found = select(page, chosen)
        assert found == select_in_tree(page, chosen), (chosen, page)
        matches += len(found)
    assert matches > 80


def test_what_is_simple() -> None:
    assert [each for each in SIMPLE if simple([(each, 0)]) is None] == []
    assert [each for each in NOT_SIMPLE if simple([(each, 0)]) is not None] == []
    assert simple([("p", 0), ("p ~ h2", 1)]) is None


def test_a_selector_that_is_not_simple_is_left_to_the_tree() -> None:
    assert select("<h1>a</h1><p>b<p>c", [("h1 + p", 7)]) == {10: 7}


def test_simple_selectors_have_no_limit_of_size_or_depth() -> None:
    text = "<div>" * 5000 + "<i><b class=x>" + "x" * LARGEST
    assert select(text, [("i .x", 3)]) == {5 * 5000 + 3: 3}
    with pytest.raises(BudgetExceeded):
        select_in_tree(text, [("i .x", 3)])


def test_too_many_ancestors_are_left_to_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_simple_selectors, "MOST_STEPS", 10)
    text = "<div>" * 20 + "<b class=x>"
    assert select(text, [("i .x", 1), ("div .x", 2)]) == {100: 2}

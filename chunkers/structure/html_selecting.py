"""The elements of a document that CSS selectors match, by where their tags start.

Simple selectors are told while the document is read (`html_simple_selectors.py`). For others the tree that Beautiful
Soup's selectors work on is made from our own reading of the document, so that every selector sees the elements that
everything else sees: for documents of moderate size only, as a tree takes 80 times its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chunkers.errors import BudgetExceeded, InvalidOption
from chunkers.structure.html_elements import Elements
from chunkers.structure.html_page import Reader, Selected
from chunkers.structure.html_simple_selectors import Matching, TooDeep, simple
from chunkers.structure.html_tokens import PLAIN_TAG, TAG, attributes

LARGEST = 8_000_000
"""Characters that a document may have if a selector needs a tree of it."""
UNLIMITED = "those of names, classes, ids, attributes, spaces and > alone"
MOST_ANCESTORS = 10_000_000
"""How many elements there may be above all elements together: a selector may have to look at each."""


def check_selector(name: str, selector: str) -> None:
    """Refuse what is no CSS selector, as the value of the option `name`."""
    import soupsieve  # only whoever selects anything pays for it

    try:
        soupsieve.compile(selector)
    except Exception as error:
        message = str(error).strip().split("\n")[0]
        raise InvalidOption(name, selector, f"made of CSS selectors ({message})") from None


def select(text: str, selectors: Sequence[tuple[str, int]]) -> dict[int, int]:
    """For each element that one of the selectors matches, its place in `text`: the rank of the first that does.

    Raises BudgetExceeded for documents that are too large or nested too deeply for selectors that need a tree.
    """
    plain = simple(selectors)
    if plain is not None:
        matching = Matching(text, plain)
        try:
            Reader(text, Selected({}), matching).run()
        except TooDeep:
            pass  # the tree says so, or finds a shorter way
        else:
            return matching.found
    return select_in_tree(text, selectors)


def select_in_tree(text: str, selectors: Sequence[tuple[str, int]]) -> dict[int, int]:
    """The same for any selectors."""
    if len(text) > LARGEST:
        raise BudgetExceeded(
            f"a document of {len(text):,} characters is too large for CSS selectors: at most {LARGEST:,}; "
            f"{UNLIMITED} have no limit"
        )
    import soupsieve

    elements = _Tree(text)
    _TreeReader(text, Selected({}), elements).run()
    found: dict[int, int] = {}
    for selector, rank in selectors:
        for tag in soupsieve.compile(selector).select(elements.soup):
            found.setdefault(int(tag.sourcepos or 0), rank)
    return found


class _Tree(Elements):
    """The elements, put into a tree as they open and close."""

    def __init__(self, text: str) -> None:
        from bs4 import BeautifulSoup

        super().__init__()
        self.text = text
        self.soup: Any = BeautifulSoup("", "html.parser")
        self.ancestors = 0

    def open(self, name: str, begin: int) -> None:
        self._start(name, begin)
        super().open(name, begin)

    def void(self, name: str, begin: int) -> None:
        self._start(name, begin)
        self.soup.handle_endtag(name)
        super().void(name, begin)

    def pop(self, end: int) -> None:
        self.soup.handle_endtag(self.top.name)
        super().pop(end)

    def _start(self, name: str, begin: int) -> None:
        self.ancestors += self.depth
        if self.ancestors > MOST_ANCESTORS:
            raise BudgetExceeded(f"nested too deeply for CSS selectors; {UNLIMITED} have no limit")
        tag = TAG.match(self.text, begin) or PLAIN_TAG.match(self.text, begin)
        given: Any = attributes(tag[3]) if tag else {}
        self.soup.handle_starttag(name, None, None, given, sourceline=1, sourcepos=begin)


class _TreeReader(Reader):
    """Puts the text into the tree as well: selectors may ask for it."""

    def data(self, start: int, end: int) -> None:
        self.elements.soup.handle_data(self.text[start:end])  # type: ignore[attr-defined]
        super().data(start, end)

"""Selectors that can be told while a page is read: names, classes, ids, attributes, and what they lie in.

They mean what they mean to Beautiful Soup's selectors; everything else is left to those, which need a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from chunkers.structure.html_elements import Element, Elements
from chunkers.structure.html_tokens import PLAIN_TAG, TAG, attributes

MOST_STEPS = 10_000_000
"""How many ancestors may be looked at for one document."""

_NAME = r"[a-zA-Z_][a-zA-Z0-9_-]*"
_EXACT = r"(?:data-[a-z0-9_-]+|id|name|role|itemprop)"
"""Attributes whose values are compared as they are; case does not count in those of some others."""
_ATTRIBUTE = rf"\[ *(?:{_EXACT} *= *(?:\"[^\"\\\n]*\"|'[^'\\\n]*'|{_NAME})|{_NAME}) *\]"
_COMPOUND = rf"(?:{_NAME}(?:[.#]{_NAME}|{_ATTRIBUTE})*|(?:[.#]{_NAME}|{_ATTRIBUTE})+)"
_COMPLEX = rf"{_COMPOUND}(?: *> *{_COMPOUND}| +{_COMPOUND})*"
_LIST = re.compile(rf" *{_COMPLEX}(?: *, *{_COMPLEX})* *")
_PART = re.compile(rf"({_COMPOUND})|( *> *)|( *, *)|( +)")
_TEST = re.compile(rf"\.({_NAME})|#({_NAME})|\[ *({_NAME}) *(?:= *(?:\"([^\"]*)\"|'([^']*)'|({_NAME})) *)?\]|({_NAME})")


class Compound(NamedTuple):
    """What one element must have. `name` is "" for any; `values` has None for an attribute that only must be there."""

    name: str
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    values: tuple[tuple[str, str | None], ...]

    @property
    def needs_attributes(self) -> bool:
        return bool(self.ids or self.classes or self.values)


class Complex(NamedTuple):
    """The element itself, and what it lies in from the inside out: each directly (`>`) or anywhere above."""

    element: Compound
    above: tuple[tuple[bool, Compound], ...]
    rank: int


def simple(selectors: Sequence[tuple[str, int]]) -> list[Complex] | None:
    """The selectors with their ranks, in order; None if one of them needs a tree."""
    if not all(_LIST.fullmatch(selector) for selector, _ in selectors):
        return None
    return [each for selector, rank in selectors for each in _complexes(selector.strip(" "), rank)]


def _complexes(selector: str, rank: int) -> Iterator[Complex]:
    chain: list[tuple[bool, Compound]] = []
    direct = False
    for part in _PART.finditer(selector):
        if part[1]:
            chain.append((direct, _compound(part[1])))
        elif part[3]:
            yield _from_inside(chain, rank)
            chain = []
        direct = part[2] is not None
    yield _from_inside(chain, rank)


def _from_inside(chain: Sequence[tuple[bool, Compound]], rank: int) -> Complex:
    above = tuple((chain[number][0], chain[number - 1][1]) for number in range(len(chain) - 1, 0, -1))
    return Complex(chain[-1][1], above, rank)


def _compound(text: str) -> Compound:
    name, ids, classes, values = "", [], [], []
    for test in _TEST.finditer(text):
        if test[1]:
            classes.append(test[1])
        elif test[2]:
            ids.append(test[2])
        elif test[3]:
            given = [value for value in test.group(4, 5, 6) if value is not None]
            values.append((test[3].lower(), given[0] if given else None))
        else:
            name = test[7].lower()
    return Compound(name, tuple(ids), tuple(classes), tuple(values))


class TooDeep(Exception):
    """More ancestors would have to be looked at than MOST_STEPS."""


class Matching(Elements):
    """The elements of `text`; `found` are those that a selector matches, the rank of the first that does by offset."""

    def __init__(self, text: str, selectors: Sequence[Complex]) -> None:
        super().__init__()
        self.text = text
        self.found: dict[int, int] = {}
        self._selectors = selectors
        self._names = {each.element.name for each in selectors}
        self._steps = 0

    def open(self, name: str, begin: int) -> None:
        if "" in self._names or name in self._names:
            self._match(name, begin)
        super().open(name, begin)

    def void(self, name: str, begin: int) -> None:
        if "" in self._names or name in self._names:
            self._match(name, begin)
        super().void(name, begin)

    def _match(self, name: str, begin: int) -> None:
        given: Mapping[str, str] | None = None
        for selector in self._selectors:
            element = selector.element
            if element.name and element.name != name:
                continue
            if element.needs_attributes:
                if given is None:
                    given = self._given(begin)
                if not _fits(element, given):
                    continue
            if self._lies_in(selector.above, 0, len(self.stack)):
                self.found.setdefault(begin, selector.rank)
                return

    def _lies_in(self, above: Sequence[tuple[bool, Compound]], number: int, depth: int) -> bool:
        """Whether what is above the element of this depth fits from step `number` on."""
        if number == len(above):
            return True
        direct, wanted = above[number]
        again = any(each for each, _ in above[number + 1 :])  # else the nearest is as good as any
        for place in range(depth - 1, max(depth - 2, -1) if direct else -1, -1):
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise TooDeep
            if self._is(self.stack[place], wanted):
                if self._lies_in(above, number + 1, place):
                    return True
                if not again:
                    return False
        return False

    def _is(self, element: Element, wanted: Compound) -> bool:
        if wanted.name and wanted.name != element.name:
            return False
        if not wanted.needs_attributes:
            return True
        if element.given is None:
            element.given = self._given(element.begin)
        return _fits(wanted, element.given)

    def _given(self, begin: int) -> dict[str, str]:
        tag = TAG.match(self.text, begin) or PLAIN_TAG.match(self.text, begin)
        return attributes(tag[3]) if tag else {}


def _fits(wanted: Compound, given: Mapping[str, str]) -> bool:
    if any(given.get("id", "") != each for each in wanted.ids):
        return False
    if wanted.classes:
        classes = given.get("class", "").split()
        if any(each not in classes for each in wanted.classes):
            return False
    return all(name in given and value in (None, given[name]) for name, value in wanted.values)

"""Possessive groups mean the same on every Python: the mended form is held to the sound one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.structure import json_grammar
from chunkers.text import patterns

PAIRS = [
    (r"(?:ab?c?|b)*+x", r"(?>(?:ab?c?|b)*)x"),
    (r"(?:a(?:b|bc)?){1,3}+c", r"(?>(?:a(?:b|bc)?){1,3})c"),
    (r"(?P<run>(?:a|ab)++)(?:b|x)?+", r"(?P<run>(?>(?:a|ab)+))(?>(?:b|x)?)"),
    (r"(?<=a)(?:b(?!c)|x)?+(?=c|x)", r"(?<=a)(?>(?:b(?!c)|x)?)(?=c|x)"),
]


@pytest.mark.parametrize(("possessive", "atomic"), PAIRS)
@pytest.mark.parametrize("compiled", [patterns._mended, patterns.compile_pattern])
@given(text=st.text(alphabet="abcx", max_size=12))
def test_a_possessive_group_means_an_atomic_one(compiled, possessive: str, atomic: str, text: str) -> None:
    found = [(match.span(), match.groups()) for match in compiled(possessive).finditer(text)]
    assert found == [(match.span(), match.groups()) for match in re.compile(atomic).finditer(text)]


def test_flags_and_names_of_groups_are_kept() -> None:
    pattern = patterns._mended(r"(?P<word> (?:a|B)++ )", re.VERBOSE | re.IGNORECASE)
    assert pattern.groupindex == {"word": 1}
    found = pattern.search("xabAx")
    assert found is not None
    assert found["word"] == "abA"


def test_a_string_with_escapes_is_read_whole() -> None:
    """The shape that went wrong in 3.11.0 to 3.11.4."""
    text = '"a\\"b\\u00e9\\\\c" , "d'
    found = patterns.compile_pattern(json_grammar.STRING).match(text)
    assert found is not None
    assert found.group() == '"a\\"b\\u00e9\\\\c"'

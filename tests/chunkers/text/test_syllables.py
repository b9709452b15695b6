"""Where words of scripts without spaces may be cut: at syllables whose edges letters alone tell."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from chunkers.text.syllables import SYLLABLE_EDGE


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("โรงเรียนเปิด", ["โรง", "เรียน", "เปิด"]),
        ("ประเทศไทย", ["ประ", "เทศ", "ไทย"]),
        ("ພາສາໄທ", ["ພາສາ", "ໄທ"]),
        ("ផ្សារនៅ", ["ផ្សា", "រ", "នៅ"]),
        ("ကျွန်တော်နေကောင်း", ["ကျွန်", "တော်", "နေ", "ကောင်း"]),
        ("བོད་སྐད་ཡིན", ["བོད་", "སྐད་", "ཡིན"]),
        ("ሰላም፡ዓለም", ["ሰላም፡", "ዓለም"]),
        ("café", ["café"]),
    ],
)
def test_syllables(text: str, pieces: list[str]) -> None:
    edges = [0, *(found.start() for found in re.finditer(SYLLABLE_EDGE, text)), len(text)]
    assert [text[start:end] for start, end in pairwise(edges)] == pieces

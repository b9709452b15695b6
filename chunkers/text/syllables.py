"""Where a word may be cut in scripts that put no spaces between words and need a dictionary to find them.

A syllable's edge is found by the letters alone, and never splits a vowel or a stacked consonant from its base. A word
may still be cut between two of its syllables: there is no dictionary here.
"""

from __future__ import annotations

SYLLABLE_EDGE = (
    # Thai and Lao: a vowel that is written first starts a syllable, but not behind another one; the marks of repetition
    # and abbreviation, and short a, end one.
    "(?<=[\u0e01-\u0e3a\u0e45-\u0e4e\u0e81-\u0ebd\u0ec6-\u0ecd])(?=[\u0e40-\u0e44\u0ec0-\u0ec4])"
    "|(?<=[\u0e2f\u0e30\u0e46\u0eaf\u0eb0\u0ec6])(?=[\u0e01-\u0e2e\u0e81-\u0eae])"
    # Khmer: an independent letter that is not joined to the one before it.
    "|(?<=[\u1780-\u17d1\u17d3-\u17dd])(?<!\u17d2)(?=[\u1780-\u17b3](?!\u17cb|\u17cd))"
    # Burmese: a consonant that carries no killer (it would end the syllable) and is not stacked.
    "|(?<=[\u1000-\u1038\u103a-\u109f])(?=[\u1000-\u102a\u103f\u104e](?![\u1037]?[\u1039\u103a]))"
    # Tibetan: behind the mark that ends a syllable.
    "|(?<=[\u0f0b\u0f0c])(?=[\u0f40-\u0f6c])"
    # Ethiopic: behind the mark that stands between words instead of a space.
    "|(?<=\u1361)(?=[\u1200-\u135a])"
)
"""A regular expression that matches, empty, at edges of syllables."""

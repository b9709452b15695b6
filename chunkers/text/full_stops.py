"""Whether a full stop ends a sentence or belongs to an abbreviation, an initial or a number."""

from __future__ import annotations

import re

from chunkers.text.abbreviations import (
    BEFORE_NUMBERS,
    DEGREES,
    ERAS,
    MAYBE_LAST,
    MONTHS,
    NEVER_LAST,
    OPENING_WORDS,
    TIMES,
    TITLES,
)

WORD_BEFORE = re.compile(r"[\w.°\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0d3e-\u0d4d]*$")  # \w holds no combining marks
WORD_BEHIND = re.compile(r"\s*([^\W\d_]+)(\.?)")
_NEXT_DIGIT = re.compile(r"\s*\d")
_NEXT_NUMBER = re.compile(r"\s*(?:\d|[IVXLC]{2,8}\b|[VX]\b)")
_SECTION_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})+")
_ROMAN_ITEM = re.compile(r"[ivx]{2,5}")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_OPENS = re.compile(
    r"(?:\A|[\n.!?;:“\"(]\s*)(?:(?:[^\W\d_]+ ){0,2}\d{1,2}(?:[:.]\d\d)?"
    r"|(?i:on|in|at|by|around|about|from|until|till|before|after|since)"
    r"(?: (?:at|in|on|by|the|around|about|early|late|next|last|morning|afternoon|evening|noon|[A-Z][a-z]+"
    r"|(?:Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)\.|\d{1,4}(?:[:.]\d\d)?),?){1,7}) ?\Z"
)
_LOWER_WORD = re.compile(r"(?<![^\s(])[a-zß-öø-ÿ]+ \Z")
_INDIC_INITIAL = re.compile(
    r"[\u0905-\u0939\u0c85-\u0cb9\u0d05-\u0d39][\u093a-\u094d\u0cbc-\u0ccd\u0d3e-\u0d4d]{0,2}\."
)


def is_abbreviation(text: str, dot: int) -> bool:
    """Whether the full stop at `dot` belongs to an abbreviation, an initial or a list number."""
    before = WORD_BEFORE.search(text, max(0, dot - 16), dot)
    word = before[0] if before else ""
    if not word:
        return _is_title_apart(text, dot)
    behind = WORD_BEHIND.match(text, dot + 1)
    following = behind[1] if behind else ""
    if word.isdigit():
        return _is_ordinal(text, dot, word, following)
    if _SECTION_NUMBER.fullmatch(word):
        return _starts_line(text, dot - len(word)) and text[dot + 1 : dot + 2] in (" ", "\t", "\xa0", "\u3000")
    if word == "I" and following.lower() in OPENING_WORDS:
        return False
    if "\u0905" <= word[0] <= "\u0d39" and _is_indic_initial(text, dot, word):
        return True
    if len(word) == 1 and word.isalpha():
        return word.isupper() or "\u0621" <= word <= "\u064a" or _is_short(text, dot, word, following, behind)
    small = word.lower()
    if _ROMAN_ITEM.fullmatch(word) and _starts_line(text, dot - len(word)):
        return True
    if small in NEVER_LAST:
        return True
    if small in BEFORE_NUMBERS:
        return _NEXT_NUMBER.match(text, dot + 1) is not None
    if small in TIMES and "." in small:
        if following.lower() in TITLES:
            return _opens(text, dot - len(word))
        return (len(following) > 2 and following.isupper()) or _is_initial(behind)
    if small in ERAS and text[dot - len(word) - 2 : dot - len(word) - 1].isdigit():
        return not following[:1].isupper() or _opens(text, dot - len(word))
    if small in DEGREES and _LOWER_WORD.search(text, max(0, dot - len(word) - 16), dot - len(word)):
        return not following[:1].isupper()
    if small in MAYBE_LAST or ("." in word and _ACRONYM.fullmatch(word)):
        return following.lower() not in OPENING_WORDS
    return False


def _opens(text: str, start: int) -> bool:
    """Whether a sentence has only begun in front of `start`, with a time: `On Monday at 6 |a.m.`, `In 44 |B.C.`"""
    return _OPENS.search(text, max(0, start - 60), start) is not None


def _is_title_apart(text: str, dot: int) -> bool:
    """Whether the full stop belongs to a title and stands apart from it: `Mr . Robinson`."""
    before = WORD_BEFORE.search(text, max(0, dot - 7), dot - 1) if text[dot - 1 : dot] == " " else None
    return before is not None and before[0].lower() in TITLES


def _is_indic_initial(text: str, dot: int, word: str) -> bool:
    """Whether a word is one syllable, with another one like it beside it: initials of a name."""
    parts = word.split(".")
    if not all(_INDIC_INITIAL.fullmatch(f"{part}.") for part in parts):
        return False
    before = text[max(0, dot - len(word) - 6) : dot - len(word)].split()
    return (
        len(parts) > 1
        or _INDIC_INITIAL.match(text[dot + 1 : dot + 8].lstrip()) is not None
        or (bool(before) and _INDIC_INITIAL.fullmatch(before[-1]) is not None)
    )


def _starts_line(text: str, start: int) -> bool:
    """Whether nothing but blanks stands on the line in front of `start`."""
    lead = text[max(0, start - 4) : start].rstrip(" \t#")
    return not lead or lead[-1] in "\n\r"


def _is_ordinal(text: str, dot: int, number: str, following: str) -> bool:
    """Whether a number with a full stop is the day of a date, or the number of an item at a line's start."""
    if len(number) > 2:
        return False
    if following.lower() in MONTHS and text[dot + 1 : dot + 2] == " ":
        return True
    lead = text[max(0, dot - len(number) - 3) : dot - len(number)].rstrip(" ")
    return not lead or lead[-1] in "\n\r.!?。•⁃‣-*"


def _is_short(text: str, dot: int, letter: str, following: str, behind: re.Match[str] | None) -> bool:
    """Whether a small letter with a full stop is an abbreviation: `p. 5`, `z. B.`, `г. Волгоград`, `a. an item`."""
    if _NEXT_DIGIT.match(text, dot + 1) or _is_initial(behind):
        return letter in "pscnvfпдкс" or _is_initial(behind)
    lead = text[max(0, dot - 4) : dot - 1].rstrip(" ")
    if letter in "гмсрулд":
        return bool(lead) and not lead[-1].isdigit() and lead[-1] != "."
    return letter in "abcdefgh" and (not lead or lead[-1] in "\n\r")


def _is_initial(behind: re.Match[str] | None) -> bool:
    """Whether the next word is one capital letter with a full stop."""
    return behind is not None and len(behind[1]) == 1 and behind[1].isupper() and bool(behind[2])

"""Sentence ends and clause ends in all scripts, found near a place without reading the rest of the document.

An end is the offset right behind the closing punctuation: quotes and brackets that close there belong to the
sentence, white space does not. No spaces and no capitals are needed where a script has none.
"""

from __future__ import annotations

import re

from chunkers.text.full_stops import WORD_BEHIND, is_abbreviation
from chunkers.text.scripts import CLOSERS, HAN_KANA, HANGUL, OPENERS, inside_class

_OTHER_STOPS = (
    "\u0589\u061d\u061e\u061f\u06d4\u0700\u0701\u0702\u07f9\u0964\u0965\u0f0d\u0f0e\u104b\u1362\u1367\u1368\u166e"
    "\u1735\u1736\u17d4\u17d5\u1803\u1809\u1944\u1945\u1aa8\u1aa9\u1aaa\u1aab\u1b5a\u1b5b\u1b5f\u1c3b\u1c3c\u1c7e\u1c7f"
    "\ua4ff\ua60e\ua60f\ua6f3\ua6f7\ua876\ua877\ua8ce\ua8cf\ua92f\ua9c9\uaa5d\uaa5e\uaa5f\uaaf0\uaaf1\uabeb"
)
"""Sentence_Terminal of the Unicode Character Database in scripts in use (those of the first plane: a set of characters
with others in it is searched more slowly), but for marks that are commas in their script."""

FULL_STOPS = f"。！？｡．﹒﹖﹗︒︕︖‼‽⁇⁈⁉{_OTHER_STOPS}"
"""Enders that need nothing behind them."""

OTHER_STOP = re.compile(f"[{_OTHER_STOPS}]")
"""Full stops of scripts that are neither Latin, Cyrillic or Greek nor Chinese or Japanese."""

LATIN_STOP = re.compile(r"\.[ \n](?<=[a-zß-öø-ÿά-ώа-я]{4}\.[ \n])\s*+[\"-+\-/-:<->@-Z\\-`{-~À-ÖØ-ÞΑ-ΩА-Я]")
"""A full stop that surely ends a sentence, and the first letter of the next one: no mark and no note."""

_CLOSE = inside_class(CLOSERS)
_OPEN = inside_class(OPENERS)
_NOTES = r"(?:\[\d{1,3}\])*(?: (?:\[\d{1,3}\] ?)*\[\d{1,3}\](?=\s|\Z))?"
_END = (
    f"[.!?;:\u037e{FULL_STOPS}](?:(?<!:)|(?<=[\u0531-\u0587]:))[.!?…{FULL_STOPS}]*"  # a set first: it is searched for
    f"(?: ?[»›](?!\\w)|[“«`](?=\\s|\\Z)|[{_CLOSE}])*{_NOTES}"
)
SENTENCE_END = re.compile(_END)
"""A possible sentence end; `is_sentence_end` tells whether it is one."""
BULLETS = "•⁃‣"
SENTENCE_END_OR_BULLET = re.compile(rf"{_END}|(?<=\S)(?=[ \t]++[{BULLETS}][ \t]?\w)")
"""The same in texts that list things within lines: where a bullet follows."""
ASCII_SENTENCE_END = re.compile(f"[.!?](?<![.!?]{{2}})[.!?]*+[{inside_class(')]}')}\"'`]*+{_NOTES}(?=\\s)")
"""The same for text that is all ASCII: it starts with a plain set, so the search is several times faster."""
_CLAUSE_MARKS = (
    "，；：、､،؛…‥—﹐﹑﹔﹕︐︑︓︔\u0703\u0704\u0705\u0706\u0707\u0708\u07f8\u104a\u1363\u1364\u1365\u1366\u17d6"
    "\u1802\u1804\u1b5d\u1b5e\ua4fe\ua60d\ua6f4\ua6f5\ua6f6\ua9c8"
)
CLAUSE_END = re.compile(f"[{_CLAUSE_MARKS}][{_CLAUSE_MARKS}{_CLOSE}]*|[,;:–\u0387][{_CLOSE}]*(?=\\s)")

_GOES_ON = re.compile(r" ++(?:(?:''|[\"'”’»]) ++)?(?:[,;]|[.!?]++(?=\s|\Z))")
"""Behind a mark: more of them, or a comma, with spaces between as in text that was taken apart (`Stop ! ! '' , he`)."""
_SPACED_DOTS = re.compile(r"\.(?: \.)+")
_NEXT = re.compile(r"\s*([" + _OPEN + r"\"'¿¡]*)(\S?)(\S?)")
_PARENTHESIS = re.compile(r"[（(][^（()）\n]{0,200}[。！？.!?][)）]")
_CJK = re.compile(f"[{HAN_KANA}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_QUOTES = re.compile("[「」『』“”\n]")
_ITEM_NUMBER = re.compile(r"(?:\A|[\n\r])[ \t\u3000]*\d{1,3}\Z")
_TITLE_MARKS = re.compile("[《》\n]")
_QUOTE_CLOSERS = frozenset("」』”’\"'»›“«`")
_HORIZON = 400
_SINCE_MARK = re.compile(r"(?:\A|(?<=[.!?\n]))\s*[^\w\s]*([^\W\d_])[^.!?\n]*\Z")


def first_easy_start(text: str, low: int, high: int) -> int:
    """The first sentence start in `low <= start < high` that needs no second look, or -1.

    Behind a full stop between four small letters and anything but a small letter, or behind 。 where no quotation is
    open. Asked for every chunk that repeats text, so it takes plain searches only (benchmarks/strategies.py); all other
    ends are passed over.
    """
    find = text.find
    found = LATIN_STOP.search(text, low - 2 if low > 2 else 0, high)
    start = found.end() - 1 if found else -1
    if start > 0:
        high = start
    stop = find("。", low - 1 if low else 0, high - 1)
    if stop >= 0 and "\u3041" <= text[stop + 1] <= "\u9fff" and text[stop + 1] != "の":
        horizon = stop + _HORIZON
        if find("」", stop, horizon) < 0 and find("”", stop, horizon) < 0 and find("』", stop, horizon) < 0:
            return stop + 1
    return start


def is_sentence_end(text: str, found: re.Match[str]) -> bool:
    """Whether a match of `SENTENCE_END` in `text` ends a sentence there."""
    start, end = found.span()
    if start == end:
        return True
    ender = text[start]
    if ender in ";\u037e" and not ("\u0370" <= text[start - 1] <= "\u03ff" and text[end : end + 1].isspace()):
        return False
    following = _NEXT.match(text, end)
    if following is None or (not following[2] and not following[1]):
        return True
    first, second = following[2], following[3]
    spaced = text[end : end + 1].isspace()
    if ender in FULL_STOPS:
        if "\n" in text[end : following.start(1)]:
            return True
        return _ends_full_stop(text, start, end, following, text[end - 1] in _QUOTE_CLOSERS and end - start > 1)
    if ender == "." and "\u0531" <= text[start - 1 : start] <= "\u0587":
        return False  # in Armenian a dot is a semicolon
    if ender == "." and (text[start - 2 : start] == ". " or text[end : end + 2] == " .") and start:
        return _ends_spaced_dots(text, start)
    if _GOES_ON.match(text, end):
        return False
    if "\n" in text[end : following.start(1)]:
        return not (ender == "." and (first.islower() or is_abbreviation(text, start)))
    quoted = text[end - 1] in _QUOTE_CLOSERS and end - start > 1
    if end - start > 1 and "`" in text[start:end] and (text[start + 1] == "." or not text[start - 1 : start].isalnum()):
        return False  # code: a path, dots for what was left out
    if not spaced:
        return ender != "." and bool(_CJK.match(first)) and not quoted
    if _CJK.match(first):
        return ender != "." and not quoted
    if quoted and _HANGUL.match(first):
        return False
    if first.islower() and not second.isupper() and _needs_capital(text, start, end, quoted):
        return False
    if first in "-–—" and _goes_on_in_small(text, following.start(2)):
        return False
    if ender != ".":
        return True
    if first == "№":
        return False
    if text[start - 1] in "[(" and start and text[end - 1 : end] in "])\"'":
        return text[start + 1 : start + 3] != ".."  # […] is a gap in a quotation
    return text[start + 1 : start + 2] == "." or not is_abbreviation(text, start)


def _needs_capital(text: str, start: int, end: int, quoted: bool) -> bool:
    """Whether a small letter behind the marks at `start` says that the sentence goes on.

    It does behind a stop or dots, a quote, marks that stand apart (`Quoi ? dit-il`), and where sentences begin with
    capitals (`She works at Yahoo! in accounting`): in a chat they may not.
    """
    is_apart = text[start - 1 : start] in (" ", "\xa0", "\u202f")
    return text[start] == "." or quoted or is_apart or ".." in text[start:end] or _began_with_capital(text, start)


def _began_with_capital(text: str, mark: int) -> bool:
    """Whether what ends at `mark` began with a capital letter, as far as can be seen from there."""
    before = _SINCE_MARK.search(text, max(0, mark - _HORIZON), mark)
    return before is not None and before[1].isupper()


def _goes_on_in_small(text: str, dash: int) -> bool:
    """Whether a small letter follows the dash, as in `“Why?” – she said`."""
    found = WORD_BEHIND.match(text, dash + 1)
    return found is not None and found[1][0].islower()


def _ends_spaced_dots(text: str, dot: int) -> bool:
    """Whether a dot of an ellipsis written `. . .` ends a sentence.

    The first one does where it stands right behind a word and three follow; the last one of four that stand apart; the
    last one of three where more than they say so.
    """
    begin = dot
    while begin > 1 and text[begin - 2 : begin] == ". ":
        begin -= 2
    run = _SPACED_DOTS.match(text, begin)
    if run is None:
        return False
    last, count = run.end() - 1, len(run[0]) // 2 + 1
    attached = begin > 0 and not text[begin - 1].isspace()
    behind = WORD_BEHIND.match(text, last + 1)
    if behind is None or behind[1][0].islower():
        return False
    if count < 4:  # two spaces, or a mark in front, say that this is an end
        return dot == last and (
            text.startswith("  ", last + 1) or text[max(0, begin - 2) : begin].strip() in ("!", "?")
        )
    return dot == (begin if attached else last)


def _ends_full_stop(text: str, start: int, end: int, following: re.Match[str], quoted: bool) -> bool:
    """The rules of 。！？ and their relatives."""
    first = following[2]
    if text[start] == "．" and (first.isdigit() or _ITEM_NUMBER.search(text, max(0, start - 6), start)):
        return False
    glued = following.start(1) == end
    if glued and "》" in text[end : end + 40] and _in_title(text, end):
        return False
    if quoted and glued and first and not following[1]:
        return False
    if glued and following[1][:1] in ("（", "(") and _PARENTHESIS.match(text, end):
        return False
    if glued and first == "の" and not following[1]:
        return False
    return not _inside_continued_quote(text, end)


def _in_title(text: str, end: int) -> bool:
    """Whether `end` stands between 《 and 》."""
    mark = _TITLE_MARKS.search(text, end, end + 40)
    return mark is not None and mark[0] == "》"


def _inside_continued_quote(text: str, end: int) -> bool:
    """Whether `end` stands in a quotation behind which the sentence goes on."""
    horizon = end + _HORIZON
    if text.find("」", end, horizon) < 0 and text.find("”", end, horizon) < 0 and text.find("』", end, horizon) < 0:
        return False
    mark = _QUOTES.search(text, end, horizon)
    if mark is None or mark[0] in "「『“\n":
        return False
    after = text[mark.end() : mark.end() + 1]
    return bool(after) and not after.isspace() and after not in FULL_STOPS and after not in OPENERS + CLOSERS

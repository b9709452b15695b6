"""Sentence ends and clause ends in all scripts, found near a place without reading the rest of the document.

An end is the offset right behind the closing punctuation: quotes and brackets that close there belong to the
sentence, white space does not. No spaces and no capitals are needed where a script has none.
"""

from __future__ import annotations

import re

from chunkers.text.scripts import CLOSERS, HAN_KANA, HANGUL, OPENERS, inside_class

FULL_STOPS = "。！？｡．।॥۔؟։።፧។៕။།༎꘏‼⁇⁈⁉"
"""Enders that need nothing behind them."""

OTHER_STOP = re.compile("[।॥۔؟։።។။།]")
"""Full stops of scripts that are neither Latin, Cyrillic or Greek nor Chinese or Japanese."""

LATIN_STOP = re.compile(
    r"\.(?<=[a-zß-öø-ÿά-ώа-я]{4}\.)[ \n]\s*+[!-`{-~À-ÖØ-ÞΑ-ΩА-Я]"
)
"""A full stop that surely ends a sentence, and the first letter of the next one."""

_CLOSE = inside_class(CLOSERS)
_OPEN = inside_class(OPENERS)
SENTENCE_END = re.compile(f"[.!?;\u037e{FULL_STOPS}][.!?…{FULL_STOPS}]*(?: ?[»›](?!\\w)|[{_CLOSE}])*")
"""A possible sentence end; `is_sentence_end` tells whether it is one."""
ASCII_SENTENCE_END = re.compile(f"[.!?](?<![.!?]{{2}})[.!?]*+[{inside_class(')]}')}\"']*+(?=\\s)")
"""The same for text that is all ASCII: it starts with a plain set, so the search is several times faster."""
CLAUSE_END = re.compile(f"[，；：、､،؛…‥—][，；：、､،؛…‥—{_CLOSE}]*|[,;:–][{_CLOSE}]*(?=\\s)")

_ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        """
        mr mrs ms dr prof sr jr st mt vs etc inc ltd co corp dept est fig figs no nos vol vols pp ed eds rev gen
        col sgt capt lt rep sen gov pres hon al cf viz approx ca e.g i.e eg ie jan feb mar apr jun jul aug sep
        sept oct nov dec art abs nr bd bzw z.b d.h u.a usw hr fr str ggf inkl vgl mme mlle m sra dña ud uds ст г
        гг т д т.е т.к ул стр рис डॉ श्री
        """,
    )
)
_WORD_BEFORE = re.compile(r"[\w.\u0300-\u036f\u0900-\u0903\u093a-\u094f]*$")  # \w holds no combining marks
_GERMAN_MONTH = re.compile(
    r" (?:Januar|Jänner|Februar|Feber|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
_NEXT = re.compile(r"\s*([" + _OPEN + r"\"'¿¡]*)(\S?)(\S?)")
_PARENTHESIS = re.compile(r"[（(][^（()）\n]{0,200}[。！？.!?][)）]")
_CJK = re.compile(f"[{HAN_KANA}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_QUOTES = re.compile("[「」『』“”\n]")
_QUOTE_CLOSERS = frozenset("」』”’\"'»›")
_HORIZON = 400


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
    if text[start] in ";\u037e" and not ("\u0370" <= text[start - 1] <= "\u03ff" and text[end : end + 1].isspace()):
        return False
    following = _NEXT.match(text, end)
    if following is None or (not following[2] and not following[1]):
        return True
    first, second = following[2], following[3]
    ender, spaced = text[start], text[end : end + 1].isspace()
    if "\n" in text[end : following.start(1)]:
        return not (ender == "." and (first.islower() or _is_abbreviated(text, start)))
    quoted = text[end - 1] in _QUOTE_CLOSERS and end - start > 1
    if ender in FULL_STOPS:
        return _ends_full_stop(text, start, end, following, quoted)
    if not spaced:
        return ender != "." and bool(_CJK.match(first)) and not quoted
    if _CJK.match(first):
        return ender != "." and not quoted
    if quoted and (_HANGUL.match(first) or first.islower()):
        return False
    if ender != ".":
        return True
    if first.islower() and not second.isupper():
        return False
    return text[start + 1 : start + 2] == "." or not _is_abbreviated(text, start)


def _ends_full_stop(text: str, start: int, end: int, following: re.Match[str], quoted: bool) -> bool:
    """The rules of 。！？ and their relatives."""
    first = following[2]
    if text[start] == "．" and first.isdigit():
        return False
    glued = following.start(1) == end
    if quoted and glued and first and not following[1]:
        return False
    if glued and following[1][:1] in ("（", "(") and _PARENTHESIS.match(text, end):
        return False
    if glued and first == "の" and not following[1]:
        return False
    return not _inside_continued_quote(text, end)


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


def _is_abbreviated(text: str, dot: int) -> bool:
    """Whether the full stop at `dot` belongs to an abbreviation, an initial or a list number."""
    before = _WORD_BEFORE.search(text, max(0, dot - 16), dot)
    word = before[0] if before else ""
    if not word:
        return False
    if word.isdigit():
        if len(word) <= 2 and _GERMAN_MONTH.match(text, dot + 1):
            return True
        lead = text[max(0, dot - len(word) - 2) : dot - len(word)].rstrip(" ")
        return len(word) <= 2 and (not lead or lead[-1] in "\n\r.!?。")
    if len(word) == 1:
        return word.isalpha() and word.isupper()
    return word.lower() in _ABBREVIATIONS

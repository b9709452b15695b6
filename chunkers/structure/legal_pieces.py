"""What an article is made of: paragraphs (項, 款, Absatz), items (號, 号) and items in items (目, イ, (i)).

Only lines that begin with a mark are looked at, and lines of text behind a finished one. How deep a kind of mark lies
is told by the order in which the kinds first appear in the article.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkers.structure.numerals import CHINESE
from chunkers.text.lines import unreturned

DEEPEST = 3

_NUMERAL = rf"[{CHINESE}]{{1,4}}"
_KANA = "[イロハニホヘトチリヌルヲワカヨタレソツネナラム]"
_MARK = re.compile(
    rf"""(?mx)^(?P<lead>[ \t\u3000]{{0,24}}(?:[-*+][ \t]+)?)(?:
        (?P<numbered>[\d０-９]{{1,3}}(?=\u3000)|[０-９]{{1,3}}(?=[ \t]))
        |(?P<digits>[(（][\d０-９]{{1,3}}[)）])
        |(?P<stop>\d{{1,3}}(?:\.|．|、|\)|）)(?=\D))
        |(?P<comma>{_NUMERAL}(?=、))
        |(?P<han>{_NUMERAL}(?:[の之]{_NUMERAL})*(?=[ \t\u3000]))
        |(?P<enclosed>[(（]{_NUMERAL}[)）]|[㈠-㈩㊀-㊉])
        |(?P<circle>[①-⑳])
        |(?P<kana>{_KANA}(?=[ \t\u3000]))
        |(?P<kanas>[(（]{_KANA}[)）])
        |(?P<korean>[가나다라마바사아자차카타파하]\.(?=[ \t]))
        |(?P<roman>\([ivxl]{{1,6}}\))
        |(?P<letter>\([a-z]{{1,2}}\)|[a-z]{{1,2}}\)(?=[ \t]))
        |(?P<capital>\([A-Z]{{1,2}}\))
        |(?P<text>(?=\S))
    )"""
)
_FINISHED = re.compile(r"[。；：？！.;:?!」』）)—–\n-][ \t\u3000]*\Z")


class Piece(NamedTuple):
    """A paragraph (`depth` 0) or an item (1 and more), by its mark as written; "" for a paragraph without one."""

    start: int
    mark: str
    depth: int


def pieces_of(text: str, start: int, end: int) -> list[Piece]:
    """The pieces of the article whose text is `text[start:end]`, from behind its label on; the first is a paragraph.

    Where its paragraphs are numbered and the first is not, that one is 1.
    """
    depths: dict[str, int] = {}
    found: list[Piece] = []
    previous = ""  # the letter before
    above = start
    body, offset_of = unreturned(text[start:end])
    for match in _MARK.finditer(body):
        if match.start() == 0:
            continue
        at = start + offset_of(match.start())
        kind = match.lastgroup or "text"
        if kind == "text":
            if _FINISHED.search(body, max(0, match.start() - 66), match.start() - 1):
                found.append(Piece(at, "", 0))
            continue
        mark = match[kind]
        if kind == "roman" and len(mark) == 3 and previous and ord(mark[1]) == ord(previous) + 1 and "letter" in depths:
            kind = "letter"
        if kind == "letter":
            previous = mark.strip("()")[0]
        if kind == "numbered" or (not depths and kind in ("digits", "stop") and body[:1].isascii()):
            depths.setdefault(kind, 0)
        depth = depths.setdefault(kind, 1 + sum(each > 0 for each in depths.values()))
        found.append(Piece(at, mark, min(depth, DEEPEST)))
    is_numbered = any(piece.depth == 0 and piece.mark for piece in found)
    return [Piece(above, "1" if is_numbered and found[0].mark not in ("1", "１", "(1)") else "", 0), *found]

"""What the lines of laws and contracts announce: divisions, articles, captions, paragraphs and items.

A line is judged by itself here, strictly: a line that only begins with a reference ("第二條第一項之規定", "Section 3 of
this Act") announces nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, NamedTuple

from chunkers.structure.numerals import NUMBER, number_of

Kind = Literal["division", "article", "section", "paragraph-sign", "bare-sign", "range", "supplement", "caption"]

_MOST_TITLE = 100
_MOST_LISTED = 30
"""Words between two entries of a table of contents."""
_LEAST_BARE = 3

# What may stand before a mark in Markdown, and that it is a heading or bold.
_LEAD = r"(?P<lead>[ \t\u3000]{0,12}(?P<hash>\#{1,6}[ \t]+)?(?P<bold>\*\*|__)?)"
_INSERTED = rf"(?:[ \u3000]?[之の][ \u3000]?{NUMBER})*"
_KOREAN = r"\d{1,5}"
_BRACKET = r"[（(【〔［\[「『]"
_END = rf"(?=[ \t]*(?:\n|\Z)|[ \t\u3000]|{_BRACKET}|\*\*|__)"
_ROMAN = r"[IVXLCivxlc]{1,8}"
_INSERTED_LATIN = r"(?:[ \t]?(?:bis|ter|quater|quinquies)\b|[A-Za-z]{0,2})"
_CODE = (
    rf"(?:(?:[LRDA]\.?[ \t]?)?\d{{1,5}}{_INSERTED_LATIN}(?:[-–.]\d{{1,4}}[A-Za-z]?)*(?:er|º|°|ª)?|{_ROMAN}(?:er|re)?"
    r"|premier|unique|primero|único|unico)"
)
# Behind a number in letters: the line ends, or a stop or dash, or a title in capitals. What is small is running text.
_TITLED = (
    r"(?=[ \t]*(?:\n|\Z)|[.:)](?=[ \t\n]|\Z)|\.[-–—](?=[ \t])|[ \t]:[ \t]"
    r"|[ \t]*[—–][ \t]*|[ \t]?-[ \t]|[ \t]+(?:\*\*|[(\[“\"'‘]?[A-ZÀ-ÖØ-ÞА-Я0-9])|\*\*|__)"
)
_ORDINAL = (
    r"(?:Erster|Zweiter|Dritter|Vierter|Fünfter|Sechster|Siebter|Siebenter|Achter|Neunter|Zehnter|Elfter|Zwölfter)"
)
_WORDS = (
    r"BOOK|Book|PART|Part|TITLE|Title|DIVISION|Division|CHAPTER|Chapter|SUBCHAPTER|Subchapter|SCHEDULE|Schedule|ANNEX|Annex|APPENDIX|Appendix"
    r"|Buch|Teil|Titel|Untertitel|Kapitel|Abschnitt|Unterabschnitt|LIVRE|Livre|PARTIE|Partie|TITRE|Titre|CHAPITRE"
    r"|Chapitre|TÍTULO|Título|CAPÍTULO|Capítulo|Глава|Раздел|ГЛАВА|РАЗДЕЛ"
)
_ARTICLES = (
    r"ARTICLE|Article|Art\.|Artikel|ARTÍCULO|Artículo|Articolo|Artigo|Artykuł|Статья|СТАТЬЯ|Стаття|Άρθρο|Điều|Pasal"
    r"|Madde|MADDE|มาตรา|المادة"
)
_RULES = r"RULE|Rule|CLAUSE|Clause|REGULATION|Regulation"
"""What articles may be called where none are called articles."""

_MARK = re.compile(
    rf"""(?mx)^{_LEAD}(?:
        (?P<range>第{NUMBER}[条條]{_INSERTED}(?:から|乃至|及び|至|到|[～~—–-])第?{NUMBER}[条條]?{_INSERTED}(?:まで)?
            [ \t\u3000]*[（(]?(?:削除|削[\u3000]除|刪除|删除)[）)]?)
        |第[ \u3000]?(?P<zh>{NUMBER}(?:[-－‑]\d{{1,3}})?)[ \u3000]?[条條](?P<zhi>{_INSERTED}){_END}
        |제(?P<ko>{_KOREAN})조(?P<koi>(?:의\d+)?)(?=[ \t]*(?:\n|\Z)|[ \t]|[(（])
        |第[ \u3000]?{NUMBER}[ \u3000]?(?P<div>[編编篇部章節节款目])(?:[之の]{NUMBER})?(?P<glued>(?=[^ \t\u3000\n]))?
        |제\d{{1,4}}(?P<kodiv>[편장절관])(?=[ \t\n]|\Z)
        |(?P<supplement>附[ \t\u3000]*[則则]|부[ \t]?칙)(?=[ \t\u3000]*(?:\n|\Z|[（(<〈]))
        |(?P<article>(?:{_ARTICLES})|(?P<rule>{_RULES}))[ \t\xa0]+(?P<artno>{_CODE}){_TITLED}
        |(?P<section>SECTION|Section|SEC\.|Sec\.)[ \t\xa0]+(?P<secno>{_CODE}){_TITLED}
        |(?P<sign>§{{1,2}})[ \t\xa0]*(?P<signno>\d{{1,5}}[a-z]{{0,2}}(?:[-–.]\d{{1,4}})*)
            (?P<upto>[ \t]*(?:bis|to|through|-|–|und|and|,)[ \t]*\d{{1,5}}[a-z]?)?(?=[ \t]*(?:\n|\Z)|[.:]?[ \t]|\*\*|__)
        |(?P<word>{_WORDS})[ \t\xa0]+(?:{_CODE}|[A-Z]){_TITLED}
        |{_ORDINAL}[ \t](?P<german>Abschnitt|Teil|Titel|Untertitel|Kapitel|Unterabschnitt)(?=[ \t]*(?:\n|\Z))
        |(?P<caption>[（(][^（）()\n]{{1,60}}[）)])(?=[ \t\u3000]*(?:\n|\Z))
    )"""
)
_REFERS = re.compile(r"[的之規规中及和或、，,。所應应第]")
"""What follows a division's number in running text ("第一章的规定")."""

_SIGN_TITLE = re.compile(r"(?!(?:Abs|Absatz|Satz|Nr|Nummer|Abschnitt|Buchst)\b)[A-ZÄÖÜ][^.;]{1,60}\Z")
_BEGINS = re.compile(r"[ \t]*[A-ZÄÖÜ0-9(]")
"""A title behind a § and the beginning of a sentence below it; a reference goes on in small letters."""
_CONTENTS = re.compile(
    r"(?mi)^[ \t\u3000#*_]*(?:目[ \t\u3000]*[录錄次]|목[ \t]*차|차[ \t]*례|(?:table of )?contents"
    r"|arrangement of (?:sections|clauses)|inhalt(?:sverzeichnis|sübersicht)?|sommaire|table des matières|índice"
    r"|indice|оглавление|содержание)[ \t\u3000*_:：]*$"
)

RANKS: dict[str, int] = {
    "編": 1, "编": 1, "篇": 1, "部": 1, "편": 1, "章": 5, "장": 5, "節": 7, "节": 7, "절": 7, "款": 8, "관": 8, "目": 9,
    "book": 1, "buch": 1, "livre": 1, "part": 2, "teil": 2, "partie": 2, "title": 3, "titel": 3, "titre": 3,
    "título": 3, "раздел": 3, "division": 3, "chapter": 5, "kapitel": 5, "chapitre": 5, "capítulo": 5, "глава": 5,
    "subchapter": 6, "untertitel": 6, "abschnitt": 4, "unterabschnitt": 6, "schedule": 0, "annex": 0, "appendix": 0,
    "section": 7, "article": 6,
}  # fmt: skip
"""How deep a division lies: 0 is the whole document's."""


class Line(NamedTuple):
    """A line that announces something.

    `end` is where the line ends, `text_start` where its mark begins (behind `#`, bold and indentation). `number` is an
    article's: `84-1`. `hashes` is the level of its Markdown heading, 0 for none. `label_end` is where its label ends.
    `underlined` is where the line below it ends that makes it a Markdown heading, or 0.
    """

    start: int
    end: int
    text_start: int
    label_end: int
    kind: Kind
    number: str = ""
    rank: int = 0
    hashes: int = 0
    underlined: int = 0

    @property
    def bottom(self) -> int:
        """Where all of it ends."""
        return self.underlined or self.end


def marked_lines(text: str) -> list[Line]:
    """The lines of `text` (line ends `\\n` only) that announce something, in order."""
    found, rules = [], set()
    for match in _MARK.finditer(text):
        line = _judge(text, match)
        if line is not None:
            found.append(line)
            if match["rule"]:
                rules.add(line.start)
    if rules and any(
        line.kind in ("article", "section", "paragraph-sign") and line.start not in rules for line in found
    ):
        found = [line for line in found if line.start not in rules]
    return _without_contents(text, _counted(found))


def is_contents(title: str) -> bool:
    """Whether this is the title of a table of contents."""
    return _CONTENTS.fullmatch(title) is not None


def _without_contents(text: str, lines: list[Line]) -> list[Line]:
    """`lines` without those of a table of contents: from its title to where the first of them stands again."""
    title = _CONTENTS.search(text)
    if title is None:
        return lines
    first = next((at for at, line in enumerate(lines) if line.start >= title.end()), None)
    if first is None or text[title.end() : lines[first].start].strip():
        return lines
    labels = [text[line.text_start : line.label_end] for line in lines]
    again = next((at for at in range(first + 1, len(lines)) if labels[at] == labels[first]), None)
    if again is None or any(
        len(text[one.end : other.start].split()) > _MOST_LISTED for one, other in pairwise(lines[first : again + 1])
    ):
        return lines
    return [*lines[:first], *lines[again:]]


def _counted(lines: list[Line]) -> list[Line]:
    """`lines` with those bare § that begin paragraphs and count up from 1, one by one, and no other bare ones.

    Between two of them may be inserted ones: `1`, `1a`, `1b`, `2`.
    """
    bare = [line for line in lines if line.kind == "bare-sign"]
    if not bare:
        return lines
    whole = [line for line in bare if line.number.isdecimal()]
    counted = [int(re.match(r"\d+", line.number)[0]) for line in bare]  # type: ignore[index]
    is_chain = (
        len(bare) >= _LEAST_BARE
        and all(line.number == str(due) for due, line in enumerate(whole, 1))
        and counted == sorted(counted)
        and len(whole) == counted[-1]
    )
    return [
        line._replace(kind="paragraph-sign") if line.kind == "bare-sign" else line
        for line in lines
        if line.kind != "bare-sign" or is_chain
    ]


def _judge(text: str, match: re.Match[str]) -> Line | None:
    start, label_end = match.span()
    end = text.find("\n", label_end)
    end = len(text) if end < 0 else end
    group = match.lastgroup or ""
    hashes = len((match["hash"] or "").strip())
    text_start = match.end("lead")

    def line(kind: Kind, number: str = "", rank: int = 0) -> Line:
        return Line(start, end, text_start, label_end, kind, number, rank, hashes)

    if match["zh"]:
        parts = [*re.split("[-－‑]", match["zh"]), *re.findall(NUMBER, match["zhi"])]
        return line("article", "-".join(str(number_of(part) or 0) for part in parts))
    if match["ko"]:
        return line("article", match["ko"] + match["koi"].replace("의", "-"))
    if match["article"]:
        return line("article", _plain(match["artno"]))
    if match["section"]:
        return line("section", _plain(match["secno"]))
    if match["sign"]:
        if _is_sign(text, match, hashes, end):
            return line("paragraph-sign", match["signno"])
        return line("bare-sign", match["signno"]) if _is_apart(text, match.start()) else None
    if match["range"]:
        return line("range")
    if match["supplement"]:
        return line("supplement")
    if match["caption"]:
        return line("caption")
    if match["div"]:
        return line("division", rank=RANKS[match["div"]]) if _is_division(text, match, end) else None
    name = match["kodiv"] or match["word"] or match["german"]
    return line("division", rank=RANKS[name.lower()]) if name and group else None


def _plain(code: str) -> str:
    """A number in letters or digits as one in digits."""
    if code in ("premier", "unique", "primero", "único", "unico"):
        return "1"
    code = re.sub(r"(?:er|re|º|°|ª)$", "", re.sub(r"^([LRDA])\.?[ \t]?(?=\d)", r"\1", code))
    value = number_of(code) if not code.isdecimal() and code.isalpha() else None
    return str(value) if value is not None else code


def _is_division(text: str, match: re.Match[str], end: int) -> bool:
    """Whether a line that begins with 第…章 is a division: not a sentence, nor a reference."""
    if match["glued"] is None:
        return end - match.end() <= _MOST_TITLE
    if match["div"] in "款目部" or _REFERS.match(text, match.end()):
        return False
    rest = text[match.end() : end].rstrip()
    return len(rest) <= 40 and not rest.endswith(("。", "，", "；", "、", ".", ",", ";"))


def _is_sign(text: str, match: re.Match[str], hashes: int, end: int) -> bool:
    """Whether a § begins an article. A bare one at a line's start is usually a reference that was wrapped."""
    if hashes or match["bold"]:
        return True
    rest = text[match.end() : end].strip()
    if rest.startswith((".", ":")):
        return not rest[1:].strip() or rest[1:].strip()[0].isupper()
    if text.startswith("(1)", end + 1) and len(rest) <= _MOST_TITLE:
        return True
    is_title = _SIGN_TITLE.match(rest) is not None and _BEGINS.match(text, end + 1) is not None
    if not _is_apart(text, match.start()):
        return (
            is_title
            and text[: match.start()].rstrip(" \t\n")[-1:] in (".", ";", ":", "!", "?")
            and rest[-1] not in ",:"
        )
    below = text.find("\n", end + 1)
    stands_alone = not text[end + 1 : len(text) if below < 0 else below].strip()
    if len(rest) > _MOST_TITLE or rest.endswith((".", ";", ",", ":")):
        return False
    return stands_alone or not rest or is_title


def _is_apart(text: str, start: int) -> bool:
    """Whether the line above the one at `start` is blank, or there is none."""
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return not text[above:start].strip()

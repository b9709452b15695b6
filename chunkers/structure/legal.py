"""Laws and contracts: their articles, with the divisions above them, and what the articles are made of.

An article starts at a line of its own (see `legal_lines`), its caption above it included, and goes on to the next one,
to a division, or to a heading. Divisions nest by what they are called, other Markdown headings by their level.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from chunkers.structure.legal_lines import RANKS, Line, is_contents, marked_lines
from chunkers.structure.legal_titles import with_titles_below, with_underlines
from chunkers.structure.markdown import Heading, Reading
from chunkers.structure.numerals import NUMBER, number_of
from chunkers.text.lines import unreturned

LEAST_ARTICLES = 3
CONSECUTIVE = 0.8
_SCRIPTS = re.compile(
    r"[第제§]|Art|ART|Sec|SEC|Стат|СТАТ|Стаття|Άρθρο|Điều|Pasal|Madde|MADDE|มาตรา|المادة|Rule|Clause|Regulation"
)
_LEGAL_WORDS = re.compile(
    r"(?i)\b(?:shall|hereby|hereof|hereto|herein|thereof|pursuant|notwithstanding|provisions?|liable|penalt(?:y|ies)"
    r"|contracting|parties|subparagraph|gesetz|absatz|verordnung|loi|décret|ley|decreto|закон\w*)\b"
)
_TITLE_BEHIND = re.compile(r"[ \t\u3000]*([（(【〔［\[][^（）()【】〔〕［］\[\]\n]{1,100}[）)】〕］\]])")
_MOST_TITLE = 100
_SUPPLEMENT = re.compile(r"附[ \t\u3000]*([則则])")
_MARKUP = re.compile(r"[*_]{2}|[ \t]#+[ \t]*$")
_MAIN_PARTS = {"則": "本則", "则": "本则", "칙": "본칙"}


class Article(NamedTuple):
    """One article, or a range of deleted ones (`number` is "" if it is Chinese or Japanese; see `label`).

    `start` and `end` hold it whole, captions and the divisions that begin with it included; `line` is where its own
    line starts. `label` is as written (`第八十四條之一`), `number` in digits (`84-1`), `title` its caption or title.
    """

    start: int
    line: int
    end: int
    label: str
    number: str
    title: str
    path: tuple[str, ...]
    is_range: bool = False


class Part(NamedTuple):
    """A stretch of the document that is no article: what stands in front, or below a division without articles."""

    start: int
    end: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Legal:
    """A document read as law: its units in order, together all of it. `heads` are lines that stand above something."""

    units: list[Article | Part]
    heads: list[tuple[int, int]]
    title: str | None = None

    @property
    def articles(self) -> list[Article]:
        """The units that are articles."""
        return [unit for unit in self.units if isinstance(unit, Article)]


def read_law(text: str) -> Legal:
    """`text` as a law. Numbered clauses (`1.`, `一、`) are its articles where no line is certainly an article's."""
    lines, offset_of = unreturned(text)
    law = _read(lines)
    if lines is text:
        return law
    units: list[Article | Part] = []
    for unit in law.units:
        start, end = offset_of(unit.start), offset_of(unit.end)
        if isinstance(unit, Article):
            units.append(unit._replace(start=start, line=offset_of(unit.line), end=end))
        else:
            units.append(unit._replace(start=start, end=end))
    return Legal(units, [(offset_of(start), offset_of(end)) for start, end in law.heads], law.title)


def _read(lines: str) -> Legal:
    """The law whose line ends are all `\\n`."""
    marks = marked_lines(lines)
    leaf, marks = _leaves(marks)
    if not any(mark.kind in leaf for mark in marks):
        marks = sorted([*marks, *_clauses(lines)])
        leaf = frozenset({"article"})
    headings = Reading(lines).headings
    marks, others = with_underlines(lines, marks, headings)
    return Legal(*_Reader(lines, with_titles_below(lines, marks), leaf).read(others), _title(headings))


def is_law(text: str) -> bool:
    """Strict evidence: at least 3 articles, of which at least 80 % follow the one before them in number."""
    if not _SCRIPTS.search(text):
        return False
    lines, _ = unreturned(text)
    leaf, marks = _leaves(marked_lines(lines))
    found = [mark for mark in marks if mark.kind in leaf]
    if len(found) < LEAST_ARTICLES:
        return False
    pairs = list(pairwise(found))
    forward = sum(_follows(one.number, other.number) for one, other in pairs)
    restarts = sum(other.number == "1" and not _follows(one.number, "1") for one, other in pairs)
    if forward + restarts < CONSECUTIVE * len(pairs) or 2 * forward < len(pairs):
        return False
    if found[0].kind == "article" and not lines[found[0].text_start].isascii():
        return True
    return len(_LEGAL_WORDS.findall(lines, 0, 200_000)) >= LEAST_ARTICLES


def _follows(number: str, after: str) -> bool:
    """Whether article `after` comes right behind article `number`."""
    one, other = _parts(number), _parts(after)
    if not one or not other:
        return False
    if other[0] == one[0]:
        return other > one
    return other[0] == one[0] + 1 and len(other) == 1


def _parts(number: str) -> tuple[int, ...]:
    found = re.match(r"(\d+)([a-zA-Z]?)", number)
    if not found:
        return ()
    letter = (ord(found[2].lower()) - 96,) if found[2] else ()
    return (int(found[1]), *letter, *(int(part) for part in re.findall(r"[-–.](\d+)", number)))


def _leaves(marks: list[Line]) -> tuple[frozenset[str], list[Line]]:
    """Which kinds are articles here: `Section` and `§` lie in `Article`, or above it, whichever there are more of."""
    count = {kind: sum(mark.kind == kind for mark in marks) for kind in ("article", "section", "paragraph-sign")}
    inner = count["section"] + count["paragraph-sign"]
    if not count["article"] or not inner:
        return frozenset(count), marks
    outer = "section" if count["article"] >= inner else "article"
    marks = [mark._replace(kind="division", rank=RANKS[outer]) if mark.kind == outer else mark for mark in marks]
    return frozenset(count) - {outer}, marks


_CLAUSE = re.compile(
    r"(?m)^(?P<lead>[ \t\u3000]{0,3}(?P<hash>#{1,6}[ \t]+)?(?:\*\*)?)"
    rf"(?:(?P<one>\d{{1,3}})\.[ \t]+|(?P<two>{NUMBER})、)(?=\S)"
)


def _clauses(lines: str) -> Iterator[Line]:
    """Numbered clauses at the lines' starts that count up from 1."""
    due = 1
    for match in _CLAUSE.finditer(lines):
        if number_of(match["one"] or match["two"]) == due:
            end = lines.find("\n", match.end())
            label_end = match.end(match.lastgroup or 0)
            hashes = len((match["hash"] or "").strip())
            yield Line(
                match.start(),
                len(lines) if end < 0 else end,
                match.end("lead"),
                label_end,
                "article",
                str(due),
                0,
                hashes,
            )
            due += 1


_LINE_END = re.compile(r"\s*\n\s*")
_SHORT_BELOW = re.compile(
    r"[ \t]*\n[ \t]*(?P<title>[A-ZÀ-ÖØ-ÞА-Я](?:[^\s]*[ \t]+){0,7}[^\n]{0,30}[^\s.;,:!?])[ \t]*(?=\n[ \t]*\S)"
)
"""The same right above the text: one only where most labels of the document that stand alone have one."""
_TITLE_BELOW = re.compile(r"[ \t]*\n[ \t]*(?P<title>[A-ZÀ-ÖØ-Þ][^\n]{1,78}[^\s.;,:])[ \t]*(?=\n[ \t]*\n\s*\S)")
"""The title of an article on a line by itself below its label, with text behind a blank line."""


class _Open(NamedTuple):
    """A division or heading that is open: `rank` of a division, `hashes` of a Markdown heading (0: none)."""

    start: int
    title: str
    rank: int | None
    hashes: int


class _Unit(NamedTuple):
    """A unit by where it starts: its article if it has one, its caption, the path, and where its heads end."""

    start: int
    path: tuple[str, ...]
    article: Line | None
    caption: str
    behind: int


class _Reader:
    """Puts the marked lines and the headings of one document in order, into units."""

    def __init__(self, lines: str, marks: list[Line], leaf: frozenset[str]) -> None:
        self.lines, self.marks, self.leaf = lines, marks, leaf
        self.open: list[_Open] = []
        self.heads: list[tuple[int, int]] = []
        self.found: list[_Unit] = []
        supplement = next((lines[mark.text_start : mark.label_end] for mark in marks if mark.kind == "supplement"), "")
        self.root: tuple[str, ...] = (_MAIN_PARTS[supplement[-1]],) if supplement else ()

    @cached_property
    def has_titles_below(self) -> bool:
        """Whether at least 3 articles of which only the label is on its line have a short line below it: 4 in 5 do."""
        lines = self.lines
        alone = [
            each
            for each in self.marks
            if each.kind in self.leaf and not lines[each.label_end : each.end].strip(" *_.:")
        ]
        short = sum(_SHORT_BELOW.match(lines, each.bottom) is not None for each in alone)
        return short >= LEAST_ARTICLES and short >= CONSECUTIVE * len(alone)

    def read(self, headings: Sequence[Heading]) -> tuple[list[Article | Part], list[tuple[int, int]]]:
        """The units and the heads; `headings` may be some that lines of law are too."""
        taken = {mark.start for mark in self.marks if mark.kind != "caption"}
        events: list[Line | Heading] = [
            *self.marks,
            *(each for each in headings if each.start not in taken),
        ]
        events.sort(key=lambda event: event.start)
        events = [self.outer(*pair) for pair in zip(events, [*events[1:], None], strict=False)]
        chain: _Unit | None = None  # the unit whose heads are being read, nothing below them yet
        self.found.append(_Unit(0, (), None, "", 0))
        for number, event in enumerate(events):
            start, end = event.start, _bottom(event)
            if chain is not None and self.lines[chain.behind : start].strip():
                chain = None
            if isinstance(event, Line) and event.kind == "caption":
                if self.belongs_below(event, events[number + 1 : number + 2]):
                    chain = self.put(chain, start, end, caption=_clean(self.lines[event.text_start : event.end]))
                    self.heads.append((start, end))
                continue
            if isinstance(event, Line) and (event.kind in self.leaf or event.kind == "range"):
                self.put(chain, start, end, article=event)
                chain = None
                continue
            above = self.open[-1] if self.open else None
            self.enter(event)
            stays = above is not None and (above in self.open or (above.hashes > 0 and not _level(event)))
            if chain is not None and (not stays or chain.caption):
                chain = None
            chain = self.put(chain, start, end)
            self.heads.append((start, end))
        return self.units(), sorted(self.heads)

    def outer(self, event: Line | Heading, below: Line | Heading | None) -> Line | Heading:
        """An article that is a Markdown heading, right above a mark that is none, is a division of what is below."""
        if not isinstance(event, Line) or event.kind not in self.leaf or not event.hashes or below is None:
            return event
        if _level(below) or self.lines[event.end : below.start].strip():
            return event
        return event._replace(kind="division", rank=RANKS["article"])

    def put(
        self, chain: _Unit | None, start: int, behind: int, *, article: Line | None = None, caption: str = ""
    ) -> _Unit:
        """Add what starts at `start` to the unit `chain`, or begin a new one."""
        path = tuple(each.title for each in self.open if not is_contents(each.title))
        if not self.open or not is_contents(self.open[-1].title) or article is not None:
            path = (*self.root, *path)
        if chain is not None:
            self.found.pop()
            start, caption = chain.start, chain.caption or caption
        elif self.found[-1].start == start:
            self.found.pop()
        unit = _Unit(start, path, article, caption, behind)
        self.found.append(unit)
        return unit

    def enter(self, event: Line | Heading) -> None:
        """Open a division or heading, and close those that it ends."""
        open_ = self.open
        if isinstance(event, Heading):
            rank, hashes, title = None, event.level, event.title
        elif event.kind == "supplement":
            title = _SUPPLEMENT.sub(r"附\1", _clean(self.lines[event.text_start : event.end]))
            self.root = ()
            rank, hashes = 0, event.hashes
        else:
            rank, hashes = event.rank, event.hashes
            title = _LINE_END.sub(" ", _clean(self.lines[event.text_start : event.end]))
        keep = len(open_)
        if rank is not None:
            keep = next((at for at, each in enumerate(open_) if each.rank is not None and each.rank >= rank), keep)
        if hashes:
            keep = next((at for at, each in enumerate(open_[:keep]) if each.hashes >= hashes), keep)
        del open_[keep:]
        open_.append(_Open(event.start, _MARKUP.sub("", title).strip(), rank, hashes))

    def belongs_below(self, caption: Line, following: Sequence[Line | Heading]) -> bool:
        """Whether the line in parentheses stands right above an article."""
        for event in following:
            if isinstance(event, Line) and (event.kind in self.leaf or event.kind == "range"):
                return self.lines.count("\n", caption.end, event.start) <= 2 and not (
                    self.lines[caption.end : event.start].strip()
                )
        return False

    def units(self) -> list[Article | Part]:
        units: list[Article | Part] = []
        bare = 0  # where the heads of the unit before end
        ends = [unit.start for unit in self.found[1:]] + [len(self.lines)]
        for unit, end in zip(self.found, ends, strict=True):
            if unit.article is not None:
                units.append(self.article(unit, unit.article, end))
                continue
            before = units[-1] if units else None
            is_bare = isinstance(before, Part) and not self.lines[bare : before.end].strip()
            if isinstance(before, Part) and is_bare and before.path:  # headings alone, as in a table of contents
                units[-1] = Part(before.start, end, before.path[: _shared(before.path, unit.path)])
            else:
                units.append(Part(unit.start, end, unit.path))
            bare = unit.behind
        return [unit for unit in units if unit.start < unit.end]

    def article(self, unit: _Unit, line: Line, end: int) -> Article:
        text = self.lines
        label = _clean(text[line.text_start : line.label_end])
        rest = text[line.label_end : line.end]
        title, behind = unit.caption, line.label_end
        if not title and (match := _TITLE_BEHIND.match(rest)):
            title, behind = match[1], line.label_end + match.end()
        elif not title and line.kind != "range" and _is_title(rest, line, self.lines):
            title, behind = _clean(rest.strip(" \t\u3000*_.:：—–-")), line.end
        elif not title and line.kind != "range" and not rest.strip(" \t*_.:"):
            below = _TITLE_BELOW.match(self.lines, line.bottom, end)
            if below is None and self.has_titles_below:
                below = _SHORT_BELOW.match(self.lines, line.bottom, end)
            if below is not None:
                title = below["title"].strip()
                self.heads.append((line.bottom + 1, below.end("title")))
        if line.hashes or line.underlined or not self.lines[behind : line.end].strip(" \t\u3000*_.:："):
            self.heads.append((line.start, line.bottom))
        is_range = line.kind == "range"
        return Article(unit.start, line.start, end, label, line.number, title, unit.path, is_range)


def _level(event: Line | Heading) -> int:
    """The level of the Markdown heading that a line is; 0 for none."""
    return event.level if isinstance(event, Heading) else event.hashes


def _bottom(event: Line | Heading) -> int:
    """Where a heading or a line of law ends, what underlines it included."""
    return event.end if isinstance(event, Heading) else event.bottom


def _title(headings: Sequence[Heading]) -> str | None:
    """The first heading of the first level; a table of contents is not called what the law is."""
    return next((each.title for each in headings if each.level == 1 and not is_contents(each.title)), None)


def _clean(text: str) -> str:
    return _MARKUP.sub("", text).strip(" \t\u3000")


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _is_title(rest: str, line: Line, lines: str) -> bool:
    """Whether what stands behind a label on its line is a title, not the article's text."""
    leads_on = rest.rstrip(" \t\u3000*_").endswith((":", "："))
    rest = rest.strip(" \t\u3000*_:：")
    if not rest.strip(".") or len(rest) > _MOST_TITLE:
        return False
    if line.hashes:
        return True
    if leads_on:
        return False
    below = lines[line.end + 1 : line.end + 4]
    if lines[line.text_start] == "§" and rest[0] != "." and below != "(1)" and below[:1] != "\n":
        return False  # text that goes on
    return lines[line.text_start] < "\u1100" and rest[-1] not in ".;,:" and bool(lines[line.end :].strip())

"""Questions and their answers: marked ones (`Q:` `A:`, 問 答), headings that ask, `<details>`.

A marker says what it is: a bare `A.` never answers anything. Headings are questions where most of their siblings are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkers.structure.markdown import Heading, Reading

LEAST_PAIRS = 2
LEAST_HEADINGS = 3
ASKING = 0.6
COVERED = 0.5

_ASKS = re.compile(r"[?？؟;\u037e][\"'”’」』）)\s*_#.。!！]*\Z")
_LEAD = r"(?P<lead>[ \t\u3000]{0,3}(?:>[ \t]?)?(?:[-*+][ \t]+)?(?:#{1,6}[ \t]+)?(?:\*\*|__)?[【\[［(（]?)"
_NUMBER = r"(?:[\d０-９]{1,4}|[一二三四五六七八九十]{1,3})"
_BOLD = r"(?:\*\*|__)?"
_CLOSE = rf"{_BOLD}[】\]］)）]?{_BOLD}"


def _marker(words: str, short: str, small: str, bare: str = "") -> re.Pattern[str]:
    """A marker: a word or letter, a number or none, and what sets it off: a stop or space only behind a number."""
    return re.compile(
        rf"(?m)^{_LEAD}(?:"
        rf"(?:(?:{words})[ \t]*{_NUMBER}?|[{short}][ \t]?{_NUMBER}?|{small}){_CLOSE}[ \t]*[:：]"
        rf"|(?:(?:{words})[ \t]*|[{short}]){_NUMBER}{_CLOSE}(?:[.．、)）](?!\d)[ \t\u3000]*|[ \t\u3000]+(?=\S))"
        rf"|(?<=[【\[［])(?:{words}|[{short}]){_NUMBER}?[】\]］]{bare}"
        rf"){_BOLD}[ \t\u3000]*"
    )


_IS_QUESTION = _marker(
    "Question|QUESTION|Frage|FRAGE|Pregunta|Domanda|Вопрос|问题|問題|質問|질문",
    "QＱ問问문",
    "q",
    rf"|[QＱ][.．]{_BOLD}[ \t\u3000]+(?=[^\n]*[?？])",
)
_IS_ANSWER = _marker(
    "Answer|ANSWER|Antwort|ANTWORT|Respuesta|Réponse|Risposta|Ответ|答案|回答|答え|답변", "AＡ答답", "a"
)
_OTHER_ANSWER = re.compile(rf"{_LEAD}R{_CLOSE}[ \t]*[:：]{_BOLD}[ \t\u3000]+")
"""A mark that answers only what is marked `Q:`."""
_ANY = re.compile(
    r"(?m)^[ \t\u3000>*+_#\-【\[［(（]{0,16}(?:[QＱqAＡaR問问문答답]|Frage|FRAGE|Pregunta|Domanda|Вопрос|質問|질문|"
    r"Antwort|ANTWORT|Respuesta|Réponse|Risposta|Ответ|回)"
)
_DETAILS = re.compile(r"(?i)<(?P<close>/)?(?P<name>details|summary)\b[^<>]{0,1000}>")
_TAG = re.compile(r"<[^<>]{0,1000}>")
_MARKS = re.compile(r"[*_]{2}|^#{1,6}[ \t]+|[ \t]#+[ \t]*$")

_OVERLINE = re.compile(r"\A([=\-~^\"'`*+#.:_])\1{2,}\n")
"""The line above a title that has one below too, as in reStructuredText."""


class Pair(NamedTuple):
    """One question and its answer: `text[start:end]` is both, headings right above included.

    The answer's text is `text[answer:end]`. `kind` says how it was found: marker, unanswered (a question's marker
    alone), heading or details.
    """

    start: int
    answer: int
    end: int
    question: str
    path: tuple[str, ...]
    kind: str


class Part(NamedTuple):
    """A stretch of the document that is no pair."""

    start: int
    end: int
    path: tuple[str, ...]


class Given(NamedTuple):
    """A pair that markup tells of: it starts, its answer starts, it ends."""

    start: int
    answer: int
    end: int
    question: str
    kind: str = "given"


@dataclass(frozen=True, slots=True)
class Faq:
    """A document read as questions: its units in order, together all of it. `heads` are lines above something."""

    units: list[Pair | Part]
    heads: list[tuple[int, int]]
    title: str | None = None

    @property
    def pairs(self) -> list[Pair]:
        """The units that are pairs."""
        return [unit for unit in self.units if isinstance(unit, Pair)]

    def answer_of(self, text: str, pair: Pair) -> str:
        """The text of a pair's answer."""
        answer = text[pair.answer : pair.end]
        return (_TAG.sub("", answer) if pair.kind == "details" else answer).strip()


def read_faq(text: str) -> Faq:
    """The questions of a plain or Markdown text."""
    reading = Reading(text)
    lines = text.replace("\r", "\n") if "\r" in text else text
    details = _details(text, lines)
    return assemble(text, reading.headings, details, held=reading.held if reading.has_breaks else ())


def is_faq(text: str) -> bool:
    """Strict evidence: 2 marked pairs, or 3 sibling headings of which 60 % ask; most of the text is in pairs."""
    if not _ANY.search(text) and text.count("?") + text.count("？") < LEAST_PAIRS:
        return False
    faq = read_faq(text)
    pairs = faq.pairs
    marked = sum(pair.kind == "marker" for pair in pairs)
    headed = sum(pair.kind == "heading" for pair in pairs)
    asking = sum(pair.kind == "details" and bool(_ASKS.search(pair.question)) for pair in pairs)
    if marked < LEAST_PAIRS and not (headed >= LEAST_PAIRS and _has_siblings(text)) and asking < LEAST_HEADINGS:
        return False
    covered = sum(pair.end - pair.start for pair in pairs)
    return covered >= COVERED * len(text.strip())


def _has_siblings(text: str) -> bool:
    """Whether somewhere at least 3 sibling headings stand of which enough ask."""
    return any(
        len(group) >= LEAST_HEADINGS and sum(map(_asks, group)) >= ASKING * len(group)
        for group in _siblings(Reading(text).headings)
    )


def _asks(heading: Heading) -> bool:
    return _ASKS.search(heading.title) is not None


def _siblings(headings: Iterable[Heading]) -> list[list[Heading]]:
    """Headings of one level under one heading, group by group."""
    groups: list[list[Heading]] = []
    stack: list[list[Heading]] = []  # the open groups, levels ascending
    for heading in headings:
        while stack and stack[-1][-1].level > heading.level:
            stack.pop()
        if stack and stack[-1][-1].level == heading.level:
            stack[-1].append(heading)
        else:
            stack.append([heading])
            groups.append(stack[-1])
    return groups


def _details(text: str, lines: str) -> list[Given]:
    """`<details>` that start a line, with their `<summary>`; the outermost only."""
    found: list[Given] = []
    depth = start = summary = answer = 0
    for match in _DETAILS.finditer(lines):
        opens = match["close"] is None
        if match["name"].lower() == "details":
            depth = max(0, depth + (1 if opens else -1))
            if opens and depth == 1:
                start = lines.rfind("\n", 0, match.start()) + 1
                summary = answer = -1 if lines[start : match.start()].strip() else 0
            elif not opens and not depth and answer > 0:
                newline = lines.find("\n", match.end())
                end = len(lines) if newline < 0 or lines[match.end() : newline].strip() else newline + 1
                end = end if newline < 0 or not lines[match.end() : newline].strip() else match.end()
                question = " ".join(_TAG.sub("", lines[summary:answer]).split())
                if text[end - 1 : end + 1] == "\r\n":
                    end += 1
                if lines[end - 1 : end] == "\n" or end == len(lines):
                    found.append(Given(start, answer, end, question, "details"))
                answer = 0
        elif depth == 1 and summary >= 0 and opens and not summary:
            summary = match.end()
        elif depth == 1 and summary > 0 and not opens and not answer:
            answer = match.end()
    return found


# --- putting it together ---------------------------------------------------------------------------------------------


class _Event(NamedTuple):
    start: int
    end: int
    kind: str  # question, answer, heading, given
    level: int = 0
    title: str = ""
    given: Given | None = None


def assemble(text: str, headings: Sequence[Heading], given: Sequence[Given], held: Sequence[int] = ()) -> Faq:
    """Pairs and parts of `text`, of its markers, `headings` and the pairs `given`; markers inside `held` count not."""
    lines = text.replace("\r", "\n") if "\r" in text else text
    headings = [heading._replace(title=_OVERLINE.sub("", heading.title)) for heading in headings]
    asking = {
        heading.start
        for group in _siblings(headings)
        if sum(map(_asks, group)) >= ASKING * len(group)
        for heading in group
        if _asks(heading)
    }
    events = [_Event(each.start, each.end, "given", 0, each.question, each) for each in given]
    inside = [(each.start, each.end) for each in given]
    events += _markers(lines, {heading.start: heading for heading in headings}, held)
    marked = {event.start for event in events if event.kind == "question"}
    for heading in headings:
        if heading.start not in marked:
            kind = "question" if heading.start in asking else "heading"
            events.append(_Event(heading.start, heading.end, kind, heading.level, heading.title))
    events.sort(key=lambda event: (event.start, event.kind != "given"))
    begins = [start for start, _ in inside]
    events = [event for event in events if event.kind == "given" or not _is_inside(event.start, begins, inside)]
    reader = _Reader(text, lines)
    reader.heads += [(each.start, each.end) for each in headings if _is_inside(each.start, begins, inside)]
    for event in events:
        reader.take(event)
    title = next((heading.title for heading in headings if heading.level == 1), None)
    return reader.finish(title)


def _is_inside(offset: int, begins: list[int], ranges: list[tuple[int, int]]) -> bool:
    at = bisect_right(begins, offset) - 1
    return at >= 0 and offset < ranges[at][1]


def _markers(lines: str, headings: dict[int, Heading], held: Sequence[int]) -> list[_Event]:
    """The lines that are marked as questions and answers."""
    found = []
    last = 0
    for near in _ANY.finditer(lines):
        start = near.start()
        if held and bisect_right(held, start) & 1:
            continue
        heading = headings.get(start)
        if match := _IS_QUESTION.match(lines, start):
            level = heading.level if heading else 0
            found.append(_Event(start, match.end(), "question", level))
        elif match := _IS_ANSWER.match(lines, start):
            if not (found and found[-1].kind == "question" and found[-1].start >= last):
                question = _line_above(lines, start, last)
                if question >= 0:
                    level = headings[question].level if question in headings else 0
                    found.append(_Event(question, question, "question", level))
            found.append(_Event(start, match.end(), "answer"))
            last = start
        elif (
            found
            and found[-1].kind == "question"
            and "Q" in lines[found[-1].start : found[-1].end]
            and (match := _OTHER_ANSWER.match(lines, start))
        ):
            found.append(_Event(start, match.end(), "answer"))
            last = start
    return found


def _line_above(lines: str, start: int, floor: int) -> int:
    """The start of the line above an answer without a marked question, if that line asks; -1 if not."""
    end = start
    while end > floor and lines[end - 1].isspace():
        end -= 1
    newline = lines.rfind("\n", floor, end)
    begin = newline + 1 if newline >= 0 or not floor else end
    return begin if _ASKS.search(lines[begin:end]) else -1


class _Open(NamedTuple):
    """A question whose end is not known yet."""

    start: int
    event: _Event
    answer: int  # 0: not seen yet
    answer_text: int


class _Reader:
    def __init__(self, text: str, lines: str) -> None:
        self.text, self.lines = text, lines
        self.units: list[Pair | Part] = []
        self.heads: list[tuple[int, int]] = []
        self.stack: list[_Event] = []  # the headings that are open
        self.open: _Open | None = None
        self.begin = 0  # of what belongs to no unit yet
        self.here: tuple[str, ...] = ()  # its path
        self.above = -1  # where headings start that stand right above what comes next
        self.behind = 0  # their end

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(heading.title for heading in self.stack)

    def take(self, event: _Event) -> None:
        """The next event of the document."""
        if self.open is not None:
            level = self.open.event.level
            if event.kind == "answer":
                if not self.open.answer:
                    self.open = self.open._replace(answer=event.start, answer_text=event.end)
                return
            if event.kind == "heading" and 0 < level < event.level:
                self.heads.append((event.start, event.end))
                return  # a heading inside of the answer
            self.close(event.start)
        if event.kind == "answer":
            return
        if self.above >= 0 and self.lines[self.behind : event.start].strip():
            self.above = -1
        last = self.stack[-1] if self.stack else None
        if event.level:
            while self.stack and self.stack[-1].level >= event.level:
                self.stack.pop()
            if not self.stack or self.stack[-1] is not last:
                self.above = -1
        start = self.above if self.above >= 0 else event.start
        self.part(start)
        if event.kind == "heading":
            self.stack.append(event)
            self.heads.append((event.start, event.end))
            self.here, self.above, self.behind = self.path, start, event.end
            return
        self.above = -1
        if event.given is not None:
            given = event.given
            if self.lines[event.start : given.answer].strip():
                self.heads.append((event.start, given.answer))
            self.add(Pair(start, given.answer, event.end, given.question, self.path, given.kind))
        else:
            self.open = _Open(start, event, 0, 0)

    def close(self, end: int) -> None:
        """The open question's pair ends at `end`; without an answer it is no pair."""
        opened = self.open
        self.open = None
        if opened is None:
            return
        event, lines = opened.event, self.lines
        newline = lines.find("\n", event.end, end)
        head_end = event.end if event.title else opened.answer or (newline + 1 if newline >= 0 else end)
        question = _clean(event.title or lines[event.end : head_end])
        answer = opened.answer_text or head_end
        if not question or not lines[answer:end].strip():
            if event.level:  # a heading like any other
                self.stack.append(event._replace(title=question))
                self.heads.append((event.start, head_end))
                self.here, self.above, self.behind = self.path, opened.start, head_end
            return
        if not (opened.answer or event.level or _ASKS.search(question)):
            return
        kind = "heading" if event.title else "marker" if opened.answer else "unanswered"
        self.heads.append((event.start, head_end))
        path = (*self.path, question) if event.level else self.path
        self.add(Pair(opened.start, answer, end, question, path, kind))

    def part(self, end: int) -> None:
        """What stands from the last unit up to `end` is no pair."""
        if self.begin < end:
            self.units.append(Part(self.begin, end, self.here))
            self.begin, self.here = end, self.path

    def add(self, pair: Pair) -> None:
        self.units.append(pair)
        self.begin, self.here = pair.end, self.path

    def finish(self, title: str | None) -> Faq:
        self.close(len(self.text))
        self.part(len(self.text))
        return Faq(self.units, sorted(self.heads), title)


def _clean(text: str) -> str:
    return _MARKS.sub("", " ".join(text.split())).strip(" \t\u3000*_")

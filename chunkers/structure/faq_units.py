"""Questions and answers as units of a document: what was found in it, in order, to pairs and what is between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

ASKING = 0.6
"""How many of some lines have to ask for them to be questions."""
ASKS = re.compile(r"[?？؟;\u037e][\"'”’」』）)\s*_#.。!！]*\Z")
"""The end of a line that asks."""
TAG = re.compile(r"<[^<>]{0,1000}>")
_MARKS = re.compile(r"[*_]{2}|^#{1,6}[ \t]+|[ \t]#+[ \t]*$")


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
    """A document read as questions: its units in order, together all of it. `heads` are lines above something.

    `asked` are the starts of those heads that are questions, and so text themselves.
    """

    units: list[Pair | Part]
    heads: list[tuple[int, int]]
    title: str | None = None
    asked: frozenset[int] = frozenset()

    @property
    def pairs(self) -> list[Pair]:
        """The units that are pairs."""
        return [unit for unit in self.units if isinstance(unit, Pair)]

    def answer_of(self, text: str, pair: Pair) -> str:
        """The text of a pair's answer."""
        answer = text[pair.answer : pair.end]
        return (TAG.sub("", answer) if pair.kind == "details" else answer).strip()


class Event(NamedTuple):
    """Something in the document that a unit may start with: a mark, a heading, or a pair that markup tells of."""

    start: int
    end: int
    kind: str  # question, answer, heading, given
    level: int = 0
    title: str = ""
    given: Given | None = None


class _Open(NamedTuple):
    """A question whose end is not known yet."""

    start: int
    event: Event
    answer: int  # 0: not seen yet
    answer_text: int


class Reader:
    """Takes the events of a document in order, and makes units of them and of what is between."""

    def __init__(self, text: str, lines: str) -> None:
        self.text, self.lines = text, lines
        self.units: list[Pair | Part] = []
        self.heads: list[tuple[int, int]] = []
        self.asked: set[int] = set()
        self.stack: list[Event] = []  # the headings that are open
        self.open: _Open | None = None
        self.begin = 0  # of what belongs to no unit yet
        self.here: tuple[str, ...] = ()  # its path
        self.above = -1  # where headings start that stand right above what comes next
        self.behind = 0  # their end

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(heading.title for heading in self.stack)

    def take(self, event: Event) -> None:
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
                self.asked.add(event.start)
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
        if not (opened.answer or event.level or ASKS.search(question)):
            return
        kind = "heading" if event.title else "marker" if opened.answer else "unanswered"
        self.heads.append((event.start, head_end))
        if not event.level:
            self.asked.add(event.start)
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
        return Faq(self.units, sorted(self.heads), title, frozenset(self.asked))


def _clean(text: str) -> str:
    return _MARKS.sub("", " ".join(text.split())).strip(" \t\u3000*_")

"""Questions and their answers: marked ones (`Q:` `A:`, 問 答), headings that ask, `<details>`.

A marker says what it is: a bare `A.` never answers anything. Headings are questions where most of their siblings are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from chunkers.structure.faq_marks import ANY_MARK, find_details, find_markers, find_standing
from chunkers.structure.faq_units import ASKING, ASKS, Event, Faq, Given, Pair, Part, Reader
from chunkers.structure.markdown import Heading, Reading
from chunkers.text.lines import unreturned

LEAST_PAIRS = 2
LEAST_HEADINGS = 3
COVERED = 0.5

_OVERLINE = re.compile(r"\A([=\-~^\"'`*+#.:_])\1{2,}\n")
"""The line above a title that has one below too, as in reStructuredText."""


def read_faq(text: str) -> Faq:
    """The questions of a plain or Markdown text."""
    lines, offset_of = unreturned(text)
    reading = Reading(lines)
    held = reading.held if reading.has_breaks else ()
    faq = assemble(lines, reading.headings, find_details(lines), held=held)
    if lines is text:
        return faq
    units: list[Pair | Part] = []
    for unit in faq.units:
        start, end = offset_of(unit.start), offset_of(unit.end)
        if isinstance(unit, Pair):
            units.append(unit._replace(start=start, answer=offset_of(unit.answer), end=end))
        else:
            units.append(unit._replace(start=start, end=end))
    heads = [(offset_of(start), offset_of(end)) for start, end in faq.heads]
    return Faq(units, heads, faq.title, frozenset(map(offset_of, faq.asked)))


def is_faq(text: str) -> bool:
    """Strict evidence: 2 marked pairs, or 3 sibling headings of which 60 % ask; most of the text is in pairs."""
    if not ANY_MARK.search(text) and text.count("?") + text.count("？") < LEAST_PAIRS:
        return False
    faq = read_faq(text)
    pairs = faq.pairs
    marked = sum(pair.kind == "marker" for pair in pairs)
    headed = sum(pair.kind == "heading" for pair in pairs)
    asking = sum(pair.kind == "details" and bool(ASKS.search(pair.question)) for pair in pairs)
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
    return ASKS.search(heading.title) is not None


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
    events = [Event(each.start, each.end, "given", 0, each.question, each) for each in given]
    inside = [(each.start, each.end) for each in given]
    # Of a heading only the first line may be marked.
    held = sorted([*held, *(edge for each in headings for edge in (each.start + 1, each.end))])
    events += find_markers(lines, {heading.start: heading for heading in headings}, held)
    if not asking and not any(event.kind in ("given", "question") for event in events):
        events = [event for event in events if event.kind != "answer"] + find_standing(lines, held)
    marked = {event.start for event in events if event.kind == "question"}
    for heading in headings:
        if heading.start not in marked:
            kind = "question" if heading.start in asking else "heading"
            events.append(Event(heading.start, heading.end, kind, heading.level, heading.title))
    events.sort(key=lambda event: (event.start, event.kind != "given"))
    begins = [start for start, _ in inside]
    events = [event for event in events if event.kind == "given" or not _is_inside(event.start, begins, inside)]
    reader = Reader(text, lines)
    reader.heads += [(each.start, each.end) for each in headings if _is_inside(each.start, begins, inside)]
    for event in events:
        reader.take(event)
    title = next((heading.title for heading in headings if heading.level == 1), None)
    return reader.finish(title)


def _is_inside(offset: int, begins: list[int], ranges: list[tuple[int, int]]) -> bool:
    at = bisect_right(begins, offset) - 1
    return at >= 0 and offset < ranges[at][1]

"""The laws of chunking, judged from outside.

`violations` takes a document, what a strategy made of it and what the options promise, and says in words what is
wrong. It knows nothing of how the strategies work and measures everything itself (`measuring`, `outline`).
Every sentence starts with the name of the law it speaks of; `LAWS` lists them.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from chunkers.records import CUTS, Span, Split
from tests.laws import measuring
from tests.laws.outline import Heading, box_line, headings

LAWS = (
    "slice",
    "order",
    "coverage",
    "limit",
    "oversize",
    "context",
    "overlap",
    "section",
    "repeat",
    "grapheme",
    "characters",
    "strip",
    "indentation",
    "cut",
    "orphan heading",
    "headings",
)
LINE_BREAK = re.compile(r"\r\n|\n|\r")
SPACE = re.compile(r"\s*")
REPLACEMENT = re.compile("[\ufffd\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a strategy with certain options owes. `measure` is the unit; None for `max_size` is unbounded."""

    max_size: int | None = 4000
    overlap: int = 0
    measure: Callable[[str], int] = measuring.characters
    max_tokens: int | None = None
    tokens: Callable[[str], int] = lambda text: measuring.tokens()(text)
    strip: bool = True
    keeps_indentation: bool | None = False
    """Whether the first line keeps its indentation; None: either will do."""
    renders: bool = False
    drops: frozenset[str] = frozenset()
    overlap_at_words: bool = True
    section_levels: Collection[int] | None = None
    """Heading levels that open a section; None: the strategy knows no sections."""
    headings_stay: bool = True
    has_own_sections: bool = False
    has_template: bool = False
    """Whether contexts differ from chunk to chunk: half of the limit is all that their text can count on."""
    is_mdx: bool = False
    is_atom: Callable[[str], bool] | None = None
    """Whether a text is one atom; None: the atom is a grapheme, at most 64 code points of it."""


def violations(document: str, split: Split, promise: Promise, exempt: Collection[str] = ()) -> list[str]:
    """Every way in which `split` breaks a law that is not in `exempt`; [] is a pass."""
    shape = [*slices(document, split), *kinds(split)]
    if shape:
        return shape
    judges = (order, coverage, limits, overlaps, edges, characters, whitespace, cut_names, sections)
    found = [sentence for judge in judges for sentence in judge(document, split, promise)]
    return [sentence for sentence in found if sentence.partition(":")[0] not in exempt]


def slices(document: str, split: Split) -> Iterator[str]:
    for number, span in enumerate(split.spans):
        if not 0 <= span.start < span.end <= len(document):
            yield f"slice: chunk {number} is {span.start}…{span.end} of a document of {len(document)}"
    for drop in split.drops:
        if not 0 <= drop.start < drop.end <= len(document):
            yield f"slice: drop {drop} does not lie in a document of {len(document)}"


def kinds(split: Split) -> Iterator[str]:
    """Records hold what their types say, and cuts are of the closed set."""
    for number, span in enumerate(split.spans):
        if span.cut not in CUTS:
            yield f"cut: chunk {number} ends with {span.cut!r}, which is not one of the set"
        if isinstance(span.headings, str) or not all(isinstance(title, str) for title in span.headings):
            yield f"headings: chunk {number} has {span.headings!r}, not a list of titles"
        if not all(isinstance(key, str) for key in span.metadata):
            yield f"headings: chunk {number} has metadata keys that are no strings"
    for drop in split.drops:
        if not drop.kind:
            yield f"coverage: drop {drop} has no name"


def order(document: str, split: Split, promise: Promise) -> Iterator[str]:
    previous: Span | None = None
    for number, span in enumerate(split.spans):
        if not promise.renders and span.rendered is not None:
            yield f"slice: chunk {number} was rendered"
        if not span.text(document).strip():
            yield f"order: chunk {number} is blank: {span.text(document)!r}"
        if previous and span.start <= previous.start:
            yield f"order: chunk {number} starts at {span.start}, not after {previous.start}"
        elif previous and span.end <= previous.end:
            yield f"order: chunk {number} ends at {span.end}: it lies inside the one before ({previous.start}…{previous.end})"
        elif previous and span.rendered is None and not document[max(span.start, previous.end) : span.end].strip():
            yield f"repeat: chunk {number} says nothing that the one before does not say"
        previous = span


def coverage(document: str, split: Split, promise: Promise) -> Iterator[str]:
    """Every non-blank character is in a chunk or in a drop, and in no chunk when it is in a drop."""
    chunked, dropped = bytearray(len(document)), bytearray(len(document))
    for span in split.spans:
        if span.rendered is None:
            chunked[span.start : span.end] = b"\1" * (span.end - span.start)
    for drop in split.drops:
        if drop.kind not in promise.drops:
            yield f"coverage: drop {drop} is of a kind these options never drop"
        if b"\1" in dropped[drop.start : drop.end]:
            yield f"coverage: drop {drop} overlaps another one"
        held = "".join(document[at] for at in range(drop.start, drop.end) if chunked[at])
        if held.strip():
            yield f"coverage: drop {drop} holds {held[:40]!r}, which is in a chunk too"
        dropped[drop.start : drop.end] = b"\1" * (drop.end - drop.start)
    for span in split.spans:  # what was rendered may have left out what lies inside of it
        chunked[span.start : span.end] = b"\1" * (span.end - span.start)
    either = bytes(a | b for a, b in zip(chunked, dropped, strict=True)) if split.drops else bytes(chunked)
    for gap in re.finditer(rb"\0+", either):
        lost = document[gap.start() : gap.end()]
        if lost.strip():
            yield f"coverage: {lost.strip()[:40]!r} at {gap.start()}…{gap.end()} is in no chunk and no drop"


def limits(document: str, split: Split, promise: Promise) -> Iterator[str]:
    allowed: bytearray | None = None
    for number, span in enumerate(split.spans):
        text, whole = span.text(document), span.context + span.text(document)
        over = exceeds(promise, whole)
        if span.context and (half := exceeds(promise, span.context, share=2)):
            yield f"context: chunk {number} has a context of {half}, more than half of the limit"
        if span.cut == "oversize":
            if not exceeds(promise, text):
                yield f"oversize: chunk {number} is marked but fits: {text[:40]!r}"
        elif over:
            yield f"limit: chunk {number} ({span.start}…{span.end}) has {over}"
        if span.cut == "oversize" or over:
            allowed = measuring.cut_edges(document) if allowed is None else allowed
            if promise.is_atom:
                alone = promise.is_atom(text)
            elif span.rendered is not None:
                alone = not any(measuring.cut_edges(text)[1:-1])
            else:
                alone = not any(allowed[span.start + 1 : span.end])
            if not alone:
                yield f"oversize: chunk {number} is over the limit but no lone atom: {text[:40]!r}"


def exceeds(promise: Promise, text: str, share: int = 1) -> str:
    """What is too much about `text`, or nothing."""
    if promise.max_size is not None and (length := promise.measure(text)) * share > promise.max_size:
        return f"length {length} of {promise.max_size}"
    if promise.max_tokens is not None and (length := promise.tokens(text)) * share > promise.max_tokens:
        return f"{length} tokens of {promise.max_tokens}"
    return ""


def overlaps(document: str, split: Split, promise: Promise) -> Iterator[str]:
    end = 0
    for number, span in enumerate(split.spans):
        if span.rendered is not None:
            yield from rendered_overlap(document, split, promise, number)
            end = span.end
            continue
        shared = document[span.start : end] if span.start < end else ""
        realised = promise.measure(shared) if shared else 0
        if realised > promise.overlap:
            yield f"overlap: chunk {number} repeats {realised}, {promise.overlap} were asked for: {shared[:40]!r}"
        if span.overlap != realised:
            yield f"overlap: chunk {number} records an overlap of {span.overlap}, real is {realised}"
        if shared and promise.overlap_at_words and split.spans[number - 1].cut not in ("grapheme", "limit", "oversize"):
            before = document[span.start - 1 : span.start]
            if before.isascii() and before.isalnum() and shared[0].isascii() and shared[0].isalnum():
                yield f"overlap: chunk {number} repeats from inside a word: {before + shared[:20]!r}"
        end = span.end


def rendered_overlap(document: str, split: Split, promise: Promise, number: int) -> Iterator[str]:
    """What a chunk of rendered text repeats is the end of the text before, as much as it records."""
    span = split.spans[number]
    if span.overlap > promise.overlap:
        yield f"overlap: chunk {number} repeats {span.overlap}, {promise.overlap} were asked for"
    if not span.overlap:
        return
    text, before = span.text(document), split.spans[number - 1].text(document)
    repeated = (text[:size] for size in range(1, len(text) + 1) if before.endswith(text[:size]))
    if not any(promise.measure(shared) == span.overlap for shared in repeated):
        yield f"overlap: chunk {number} records an overlap of {span.overlap} that is not there: {text[:40]!r}"


def edges(document: str, split: Split, promise: Promise) -> Iterator[str]:
    allowed = measuring.cut_edges(document)
    for number, span in enumerate(split.spans):
        if span.rendered is not None:
            continue  # clusters of what is said and of how it is written differ
        for name, at in (("starts", span.start), ("ends", span.end)):
            if not allowed[at]:
                around = document[max(0, at - 4) : at + 4]
                yield f"grapheme: chunk {number} {name} at {at}, inside a grapheme: {around!r}"


def characters(document: str, split: Split, promise: Promise) -> Iterator[str]:
    """No U+FFFD and no lone surrogate that the document does not hold."""
    held = set(REPLACEMENT.findall(document))
    for number, span in enumerate(split.spans):
        said = "".join((span.rendered or "", span.context, *span.headings))
        if new := set(REPLACEMENT.findall(said)) - held:
            yield f"characters: chunk {number} brings {sorted(new)!r} that the document does not hold"


def whitespace(document: str, split: Split, promise: Promise) -> Iterator[str]:
    if not promise.strip:
        return
    allowed = measuring.cut_edges(document)
    for number, span in enumerate(split.spans):
        if span.rendered is not None:
            continue
        last = allowed.rfind(1, 0, span.end)
        if document[last : span.end].isspace():
            yield f"strip: chunk {number} ends with white space: {document[span.start : span.end][-20:]!r}"
        first = document[span.start : allowed.find(1, span.start + 1)]
        if first.isspace() and (promise.keeps_indentation is False or first[0] in "\r\n"):
            yield f"strip: chunk {number} starts with white space: {document[span.start : span.end][:20]!r}"
        if promise.keeps_indentation:
            line = max(document.rfind("\n", 0, span.start), document.rfind("\r", 0, span.start)) + 1
            lost, before = document[line : span.start], split.spans[number - 1].end if number else 0
            fits = not exceeds(promise, span.context + document[line : span.end])
            fits = fits and (number == 0 or line > split.spans[number - 1].start)  # starts have to increase
            fits = fits and (span.start >= before or promise.measure(document[line:before]) <= promise.overlap)
            if lost and not lost.strip(" \t") and fits:
                yield f"indentation: chunk {number} lost {lost!r} before {document[span.start : span.end][:20]!r}"


def cut_names(document: str, split: Split, promise: Promise) -> Iterator[str]:
    """A cut named after line breaks has them; only the last chunk ends the document."""
    for number, span in enumerate(split.spans):
        last = number == len(split.spans) - 1
        if span.cut == "document-end" and not last:
            yield f"cut: chunk {number} of {len(split.spans)} says document-end"
        needed = {"blank-line": 2, "line": 1}.get(span.cut, 0) if span.rendered is None else 0
        if needed and not last:
            text = document[span.start : span.end]
            gap = SPACE.match(document, span.start + len(text.rstrip()))[0]
            if len(LINE_BREAK.findall(gap)) < needed:
                yield f"cut: chunk {number} says {span.cut}, but {gap[:20]!r} follows its text"


def sections(document: str, split: Split, promise: Promise) -> Iterator[str]:
    """Overlap stays in its section, and no heading is left behind by its body."""
    if promise.section_levels is None:
        return
    front = max((drop.end for drop in split.drops if drop.kind == "front-matter"), default=0)
    outline = headings(document, front, promise.is_mdx)
    known = box_line(document)
    outline = tuple(heading for heading in outline if heading.start < known)
    opening = [heading.start for heading in outline if heading.level in promise.section_levels]
    for number, (left, right) in enumerate(zip(split.spans, split.spans[1:], strict=False), 1):
        new = SPACE.match(document, left.end).end()
        crossed = [at for at in opening if right.start < at <= new]
        if right.start < left.end and crossed:
            yield f"section: chunk {number} repeats text from before the heading at {crossed[0]}"
    if promise.headings_stay:
        yield from orphans(document, split, promise, outline, known)


def opens(document: str, body: int, split: Split, number: int) -> bool:
    """Whether the text at `body` opens a section: chunk `number` is called what stands at the beginning of its line."""
    span = split.spans[number]
    names = [str(span.metadata.get("article", "")), str(span.metadata.get("question", "")), *span.headings[-1:]]
    line = LINE_BREAK.split(document[body:], maxsplit=1)[0]
    return any("".join(name.split())[:8] in "".join(line.split()) for name in names if name)


def body_of(
    document: str, outline: tuple[Heading, ...], number: int, levels: tuple[int, ...]
) -> tuple[int, int] | None:
    """What follows a heading, and where the first text of its section begins: behind deeper headings, if they follow.

    None if it has none, or if a section begins at a heading that follows one which begins none.
    """
    heading = outline[number]
    following = body = SPACE.match(document, heading.end).end()
    while number + 1 < len(outline) and SPACE.match(document, outline[number + 1].start).end() == body:
        below = outline[number + 1]
        if below.level <= heading.level or (below.level in levels and heading.level not in levels):
            return None
        heading, number, body = below, number + 1, SPACE.match(document, below.end).end()
    return (following, body) if body < len(document) else None


def orphans(document: str, split: Split, promise: Promise, outline: tuple[Heading, ...], known: int) -> Iterator[str]:
    """A heading with text in its section never ends a chunk when it and the first word of the text fit.

    From `known` on, headings are not told from text.
    """
    ends = [span.end for span in split.spans]
    for position, heading in enumerate(outline):
        text_end = heading.start + len(document[heading.start : heading.end].rstrip())
        found = body_of(document, outline, position, promise.section_levels or ())
        if found is None or found[1] >= known:
            continue
        following_at, body = found
        first = measuring.WORD.match(document, body)
        body_end = first.end() if first else body + 1
        for number in range(bisect.bisect_left(ends, text_end), bisect.bisect_right(ends, following_at)):
            span = split.spans[number]
            following = split.spans[number + 1].headings if number + 1 < len(split.spans) else ()
            if promise.has_own_sections and heading.title not in following and opens(document, body, split, number + 1):
                continue
            # White space before it goes with it where nothing is stripped.
            start = span.start if not document[span.start : heading.start].strip() else heading.start
            together = document[start:body_end] if promise.has_template else span.context + document[start:body_end]
            if span.start <= heading.start and not exceeds(promise, together, share=2 if promise.has_template else 1):
                yield f"orphan heading: chunk {number} ends with {heading.title[:40]!r}, its body is in the next"

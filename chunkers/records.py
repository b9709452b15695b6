"""The records of the library: what a strategy returns and what `chunk()` makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

Cut = Literal[
    "heading",
    "blank-line",
    "block",
    "line",
    "item",
    "row",
    "separator",
    "sentence",
    "clause",
    "word",
    "grapheme",
    "token",
    "record",
    "statement",
    "definition",
    "limit",
    "oversize",
    "document-end",
]
"""What made a chunk end where it ends. A closed set."""

CUTS: frozenset[str] = frozenset(get_args(Cut))

NOTHING: Mapping[str, Any] = {}

NOWHERE = -1
"""The start and end of a span whose text is not in the document."""


class Span(NamedTuple):
    """One chunk as offsets into its document.

    `start` and `end` are code points into the decoded document, 0-based, end exclusive. `overlap` is the realised
    overlap with the previous span of the level, in the unit the strategy was asked to measure in. `rendered` is the
    chunk's text where that is not a slice of the document (html, json, faq, custom), else None. A text that `custom`
    returned and that is not in the document has `NOWHERE` for both offsets.
    """

    start: int
    end: int
    cut: Cut
    headings: tuple[str, ...] = ()
    context: str = ""
    rendered: str | None = None
    overlap: int = 0
    metadata: Mapping[str, Any] = NOTHING
    parent: int | None = None

    def text(self, document: str) -> str:
        """The chunk's text: a slice of `document` unless it was rendered."""
        return document[self.start : self.end] if self.rendered is None else self.rendered


class Drop(NamedTuple):
    """Document text that is in no chunk on purpose: `kind` names why (`front-matter`, `heading`, `separator`, …)."""

    start: int
    end: int
    kind: str


class Split(NamedTuple):
    """Everything one strategy found in one document.

    `spans` are in document order. `drops` are the named, counted omissions. `metadata` is the document's own
    (front matter); `title` its title where it has one; `strategy` the strategy that did the work (`auto` is resolved);
    `notes` are things worth counting that are no errors (an unclosed fence, front matter that is not valid YAML).
    """

    spans: list[Span]
    strategy: str
    drops: Sequence[Drop] = ()
    metadata: Mapping[str, Any] = NOTHING
    title: str | None = None
    notes: tuple[str, ...] = ()


class Chunk(NamedTuple):
    """One chunk, ready to use. `index` counts from 0 within the document.

    Offsets as in `Span`; None for a text that is not in the document, which only `custom` may return.
    """

    text: str
    start: int | None
    end: int | None
    index: int  # type: ignore[assignment]  # a field here, not tuple.index
    strategy: str
    cut: Cut
    context: str = ""
    headings: tuple[str, ...] = ()
    title: str | None = None
    overlap: int = 0
    token_count: int | None = None
    metadata: Mapping[str, Any] = NOTHING
    parent: int | None = None

    @property
    def embed_text(self) -> str:
        """What an embedding should see: the context (it holds its own separator) and the text."""
        return self.context + self.text

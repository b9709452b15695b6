"""What a reader sees of an HTML document, read by the standard library: the oracle of `html`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from chunkers.records import Split

UNSEEN = frozenset(["script", "style", "template", "nav", "iframe", "noembed", "noframes", "title", "datalist"])
VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)")
DROPS = frozenset({*UNSEEN, "hidden", "comment", "heading", "markup"})
QUIRK = re.compile(
    r"<[!?](?!--|doctype|xml)|<!--+>|--!>|</(?![a-z])|</[a-z][^>]*[\"'<]|<(?![a-z/!?])|<[^<>]*\Z|&#|[\ufffd\ud800-\udfff\0]",
    re.IGNORECASE,
)
"""Markup that readers differ on, the standard library's from one release to the next."""
OPEN_TAG = re.compile(r"<[a-zA-Z](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+(?:\"[^\"]*+|'[^']*+)?+\Z")
"""A tag that goes on to the end of the text, as the first one does whose quotes hold every `>` behind it."""


class Visible(HTMLParser):
    """Text outside of what is not shown; an element that is not shown ends with its own end tag."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.unseen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        given = dict(attrs)
        if self.unseen:
            if tag == self.unseen[0]:
                self.unseen.append(tag)
        elif tag in UNSEEN or "hidden" in given or NOT_SHOWN.search((given.get("style") or "").lower()):
            self.unseen.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        return

    def handle_endtag(self, tag: str) -> None:
        if self.unseen and tag == self.unseen[0]:
            self.unseen.pop()

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.parts.append(data)


def visible(document: str) -> str:
    """The characters that are seen, in order, without white space."""
    reader = Visible()
    reader.feed(document.removeprefix("\ufeff"))
    reader.close()
    return inked("".join(reader.parts))


def inked(text: str) -> str:
    return "".join(text.split())


def said(document: str, split: Split) -> str:
    """What the chunks say, and the headings that are in their paths instead, in order, nothing twice."""
    found = [(drop.start, visible(document[drop.start : drop.end])) for drop in split.drops if drop.kind == "heading"]
    found += [(span.start, inked(span.text(document)[span.overlap :])) for span in split.spans]
    return "".join(text for _, text in sorted(found, key=lambda pair: pair[0]))


def differences(document: str, split: Split) -> Sequence[str]:
    """Where the chunks say anything but what is seen; [] where they say it once and in order."""
    if QUIRK.search(document) or OPEN_TAG.search(document):
        return []
    if document.rfind("<!--") > document.rfind("-->"):
        return []  # a comment without an end goes on to the end of the text, which the standard library denies
    wanted, got = visible(document), said(document, split)
    if wanted == got:
        return []
    at = next((at for at, (one, other) in enumerate(zip(wanted, got, strict=False)) if one != other), 0)
    return [f"said: {got[at : at + 40]!r} where {wanted[at : at + 40]!r} is seen, at {at}"]

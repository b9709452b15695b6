"""How much of the time that `html` takes a faster tokenizer could save: decision 0018.

`python benchmarks/html_tokens.py [ROUNDS]`: JSON on stdout, a table on stderr. Every page of the corpus is read as it
is; from tokens that were found before the clock started, as a tokenizer that takes no time would give them; and from
those of turbohtml, where that is installed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measuring import alternate, table, texts
from chunkers import build
from chunkers.structure.html_elements import Elements
from chunkers.structure.html_names import HEADINGS
from chunkers.structure.html_page import Page, Reader, Selected, read_page

SELECTED = Selected({name: level - 1 for name, level in HEADINGS.items()})


class Token(NamedTuple):
    """A tag or a text, `start` to `end` of the source."""

    kind: Literal["start", "end", "text"]
    start: int
    end: int
    name: str = ""
    attributes: str = ""


class Replaying(Reader):
    """A reader that is given its tokens."""

    tokens: list[Token]

    def walk(self) -> None:
        for kind, start, end, name, attributes in self.tokens:
            if kind == "text":
                if self.unseen < 0:
                    self.data(start, end)
                continue
            self.at = end
            if kind == "start":
                self.start(name, attributes, start, end)
            else:
                self.end(name, end)
        self.at = len(self.text)

    def raw(self, name: str, start: int) -> int:
        return start  # a token of its own


class Recording(Reader):
    """A reader that writes down its tokens."""

    def __init__(self, text: str) -> None:
        super().__init__(text, SELECTED, Elements())
        self.found: list[Token] = []

    def start(self, name: str, attributes_: str, begin: int, end: int) -> int:
        self.found.append(Token("start", begin, end, name, attributes_))
        return super().start(name, attributes_, begin, end)

    def end(self, name: str, end: int) -> None:
        self.found.append(Token("end", end, end, name))
        super().end(name, end)

    def data(self, start: int, end: int) -> None:
        self.found.append(Token("text", start, end))
        super().data(start, end)


def recorded(text: str) -> list[Token]:
    reader = Recording(text)
    reader.run()
    return reader.found


def read(text: str, tokens: list[Token]) -> Page:
    reader = Replaying(text, SELECTED, Elements())
    reader.tokens = tokens
    return reader.run()


def over_turbohtml() -> Callable[[str], Page] | None:
    """A reader of its tokens, with offsets made of lines and columns; None where it is not installed."""
    try:
        from turbohtml import tokenize
    except ImportError:
        return None

    class OverTurbohtml(Replaying):
        def walk(self) -> None:
            text = self.text
            lines = [0, 0, *(found.end() for found in re.finditer(r"\r\n?|\n", text))]
            begun = -1
            for token in tokenize(text, capture_source=True, capture_attributes=False):
                kind, at = token.type, lines[token.line] + token.col
                if begun >= 0 and self.unseen < 0:
                    self.data(begun, at)
                begun = at if kind == 0 else -1
                if kind in (1, 2):
                    name, source = token.tag or "", token.source or ""
                    self.at = end = at + len(source)
                    if kind == 1:
                        self.start(name, source[1 + len(name) : -1], at, end)
                    else:
                        self.end(name, end)
            if begun >= 0 and self.unseen < 0:
                self.data(begun, len(text))
            self.at = len(text)

    return lambda text: OverTurbohtml(text, SELECTED, Elements()).run()


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    rounds = int(given[0]) if given else 5
    pages, strategy = texts("html"), build("html")
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in pages) / 1e6
    free = [recorded(text) for text in pages]
    ways: dict[str, Callable[[], list[Page]]] = {
        "tokens for free": lambda: [read(text, tokens) for text, tokens in zip(pages, free, strict=True)]
    }
    if (over := over_turbohtml()) is not None:
        ways["turbohtml"] = lambda: [over(text) for text in pages]

    def plain() -> list[Page]:
        return [read_page(text, SELECTED) for text in pages]

    whole = alternate(lambda: [strategy.split(text) for text in pages], plain, rounds).ours
    expected = [page.text for page in plain()]
    rows = [["tokens", "MB/s read", "MB/s chunked", "ratio", "same text"]]
    results: list[dict[str, object]] = []
    for name, way in ways.items():
        pair = alternate(plain, way, rounds)
        chunked = whole - pair.ours + pair.theirs
        same = sum(page.text == text for page, text in zip(way(), expected, strict=True))
        if not results:
            rows.append(["ours", f"{megabytes / pair.ours:.1f}", f"{megabytes / whole:.1f}", "", f"{len(pages)}"])
        results.append(
            {"tokens": name, "read": pair.theirs, "chunked": chunked, "ratio": whole / chunked, "same": same}
        )
        rows.append(
            [name, f"{megabytes / pair.theirs:.1f}", f"{megabytes / chunked:.1f}", f"{whole / chunked:.2f}", f"{same}"]
        )
    print(table(rows), file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

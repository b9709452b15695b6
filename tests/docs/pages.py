"""Reads a Markdown page the way the tests need it: its fences, tables, headings and links, with line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parent.parent.parent


TESTED_ELSEWHERE = {ROOT / "docs/configuration.md": "tests/pipelines/config/test_docs.py"}
"""Pages whose snippets have a test of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """A fenced code block. `words` follow the language on the opening line; `output` is what the page says it prints."""

    page: Path
    line: int
    language: str
    words: tuple[str, ...]
    code: str
    output: str | None = None

    @property
    def place(self) -> str:
        """`README.md:12`, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page a reader is sent to."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def tokens(page: Path) -> list[Token]:
    """The page as a CommonMark parser with tables sees it."""
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def fences(page: Path) -> list[Fence]:
    """The page's fences in order. One that is marked `output` belongs to the fence before it and is not returned."""
    found: list[Fence] = []
    for token in tokens(page):
        if token.type != "fence":
            continue
        language, *words = token.info.split() or [""]
        if "output" in words:
            before = found.pop()
            found.append(
                Fence(
                    page=page,
                    line=before.line,
                    language=before.language,
                    words=before.words,
                    code=before.code,
                    output=token.content,
                )
            )
        else:
            assert token.map is not None
            line = token.map[0] + 1
            found.append(Fence(page=page, line=line, language=language, words=tuple(words), code=token.content))
    return found


def tables(page: Path) -> dict[str, list[list[str]]]:
    """The first table below each heading: heading → rows of cells, without the header and without backticks."""
    found: dict[str, list[list[str]]] = {}
    heading, rows, in_body = "", [], False
    stream = iter(tokens(page))
    for token in stream:
        if token.type == "heading_open":
            heading = next(stream).content.replace("`", "")
        elif token.type == "tbody_open":
            rows, in_body = [], True
        elif token.type == "tbody_close":
            found.setdefault(heading, rows)
            in_body = False
        elif token.type == "tr_open" and in_body:
            rows.append([])
        elif token.type == "td_open":
            rows[-1].append(next(stream).content.replace("`", ""))
    return found


def links(page: Path) -> list[tuple[int, str]]:
    """Targets of the page's links and images, with the line their paragraph starts in."""
    return [
        (token.map[0] + 1, str(child.attrs.get("href") or child.attrs.get("src")))
        for token in tokens(page)
        if token.type == "inline" and token.map
        for child in token.children or []
        if child.type in ("link_open", "image")
    ]


def anchors(page: Path) -> set[str]:
    """The fragments that GitHub gives the page's headings."""
    stream = iter(tokens(page))
    titles = [next(stream).content for token in stream if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def matches(expected: str, actual: str) -> bool:
    """Whether output is what a page shows: `…` stands for anything in a line, a line of `…` for any lines."""
    pattern = ""
    for line in expected.rstrip().split("\n"):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n"
    return re.fullmatch(pattern, actual.rstrip() + "\n") is not None

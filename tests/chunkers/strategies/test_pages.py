"""`pages`: the handed cases, and what they leave open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers import OptionError, build, chunk

CASES: list[dict[str, Any]] = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "pages.json").read_text("utf-8"))
    if case.get("strategy") == "pages"
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_handed_case(case: dict[str, Any]) -> None:
    if case.get("expect_error"):
        with pytest.raises(OptionError):
            build("pages", **case["options"])
    elif "resolved" in case:
        options = build("pages", **case["options"]).options  # type: ignore[attr-defined]
        assert {name: getattr(options, name) for name in case["resolved"]} == case["resolved"]
    else:
        found = chunk(case["input"], "pages", path=case["path"], **case["options"])
        assert [{"text": piece.text, "context": piece.context} for piece in found] == case["expected"]


@pytest.mark.parametrize(
    ("options", "resolved"),
    [
        ({}, (1200, 200, "pages", 6)),
        ({"chunk_size": 400}, (400, 200, "pages", 6)),
        ({"chunk_size": 201}, (201, 100, "pages", 6)),
        (
            {"chunk_size": None, "chunk_overlap": None, "mode": None, "markdown_header_depth": None},
            (1200, 200, "pages", 6),
        ),
        ({"chunk_overlap": 0, "mode": "sentences", "markdown_header_depth": 2}, (1200, 0, "sentences", 2)),
    ],
)
def test_options_read_back_as_the_values_in_use(options: dict[str, Any], resolved: tuple[Any, ...]) -> None:
    found = build("pages", **options).options  # type: ignore[attr-defined]
    assert (found.chunk_size, found.chunk_overlap, found.mode, found.markdown_header_depth) == resolved


def test_overlap_without_pages_mode_is_refused() -> None:
    with pytest.raises(OptionError, match="chunk_overlap"):
        build("pages", mode="sentences", chunk_overlap=10)


def test_the_heading_path_counts_and_its_outermost_titles_go_first() -> None:
    text = f"# {'Outermost ' * 12}\n\n## Inner\n\n" + "One sentence more. " * 30
    found = chunk(text, "pages", path="a.md", chunk_size=200, chunk_overlap=0)
    assert {piece.context for piece in found} == {"Inner\n\n"}
    assert {piece.headings for piece in found} == {(("Outermost " * 12).strip(), "Inner")}
    assert max(len(piece.embed_text) for piece in found) <= 200
    assert "".join(piece.text + " " for piece in found) == "One sentence more. " * 30


def test_a_section_without_letters_or_digits_is_a_drop() -> None:
    text = "# A\n\n---\n\n# B\n\nwords\n"
    made = build("pages").split(text, path="a.md")
    assert [span.text(text) for span in made.spans] == ["words"]
    assert [(text[drop.start : drop.end].strip(), drop.kind) for drop in made.drops] == [
        ("# A", "heading"),
        ("---", "no-words"),
        ("# B", "heading"),
    ]


def test_overlap_is_made_of_sentences_or_else_of_words_and_stays_in_its_section() -> None:
    text = "# A\n\n" + "Short one here. " * 20 + "\n\n# B\n\n" + "words without any stop " * 20
    found = chunk(text, "pages", path="a.md", chunk_size=200, chunk_overlap=40)
    assert [(piece.headings[0], piece.overlap, piece.text[:9]) for piece in found] == [
        ("A", 0, "Short one"),
        ("A", 31, "Short one"),
        ("B", 0, "words wit"),
        ("B", 36, "words wit"),
        ("B", 36, "words wit"),
    ]


def test_a_deeper_heading_stays_with_its_text() -> None:
    text = "# A\n\n" + "x" * 150 + ".\n\n## B\n\n" + "y" * 150 + ".\n"
    found = chunk(text, "pages", path="a.md", chunk_size=200, chunk_overlap=0, markdown_header_depth=1)
    assert [piece.text[:4] for piece in found] == ["xxxx", "## B"]


@pytest.mark.parametrize(
    ("path", "media_type", "context"),
    [
        ("a.markdown", None, "A\n\n"),
        ("a.MD", None, "A\n\n"),
        (None, "text/markdown; charset=utf-8", "A\n\n"),
        ("a.txt", "text/markdown", ""),
        ("a.mdx", None, ""),
        (None, None, ""),
    ],
)
def test_only_markdown_has_sections(path: str | None, media_type: str | None, context: str) -> None:
    found = chunk("# A\n\ntext", "pages", path=path, media_type=media_type)
    assert [piece.context for piece in found] == [context]


def test_a_heading_without_a_title_is_not_in_the_context() -> None:
    found = chunk("# \n\nOne.\n\n## B\n\nTwo.\n", "pages", path="a.md")
    assert [(piece.headings, piece.context) for piece in found] == [(("",), ""), (("", "B"), "B\n\n")]

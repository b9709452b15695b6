"""The Markdown scanner against the handed cases and against markdown-it-py, the reference parser."""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chunkers.structure.markdown import Block, Reading, list_items, scan

ROOT = Path(__file__).parents[3]
CORPUS = Path(os.environ.get("RECHUNK_CORPUS", ROOT.parent / "shared" / "corpus"))
CASES = [
    case
    for case in json.loads((ROOT / "tests" / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "markdown"
]
NESTING = {"blockquote", "list", "bullet", "ordered"}


class Found(NamedTuple):
    kind: str
    start: int
    level: int
    nested: bool


def reference(text: str, *, tables: bool = True) -> list[Found]:
    """Headings, fences and tables as markdown-it-py sees them."""
    parser = MarkdownIt("commonmark", {"maxNesting": 200}).disable(["inline", "text_join"])
    if tables:
        parser.enable("table")
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text))]
    found, depth = [], 0
    for token in parser.parse(text):
        name = token.type.split("_")[0]
        if token.type in ("heading_open", "fence", "table_open") and token.map:
            level = int(token.tag[1]) if name == "heading" else 0
            found.append(Found(name, starts[token.map[0]], level, depth > 0))
        if name in NESTING:
            depth += token.nesting
    return sorted(found)


def seen(text: str, *, items: bool = True) -> list[Found]:
    return sorted(
        Found(block.kind, block.start, block.level, block.depth > 0)
        for block in scan(text, items=items)
        if block.kind in ("heading", "fence", "table")
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    right = case["right"]
    start = len(f"---\n{right['front_matter']}---\n") if "front_matter" in right else 0
    blocks = scan(case["input"], dialect=right.get("dialect", "commonmark"), start=start)
    assert headings(blocks) == right["headings"]
    if "commonmark_headings" in right:
        assert headings(scan(case["input"])) == right["commonmark_headings"]
    if "container_end" in right:
        assert [block.end for block in blocks if block.kind == "container"] == [right["container_end"]]


def headings(blocks: list[Block]) -> list[dict[str, Any]]:
    return [
        {"level": block.level, "text": block.title, "start": block.start, "splits": block.splits}
        for block in blocks
        if block.kind == "heading"
    ]


# Pieces of lines. No bars here: markdown-it reads `>a|b` over `|-|-|` as a table, against the GFM specification.
PIECES = """# |## |## a ##|- |* |1. |2) |10. |> |>|```|~~~|````|``` py|    |  |   | |a|b c|---|===|***|- - -|-|=|--|<div>
</div>|<!--|-->|<b>|<pre>|</pre>|[a]: /u|[a]: /u "t"|[a]:|"t"|\\|+ |<x a="b">|<?|?>|1|.|é|。|[|[x](y)|- [ ] |:""".replace(
    "\n", "|"
).split("|")
lines = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
documents = st.lists(lines, max_size=9).map("\n".join).filter(lambda text: ":::" not in text)


@given(documents, st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=600, deadline=None)
def test_random_lines_are_read_as_the_reference_reads_them(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    assert seen(text) == reference(text, tables=False)
    assert seen(text, items=False) == reference(text, tables=False)


rows = st.sampled_from(
    [
        "a | b",
        "|a|b|",
        "|-|-|",
        "-|-",
        "--|:-:",
        "|:--|--:|",
        "|-|",
        "|a\\|b|",
        "a",
        "",
        "# h",
        "- x",
        "  | a | b |",
        "```",
        "|a|",
        "\\|a|b",
        "||",
    ]
)


@given(st.lists(rows, max_size=8).map("\n".join))
@settings(max_examples=400, deadline=None)
def test_random_rows_are_read_as_the_reference_reads_them(text: str) -> None:
    assert seen(text) == reference(text)


@given(documents)
@settings(max_examples=300, deadline=None)
def test_blocks_are_whole_lines_in_order_and_containers_come_first(text: str) -> None:
    edges = {0, len(text), *(found.end() for found in re.finditer("\n", text))}
    blocks = scan(text)
    assert [block for block in blocks if not {block.start, block.end} <= edges] == []
    assert [block for block in blocks if not block.start <= block.body <= block.tail <= block.end] == []
    assert [block.start for block in blocks] == sorted(block.start for block in blocks)
    top = [block for block in blocks if block.depth == 0]
    assert [pair for pair in pairwise(top) if pair[0].end > pair[1].start] == []


@given(documents)
@settings(max_examples=300, deadline=None)
def test_leaving_items_out_changes_nothing_else_at_top_level(text: str) -> None:
    whole, short = scan(text), scan(text, items=False)
    assert [block for block in short if block.depth == 0] == [block for block in whole if block.depth == 0]
    lists = [block for block in short if block.kind == "list" and block.depth == 0]
    inside = [
        block.start for block in whole if block.kind == "item" and any(x.start <= block.start < x.end for x in lists)
    ]
    assert [block.start for block in list_items(text, lists)] == inside


@pytest.mark.skipif(not CORPUS.exists(), reason="no corpus")
@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_corpus_is_read_as_the_reference_reads_it(step: int) -> None:
    files = sorted((CORPUS / "md").iterdir())[::step]
    assert files
    wrong = {}
    for file in files:
        text = file.read_bytes().decode("utf-8").removeprefix("\ufeff")
        if not seen(text) == seen(text, items=False) == reference(text):
            wrong[file.name] = set(seen(text)) ^ set(reference(text))
    assert wrong == {}


def spans(text: str, kind: str, **options: Any) -> list[tuple[str, int, str, str]]:
    """(text, depth, opening lines, closing lines) of each block of a kind."""
    return [
        (text[b.start : b.end], b.depth, text[b.start : b.body], text[b.tail : b.end])
        for b in scan(text, **options)
        if b.kind == kind
    ]


def test_fence_tells_its_opener_and_closer() -> None:
    assert spans("a\n```py\nx\n```\nb", "fence") == [("```py\nx\n```\n", 0, "```py\n", "```\n")]
    assert spans("a\n~~~\nx\n\n", "fence") == [("~~~\nx\n\n", 0, "~~~\n", "")]
    assert spans("- a\n  ```\n  x\n  ```\n- b", "fence") == [("  ```\n  x\n  ```\n", 2, "  ```\n", "  ```\n")]


def test_table_tells_its_header_rows() -> None:
    text = "para\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |\n\nafter"
    assert spans(text, "table") == [("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |\n", 0, "| a | b |\n|---|---|\n", "")]
    assert [block.start for block in scan(text)] == [5]


def test_list_and_its_items() -> None:
    text = "- a\n  more\n- b\n  1. c\n  2. d\n\ntext\n"
    found = [(block.kind, text[block.start : block.end], block.depth) for block in scan(text)]
    assert found == [
        ("list", "- a\n  more\n- b\n  1. c\n  2. d\n", 0),
        ("item", "- a\n  more\n", 1),
        ("item", "- b\n  1. c\n  2. d\n", 1),
        ("list", "  1. c\n  2. d\n", 2),
        ("item", "  1. c\n", 3),
        ("item", "  2. d\n", 3),
    ]


@pytest.mark.parametrize(
    ("html", "rest"),
    [
        ("<script>\n\n# no\n</script> x\n", "# yes"),
        ("<!-- a\n\n# no -->\n", "# yes"),
        ("<?php\n\n# no ?>\n", "# yes"),
        ("<!DOCTYPE\n\n# no >\n", "# yes"),
        ("<![CDATA[\n\n# no ]]>\n", "# yes"),
        ("<div>\n# no\n", "\n# yes"),
        ('<x-y a="b">\n# no\n', "\n# yes"),
    ],
)
def test_html_blocks_of_all_seven_kinds(html: str, rest: str) -> None:
    assert [(b.kind, b.start, b.end) for b in scan(html + rest)] == [
        ("html", 0, len(html)),
        ("heading", len(html + rest) - 5, len(html + rest)),
    ]


def test_link_definition_may_take_several_lines() -> None:
    text = '[a]:\n  /u\n  "title"\n===\n'
    assert [(b.kind, text[b.start : b.end]) for b in scan(text)] == [("definition", '[a]:\n  /u\n  "title"\n')]


def test_math_hides_headings_and_needs_an_end() -> None:
    assert [(b.kind, b.start, b.end) for b in scan("$$\n# no\n$$\n# yes\n")] == [("math", 0, 11), ("heading", 11, 17)]
    assert [b.kind for b in scan("$$ a price\n\n# yes\n")] == ["heading"]


def test_colon_containers_nest_and_fences_hide_their_marks() -> None:
    text = ":::: a\n::: b\n# in\n```\n:::\n```\n:::\n::::\n# out\n"
    assert [(b.kind, text[b.start : b.end].count("\n"), b.depth) for b in scan(text)] == [
        ("container", 8, 0),
        ("container", 6, 1),
        ("heading", 1, 2),
        ("fence", 3, 2),
        ("heading", 1, 0),
    ]


def test_unclosed_fence_in_a_container_ends_with_it() -> None:
    assert [(b.kind, b.start) for b in scan("::: a\n```\nx\n:::\n# out\n")] == [
        ("container", 0),
        ("fence", 6),
        ("heading", 16),
    ]


def test_mdx_reads_expressions_statements_and_tags_as_such() -> None:
    text = "import A from 'a'\nexport const b = {\n\n# no\n}\n\n<A\n  c='\n# no'\n>\n\n## yes\n</A>\n{/*\n# no\n*/}\n    # yes\n"
    blocks = scan(text, dialect="mdx")
    assert [(b.kind, b.title) for b in blocks if b.kind == "heading"] == [("heading", "yes"), ("heading", "yes")]
    assert [text[b.start : b.end] for b in blocks if b.kind == "expression"] == [
        text[: text.index("\n<A")],
        "{/*\n# no\n*/}\n",
    ]


@pytest.mark.parametrize(
    "held",
    [
        '<A a> <A d="\n# no\n">\n',
        "<A>\t{`\n# no\n`}  \n",
        "```\n# no\n      ```\n",
        "~~~\n# no\n\t~~~\n",
        "<A>{1} <B\n# no\n/>\n",
    ],
)
def test_mdx_tags_and_expressions_share_lines_and_fences_close_however_indented(held: str) -> None:
    assert [(b.start, b.title) for b in scan(held + "# yes\n", dialect="mdx") if b.kind == "heading"] == [
        (len(held), "yes")
    ]


def test_offsets_survive_odd_line_ends_and_missing_ones() -> None:
    assert [(b.title, b.start, b.end) for b in scan("# a\r# b\r\n# c\u2028# d\n# e")] == [
        ("a", 0, 4),
        ("b", 4, 9),
        ("c\u2028# d", 9, 17),
        ("e", 17, 20),
    ]
    assert scan("") == []


PATHOLOGICAL = {
    "headings": "# a\n" * 100_000,
    "brackets": "[" * 50_000,
    "open labels": "[a\n" * 100_000,
    "open titles": '[a]: b "\n' * 50_000,
    "nested quotes": ">" * 100_000 + "a\n",
    "nested items": "- " * 100_000 + "a\n",
    "deep lists": "".join("  " * min(n, 500) + "- a\n" for n in range(4_000)),
    "one line": "a" * 1_000_000,
    "fences": "```\n" * 100_000,
    "tildes": "".join("~" * (3 + n % 60) + "\n" for n in range(50_000)),
    "blank lines": "\n" * 100_000,
    "containers": "::: a\n```\n" * 20_000,
    "unclosed math": "$$ a\n" * 100_000,
    "open html in items": "- <pre>\n\n" * 20_000,
    "tags": '<a b="c\n' * 50_000,
    "attributes": "<a" + " b" * 200_000 + "\n",
    "expressions": "{/*\n" * 50_000,
    "braces": "{\n" * 50_000 + "}x\n" * 50_000,
    "rows": "|a|\n|-|\n" + "|b|\n" * 100_000,
}


@pytest.mark.parametrize("dialect", ["commonmark", "mdx"])
@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_pathological_input_is_read_in_linear_time(name: str, dialect: Any) -> None:
    """Quadratic behaviour would take minutes here; the suite's own time limit is the assertion."""
    text = PATHOLOGICAL[name]
    blocks = scan(text, dialect=dialect, items=False)
    assert all(0 <= block.start < block.end <= len(text) for block in blocks)


def outline(text: str, start: int = 0) -> tuple[list[tuple[int, int, int, str]], bool]:
    reading = Reading(text, start=start)
    return [tuple(heading) for heading in reading.headings], reading.open_fence


def outline_of(blocks: list[Block]) -> tuple[list[tuple[int, int, int, str]], bool]:
    headings = [(block.start, block.end, block.level, block.title) for block in blocks if block.splits]
    return headings, any(block.kind == "fence" and block.tail == block.end for block in blocks)


# The pieces above and those that hide or contain headings.
deep_lines = st.lists(st.sampled_from([*PIECES, "$$", "::: a", ":::", "[^1]: ", "|a|b|", "|-|-|"]), max_size=4)
quoted = st.sampled_from(["> ```", "> ```", ">```", "> a", "> # a", ">", "> <b>", "a", "===", "# b", ""])
deep_documents = st.lists(deep_lines.map("".join) | quoted, max_size=14).map("\n".join)


@given(deep_documents, st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=600, deadline=None)
def test_the_outline_is_that_of_the_blocks(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    assert outline(text) == outline_of(scan(text, items=False))


def unread(reading: Reading, low: int, high: int) -> list[list[Block]]:
    return list(reading.unread(*reading.around(low, high)))


@given(deep_documents, st.sampled_from(["commonmark", "mdx"]))
@settings(max_examples=300, deadline=None)
def test_stretches_hold_the_blocks_of_the_whole(text: str, dialect: Any) -> None:
    reading = Reading(text, dialect=dialect)
    assert [block for stretch in unread(reading, 0, len(text)) for block in stretch] == reading.blocks
    assert unread(reading, 0, len(text)) == []


@given(deep_documents, st.lists(st.integers(0, 100), max_size=6), st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=600, deadline=None)
def test_blocks_read_here_and_there_are_those_of_the_whole(text: str, offsets: list[int], newline: str) -> None:
    text = text.replace("\n", newline)
    reading = Reading(text)
    found: list[Block] = []
    for offset in (*(min(offset, len(text)) for offset in offsets), 0):
        start, stop = reading.around(offset, len(text) if offset == 0 else offset)
        assert start <= offset < stop
        found += [block for stretch in reading.unread(start, stop) for block in stretch]
        assert all(block in found for block in reading.blocks if block.start <= offset < block.end)
    assert sorted(found) == sorted(reading.blocks)


LIST_LINES = [
    "- a",
    "- b",
    "-  c",
    "* x",
    "1. a",
    "2. b",
    "10. c",
    "3) d",
    "  - n",
    "    - n",
    "   - m",
    "  text",
    "text",
    "",
    "   text",
    "      deep",
    "\t- t",
    " - o",
]


@given(st.lists(st.sampled_from(LIST_LINES), max_size=12).map("\n".join))
@settings(max_examples=400, deadline=None)
def test_items_of_plain_lists_are_those_of_the_whole_reading(text: str) -> None:
    reading = Reading(text)
    for block in (block for stretch in unread(reading, 0, len(text)) for block in stretch if block.kind == "list"):
        found = reading.outer_items(block)
        assert found is None or found == [item.start for item in reading.items(block) if item.depth == 1]


@pytest.mark.skipif(not CORPUS.exists(), reason="no corpus")
def test_outlines_of_the_corpus_are_those_of_the_blocks() -> None:
    texts = [file.read_bytes().decode("utf-8") for file in sorted((CORPUS / "md").iterdir())[::4]]
    assert texts
    assert [text[:80] for text in texts if outline(text) != outline_of(scan(text, items=False))] == []


def test_reading_looks_only_where_it_is_asked() -> None:
    text = "a\n# b\n```\nx\n```\n# c\n- d\n"
    reading = Reading(text)
    assert [heading.title for heading in reading.headings] == ["b", "c"]
    assert [[block.kind for block in stretch] for stretch in unread(reading, 16, 16)] == [["heading", "list"]]
    assert [[block.kind for block in stretch] for stretch in unread(reading, 0, 15)] == [["heading", "fence"]]


def test_reading_a_place_does_not_look_through_all_text_behind_it() -> None:
    """Quadratic behaviour would take minutes here."""
    text = "a\n\n\n\n\n\n" * 100_000
    reading = Reading(text)
    found = [block for offset in range(0, len(text), 70) for block in unread(reading, offset, offset)]
    assert found == []


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_outlines_of_pathological_input_take_linear_time(name: str) -> None:
    text = PATHOLOGICAL[name]
    assert all(0 <= start < end <= len(text) for start, end, *_ in outline(text)[0])


@pytest.mark.parametrize(
    "piece", ["x\n <b>\n", "x\n\n <b>\n", "- a\n\n  ```\n", "  --\n", "a\n--\n", "> a\n<b>\n", "a\n$$\n"]
)
def test_lines_that_need_their_surroundings_do_not_make_outlines_quadratic(piece: str) -> None:
    assert outline(piece * 20_000)[0] == outline_of(scan(piece * 20_000, items=False))[0]

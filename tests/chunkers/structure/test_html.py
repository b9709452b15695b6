"""Reading HTML: the handed cases, implied and missing tags, what is not seen, and where everything came from."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunkers.structure.html_page import Page, Selected, read_page
from chunkers.structure.html_tokens import attributes, raw_end

HEADINGS = Selected({f"h{level}": level for level in range(1, 7)})
CASES: list[dict[str, Any]] = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "html" and "charset" not in case["id"] and case["id"] != "html-deep"
]


def read(text: str) -> Page:
    return read_page(text, HEADINGS)


def title(page: Page, number: int) -> str:
    marked = page.marked[number]
    return page.text[marked.start : marked.end].strip("\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_handed_case(case: dict[str, Any]) -> None:
    page, right = read(case["input"]), case["right"]
    lines = page.text.split("\n")
    told: dict[str, Callable[[], Any]] = {
        "headings": lambda: [title(page, number) for number in range(len(page.marked))],
        "text": lambda: page.text,
        "lines": lambda: lines,
        "table": lambda: [line.split("\t") for line in lines],
        "pairs": lambda: [list(pair) for pair in zip(lines[::2], lines[1::2], strict=True)],
        "sections": lambda: sections(page),
    }
    if case["id"] == "html-broken":
        told["headings"] = lambda: [[f"h{marked.level}", title(page, n)] for n, marked in enumerate(page.marked)]
    if case["id"] == "html-table-span":
        # A cell is said once; a column that it spans is empty, so that the columns line up all the same.
        right = {"table": [["x", "", "y"], ["1", "2", "3"]]}
    assert {name: told[name]() for name in right} == right


def sections(page: Page) -> list[list[Any]]:
    found: list[list[Any]] = []
    path: list[tuple[int, str]] = []
    ends = [marked.start for marked in page.marked[1:]] + [len(page.text)]
    for number, marked in enumerate(page.marked):
        path = [*(each for each in path if each[0] < marked.level), (marked.level, title(page, number))]
        found.append([[each for _, each in path], page.text[marked.end : ends[number]].strip("\n")])
    return found


def test_100_000_nested_elements_are_read_in_time() -> None:
    started = time.process_time()
    page = read("<div>" * 100_000 + "deep" + "</div>" * 100_000 + "<h1>after</h1>")
    assert time.process_time() - started < 5
    assert (page.text, title(page, 0)) == ("deep\nafter", "after")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a<!-- <p>no -->b", "ab"),
        ("a<!-->b", "ab"),
        ("a<!--->b", "ab"),
        ("a<!-- x --!>b", "ab"),
        ("a<!-- open b", "a"),
        ("a<!doctype html>b<?php no ?>c</ no>d", "abcd"),
        ("a <3 b < c", "a <3 b < c"),
        ("a<b", "a<b"),
        ("<a href='x>y'>t</a>", "t"),
        ('<a href="x>y" b=\'">\'>t</a>', "t"),
        ('<a href="x>t</a>', "t"),
        ("<script>if (a<b) '</scripty>'</script>x", "x"),
        ("<script><!-- <script> </script> --></script>x", "x"),
        ("<SCRIPT>no</Script >x", "x"),
        ("<script>no", ""),
        ("<style>no</style><title>no</title><iframe>no</iframe>x", "x"),
        ("<textarea>\n <b>x</b></textarea>", " <b>x</b>"),
        ("<xmp><b></xmp>", "<b>"),
        ("<nav>no<nav>no</nav>no</nav>x", "x"),
        ("<p hidden>no<p>x", "x"),
        ("<div style='display : none'>no<div>no</div></div>x", "x"),
        ("<div style='visibility:HIDDEN'>no</div>x", "x"),
        ("<div class=hidden aria-hidden=false data-hidden>x</div>", "x"),
        ("<template><p>no</p></template>x", "x"),
        ("&lt;b&gt; &amp;amp; &copy 2026 &unknown; &#x41;&#0;", "<b> &amp; © 2026 &unknown; A&#0;"),
        ("&#55357;&#xD800;", "&#55357;&#xD800;"),
        ("a  b\n\tc&#32;&#10;d\u00a0 e\u3000f", "a b c d\u00a0 e\u3000f"),
        ("a <b> b</b> <i>c </i>d", "a b c d"),
        ("a<br>b<br><br>c", "a\nb\nc"),
        ("<ul><li>a<li>b<ul><li>c</ul>d</ul>e", "a\nb\nc\nd\ne"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "a\nb\nc"),
        ("<p>a<p>b</p></p>c", "a\nb\nc"),
        ("<pre>\r\n a\r\n\r\n  b</pre>", " a\r\n\r\n  b"),
        ("<pre>a <b>b</b>\n</pre>c", "a b\n\nc"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a\tb\nc"),
        ("<table><tr><td></td><th>a</th></tr><tr><th>b</th><td></td></tr></table>", "\ta\nb"),
        ("<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>", "a b\tc"),
        ("<table><tr><td><ul><li>a<li>b</ul><td>c</table>", "a\nb\nc"),
        ("<table><caption>a</caption><tr><td>b</table>", "a\nb"),
        ("<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>", "a\nb\tc\nd\ne"),
        ("<td>a<td>b</td>", "a\tb"),
        ("<h1>a<br>b</h1>", "a b"),
        ("<b><p>a</b>b</p>c", "ab\nc"),
        ("</p>a</div></h1></table></li>b", "ab"),
        ("<svg><title>no</title><text>a</text><path/></svg>b", "ab"),
        ("<?xml version='1.0'?><p>a<a id='x'/>b</p><div/>c", "ab\nc"),
        ("\ufeff<p>a", "a"),
        ("", ""),
    ],
)
def test_what_is_seen(text: str, seen: str) -> None:
    assert read(text).text == seen


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("<H1>a</H1>", ["a"]),
        ("<h1>a<h2>b</h2>", ["a", "b"]),
        ("<h1>a</h2>b", ["a"]),
        ("<h1>a", ["a"]),
        ("<b><h1>a</b>b</h1>c", ["ab"]),
        ("<h1><div>a</div></h1>", ["a"]),
        ("<h1></h1>", [""]),
        ("<nav><h1>no</h1></nav><h1 hidden>no</h1>", []),
        ("<table><tr><td><h2>a</h2>b</table>", ["a"]),
    ],
)
def test_headings(text: str, titles: list[str]) -> None:
    page = read(text)
    assert [title(page, number) for number in range(len(page.marked))] == titles


def test_xpaths_count_siblings_of_a_name() -> None:
    page = read("<html><body><p>x<div><h2>a</h2><h2>b</h2></div><div><span><h2>c</h2></span></div><h2>d")
    assert [marked.xpath for marked in page.marked] == [
        "/html[1]/body[1]/div[1]/h2[1]",
        "/html[1]/body[1]/div[1]/h2[2]",
        "/html[1]/body[1]/div[2]/span[1]/h2[1]",
        "/html[1]/body[1]/h2[1]",
    ]


def test_elements_that_lie_very_deep_have_no_xpath() -> None:
    assert read("<div>" * 300 + "<h1>a").marked[0].xpath is None


def test_every_character_knows_where_it_came_from() -> None:
    text = "<p> a&amp;b  c <i>d</i>\n&eacute;&#20013;e</p><pre>\nf &lt; g</pre>"
    page = read(text)
    places = {
        character: text[page.sources.start(at) : page.sources.end(at + 1)]
        for at, character in enumerate(page.text)
        if not character.isspace()
    }
    assert places == {
        **{letter: letter for letter in "abcdefg"},
        "&": "&amp;",
        "é": "&eacute;",
        "中": "&#20013;",
        "<": "&lt;",
    }


def test_what_is_not_seen_is_a_drop_of_its_kind() -> None:
    text = "<title>t</title><nav>n<!-- c --></nav><!-- c --><p hidden>h</p><script>s</script>x"
    assert [(drop.kind, text[drop.start : drop.end]) for drop in read(text).drops] == [
        ("title", "<title>t</title>"),
        ("nav", "<nav>n<!-- c --></nav>"),
        ("comment", "<!-- c -->"),
        ("hidden", "<p hidden>h</p>"),
        ("script", "<script>s</script>"),
    ]
    assert read(text).title == "t"


def test_the_header_of_a_table() -> None:
    page = read("<table><thead><tr><td>a<td>b</thead><tr><td>1<td>2</table>x<table><tr><th>c<tr><td>3</table>")
    assert [
        (page.text[table.start : table.header_end], page.text[table.start : table.end]) for table in page.tables
    ] == [
        ("a\tb", "a\tb\n1\t2"),
        ("\nc", "\nc\n3"),
    ]
    assert read("<table><tr><td>a<tr><td>b</table><table><tr><th>only</table>").tables == []


def test_attributes_of_a_tag() -> None:
    assert attributes(" a B='1' c=\"&amp;\" d=e/f b=2 =g") == {"a": "", "b": "1", "c": "&", "d": "e/f", "g": ""}


def test_raw_text_ends_at_its_own_end_tag() -> None:
    text = "a</style b</STYLE>"
    assert raw_end(text, 0, "style") == 1
    assert raw_end("a</stylex>", 0, "style") == 10


@pytest.mark.parametrize(
    ("source", "said", "places"),
    [
        ("&reg_mark;", "®_mark;", ["&reg", "_", "m"]),
        ("x &#0; \ufffd&ampy", "x &#0; \ufffd&y", ["x", None, "&", "#"]),
        ("&notit; b", "¬it; b", ["&not", "i", "t", ";"]),
    ],
)
def test_what_follows_a_reference_without_its_semicolon_has_places_of_its_own(
    source: str, said: str, places: list[str | None]
) -> None:
    page = read(source)
    assert page.text == said
    sources = page.sources
    found = [source[sources.start(at) : sources.end(at + 1)] for at in range(len(places))]
    assert [place for place, wanted in zip(found, places, strict=True) if wanted] == [each for each in places if each]
    assert source[sources.start(len(said) - 1) : sources.end(len(said))] == said[-1]


@pytest.mark.parametrize(
    "text", ["<plaintext>", "<pre><plaintext>", "<p>One.<plaintext>", "<textarea>", "<pre>\r\n", "<title>"]
)
def test_text_that_ends_with_the_tag_whose_content_it_would_be(text: str) -> None:
    assert read(text).text == ("One." if "One." in text else "")

"""`html`: sections, selectors, titles, tables, and the reported faults of other splitters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers import BudgetExceeded, OptionError, OptionWarning, build, chunk

REPORTED: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads((Path(__file__).parents[2] / "cases" / "reported.json").read_text("utf-8"))
}


def made(text: str, **options: Any) -> list[tuple[list[str], str]]:
    return [(list(piece.headings), piece.text) for piece in chunk(text, "html", **options)]


def keyed(text: str, **options: Any) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in piece.metadata.items() if key != "xpath"}
        for piece in chunk(text, "html", **options)
    ]


def test_reported_parent_heading() -> None:
    case = REPORTED["html-parent-heading"]
    assert keyed(case["input"], **case["options"]) == case["right"]


def test_reported_script_text() -> None:
    case = REPORTED["html-script-text"]
    assert made(case["input"], **case["options"]) == [(["P"], "ok")]


def test_reported_nonheading_selector() -> None:
    case = REPORTED["html-nonheading-selector"]
    assert made(case["input"], **case["options"]) == [(["Hi"], "body")]


def test_a_heading_without_text_below_is_text() -> None:
    text = "<h1>One</h1><h2>Two</h2><h2>Three</h2>x<h1>Four</h1>"
    assert made(text) == [(["One"], "Two"), (["One", "Three"], "x"), ([], "Four")]


def test_headings_that_are_not_listed_are_text_and_higher_ones_end_the_section() -> None:
    text = "<h2>S</h2>c<h3>T</h3>d<h1>U</h1>e"
    assert made(text, headers=[["h2", "s"]]) == [(["S"], "c\nT\nd"), ([], "U\ne")]


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([[".t", "k"]], [([], "x"), (["A"], "y\nB\nz")]),
        ([["#b", "k"]], [([], "x\nA\ny"), (["B"], "z")]),
        ([["p[class]", "k"], ["p", "m"]], [([], "x"), (["A"], "y"), (["A", "B"], "z")]),
        ([["div > p:first-child", "k"]], [([], "x"), (["A"], "y\nB\nz")]),
        ([["p, i", "k"]], [([], "x"), (["A"], "y"), (["B"], "z")]),
        ([["P", "k"]], [([], "x"), (["A"], "y"), (["B"], "z")]),
    ],
)
def test_any_selector_makes_headings(pairs: list[list[str]], found: list[tuple[list[str], str]]) -> None:
    assert made("x<div><p class=t>A</p>y<p id=b>B</p>z</div>", headers=pairs) == found


def test_sections_are_what_their_elements_hold() -> None:
    text = "<section><h2>A</h2>x<section><h3>B</h3>y</section>z</section>out<section id=c>w</section>"
    assert made(text, sections=[["section", "sec"]]) == [
        (["A"], "x"),
        (["A", "B"], "y"),
        (["A"], "z"),
        ([], "out"),
        ([], "w"),
    ]
    found = chunk(text, "html", sections=[["section", "sec"]])
    assert [piece.metadata.get("xpath") for piece in found] == [
        "/section[1]",
        "/section[1]/section[1]",
        "/section[1]",
        None,
        "/section[2]",
    ]
    assert keyed(text, sections=[["section", "sec"]]) == [{"sec": "A"}, {"sec": "B"}, {"sec": "A"}, {}, {}]


def test_headers_win_over_sections_with_a_warning() -> None:
    with pytest.warns(OptionWarning, match="headers take precedence"):
        build("html", headers=[["h1", "a"]], sections=[["h2", "b"]])


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        "h1",
        [["h1"]],
        [["h1", "a", "b"]],
        ["h1"],
        [["", "a"]],
        [["h1", ""]],
        [["h1", 1]],
        [["p >", "a"]],
        [["h1", "a"], ["h1", "b"]],
    ],
)
@pytest.mark.parametrize("name", ["headers", "sections"])
def test_pairs_that_make_no_sense_are_refused(name: str, pairs: Any) -> None:
    with pytest.raises(OptionError, match=name):
        build("html", **{name: pairs})


def test_a_document_that_is_too_large_for_selectors_fails_whole() -> None:
    text = "<p>" + "a " * 4_000_001
    with pytest.raises(BudgetExceeded, match="too large for CSS selectors"):
        build("html", headers=[["i + .x", "k"]]).split(text)
    assert build("html", headers=[["p.x", "k"]], max_size=None).split(text).spans
    assert build("html", headers=[["p", "k"]], max_size=None).split(text).spans
    with pytest.raises(BudgetExceeded, match="nested too deeply"):
        build("html", headers=[["i + b", "k"]]).split("<div>" * 5000)


def test_each_line_by_itself_but_preformatted_text_whole() -> None:
    text = "<h1>T</h1><p>a b<br>c<ul><li>d</ul><pre>e\n f\n\ng</pre><table><tr><td>h<td>i<tr><td>j</table>"
    assert [text for _, text in made(text, return_each_line=True)] == ["a b", "c", "d", "e\n f\n\ng", "h\ti", "j"]


def test_a_long_table_is_cut_at_rows_with_its_header_in_context() -> None:
    text = "<p>before<table><tr><th>item<th>qty<tr><td>nuts<td>10<tr><td>bolts<td>20<tr><td>gears<td>30</table>after"
    found = chunk(text, "html", max_size=32, overlap=0)
    assert [(piece.context, piece.text, piece.cut) for piece in found] == [
        ("", "before", "block"),
        ("", "item\tqty\nnuts\t10\nbolts\t20", "row"),
        ("item\tqty\n", "gears\t30\nafter", "document-end"),
    ]


def test_a_chunk_names_the_range_that_it_came_from() -> None:
    text = "<h1>T</h1><p>a <b>b&amp;c</b></p><script>no</script><p>d</p>"
    (piece,) = chunk(text, "html")
    assert (piece.text, text[piece.start : piece.end]) == ("a b&c\nd", "a <b>b&amp;c</b></p><script>no</script><p>d")
    assert [(drop.kind, text[drop.start : drop.end]) for drop in build("html").split(text).drops] == [
        ("heading", "<h1>T</h1>"),
        ("markup", "<p>"),
        ("script", "<script>no</script>"),
        ("markup", "</p>"),
    ]


def test_the_title_is_that_of_the_page_or_its_first_heading() -> None:
    assert build("html").split("<title> A &amp;\n B</title><h1>C</h1>x").title == "A & B"
    assert build("html").split("x<h1>C</h1>").title == "C"
    assert build("html").split("x").title is None


def test_a_heading_without_text_has_its_title_under_its_key() -> None:
    made = build("html", headers=[["h1", "title"], ["h2", "section"]]).split("<h1>A</h1>x<h2>B</h2>")
    assert [(span.rendered, span.headings, span.metadata) for span in made.spans] == [
        ("x", ("A",), {"title": "A", "xpath": "/h1[1]"}),
        ("B", ("A",), {"title": "A", "section": "B", "xpath": "/h2[1]"}),
    ]

"""`markdown`: sections, paths, tables and fences, and what is left out on purpose."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers import InertOption, InvalidOption, build, chunk
from chunkers.records import Drop

HEADERS = [["#", "title"], ["##", "section"]]


def texts(text: str, **options: Any) -> list[str]:
    return [piece.text for piece in chunk(text, "markdown", **{"overlap": 0, **options})]


def pieces(text: str, **options: Any) -> list[tuple[str, str, list[str]]]:
    """(context, text, headings) of each chunk."""
    return [(p.context, p.text, list(p.headings)) for p in chunk(text, "markdown", **{"overlap": 0, **options})]


# By size


def test_neighbours_are_packed_and_the_coarsest_boundary_cuts() -> None:
    text = "# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n\n# D\n\nfour\n"
    assert texts(text, max_size=1000) == [text.rstrip()]
    assert texts(text, max_size=40) == ["# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree", "# D\n\nfour"]
    assert texts(text, max_size=21) == ["# A\n\none\n\n## B\n\ntwo", "## C\n\nthree", "# D\n\nfour"]


def test_headings_are_the_path_of_the_first_content() -> None:
    text = "intro\n\n# A\n\n## B\n\ntwo\n\n### C\n\nthree\n"
    assert pieces(text, max_size=20) == [
        ("", "intro", []),
        ("", "# A\n\n## B\n\ntwo", ["A", "B"]),
        ("", "### C\n\nthree", ["A", "B", "C"]),
    ]


def test_a_chunk_of_headings_alone_has_their_path() -> None:
    assert pieces("# A\n\n## B\n") == [("", "# A\n\n## B", ["A", "B"])]


def test_a_heading_stays_with_its_body() -> None:
    assert texts("one two\n\n# H\n\nthree\nfour five", max_size=14) == ["one two", "# H\n\nthree", "four five"]


def test_headings_stay_with_the_text_of_the_last_one() -> None:
    text = "# A\nword word\n\n## B\n\n### C\nword word word word"
    made = build("markdown", max_size=22, overlap=0).split(text)
    assert [span.text(text) for span in made.spans] == ["# A\nword word", "## B\n\n### C\nword word", "word word"]
    lone = build("markdown", max_size=14, overlap=0).split(text)
    assert [span.text(text) for span in lone.spans][:3] == ["# A\nword word", "## B", "### C\nword"]


def test_a_table_repeats_its_header_rows() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n"
    header = "| a | b |\n|---|---|\n"
    assert pieces(text, max_size=40) == [
        ("", header + "| 1 | 2 |\n| 3 | 4 |", []),
        (header, "| 5 | 6 |", []),
    ]
    assert pieces(text, max_size=30)[1:] == [("", "| 3 | 4 |\n| 5 | 6 |", [])]


def test_a_fence_repeats_its_opener_and_is_never_cut_to_its_marks() -> None:
    text = "# T\n\nIntro.\n\n```py\nline 0\nline 1\nline 2\nline 3\nline 4\n```\nend\n"
    found = pieces(text, max_size=28)
    assert found == [
        ("", "# T\n\nIntro.", ["T"]),
        ("", "```py\nline 0\nline 1\nline 2", ["T"]),
        ("```py\n", "line 3\nline 4\n```\nend", ["T"]),
    ]


def test_whole_blocks_move_to_the_next_chunk_when_they_fit_there() -> None:
    text = "para para para\n\n```\n\n\ncode\n\n```\n\ntail"
    assert texts(text, max_size=25) == ["para para para", "```\n\n\ncode\n\n```\n\ntail"]


def test_a_list_is_cut_at_its_items_before_their_lines() -> None:
    text = "- one\n  - two\n  - three\n- four\n  more\n"
    assert texts(text, max_size=26) == ["- one\n  - two\n  - three", "- four\n  more"]
    assert texts(text, max_size=14) == ["- one\n  - two", "  - three", "- four\n  more"]


def test_overlap_stays_in_its_section() -> None:
    found = chunk("# A\n\none two three. Four five six.\n\n# B\n\nseven", "markdown", max_size=24, overlap=10)
    assert [(p.text, p.overlap) for p in found] == [
        ("# A\n\none two three.", 0),
        ("three. Four five six.", 6),
        ("# B\n\nseven", 0),
    ]


# By headings


def test_sections_of_the_listed_levels() -> None:
    text = "pre\n# T\n\none\n\n## A\n\ntwo\n\n### deep\n\nthree\n\n# U\n\nfour\n"
    found = [(p.text, dict(p.metadata), list(p.headings)) for p in chunk(text, "markdown", headers=HEADERS)]
    assert found == [
        ("pre", {}, []),
        ("one", {"title": "T"}, ["T"]),
        ("two\n\n### deep\n\nthree", {"title": "T", "section": "A"}, ["T", "A"]),
        ("four", {"title": "U"}, ["U"]),
    ]


def test_stripped_headings_are_named_drops() -> None:
    text = "# T #\n\none\n\nA\n---\ntwo"
    split = build("markdown", headers=HEADERS).split(text)
    assert list(split.drops) == [Drop(0, 6, "heading"), Drop(12, 18, "heading")]
    assert [text[span.start : span.end] for span in split.spans] == ["one", "two"]


def test_headings_that_stay_fold_into_their_first_subsection() -> None:
    text = "# T\n\n## A\n\nbody\n\n## B\n\n## C\n\nmore\n"
    assert texts(text, headers=HEADERS, strip_headers=False) == ["# T\n\n## A\n\nbody", "## B", "## C\n\nmore"]


def test_an_unlisted_higher_heading_ends_a_section() -> None:
    found = chunk("## A\n\none\n\n# T\n\ntwo\n", "markdown", headers=[["##", "section"]])
    assert [(p.text, dict(p.metadata)) for p in found] == [("one", {"section": "A"}), ("# T\n\ntwo", {})]


def test_marks_of_your_own() -> None:
    text = "**One**\n\na\n\n第一章 x\n\nb\n\n```\n**no**\n```\n"
    found = chunk(text, "markdown", headers=[["**", "part"], ["第", "chapter"]])
    assert [(p.text, dict(p.metadata)) for p in found] == [
        ("a", {"part": "One"}),
        ("b\n\n```\n**no**\n```", {"part": "One", "chapter": "一章 x"}),
    ]


def test_each_line_is_a_chunk_but_fences_and_tables_stay_whole() -> None:
    text = "# T\n\none\ntwo\n\n```\nx\n\ny\n```\n|a|\n|-|\n|b|\n"
    assert texts(text, headers=HEADERS, return_each_line=True) == [
        "one",
        "two",
        "```\nx\n\ny\n```",
        "|a|\n|-|\n|b|",
    ]


def test_sections_are_cut_to_size_unless_unbounded() -> None:
    text = "# T\n\none two\n\nthree four\n"
    assert texts(text, headers=HEADERS, max_size=12) == ["one two", "three four"]
    assert texts(text, headers=HEADERS, max_size=None) == ["one two\n\nthree four"]


# The document


def test_front_matter_is_dropped_and_becomes_metadata() -> None:
    text = "---\ntitle: Front\ntags: [a, b]\n---\n# Head\n\nbody\n"
    split = build("markdown").split(text)
    assert list(split.drops) == [Drop(0, 34, "front-matter")]
    assert (dict(split.metadata), split.title) == ({"title": "Front", "tags": '["a","b"]'}, "Front")
    assert [(p.text, p.title, p.metadata["tags"]) for p in chunk(text, "markdown")] == [
        ("# Head\n\nbody", "Front", '["a","b"]')
    ]


def test_the_title_is_the_first_top_heading_else_none() -> None:
    assert build("markdown").split("## a\n\n# b\n\n# c\n").title == "b"
    assert build("markdown").split("## a\n").title is None


def test_notes_tell_what_is_odd() -> None:
    assert build("markdown").split("```\nx").notes == ("a code fence is never closed",)
    assert build("markdown").split("---\na: [\n---\nx").notes[0].startswith("front matter is not valid YAML")


def test_mdx_is_read_by_its_own_rules() -> None:
    text = "<Box>\n## In\n</Box>\n"
    strategy = build("markdown", headers=HEADERS)
    assert [list(span.headings) for span in strategy.split(text, path="a/b.MDX").spans] == [[], ["In"]]
    assert [list(span.headings) for span in strategy.split(text, media_type="text/mdx").spans] == [[], ["In"]]
    assert [list(span.headings) for span in strategy.split(text, path="a.md").spans] == [[]]


def test_indentation_of_the_first_line_stays() -> None:
    assert texts("# T\n\n    code\n", headers=HEADERS) == ["    code"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n    code\n  \n# B\n \u3000y \n", ["    code", " \u3000y"]),
        ("# A\n   x\n\n# B\n   ", ["   x"]),
        ("# A\n\n  \u00e9 z\n", ["  \u00e9 z"]),
        ("   ", []),
    ],
)
def test_sections_keep_the_indentation_of_their_first_line(text: str, expected: list[str]) -> None:
    assert [each.text for each in chunk(text, "markdown", headers=[["#", "a"]])] == expected


@pytest.mark.parametrize(
    "headers",
    [[], "#", [["#"]], [["#", ""]], [["#", "a", "b"]], [["#######", "a"]], [["#", "a"], ["#", "b"]], [[" ", "a"]], {}],
)
def test_bad_headers_are_refused(headers: Any) -> None:
    with pytest.raises(InvalidOption, match="headers"):
        build("markdown", headers=headers)


@pytest.mark.parametrize("options", [{"strip_headers": False}, {"return_each_line": True}])
def test_options_of_headers_do_nothing_without_them(options: dict[str, Any]) -> None:
    with pytest.raises(InertOption):
        build("markdown", **options)


def test_a_cut_never_parts_a_prepended_mark_from_the_space_behind_it() -> None:
    assert texts(".\u0600 b", max_size=2) == [".", "\u0600 ", "b"]
    assert texts("a气\u0600 ", max_size=3) == ["a气", "\u0600 "]


def test_a_long_list_is_cut_before_its_last_item_in_reach() -> None:
    text = "".join(f"- item {number}\n" for number in range(9)) + "  - inner\n- item 9\n"
    assert texts(text, max_size=40) == [
        "- item 0\n- item 1\n- item 2\n- item 3",
        "- item 4\n- item 5\n- item 6\n- item 7",
        "- item 8\n  - inner\n- item 9",
    ]
    assert texts("- one\n- two\n-  wide\n- three\n", max_size=13) == ["- one\n- two", "-  wide", "- three"]


# The short cut

PIECES = ["# a", "## b", "### c d", "- item one", "- item two", "-  wide", "  - inner", "1. x", "> quote", "```py", "```", "|a|b|", "|-|-|", "|1|2|",
          "  ```", "   ```", "<pre>", "  <b>x", "</pre>", "[^1]: note", "::: a", ":::", "* x", "abc\u0600 d", "Words  ",
          "Some words. More, of them here.", "    code", "", "", "$$", "===", "  indented text", "é è. Ü!", "第一。第二，三"]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("\n".join),
    st.sampled_from([20, 45, 90, 200]),
    st.sampled_from([0, 7, 19]),
    st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_short_cuts_give_what_packing_gives(text: str, size: int, overlap: int, by_headers: bool) -> None:
    """A length function is never taken for a plain limit, so `len` goes the general way."""
    options: dict[str, Any] = {"max_size": size, "overlap": overlap, **({"headers": HEADERS} if by_headers else {})}
    quick = build("markdown", **options).split(text)
    assert quick.spans == build("markdown", **options, length_function=len).split(text).spans

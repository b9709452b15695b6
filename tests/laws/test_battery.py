"""The battery itself can fail: each way of breaking a good split is reported under the law that it breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chunkers.records import Drop, Span, Split
from tests.laws import json_leaves, measuring
from tests.laws.laws import Promise, violations
from tests.laws.outline import box_line, headings
from tests.laws.table import faq_says

DOCUMENT = "Alpha beta gamma.\r\n\r\nCafe\u0301 delta epsilon zeta eta."
SPANS = [
    Span(0, 17, "blank-line"),
    Span(21, 40, "word"),
    Span(33, 50, "document-end", overlap=7),
]
PROMISE = Promise(max_size=20, overlap=8)


def like(**changes: Any) -> Split:
    return Split(**{"spans": SPANS, "strategy": "hand-made", **changes})


GOOD = like()


def changed(number: int, **fields: object) -> Split:
    spans = list(SPANS)
    spans[number] = spans[number]._replace(**fields)
    return like(spans=spans)


def test_a_good_split_has_no_violations() -> None:
    assert len(DOCUMENT) == 50
    assert violations(DOCUMENT, GOOD, PROMISE) == []


@pytest.mark.parametrize(
    ("law", "bad"),
    [
        ("slice", changed(2, end=51)),
        ("slice", changed(0, start=-1)),
        ("slice", changed(1, rendered="Café delta")),
        ("slice", like(drops=[Drop(40, 90, "separator")])),
        ("order", like(spans=[SPANS[1], SPANS[0], SPANS[2]])),
        ("order", like(spans=[*SPANS[:1], Span(17, 21, "line"), *SPANS[1:]])),
        ("order", like(spans=[*SPANS[:2], Span(27, 40, "word", overlap=13), SPANS[2]])),
        ("order", like(spans=[SPANS[0], SPANS[0], *SPANS[1:]])),
        ("repeat", like(spans=[*SPANS[:1], Span(6, 19, "blank-line", overlap=11), *SPANS[1:]])),
        ("coverage", like(spans=SPANS[:2])),
        ("coverage", like(spans=SPANS[1:])),
        ("coverage", changed(0, end=16)),
        ("coverage", changed(1, start=22)),
        ("coverage", like(drops=[Drop(22, 26, "separator")])),
        ("coverage", like(spans=SPANS[:2], drops=[Drop(40, 50, "because")])),
        ("coverage", like(drops=[Drop(17, 19, ""), Drop(18, 20, "")])),
        ("limit", like(spans=[SPANS[0], Span(21, 50, "document-end")])),
        ("limit", changed(0, context="abcd")),
        ("context", changed(0, context="abcdefghijk")),
        ("oversize", like(spans=[SPANS[0], Span(21, 50, "oversize")])),
        ("oversize", changed(0, cut="oversize")),
        ("overlap", changed(2, overlap=0)),
        ("overlap", changed(2, overlap=8)),
        ("overlap", changed(2, start=27)),
        ("overlap", changed(2, start=35, overlap=5)),
        ("grapheme", like(spans=[SPANS[0], Span(21, 25, "word"), Span(25, 40, "word"), SPANS[2]])),
        ("grapheme", changed(0, end=18)),
        ("characters", changed(1, headings=("\ufffd",))),
        ("characters", changed(1, context="\ud800")),
        ("strip", changed(0, end=21)),
        ("strip", changed(2, start=32)),
        ("cut", changed(1, cut="elsewhere")),
        ("cut", changed(1, cut="line")),
        ("cut", changed(0, cut="document-end")),
        ("headings", changed(1, headings="A > B")),
        ("headings", changed(1, headings=("A", 2))),
        ("headings", changed(1, metadata={1: "A"})),
    ],
)
def test_a_broken_split_is_reported_under_its_law(law: str, bad: Split) -> None:
    assert law in {sentence.partition(":")[0] for sentence in violations(DOCUMENT, bad, PROMISE)}


def test_an_exempt_law_is_not_reported() -> None:
    assert violations(DOCUMENT, changed(2, overlap=0), PROMISE, exempt={"overlap"}) == []


def test_a_lone_grapheme_over_the_limit_is_oversize() -> None:
    family = "👩\u200d👩\u200d👧"
    whole = Split(spans=[Span(0, 5, "oversize")], strategy="hand-made")
    unmarked = Split(spans=[Span(0, 5, "document-end")], strategy="hand-made")
    assert violations(family, whole, Promise(max_size=4)) == []
    assert violations(family, unmarked, Promise(max_size=4)) == ["limit: chunk 0 (0…5) has length 5 of 4"]


def test_limits_hold_in_every_unit() -> None:
    text = "员工 in 公司"
    whole = Split(spans=[Span(0, 8, "document-end")], strategy="hand-made")
    lengths: dict[Callable[[str], int], int] = {
        measuring.characters: 8,
        measuring.words: 5,
        measuring.utf8_bytes: 16,
        measuring.utf16: 8,
    }
    for measure, length in lengths.items():
        assert violations(text, whole, Promise(max_size=length, measure=measure)) == []
        assert violations(text, whole, Promise(max_size=length - 1, measure=measure)) != []
    assert violations(text, whole, Promise(max_tokens=measuring.tokens()(text))) == []
    assert violations(text, whole, Promise(max_tokens=measuring.tokens()(text) - 1)) != []


def test_own_token_counts_are_those_of_the_published_encodings() -> None:
    text = "The quick brown fox's 12345 naïve 员工手册。\n\n  indented()"
    assert {name: measuring.tokens(name)(text) for name in measuring.PATTERNS} == {
        "cl100k_base": 21,
        "o200k_base": 20,
        "p50k_base": 23,
        "r50k_base": 23,
        "gpt2": 23,
    }


def test_cuts_inside_a_cluster_are_allowed_at_every_64th_code_point() -> None:
    allowed = measuring.cut_edges("e" + "\u0301" * 150 + "\r\nx")
    assert [at for at, fine in enumerate(allowed) if fine] == [0, 64, 128, 151, 153, 154]


MARKDOWN = "# One\n\nalpha\n\n## Two\n\nbeta\n"


def markdown(*spans: Span, **promised: object) -> list[str]:
    promise = Promise(max_size=20, overlap=10, section_levels=(1, 2), **promised)  # type: ignore[arg-type]
    return violations(MARKDOWN, Split(spans=list(spans), strategy="markdown"), promise)


def test_a_heading_that_is_left_behind_by_its_body_is_reported() -> None:
    assert markdown(Span(0, 12, "heading"), Span(14, 26, "document-end")) == []
    assert markdown(Span(0, 5, "blank-line"), Span(7, 26, "document-end")) == [
        "orphan heading: chunk 0 ends with 'One', its body is in the next"
    ]
    assert markdown(Span(0, 5, "blank-line"), Span(7, 26, "document-end"), headings_stay=False) == []


def test_overlap_from_another_section_is_reported() -> None:
    text = "# One\n\nalpha\n\n## Two\n\nbeta\n"
    made = Split(spans=[Span(0, 12, "heading"), Span(7, 26, "document-end", overlap=5)], strategy="markdown")
    assert violations(text, made, Promise(max_size=20, overlap=10, section_levels=(1, 2))) == [
        "section: chunk 1 repeats text from before the heading at 14"
    ]
    assert violations(text, made, Promise(max_size=20, overlap=10, section_levels=(1,))) == []


def test_lost_indentation_is_reported_where_it_must_stay() -> None:
    text = "a:\n    b\n"
    made = Split(spans=[Span(0, 2, "line"), Span(7, 8, "document-end")], strategy="hand-made")
    assert violations(text, made, Promise()) == []
    assert violations(text, made, Promise(keeps_indentation=True)) == ["indentation: chunk 1 lost '    ' before 'b'"]


def test_the_outline_knows_what_is_no_heading() -> None:
    text = "# A #\n\n```\n# no\n```\n\n> # no\n\n- # no\n\n    # no\n\nB\n===\n\n<!--\n# no\n-->\n\n$$\n# no\n$$\n\n#no\n\n### C"
    assert [(heading.level, heading.title) for heading in headings(text)] == [(1, "A"), (1, "B"), (3, "C")]


def test_the_outline_knows_containers_and_html_that_looks_like_a_table() -> None:
    text = "# A\n\n::: note\n# no\n:::\n\n# B\n\n::: tip\n# no\n:::\n"
    assert (box_line(text), [heading.title for heading in headings(text)]) == (len(text), ["A", "B"])
    assert box_line("# A\n\n::: note\n::: tip\n# ?\n:::\n") == 5
    assert [heading.title for heading in headings("<div | a\n--- | ---\n# no\n\n# C\n")] == ["C"]


def test_the_outline_reads_links_to_lone_surrogates() -> None:
    assert [heading.title for heading in headings("[a]: \ud83d\ude00\n\n# D\n")] == ["D"]


def test_a_heading_is_left_behind_where_what_follows_it_opens_no_section() -> None:
    text = "# A\n\nArticle 1\nb\n"
    promise = Promise(max_size=40, section_levels=(1,), has_own_sections=True)
    for following, found in (
        (Span(5, 16, "document-end", (), metadata={"article": "Article 1"}), []),
        (Span(5, 16, "document-end"), ["orphan heading: chunk 0 ends with 'A', its body is in the next"]),
    ):
        assert violations(text, Split([Span(0, 3, "heading", ("A",)), following], "legal"), promise) == found


def test_headings_above_headings_are_left_behind_by_the_text_of_the_last() -> None:
    text = "a\n\n# A\n\n## B\n\nc\n"
    split = Split([Span(0, 6, "heading", ("A",)), Span(8, 15, "document-end", ("A", "B"))], "hand-made")
    left = "orphan heading: chunk 0 ends with 'A', its body is in the next"
    assert violations(text, split, Promise(max_size=12, section_levels=(1, 2))) == [left]
    assert violations(text, split, Promise(max_size=11, section_levels=(1, 2))) == []


def test_the_outline_reads_footnotes() -> None:
    assert headings("a\n[^1]: b\n===\n") == ()
    assert [heading.title for heading in headings("[^1]: a\n\n    # b\n\n# C\n")] == ["C"]


def test_half_of_a_character_in_a_sub_document_is_reported() -> None:
    text = '{"a":"\\ud83d\\ude00"}'
    parts = [
        Span(0, 19, "limit", rendered=f'{{"a":"{half}"}}', metadata={"pointer": "", "base": "", "part": part})
        for part, half in enumerate(("\\ud83d", "\\ude00"))
    ]
    assert json_leaves.differences(text, Split(parts, "json")) == [
        '\'{"a":"\\\\ud83d"}\' has half a character',
        '\'{"a":"\\\\ude00"}\' has half a character',
    ]


def test_what_a_page_shows_is_compared_where_it_has_data_too() -> None:
    data = '<script type="application/ld+json">{}</script>'
    text = f"<p>seen</p>{data}<p>lost</p>"
    made = [Span(0, 11, "block", rendered="seen"), Span(12, 50, "block", rendered="Q?")]
    assert faq_says(text, Split(made, "faq"), {}) == ["said: 'seen' where 'seenlost' is seen, at 0"]
    made.append(Span(60, len(text), "document-end", rendered="lost"))
    assert faq_says(text, Split(made, "faq"), {}) == []


def test_the_outline_of_mdx_knows_statements_expressions_and_tags() -> None:
    text = "import A from 'a'\nexport const b = {\n\n# no\n}\n# no\n\n{`}` /* } */\n# no\n}\n<A\n c='\n# no'> <B />{\n# no\n}\n## yes\n</A>\n"
    text += "    # yes\na\n\t# yes\n\n<!--\n# no\n-->\n<A> a\n# yes\n\n{ a\n# yes\n\n- {\n# yes\n"
    assert [(heading.level, heading.title) for heading in headings(text, is_mdx=True)] == [
        (2, "yes"),
        (1, "yes"),
        (1, "yes"),
        (1, "yes"),
        (1, "yes"),
        (1, "yes"),
    ]


def test_the_headings_of_a_document_are_read_by_the_rules_of_its_kind() -> None:
    text = "<A b='\n## no\n'>\n\nalpha\n"
    made = Split(spans=[Span(0, 15, "blank-line"), Span(5, 22, "document-end", overlap=10)], strategy="markdown")
    found = {
        is_mdx: violations(text, made, Promise(max_size=20, overlap=10, section_levels=(1, 2), is_mdx=is_mdx))
        for is_mdx in (False, True)
    }
    assert found == {False: ["section: chunk 1 repeats text from before the heading at 7"], True: []}

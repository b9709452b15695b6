"""Questions: what marks one, what answers it, and what only looks like it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from chunkers.structure.faq import is_faq, read_faq
from chunkers.structure.faq_page import is_page, read_page

CASES = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "faq"
]


def pairs(text: str) -> list[list[str]]:
    if is_page(text, None, None):
        page = read_page(text)
        text, faq = page.text, page.faq
    else:
        faq = read_faq(text)
    return [[pair.question, faq.answer_of(text, pair)] for pair in faq.pairs]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_structure_case(case: dict[str, Any]) -> None:
    assert pairs(case["input"]) == case["right"]["pairs"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Q. How?\nA. So.\n\nQ. Why?\nA. Thus.", [["How?", "A. So."], ["Why?", "A. Thus."]]),
        ("Q: How?\nA. So.", [["How?", "A. So."]]),
        ("Q : Quand ?\nR : Maintenant.", [["Quand ?", "Maintenant."]]),
        ("R: alone\nA. too", []),
        ("Question 1: How?\nAnswer 1: So.", [["How?", "So."]]),
        ("**Q:** How?\n\n**A:** So.", [["How?", "So."]]),
        ("## Q1: How?\n\nSo.\n\n### more\n\nx\n\n## Other\n\ny", [["How?", "So.\n\n### more\n\nx"]]),
        ("【問】可以嗎？\n【答】可以。", [["可以嗎？", "可以。"]]),
        ("可以退貨嗎？\n答：可以。\n多久？\n答：七天。", [["可以退貨嗎？", "可以。"], ["多久？", "七天。"]]),
        ("Q: no answer\n\nQ: How?\nA: So.", [["How?", "So."]]),
        ("A: alone\nB: too", []),
        ("Q1 2024 results were fine.\nQ2 2024 too.", []),
        ("```\nQ: in code?\nA: yes\n```\n\ntext", []),
        (
            "<details>\n<summary>Why <b>x</b>?</summary>\n\nBecause.\n</details>\n",
            [["Why x?", "Because."]],
        ),
        ("질문: 왜?\n답변: 그래서.", [["왜?", "그래서."]]),
    ],
)
def test_pairs(text: str, found: list[list[str]]) -> None:
    assert pairs(text) == found


def test_headings_above_are_the_path_and_go_with_the_first_pair() -> None:
    text = "# FAQ\n\nIntro.\n\n## Billing\n\nQ: How?\nA: So.\n\nQ: b?\nA: c\n"
    faq = read_faq(text)
    assert [(text[unit.start : unit.end].strip(), unit.path) for unit in faq.units] == [
        ("# FAQ\n\nIntro.", ("FAQ",)),
        ("## Billing\n\nQ: How?\nA: So.", ("FAQ", "Billing")),
        ("Q: b?\nA: c", ("FAQ", "Billing")),
    ]
    assert faq.title == "FAQ"


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("Q: How?\nA: So.\n\nQ: Why?\nA: Thus.", True),
        ("Q: How?\nA: So.\n", False),
        ("# F\n\n## a?\n\nx\n\n## b?\n\ny\n\n## c\n\nz\n", True),
        ("# F\n\n## a?\n\nx\n\n## b\n\ny\n\n## c\n\nz\n", False),
        ("# F\n\n## a?\n\nx\n\n## b?\n\ny\n", False),
        ("A. one\nA. two\n\n**A. three**\n", False),
        ("Q: How?\nA: So.\n\nQ: Why?\nA: Thus.\n\n# Manual\n\n" + "Much more text. " * 40, False),
        ("plain text", False),
    ],
)
def test_evidence_is_two_pairs_or_three_headings_that_ask(text: str, certain: bool) -> None:
    assert is_faq(text) is certain


PAGE = """<!DOCTYPE html><html><head><title>T &amp; x</title><style>a{}</style>
<script type="application/ld+json">{"@graph":[{"@type":"FAQPage","mainEntity":{"@type":"Question","name":"Only here?",
"acceptedAnswer":{"@type":"Answer","text":"<p>Yes,<br>really.</p>"}}}]}</script></head>
<body><nav>menu</nav><h1>FAQ</h1><p>Hi &lt;you&gt; there.<h2>How?</h2><p>So.<h2>Why&#63;</h2><ul><li>a<li>b</ul>
<dl><dt>What?<dd>That.</dl><details><summary>Q <b>x</b>?</summary>An <i>answer</i>.</details><p hidden>no</p><p>after
"""


def test_a_page_is_read_with_the_way_back_to_its_source() -> None:
    page = read_page(PAGE)
    assert pairs(PAGE) == [
        ["Only here?", "Yes,\nreally."],
        ["How?", "So."],
        ["Why?", "a\nb"],
        ["What?", "That."],
        ["Q x?", "An answer."],
    ]
    assert sorted({drop.kind for drop in page.drops}) == ["hidden", "nav", "style", "title"]
    assert page.faq.title == "T & x"
    for word in re.finditer(r"\S+", page.text):
        start, end = page.source_of(word.start(), word.end())
        if word.start() > page.text.index("FAQ"):
            assert BeautifulSoup(PAGE[start:end], "html.parser").get_text() == word[0]


def test_data_that_the_page_shows_as_well_is_not_laid_out_again() -> None:
    data = '{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"How?","acceptedAnswer":{"text":"So."}}]}'
    source = f'<html><script type="application/ld+json">{data}</script><h2>How?</h2><p>So.</p>'
    assert read_page(source).text == "How?\n\nSo."
    assert [drop.kind for drop in read_page(source).drops] == ["script"]


def test_every_visible_word_is_laid_out_once() -> None:
    page = read_page(PAGE)
    soup = BeautifulSoup(PAGE, "html.parser")
    for hidden in soup.select("script, style, nav, title, [hidden]"):
        hidden.decompose()
    text = page.text[page.text.index("FAQ") :]
    assert re.sub(r"\s", "", text) == re.sub(r"\s", "", soup.get_text())


def test_details_end_behind_a_whole_crlf() -> None:
    text = "Intro.\r\n<details><summary>What?</summary>\r\nA thing.\r\n</details>\r\nMore.\r\n"
    pair = read_faq(text).pairs[0]
    assert text[pair.start : pair.end].endswith("</details>\r\n")


def test_titles_with_a_line_above_and_below_are_read_without_it() -> None:
    text = "=======\nThe FAQ\n=======\n\nWhy?\n----\n\nSo.\n\nHow?\n----\n\nThus.\n\nWho?\n----\n\nUs.\n"
    faq = read_faq(text)
    assert (faq.title, [pair.path for pair in faq.pairs]) == (
        "The FAQ",
        [("The FAQ", "Why?"), ("The FAQ", "How?"), ("The FAQ", "Who?")],
    )


def test_only_the_heading_is_the_head_of_a_pair_whose_answer_is_marked_later() -> None:
    faq = read_faq("# Why?\n\nSome say this.\n\nA: So.\n")
    assert (faq.heads, [(pair.question, pair.end) for pair in faq.pairs]) == ([(0, 7)], [("Why?", 31)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        '<a b=">" ',
        "<a ",
        "<!-- ",
        "<!---->",
        '<script type="application/ld+json">{"@type":"Question"}',
        "<dd><dt>a",
        "<details><summary>a",
        "&amp ",
    ],
)
def test_a_broken_page_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(count: int) -> float:
        started = time.process_time()
        is_page(piece * count, None, None)
        read_page(piece * count)
        return time.process_time() - started

    assert min(seconds(16_000) for _ in range(2)) < max(0.15, 8 * min(seconds(4_000) for _ in range(2)))


def test_hidden_items_end_where_the_next_one_starts() -> None:
    page = read_page("<html><ul><li hidden>no<li>yes</ul><pre>a &lt; &gt;\n b</pre>")
    assert (page.text, [drop.kind for drop in page.drops]) == ("yes\n\na < >\n b", ["hidden"])


def test_terms_and_answers_need_no_end_tags() -> None:
    assert pairs("<html><dl><dt>Why?<dd>So.<dt>How?<dd>Thus.</dl>") == [["Why?", "So."], ["How?", "Thus."]]


def test_a_mark_inside_a_heading_of_several_lines_is_no_question() -> None:
    assert pairs("ab\nQ1. x\n---\nQ: y?\nA: z\n") == [["y?", "z"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("В: Как?\nО: Так.\nВ: Где?\nО: Там.", [["Как?", "Так."], ["Где?", "Там."]]),
        ("P: ¿Cómo?\nR: Así.\n\nP: ¿Qué?\nR: Eso.", [["¿Cómo?", "Así."], ["¿Qué?", "Eso."]]),
        ("F: Wie?\nA: So.\nF: Wo?\nA: Da.", [["Wie?", "So."], ["Wo?", "Da."]]),
        ("س: كيف؟\nج: هكذا.\nس: أين؟\nج: هنا.", [["كيف؟", "هكذا."], ["أين؟", "هنا."]]),
        ("Hỏi: Sao?\nĐáp: Vậy.", [["Sao?", "Vậy."]]),
        ("Pytanie 1: Jak?\nOdpowiedź: Tak.", [["Jak?", "Tak."]]),
        ("S: Alpha.\nC: beta\nS: x\nC: y", []),
        ("P: ¿Cómo?\nR: Así.", []),
    ],
)
def test_marks_of_other_languages(text: str, found: list[list[str]]) -> None:
    assert pairs(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("**1. How?**\na\n\n**2. Why?**\nb\n\n**Note**\n\n**3. When?**\nc", ["How?", "Why?", "When?"]),
        ("1. How?\nSo.\n1. one\n2. two\n\n2. Why?\nNo.\n3. When?\nNow.", ["How?", "Why?", "When?"]),
        ("1. How?\nSo.\n2. Why?\nNo.", []),
        ("1. How?\nSo.\n2. Do.\n3. Be.\n4. Why?\n5. Go.\n6. When?\n7. Run.\n8. Sit.", []),
        ("Q: How?\nA: So.\n\n**1. Why?**\nb\n\n**2. Where?**\nc\n\n**3. When?**\nd", ["How?"]),
    ],
)
def test_bold_and_numbered_lines_that_ask_where_nothing_else_does(text: str, found: list[str]) -> None:
    assert [question for question, _ in pairs(text)] == found


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        *(case["input"] for case in CASES if not is_page(case["input"], None, None)),
        "Read on.\nQ: What is it?\nThis.\nQ: Who?\nMe.\n",
        "<div\nQ: What is it?\nA: This.\n",
        "Frage: Was?\nAntwort: Das.\n\n<details>\n<summary>Wer?</summary>\nDer.\n</details>\nEnde.\n",
    ],
)
def test_line_ends_of_any_kind_make_the_same_pairs(text: str, line_end: str) -> None:
    assert told(text.replace("\n", line_end)) == told(text)


def told(text: str) -> Any:
    """Everything that is read out of a text, with `\\n` for every line end."""
    faq = read_faq(text)
    pairs = [(*pair[3:], text[pair.answer : pair.end]) for pair in faq.pairs]
    units = [(text[unit.start : unit.end], unit.path) for unit in faq.units]
    heads = [(text[start:end], start in faq.asked) for start, end in faq.heads]
    made = json.dumps([pairs, units, heads, faq.title])
    return json.loads(made.replace("\\r\\n", "\\n").replace("\\r", "\\n"))

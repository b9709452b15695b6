"""Laws: what is an article, what only refers to one, and what an article is made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers.structure.legal import Article, Part, is_law, read_law
from chunkers.structure.legal_pieces import pieces_of
from chunkers.structure.numerals import number_of

CASES = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "legal"
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_structure_case(case: dict[str, Any]) -> None:
    text, right = case["input"], case["right"]
    articles = [article for article in read_law(text).articles if not (article.is_range and not article.number)]
    made: dict[str, Any] = {
        "articles": [
            [article.label, article.title]
            if article.label.startswith("§")
            else [article.line, article.number, article.title][: 2 + bool(article.title)]
            for article in articles
        ],
        "path": [[*article.path, article.label] for article in articles],
    }
    for kind, depths in (("paragraphs", {0}), ("items", {1, 2, 3})):
        made[kind] = {
            article.number: [
                piece.mark for piece in pieces_of(text, article.line, article.end) if piece.depth in depths
            ]
            for article in articles
            if article.number in right.get(kind, ())
        }
    assert {key: made[key] for key in right} == right


def labels(text: str) -> list[tuple[str, str, str]]:
    return [(article.label, article.number, article.title) for article in read_law(text).articles]


@pytest.mark.parametrize(
    ("line", "article"),
    [
        ("第一百二十三条　", ("第一百二十三条", "123", "")),
        ("第 12 條", ("第 12 條", "12", "")),
        ("第１２条（定義）　本法", ("第１２条", "12", "（定義）")),
        ("**第三条** 本法", ("第三条", "3", "")),
        ("### 第四条 定义", ("第四条", "4", "定义")),
        ("제3조의2(목적) 이 법은", ("제3조의2", "3-2", "(목적)")),
        ("Article 5 Definitions\n\nIn this Act", ("Article 5", "5", "Definitions")),
        ("Art. 12bis. Le texte", ("Art. 12bis", "12bis", "")),
        ("Section 4.2 Payment\nThe buyer", ("Section 4.2", "4.2", "Payment")),
        ("§ 312a. Scope", ("§ 312a", "312a", "")),
        ("第 3 條之 1 處罰。", ("第 3 條之 1", "3-1", "")),
        ("第 3-1 條 處罰。", ("第 3-1 條", "3-1", "")),
        ("Article premier\nLa loi.", ("Article premier", "1", "")),
        ("Rule 4. Form\nOne form.", ("Rule 4", "4", "Form")),
        ("Clause 2: Price\nTen.", ("Clause 2", "2", "Price")),
        ("Điều 7. Phạm vi\nLuật này.", ("Điều 7", "7", "Phạm vi")),
        ("MADDE 3- Bu kanun.", ("MADDE 3", "3", "")),
        ("Pasal 4\n(1) Isi.", ("Pasal 4", "4", "")),
        ("Section 1.01 Terms. In this Act:\n(a) x.", ("Section 1.01", "1.01", "")),
    ],
)
def test_article_lines(line: str, article: tuple[str, str, str]) -> None:
    assert labels(line) == [article]


@pytest.mark.parametrize(
    "line",
    [
        "第三条的规定适用",
        "第二條第一項之規定",
        "第三条、第四条",
        "see Article 5 of the Treaty",
        "Article 5 of the Treaty applies",
        "Section 3 of this Act, text",
        "§ 5 Abs. 2 gilt entsprechend für den Fall,\ndass",
        "gemäß\n§ 5 Absatz 2",
        "wie in\n§ 5 Begriffe\nHier",
    ],
)
def test_references_are_no_articles(line: str) -> None:
    assert labels(line) == []


def test_a_sign_above_a_numbered_paragraph_is_an_article() -> None:
    text = "§ 1 Anwendung\n(1) Dies.\n(2) Das.\n§ 2 Ende\n(1) Mehr.\n"
    assert labels(text) == [("§ 1", "1", "Anwendung"), ("§ 2", "2", "Ende")]


def test_a_sign_with_a_title_below_a_full_stop_is_an_article() -> None:
    text = "§ 1 Anwendung\n(1) Dies.\n§ 2 Begriffe\nIm Sinne von\n§ 1 Absatz 2 gilt.\n§ 2a Neu\nText.\n"
    assert [label for label, _, _ in labels(text)] == ["§ 1", "§ 2", "§ 2a"]


def test_rules_are_articles_only_where_nothing_else_is() -> None:
    assert labels("Section 1. Scope\nPursuant to\nRule 5. Any.\n") == [("Section 1", "1", "Scope")]


def test_inserted_bare_signs_count_along() -> None:
    text = "NDA\n\n§ 1 One is one.\n\n§ 1a Inserted is in.\n\n§ 2 Two is two.\n"
    assert labels(text) == [("§ 1", "1", ""), ("§ 1a", "1a", ""), ("§ 2", "2", "")]
    assert labels(text.replace("§ 1a", "§ 3a")) == []


def test_the_label_of_a_deleted_range_is_whole() -> None:
    assert labels("第二条至第五条　（删除）\n第六条\n乙。") == [
        ("第二条至第五条　（删除）", "", ""),
        ("第六条", "6", ""),
    ]


def test_bare_signs_that_count_up_are_articles() -> None:
    text = "NDA\n\n§ 1 Secret is what is marked.\n\n§ 2 See § 1, or\n§ 1 of the other.\n\n§ 3 Nothing else.\n"
    assert labels(text) == [("§ 1", "1", ""), ("§ 2", "2", ""), ("§ 3", "3", "")]
    assert labels("Some text.\n\n§ 5 gilt.\n\n§ 7 gilt auch.\n\n§ 9 nicht.\n") == []


def test_divisions_nest_and_a_table_of_contents_opens_none() -> None:
    text = "某法\n第一章 总则\n第二章 罚则\n\n第一章 总则\n第一节 一般\n第一条 甲。\n第二节 特别\n第二条 乙。\n第二章 罚则\n第三条 丙。\n"
    law = read_law(text)
    assert [(article.path, article.number) for article in law.articles] == [
        (("第一章 总则", "第一节 一般"), "1"),
        (("第一章 总则", "第二节 特别"), "2"),
        (("第二章 罚则",), "3"),
    ]
    assert [isinstance(unit, Article) for unit in law.units].count(False) == 2
    assert law.units[0].start == 0
    assert [one.end for one in law.units[:-1]] == [other.start for other in law.units[1:]]
    assert law.units[-1].end == len(text)


def test_numbered_clauses_are_articles_where_there_are_no_others() -> None:
    assert labels("Agreement\n\n1. Term. One year.\n2. Price. Ten.\n4. No.\n") == [("1", "1", ""), ("2", "2", "")]
    assert labels("合約\n一、期間一年。\n二、價金十元。\n") == [("一", "1", ""), ("二", "2", "")]


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("第一條\n甲。\n第二條\n乙。\n第三條\n丙。\n", True),
        ("第一條\n甲。\n第二條\n乙。\n", False),
        ("第一條\n甲。\n第七條\n乙。\n第三條\n丙。\n第十條\n丁。", False),
        ("第一条　甲。\n第二条　乙。\n第三条　丙。\n附　則\n第一条　丁。\n第二条　戊。", True),
        ("Section 1 Install\n\nSection 2 Use\n\nSection 3 Remove\n", False),
        ("Article 1\nThe parties shall.\nArticle 2\nNo one shall.\nArticle 3\nEach party shall.\n", True),
        ("# Guide\n\ntext\n", False),
    ],
)
def test_evidence_is_three_articles_in_a_row(text: str, certain: bool) -> None:
    assert is_law(text) is certain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("八十四", 84),
        ("十", 10),
        ("一百零五", 105),
        ("二〇二六", 2026),
        ("１２", 12),
        ("千二百", 1200),
        ("XIV", 14),
        ("x", 10),
        ("", None),
        ("abc", None),
        ("IIX", None),
    ],
)
def test_numerals(text: str, value: int | None) -> None:
    assert number_of(text) == value


def paths_of(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(each.number, each.title, each.path) for each in read_law(text).articles]


@pytest.mark.parametrize("contents", ["目　次", "目录", "## 目錄", "目次"])
def test_a_table_of_contents_opens_no_divisions(contents: str) -> None:
    text = f"某法\n\n{contents}\n　第一章　總則\n　第二章　雜則\n　附則\n\n第一章　總則\n第一條 甲。\n第二章　雜則\n第二條 乙。\n附則\n第一條 丙。\n"
    assert paths_of(text) == [
        ("1", "", ("本則", "第一章　總則")),
        ("2", "", ("本則", "第二章　雜則")),
        ("1", "", ("附則",)),
    ]
    assert {unit.path for unit in read_law(text).units if isinstance(unit, Part)} == {()}


def test_a_heading_of_a_table_of_contents_is_in_no_path_but_ends_what_stands_above_it() -> None:
    text = "# Law\n\n## Log\n\nOne.\n\n## Contents\n\n- a\n\n## Rest\n\nb\n"
    found = [(text[unit.start : unit.end].split("\n")[0], unit.path) for unit in read_law(text).units]
    assert found == [
        ("# Law", ("Law", "Log")),
        ("## Contents", ("Law",)),
        ("## Rest", ("Law", "Rest")),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "PART I\nPRELIMINARY\n\n1. Short title\nThe Act.\n\nPART II\n\nDUTIES\n\n2. Duty\nA person shall.\n",
            [("1", "Short title", ("PART I PRELIMINARY",)), ("2", "Duty", ("PART II DUTIES",))],
        ),
        (
            "CHAPTER I\nGeneral\n\nArticle 1\nMatter\n\n1. Rules.\n\nArticle 2\nIt is so\nand so.\n",
            [("1", "Matter", ("CHAPTER I General",)), ("2", "", ("CHAPTER I General",))],
        ),
        (
            "TITRE Ier\nOBJET\n\nArticle 1er\nLe code.\n\nArticle L. 111-1\nUn.\n\nArticle R111-2-1\nDeux.\n\nArticle 3.- Trois.\n",
            [(number, "", ("TITRE Ier OBJET",)) for number in ("1", "L111-1", "R111-2-1", "3")],
        ),
        (
            "제1장 총칙\n제1조(목적) 이 법.\n부칙 <제1호>\n제1조(시행일) 이날.\n",
            [("1", "(목적)", ("본칙", "제1장 총칙")), ("1", "(시행일)", ("부칙 <제1호>",))],
        ),
        (
            "Article 1\nScope\nThis is.\nArticle 2\nTerms used\nThat is.\nArticle 3\nRight of access\nAll.\n",
            [("1", "Scope", ()), ("2", "Terms used", ()), ("3", "Right of access", ())],
        ),
        (
            "Article 1\nScope\nThis is.\nArticle 2\nThat is.\nArticle 3\nAll are.\n",
            [("1", "", ()), ("2", "", ()), ("3", "", ())],
        ),
        (
            "§ 1 Zweck\n(1) Tests.\n\n§ 2 Begriffe\nIm Sinne des Gesetzes.\n\n§ 3 Absatz 2 gilt\nauch hier.\n",
            [("1", "Zweck", ()), ("2", "", ())],
        ),
    ],
)
def test_titles_below_their_labels_and_numbers_of_codes(
    text: str, found: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    assert paths_of(text) == found


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_underlined_lines_of_law_are_headings_without_their_underlines(line_end: str) -> None:
    text = (
        "Chapter 1\n=========\n\nArticle 1\n---------\nThe first.\n\n"
        "Chapter 2\nRates\n=====\nArticle 2\n---------\nThe duty\n\nThe second.\n"
    ).replace("\n", line_end)
    law = read_law(text)
    assert [(each.path, each.label, each.title) for each in law.articles] == [
        (("Chapter 1",), "Article 1", ""),
        (("Chapter 2 Rates",), "Article 2", "The duty"),
    ]
    assert [text[start:end].split(line_end) for start, end in law.heads] == [
        ["Chapter 1", "========="],
        ["Article 1", "---------"],
        ["Chapter 2", "Rates", "====="],
        ["Article 2", "---------"],
        ["The duty"],
    ]


def test_a_paragraph_above_an_underline_is_made_of_the_lines_of_law_in_it() -> None:
    text = "The Act\nof 1900\nPart I\nArticle 1. The duty is paid.\n---\nMore of it.\n"
    law = read_law(text)
    assert [(text[each.start : each.end], each.path) for each in law.units] == [
        (text, ("The Act\nof 1900", "Part I")),
    ]
    assert [text[start:end] for start, end in law.heads] == [
        "The Act\nof 1900\n",
        "Part I",
        "Article 1. The duty is paid.\n---",
    ]


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_line_ends_of_any_kind_make_the_same_law(case: dict[str, Any], line_end: str) -> None:
    assert told(case["input"].replace("\n", line_end)) == told(case["input"])


def told(text: str) -> Any:
    """Everything that is read out of a law, its text with `\\n` for every line end."""
    law = read_law(text)
    heads = [(text[start:end],) for start, end in law.heads]
    units = [(text[each.start : each.end], *each[3 if isinstance(each, Article) else 2 :]) for each in law.units]
    articles = [
        [(text[at : each.end], mark, depth) for at, mark, depth in pieces_of(text, each.line, each.end)]
        for each in law.articles
    ]
    return json.loads(json.dumps([heads, units, articles]).replace("\\r\\n", "\\n").replace("\\r", "\\n"))


def test_a_line_below_a_blank_one_that_holds_spaces_begins_a_paragraph() -> None:
    text = "第二条 本法适用于中国\n \n下列情形除外\n"
    assert [text[piece.start :].split()[0] for piece in pieces_of(text, 0, len(text))] == ["第二条", "下列情形除外"]

"""`legal` and `faq`: one chunk a section, what is said about it, and how a long one is cut."""

from __future__ import annotations

from typing import Any

import pytest

from chunkers import build, chunk
from chunkers.records import Drop

LAW = (
    "某法\n\n第一章 總則\n第一條\n為了測試，制定本法。\n第二條（定義）\n本法用詞如下：\n一、甲：第一個。\n二、乙：第二個。\n"
    "前項用詞，依習慣。\n第三條\n略。\n"
)


def pieces(text: str, strategy: str, **options: Any) -> list[tuple[str, str, list[str]]]:
    return [
        (piece.text, piece.cut, list(piece.headings)) for piece in chunk(text, strategy, **{"overlap": 0, **options})
    ]


def test_an_article_is_a_chunk_with_its_path_and_number() -> None:
    assert pieces(LAW, "legal") == [
        ("某法", "heading", []),
        ("第一章 總則\n第一條\n為了測試，制定本法。", "heading", ["第一章 總則"]),
        (
            "第二條（定義）\n本法用詞如下：\n一、甲：第一個。\n二、乙：第二個。\n前項用詞，依習慣。",
            "heading",
            ["第一章 總則"],
        ),
        ("第三條\n略。", "document-end", ["第一章 總則"]),
    ]
    assert [dict(piece.metadata) for piece in chunk(LAW, "legal")] == [
        {},
        {"article": "第一條", "article_number": "1"},
        {"article": "第二條", "article_number": "2", "article_title": "（定義）"},
        {"article": "第三條", "article_number": "3"},
    ]


def test_a_long_article_is_cut_at_paragraphs_then_at_items() -> None:
    text = LAW[LAW.index("第二條") : LAW.index("第三條")]
    assert [(text, cut) for text, cut, _ in pieces(text, "legal", max_size=36)] == [
        ("第二條（定義）\n本法用詞如下：\n一、甲：第一個。\n二、乙：第二個。", "block"),
        ("前項用詞，依習慣。", "document-end"),
    ]
    assert [(text, cut) for text, cut, _ in pieces(text, "legal", max_size=25)] == [
        ("第二條（定義）\n本法用詞如下：\n一、甲：第一個。", "item"),
        ("二、乙：第二個。\n前項用詞，依習慣。", "document-end"),
    ]


def test_overlap_stays_inside_an_article() -> None:
    made = build("legal", max_size=25, overlap=9).split(LAW).spans
    assert {span.metadata.get("article") for span in made if span.overlap} <= {"第二條"}


def test_a_law_without_articles_is_noted() -> None:
    assert build("legal").split("plain text").notes == ("no article was found",)
    assert build("faq").split("plain text").notes == ("no question was found",)


def test_a_pair_is_a_chunk_that_knows_its_question() -> None:
    text = "# FAQ\n\nQ: How?\nA: So. It is long enough.\n\nQ: Why?\nA: Because.\n"
    assert [(piece.text, piece.cut, piece.metadata) for piece in chunk(text, "faq")] == [
        ("# FAQ\n\nQ: How?\nA: So. It is long enough.", "record", {"question": "How?"}),
        ("Q: Why?\nA: Because.", "document-end", {"question": "Why?"}),
    ]


def test_a_question_does_not_end_a_chunk_that_has_room_for_its_answer() -> None:
    text = "Q: How do I do it?\n\nA: " + "Word after word. " * 6
    first = pieces(text, "faq", max_size=40)[0]
    assert first[0].startswith("Q: How do I do it?\n\nA: Word")


def test_a_page_is_rendered_and_its_range_is_that_of_the_source() -> None:
    text = "<!doctype html><h1>FAQ</h1><h2>How?</h2><p>So &amp; so.</p><h2>Why?</h2><p>Thus.</p>"
    made = chunk(text, "faq", path="a.html")
    assert [(piece.text, list(piece.headings)) for piece in made] == [
        ("FAQ\n\nHow?\n\nSo & so.", ["FAQ", "How?"]),
        ("Why?\n\nThus.", ["FAQ", "Why?"]),
    ]
    assert [text[piece.start : piece.end] for piece in made] == [
        "FAQ</h1><h2>How?</h2><p>So &amp; so.",
        "Why?</h2><p>Thus.",
    ]


@pytest.mark.parametrize(
    ("text", "path", "strategy"),
    [
        (LAW, "a.txt", "legal"),
        (LAW, "a.md", "legal"),
        (LAW, None, "legal"),
        (LAW, "a.py", "recursive"),
        ("Q: How?\nA: So.\n\nQ: Why?\nA: Thus.\n", "a.md", "faq"),
        ("# Guide\n\ntext\n", "a.md", "markdown"),
    ],
)
def test_detect_lets_the_text_choose(text: str, path: str | None, strategy: str) -> None:
    assert build("auto", detect=True).split(text, path=path).strategy == strategy
    assert build("auto").split(text, path=path).strategy in ("recursive", "markdown")


@pytest.mark.parametrize(
    ("strategy", "body"), [("legal", "第一條 甲。\n\n第二條 乙。\n"), ("faq", "Q: a?\nA: b\n\nQ: c?\nA: d\n")]
)
@pytest.mark.parametrize("path", ["a.md", None])
def test_front_matter_is_metadata_and_no_text(strategy: str, body: str, path: str | None) -> None:
    front = "---\ntitle: T\nn: 1\n---\n"
    found = build(strategy).split(front + body, path=path)
    plain = build(strategy).split(body, path=path)
    assert found.drops == [Drop(0, len(front), "front-matter")]
    assert (found.title, found.metadata) == ("T", {"title": "T", "n": 1})
    moved = [span._replace(start=span.start + len(front), end=span.end + len(front)) for span in plain.spans]
    assert found.spans == moved
    assert build(strategy).split(front + body, path="a.txt").spans[0].start == 0


def test_no_chunk_ends_inside_a_heading_or_between_headings_that_fit_with_text() -> None:
    text = "# make install\n\nGetting Help\n------------\n\nTo get help with the tool, execute this\n"
    made = build("faq", max_size=12, overlap=0, unit="words").split(text, path="a.md")
    assert [span.text(text) for span in made.spans] == [
        "# make install\n\nGetting Help\n------------\n\nTo get help with the tool,",
        "execute this",
    ]
    text = "# A title that is long\n\n## B\n\nThen text follows\n"
    made = build("legal", max_size=29, overlap=0).split(text, path="a.md")
    assert [span.text(text) for span in made.spans] == ["# A title that is long", "## B\n\nThen text follows"]

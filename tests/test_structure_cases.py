"""What reading a document must find: every case of `cases/structure.json`, and how many of them hold.

A case's `right` names what is asked for; each of those names has one function here that answers from the project.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunkers import ChunkersError, chunk
from chunkers.cutting.levels import Line, Sentence
from chunkers.strategies.json_paths import Node, pointer_to
from chunkers.structure.code import Definition, read_code
from chunkers.structure.faq import read_faq
from chunkers.structure.faq_page import is_page
from chunkers.structure.faq_page import read_page as read_questions
from chunkers.structure.frontmatter import read_front_matter
from chunkers.structure.html_names import HEADINGS
from chunkers.structure.html_page import Selected, read_page
from chunkers.structure.json_emitted import Emitted
from chunkers.structure.json_grammar import value_spans
from chunkers.structure.latex import read_latex
from chunkers.structure.legal import Article, read_law
from chunkers.structure.legal_pieces import pieces_of
from chunkers.structure.markdown.scanner import Dialect, scan
from pipelines.documents.decode import decode
from tests.chunkers.structure.json_members import members

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("cases").joinpath("structure.json").read_text("utf-8")
)
LEAST = 0.97
GENERATED = {
    "html-deep": "<div>" * 100_000 + "deep" + "</div>" * 100_000 + "<h1>after</h1>",
    "json-deep": "[" * 100_000,
}
BYTES = {
    "html-charset-gbk": "latin-1",
    "html-charset-none": "utf-8",
    "html-charset-c1": "latin-1",
}
"""Cases whose input stands for bytes, and how to make those of it."""
DEVIATIONS = {
    "html-charset-gbk": "its bytes E7 46 are 鏔 in every one of the GB encodings; it prints 鎔, which is E6 67",
    "html-table-span": "text is in a chunk once: the columns that a cell spans besides its first stay empty, and line up",
}
"""Cases whose answer is not ours, by id, with the reason."""
NOT_ASKED = {"lang", "dialect", "limit_seconds", "fallback_ok"}
"""What a case says about itself, instead of asking for it."""
Json = Any


def text_of(case: dict[str, Any]) -> str:
    """The case's document."""
    if case["id"] in BYTES:
        return decode(case["input"].encode(BYTES[case["id"]])).text
    given: str = GENERATED.get(case["id"], case["input"])
    return given


# Markdown


def markdown_headings(text: str, case: dict[str, Any]) -> Json:
    return _markdown_headings(text, case["right"].get("dialect", "commonmark"))


def _markdown_headings(text: str, dialect: Dialect) -> Json:
    front = read_front_matter(text)
    return [
        {"level": block.level, "text": block.title, "start": block.start, "splits": block.depth == 0}
        for block in scan(text, dialect=dialect, start=front.end if front else 0)
        if block.kind == "heading"
    ]


def markdown_front_matter(text: str, case: dict[str, Any]) -> Json:
    front = read_front_matter(text)
    return text[front.body : front.tail] if front else None


def markdown_container_end(text: str, case: dict[str, Any]) -> Json:
    """Behind the last line of the box, its line end included."""
    return next(block.end for block in scan(text) if block.kind == "container")


# HTML


def _page(text: str) -> Any:
    return read_page(text, Selected({name: level - 1 for name, level in HEADINGS.items()}))


def html_headings(text: str, case: dict[str, Any]) -> Json:
    page = _page(text)
    titles = [(f"h{each.level}", page.text[each.start : each.end].strip("\n")) for each in page.marked]
    named = any(isinstance(each, list) for each in case["right"]["headings"])
    return [[name, title] if named else title for name, title in titles]


def html_sections(text: str, case: dict[str, Any]) -> Json:
    return [[list(piece.headings), piece.text] for piece in chunk(text, "html")]


def html_text(text: str, case: dict[str, Any]) -> Json:
    return "".join(piece.text for piece in chunk(text, "html"))


def html_table(text: str, case: dict[str, Any]) -> Json:
    return [row.split("\t") for row in html_lines(text, case)]


def html_lines(text: str, case: dict[str, Any]) -> Json:
    return html_text(text, case).split("\n")


def html_pairs(text: str, case: dict[str, Any]) -> Json:
    lines = html_lines(text, case)
    return [list(pair) for pair in zip(lines[::2], lines[1::2], strict=True)]


def html_encoding(text: str, case: dict[str, Any]) -> Json:
    return decode(case["input"].encode(BYTES[case["id"]])).encoding


# JSON


def _values(text: str, most: int) -> list[tuple[str, str]]:
    return [(piece.metadata["pointer"], piece.text) for piece in chunk(text, "json", max_size=most)]


def json_leaves(text: str, case: dict[str, Any]) -> Json:
    return dict(_values(text, max(map(len, case["right"]["leaves"].values()))))


def json_children(text: str, case: dict[str, Any]) -> Json:
    """The members of the outermost container, or the one scalar that there is."""
    emitted = Emitted(text, 1 if text.startswith("\ufeff") else 0)
    if emitted.text[0] not in "[{":
        return [["", emitted.text]]
    whole = Node(emitted.text, 0, len(emitted.text), None, "")
    return [
        [pointer_to(whole, emitted.text[start:value]), emitted.text[value:end]]
        for start, value, end in members(emitted.text, emitted.ends)
    ]


def json_text_kept(text: str, case: dict[str, Any]) -> Json:
    wanted = case["right"]["text_kept"]
    found = "\n".join(value for size in (1, 4000) for _, value in _values(text, size))
    return (
        [each for each in wanted if each in found] if isinstance(wanted, list) else wanted if wanted in found else found
    )


def json_error(text: str, case: dict[str, Any]) -> Json:
    """The words of `right` if the message is one of its kind, else the message."""
    wanted: str = case["right"]["error"]
    signs = {"strict": "line 1 column 6", "depth limit, not a crash": "nested deeper than"}
    with pytest.raises(ChunkersError) as raised:
        chunk(text, "json")
    return wanted if signs.get(wanted, wanted) in str(raised.value) else str(raised.value)


def json_records(text: str, case: dict[str, Any]) -> Json:
    return [list(each) for each in value_spans(text)]


def json_convert_lists(text: str, case: dict[str, Any]) -> Json:
    (piece,) = chunk(text, "json", convert_lists=True)
    return json.loads(piece.text)


def json_ensure_ascii(text: str, case: dict[str, Any]) -> Json:
    (piece,) = chunk(text, "json", ensure_ascii=True)
    return piece.text


def json_size_chars(text: str, case: dict[str, Any]) -> Json:
    """How much of `max_size` the document takes, as a chunk of its own."""
    found = {}
    for name, is_ascii in (("ascii", True), ("raw", False)):
        (piece,) = chunk(text, "json", ensure_ascii=is_ascii)
        assert [each.text for each in chunk(text, "json", ensure_ascii=is_ascii, max_size=len(piece.text))] == [
            piece.text
        ]
        assert len(chunk(text, "json", ensure_ascii=is_ascii, max_size=len(piece.text) - 1)[0].text) < len(piece.text)
        found[name] = len(piece.text)
    return found


# LaTeX


def latex_sections(text: str, case: dict[str, Any]) -> Json:
    return [[each.start, each.name, each.title] for each in read_latex(text).sections]


def latex_environments(text: str, case: dict[str, Any]) -> Json:
    return [[each.start, each.end, each.name] for each in read_latex(text).environments]


def latex_math(text: str, case: dict[str, Any]) -> Json:
    return [list(each) for each in read_latex(text).math]


def latex_includes(text: str, case: dict[str, Any]) -> Json:
    return read_latex(text).includes


# Code


def _definitions(text: str, case: dict[str, Any]) -> list[tuple[str, Definition]]:
    found = read_code(text, case["right"]["lang"], most=1).definitions
    return [(".".join(each.path), each) for each in found]


def code_units(text: str, case: dict[str, Any]) -> Json:
    return [[path, each.start, each.end] for path, each in _definitions(text, case)]


def code_paths(text: str, case: dict[str, Any]) -> Json:
    return [path for path, _ in _definitions(text, case)]


def code_units_contain(text: str, case: dict[str, Any]) -> Json:
    pieces = chunk(text, "code", language=case["right"]["lang"], max_size=20, overlap=0)
    assert "".join("".join(piece.text for piece in pieces).split()) == "".join(text.split())
    return [path for path, _ in _definitions(text, case) if path in case["right"]["units_contain"]]


def code_lead_comment(text: str, case: dict[str, Any]) -> Json:
    lead, start = next((each.lead, each.start) for _, each in _definitions(text, case) if each.lead < each.start)
    return [lead, lead + len(text[lead:start].rstrip())]


def code_rest(text: str, case: dict[str, Any]) -> Json:
    """What lies behind the last definition."""
    start = max(each.end for _, each in _definitions(text, case))
    return [start + len(text[start:]) - len(text[start:].lstrip()), len(text.rstrip())]


# Sentences


def sentence_spans(text: str, case: dict[str, Any]) -> Json:
    """Between line ends and sentence ends, without the white space around."""
    bound, found, at = [Line().bind(text), Sentence().bind(text)], [], 0
    while at < len(text):
        gaps = [gap for level in bound if (gap := level.first(at, len(text)))]
        end = min((gap.end for gap in gaps), default=len(text))
        piece = text[at:end]
        if piece.strip():
            found.append([at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip())])
        at = end
    return found


def sentence_sentences(text: str, case: dict[str, Any]) -> Json:
    return [text[start:end] for start, end in sentence_spans(text, case)]


# Laws


def _articles(text: str) -> list[Article]:
    return [each for each in read_law(text).articles if not each.is_range]


def legal_articles(text: str, case: dict[str, Any]) -> Json:
    """As much of (where its line starts, number, title) or (label, title) as the case tells."""
    wanted = case["right"]["articles"]
    if wanted and isinstance(wanted[0][0], str):
        return [[each.label, each.title] for each in _articles(text)]
    width = len(wanted[0]) if wanted else 2
    return [[each.line, each.number, each.title][:width] for each in _articles(text)]


def legal_path(text: str, case: dict[str, Any]) -> Json:
    return [
        [*piece.headings, piece.metadata["article"]] for piece in chunk(text, "legal") if "article" in piece.metadata
    ]


def legal_items(text: str, case: dict[str, Any]) -> Json:
    """The marks of an article's items."""
    return {
        each.number: [piece.mark for piece in pieces_of(text, each.line, each.end) if piece.mark.startswith("（")]
        for each in _articles(text)
        if each.number in case["right"]["items"]
    }


def legal_paragraphs(text: str, case: dict[str, Any]) -> Json:
    """The numbers of an article's paragraphs; the first has none of its own."""
    return {
        each.number: [piece.mark or "1" for piece in pieces_of(text, each.line, each.end) if piece.depth == 0]
        for each in _articles(text)
        if each.number in case["right"]["paragraphs"]
    }


# Questions


def faq_pairs(text: str, case: dict[str, Any]) -> Json:
    if is_page(text, None, None):
        page = read_questions(text)
        return [[pair.question, page.faq.answer_of(page.text, pair)] for pair in page.faq.pairs]
    faq = read_faq(text)
    return [[pair.question, faq.answer_of(text, pair)] for pair in faq.pairs]


def markdown_commonmark_headings(text: str, case: dict[str, Any]) -> Json:
    return _markdown_headings(text, "commonmark")


def answer(case: dict[str, Any]) -> dict[str, Json]:
    """What the project finds, under the names that the case asks for."""
    text = text_of(case)
    found = {}
    for asked in case["right"]:
        if asked not in NOT_ASKED:
            read: Callable[[str, dict[str, Any]], Json] = globals()[f"{case['kind']}_{asked}"]
            found[asked] = read(text, case)
    return found


def asked_of(case: dict[str, Any]) -> dict[str, Json]:
    """What the case asks for."""
    return {name: value for name, value in case["right"].items() if name not in NOT_ASKED}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_structure_case(case: dict[str, Any]) -> None:
    began = time.process_time()
    found = answer(case)
    assert time.process_time() - began < case["right"].get("limit_seconds", 10)
    if case["id"] in DEVIATIONS:
        assert found != asked_of(case), f"{case['id']} is a deviation no longer"
        return
    assert found == asked_of(case)


def test_nearly_all_cases_have_the_answer_that_is_printed() -> None:
    assert {case["id"] for case in CASES} >= DEVIATIONS.keys()
    assert 1 - len(DEVIATIONS) / len(CASES) >= LEAST

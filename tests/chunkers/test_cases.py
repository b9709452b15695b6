"""The handed cases: inputs with the right answer, in `tests/cases`, each asserted against the strategy it names.

A case for a strategy that is not there yet is skipped and says so; it starts to count when the strategy is registered.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunkers import Chunk, ChunkersError, OptionError, OptionWarning, build, chunk, strategy_kinds
from chunkers.registry import option_names
from tests.laws import measuring
from tests.laws.laws import violations
from tests.laws.table import BY_NAME

CASES = Path(__file__).parents[1] / "cases"
LENGTH_FUNCTIONS: dict[str, Callable[[str], int]] = {
    "words": lambda text: len(text.split()),
    "utf8_bytes": measuring.utf8_bytes,
    "codepoints": len,
    "utf16": measuring.utf16,
}
TYPE_STRATEGIES = {"html": "html", "json": "json", "markdown": "markdown"}
DEVIATIONS: dict[str, str] = {
    "ht-03": "advice: items and rows keep their lines, cells their columns, instead of one line of everything",
    "js-12": "advice: the parts of a long string are as full as the limit allows",
    "lang-08": "advice: a package keeps its imports, and every function starts its own chunk",
    "st-06": "the printed second chunk repeats all of the first: it would start where that does, and hold it",
}
"""Cases whose printed answer is not ours, by id, with the reason."""


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((CASES / name).read_text("utf-8"))
    return cases


REFERENCE = load("reference.json") + load("article.json") + load("own.json")


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    """The case's options for `chunk`: its length function is named."""
    options = dict(case["options"])
    if "length_function" in options:
        options["length_function"] = LENGTH_FUNCTIONS[options["length_function"]]
    return options


def inputs_of(case: dict[str, Any]) -> list[str]:
    return case["input"] if isinstance(case["input"], list) else [case["input"]]


def chunks_of(case: dict[str, Any]) -> list[Chunk]:
    path = f"document.{case['doc_type']}" if "doc_type" in case else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptionWarning)
        return [
            piece
            for text in inputs_of(case)
            for piece in chunk(
                text, case["strategy"] or "auto", path=path, metadata=case.get("doc_metadata"), **options_of(case)
            )
        ]


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: case["id"])
def test_reference_case(case: dict[str, Any]) -> None:
    needed = case["strategy"] or TYPE_STRATEGIES[case["doc_type"]]
    if needed not in strategy_kinds():
        pytest.skip(f"strategy {needed} does not exist yet")
    if "language" in case.get("options", {}) and "language" not in option_names(strategy_kinds()[needed]):
        pytest.skip(f"option language of {needed} does not exist yet")
    if case.get("expect_error"):
        with pytest.raises(ChunkersError):
            chunks_of(case)
        return
    chunks = chunks_of(case)
    assert laws_broken_by(case) == []
    if case["id"] in DEVIATIONS or case["compare"] == "laws":
        return
    assert [piece.text for piece in chunks] == [wanted["text"] for wanted in case["expected"]]
    for piece, wanted in zip(chunks, case["expected"], strict=True):
        assert described(piece, wanted) == {
            key: value for key, value in wanted.items() if key != "metadata"
        } | wanted.get("metadata", {})


def described(piece: Chunk, wanted: dict[str, Any]) -> dict[str, Any]:
    """What the chunk says about everything that the case asks for."""
    own = {
        "text": piece.text,
        "start_index": piece.start,
        "token_count": piece.token_count,
        "headings": list(piece.headings),
        "context": piece.context,
    }
    asked = {key: value for key, value in wanted.items() if key != "metadata"} | wanted.get("metadata", {})
    return {key: own[key] if key in own else piece.metadata.get(key) for key in asked}


def laws_broken_by(case: dict[str, Any]) -> list[str]:
    strategy, options = case["strategy"], options_of(case)
    if strategy not in BY_NAME:
        return []
    listed, found = BY_NAME[strategy], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptionWarning)
        built = build(strategy, **options)
    if "model_name" in options:
        options["encoding_name"] = {"gpt-4o": "o200k_base", "gpt-3.5-turbo": "cl100k_base"}[options["model_name"]]
    if {"allowed_special", "disallowed_special"} & set(options):
        return []
    for text in inputs_of(case):
        made = built.split(text)
        found += violations(text, made, listed.promise(options, made), listed.exempt)
    return found


# The faults that users reported against other splitters.

Reported = Callable[[str], None]
REPORTED = {case["id"]: case for case in load("reported.json")}
OF_OTHER_STRATEGIES = {
    "hier-start": "parents",
    "shrunk-document": "tests/pipelines/test_reconcile.py",
}
"""Reported cases that are asserted where their strategy, or the table of a corpus, is tested."""


def placed(text: str, strategy: str, **options: Any) -> list[tuple[str, int]]:
    """(text, start) of each chunk, each checked to be the slice that it claims to be."""
    chunks = chunk(text, strategy, **options)
    assert [text[piece.start : piece.end] for piece in chunks] == [piece.text for piece in chunks]
    return [(piece.text, piece.start) for piece in chunks]


def paths(text: str, **options: Any) -> list[tuple[list[str], str]]:
    return [(list(piece.headings), piece.text) for piece in chunk(text, "markdown", **options)]


def test_every_reported_case_has_a_place() -> None:
    here = {name.removeprefix("test_").replace("_", "-") for name in globals() if name.startswith("test_")}
    assert {name for name in REPORTED if name not in here and name not in OF_OTHER_STRATEGIES} == set()


def test_start_repeat() -> None:
    text = REPORTED["start-repeat"]["input"]
    assert placed(text, "recursive", max_size=4, overlap=3, separators=[" ", ""]) == [("data", 0), ("data", 5)]


def test_start_token_minus1() -> None:
    text = REPORTED["start-token-minus1"]["input"]
    found = placed(text, "token", encoding_name="cl100k_base", max_size=6, overlap=3)
    assert [start for _, start in found] == sorted({start for _, start in found})
    assert found[0][1] == 0
    assert "".join(sorted({text[at] for piece, start in found for at in range(start, start + len(piece))})) == "".join(
        sorted(set(text))
    )


def test_token_broken_char() -> None:
    text = REPORTED["token-broken-char"]["input"]
    found = placed(text, "token", encoding_name="cl100k_base", max_size=2, overlap=0)
    assert "".join(piece for piece, _ in found) == text
    assert all("\ufffd" not in piece for piece, _ in found)
    assert [piece for piece, _ in found if measuring.tokens()(piece) > 2 and len(piece) > 1] == []


def test_token_broken_char_index() -> None:
    text = REPORTED["token-broken-char-index"]["input"]
    found = placed(text, "token", encoding_name="cl100k_base", max_size=2)
    assert [start for _, start in found] == [sum(len(piece) for piece, _ in found[:n]) for n in range(len(found))]


def test_md_tabs_nbsp() -> None:
    text = REPORTED["md-tabs-nbsp"]["input"]
    assert [piece.text for piece in chunk(text, "markdown", headers=[["#", "h1"]], strip_headers=False)] == [
        text.rstrip("\n")
    ]


def test_md_code_indent() -> None:
    text = REPORTED["md-code-indent"]["input"]
    assert placed(text, "markdown", headers=[["#", "h1"]]) == [("```yaml\nmy:\n   foo: bar\n```", 4)]


def test_md_open_fence_loss() -> None:
    text = REPORTED["md-open-fence-loss"]["input"]
    found = placed(text, "markdown", headers=[["#", "h1"], ["##", "h2"]])
    said = "\n".join(piece for piece, _ in found)
    assert [part for part in ("intro", "x=1", "## Result", "vital") if part not in said] == []


def test_md_long_fence() -> None:
    text = REPORTED["md-long-fence"]["input"]
    assert paths(text, headers=[["#", "h1"]]) == [(["Guide"], "````\n```\n# inner\n```\n````\n\nbody")]
    assert {tuple(headings) for headings, _ in paths(text, max_size=20)} == {("Guide",)}


def test_md_slash_path() -> None:
    text = REPORTED["md-slash-path"]["input"]
    assert paths(text, headers=[["#", "1"], ["##", "2"], ["###", "3"]]) == [
        (["Desk", "24/7 help"], "text"),
        (["Desk", "24/7 help", "sub"], "x"),
    ]
    with pytest.raises(OptionError):
        build("markdown", path_separator="/")


def test_md_text_before_heading() -> None:
    text = REPORTED["md-text-before-heading"]["input"]
    assert paths(text, headers=[["#", "h1"]]) == [([], "hello before"), (["T"], "body")]
    assert [piece for _, piece in paths(text)] == [text]


def test_md_heading_twice() -> None:
    text = REPORTED["md-heading-twice"]["input"]
    for options in ({}, {"headers": [["#", "h1"]]}, {"headers": [["#", "h1"]], "strip_headers": False}):
        assert [len(re.findall("Fees", piece.embed_text)) for piece in chunk(text, "markdown", **options)] in ([0], [1])


def test_md_table_mid() -> None:
    text = REPORTED["md-table-mid"]["input"]
    chunks = chunk(text, "markdown", max_size=60, overlap=0)
    rows = ["| nuts | 10 |", "| bolts | 20 |", "| gears | 30 |"]
    header = "| item | qty |\n|------|-----|"
    assert [row for piece in chunks for row in rows if row in piece.text] == rows
    assert all(header in piece.embed_text for piece in chunks)
    assert all(set(piece.text.split("\n")) <= {*rows, *header.split("\n")} for piece in chunks)
    small = chunk(text, "markdown", max_size=40)
    assert all(len(piece.embed_text) <= 40 for piece in small)
    assert [row for piece in small for row in rows if row in piece.text] == rows


def test_zh_no_sentence_default() -> None:
    case = REPORTED["zh-no-sentence-default"]
    assert [piece for piece, _ in placed(case["input"], "recursive", max_size=12, overlap=0)] == case["right"]


def test_zh_word_count() -> None:
    text = "员工在同一公司服务满六个月未满一年者有三天特别休假" * 80
    sizes = [measuring.words(piece) for piece, _ in placed(text, "recursive", max_size=300, unit="words", overlap=0)]
    assert len(text) == 2000
    assert sizes == [300, 300, 300, 300, 300, 300, 200]


def test_overlap_tail_chunks() -> None:
    case = REPORTED["overlap-tail-chunks"]
    assert [piece for piece, _ in placed(case["input"], "character", max_size=4, overlap=2)] == case["right"]
    assert [piece for piece, _ in placed(case["input"], "fixed", max_size=4, overlap=2)] == case["right"]


def test_char_oversize() -> None:
    text = REPORTED["char-oversize"]["input"]
    assert [len(piece) for piece, _ in placed(text, "character", max_size=10, overlap=0, separator="\n")] == [
        10,
        10,
        10,
        1,
    ]


def test_unst_title_no_split() -> None:
    text = "# Fees\n\ntwo coins\n\n# Hours\n\nnine\n"
    assert paths(text, headers=[["#", "title"]], max_size=1000) == [(["Fees"], "two coins"), (["Hours"], "nine")]


def test_code_lines_ignored() -> None:
    for option, value in REPORTED["code-lines-ignored"]["options"].items():
        for strategy in ("recursive", "code"):
            with pytest.raises(OptionError, match=option):
                build(strategy, **{option: value})


def test_code_byte_offsets() -> None:
    text = REPORTED["code-byte-offsets"]["input"]
    found = placed(text, "code", language="python", max_size=30, overlap=0)
    assert found == [("# 注释：你好\ndef a():", 0), ('    return "中"', 17), ("def b():\n    return 2", 33)]


def test_html_parent_heading() -> None:
    case = REPORTED["html-parent-heading"]
    found = chunk(case["input"], "html", headers=[["h1", "h1"], ["h2", "h2"]])
    assert [piece.text for piece in found] == ["Intro.", "At desk."]
    assert [{key: piece.metadata[key] for key in ("h1", "h2") if key in piece.metadata} for piece in found] == case[
        "right"
    ]


def test_html_script_text() -> None:
    text = REPORTED["html-script-text"]["input"]
    assert [piece.text for piece in chunk(text, "html", headers=[["h1", "h1"]])] == ["ok"]
    assert [tuple(drop) for drop in build("html", headers=[["h1", "h1"]]).split(text).drops if drop.kind == "script"]


def test_html_nonheading_selector() -> None:
    text = REPORTED["html-nonheading-selector"]["input"]
    (piece,) = chunk(text, "html", headers=[["h1", "t"], ["div", "sec"]])
    assert (piece.text, piece.headings, piece.metadata["t"]) == ("body", ("Hi",), "Hi")


def test_json_over_limit() -> None:
    text = REPORTED["json-over-limit"]["input"]
    (piece,) = chunk(text, "json", max_size=50)
    assert (piece.text, piece.metadata["pointer"]) == ('"stock arrives on friday"', "/region/store/note")
    assert [(piece.text, piece.metadata["base"]) for piece in chunk(text, "json", max_size=20)] == [
        ('{"note":"stock "}', "/region/store"),
        ('{"note":"arrives "}', "/region/store"),
        ('{"note":"on friday"}', "/region/store"),
    ]


def test_json_list_not_split() -> None:
    found = chunk(REPORTED["json-list-not-split"]["input"], "json", max_size=60, convert_lists=False)
    assert [
        (piece.metadata["pointer"], piece.metadata["first_item"], piece.metadata["last_item"]) for piece in found
    ] == [
        ("/rows", 0, 1),
        ("/rows", 2, 3),
    ]
    assert [len(piece.text) for piece in found] == [48, 48]


def test_json_lost_keys() -> None:
    text = REPORTED["json-lost-keys"]["input"]
    found = chunk(text, "json", max_size=60, min_size=20)
    keys = re.findall(r'"(\w\w-\d)"', text)
    assert [key for piece in found for key in re.findall(r'"(\w\w-\d)"', piece.text)] == keys
    assert [piece.text for piece in found if not 20 <= len(piece.text) <= 60] == []


def test_fast_utf8() -> None:
    text = REPORTED["fast-utf8"]["input"]
    found = placed(text, "character", max_size=20, overlap=0)
    assert "".join(piece for piece, _ in found).replace(" ", "") == text.replace(" ", "")
    by_bytes = placed(text, "character", max_size=20, overlap=0, unit="bytes")
    assert [piece for piece, _ in by_bytes if measuring.utf8_bytes(piece) > 20] == []


def test_repeat_start_chonkie() -> None:
    found = placed("Stay calm and carry on. " * 6, "recursive", max_size=12, unit="tokens", overlap=0)
    assert found == [("Stay calm and carry on. Stay calm and carry on.", start) for start in (0, 48, 96)]


def test_md_fence_alone() -> None:
    text = REPORTED["md-fence-alone"]["input"]
    found = chunk(text, "semantic-markdown", max_size=60)
    code = [piece for piece in found if "of code" in piece.text]
    assert [piece.embed_text.startswith("```\n") for piece in code] == [True] * len(code)
    assert [piece.text for piece in found if not piece.text.strip("`\n ")] == []
    assert re.findall(r"line \d of code", "".join(piece.text for piece in found)) == [
        f"line {number} of code" for number in range(8)
    ]


def test_sentence_oversize() -> None:
    text = REPORTED["sentence-oversize"]["input"]
    found = placed(text, "sentence", max_size=8, unit="tokens", min_size=0)
    assert [piece for piece, _ in found] == [
        "Short one.",
        "And then here comes a far longer sentence",
        "that nobody bothered to cut into pieces.",
    ]


def test_metadata_over_size() -> None:
    path = "/srv/data/" + "deep/" * 40
    found = chunk("Short text.", "sentence", max_size=20, unit="tokens", metadata={"path": path})
    assert [(piece.text, piece.metadata["path"]) for piece in found] == [("Short text.", path)]


def test_lone_surrogate() -> None:
    text = "bad \ud800 char"
    assert placed(text, "recursive", max_size=5, overlap=0) == [("bad \ud800", 0), ("char", 6)]
    assert placed(text, "recursive", max_size=5, overlap=0, unit="tokens") == [(text, 0)]

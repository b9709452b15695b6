"""Reading JSON: the handed cases, what is none and where, and the form in which it is emitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers import Chunk, MalformedDocument, chunk
from chunkers.structure.json_compact import Compact
from chunkers.structure.json_emitted import Emitted
from chunkers.structure.json_grammar import container_ends, value_spans
from chunkers.structure.json_strings import Content
from tests.chunkers.structure.json_members import members
from tests.laws.json_leaves import Leaf, leaves, parsed

CASES: list[dict[str, Any]] = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "json"
]


def whole(text: str, **options: Any) -> Chunk:
    (found,) = chunk(text, "json", **options)
    return found


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] != "json-deep"], ids=lambda case: case["id"])
def test_handed_case(case: dict[str, Any]) -> None:
    text, right = case["input"], case["right"]
    if "error" in right:
        with pytest.raises(MalformedDocument, match="not JSON" if right["error"] == "strict" else right["error"]):
            chunk(text, "json")
    if "leaves" in right:
        assert dict(leaves(parsed(whole(text).text))) == right["leaves"]
    for kept in [right["text_kept"]] if isinstance(right.get("text_kept"), str) else right.get("text_kept", []):
        assert kept in whole(text).text
    if "children" in right:
        assert children(text) == [tuple(child) for child in right["children"]]
    if "records" in right:
        assert [list(span) for span in value_spans(text)] == right["records"]
    if "convert_lists" in right:
        assert json.loads(whole(text, convert_lists=True).text) == right["convert_lists"]
    if "ensure_ascii" in right:
        escaped = whole(text, ensure_ascii=True).text
        assert (escaped, len(escaped), len(whole(text).text)) == (
            right["ensure_ascii"],
            right["size_chars"]["ascii"],
            right["size_chars"]["raw"],
        )


def children(text: str) -> list[tuple[str, str]]:
    """Values of one level, by pointer, as they stand in the document: what a limit of one character leaves."""
    if whole(text).text[0] not in "[{":
        return [(whole(text).metadata["pointer"], whole(text).text)]
    at = Emitted(text, 1 if text[0] == "\ufeff" else 0)
    return [
        ("/" + json.loads(at.text[start : value - 1]), at.text[value:end])
        for start, value, end in members(at.text, at.ends)
    ]


def test_nesting_has_a_limit_that_is_no_crash() -> None:
    with pytest.raises(MalformedDocument, match="deeper than 50,000 levels") as caught:
        chunk("[" * 100_000, "json")
    assert caught.value.position == 50_000
    assert len(container_ends("[" * 50_000 + "]" * 50_000)) == 49_999
    deep = '{"a":' * 20_000 + "1" + "}" * 20_000
    assert [piece.metadata["pointer"].count("/a") for piece in chunk(deep, "json", max_size=40)] == [19_996]


@pytest.mark.parametrize(
    ("text", "position", "place"),
    [
        ("", 0, "line 1 column 1"),
        (" \n", 2, "line 2 column 1"),
        ("[1,]", 3, "line 1 column 4"),
        ('{"a":1,}', 7, "line 1 column 8"),
        ('{"a":1,\r\n"b" 2}', 13, "line 2 column 5"),
        ("{'a':1}", 1, "line 1 column 2"),
        ("[1 2]", 3, "line 1 column 4"),
        ("[[1],[2]", 8, "line 1 column 9"),
        ("[{}]]", 4, "line 1 column 5"),
        ("[[]}", 3, "line 1 column 4"),
        ("[01]", 2, "line 1 column 3"),
        ("[1.]", 2, "line 1 column 3"),
        ("[+1]", 1, "line 1 column 2"),
        ("[NaN]", 1, "line 1 column 2"),
        ("[-Infinity]", 1, "line 1 column 2"),
        ('"a\nb"', 2, "line 1 column 3"),
        ('"a\\x"', 2, "line 1 column 3"),
        ('"\\ud8"', 1, "line 1 column 2"),
        ('["a', 3, "line 1 column 4"),
        ("true false", 5, "line 1 column 6"),
        ("tru", 0, "line 1 column 1"),
        ("[1,\u00a02]", 3, "line 1 column 4"),
        ("\x0b1", 0, "line 1 column 1"),
        ('{"a":[1,{"b":2]}', 14, "line 1 column 15"),
    ],
)
@pytest.mark.parametrize("max_size", [1, 4000])
def test_what_is_no_json_fails_at_its_place(text: str, position: int, place: str, max_size: int) -> None:
    with pytest.raises(MalformedDocument, match=place) as caught:
        chunk(text, "json", max_size=max_size)
    assert caught.value.position == position


def test_json_lines_are_told_that_they_are_records() -> None:
    with pytest.raises(MalformedDocument, match="2 values stand in a row"):
        chunk('{"a":1}\n{"b":2}\n', "json")


@pytest.mark.parametrize(
    ("source", "options", "text"),
    [
        (' { "a b" : [ 1 , "x  \\" y" ] }\r\n', {}, '{"a b":[1,"x  \\" y"]}'),
        ('["é😀", 1]', {"ensure_ascii": True}, '["\\u00e9\\ud83d\\ude00",1]'),
        ('[[1, 2], {"a": [ ]}]', {"convert_lists": True}, '{"0":{"0":1,"1":2},"1":{"a":{}}}'),
        ('["é", "b"]', {"convert_lists": True, "ensure_ascii": True}, '{"0":"\\u00e9","1":"b"}'),
    ],
)
def test_the_emitted_form_leads_back_to_the_source(source: str, options: dict[str, bool], text: str) -> None:
    found = Emitted(source, 0, **options)
    assert found.text == text
    assert json.loads(found.text) is not None
    for value in ("1", "2", '"b"', '"a"', '"a b"'):
        if value in text and source.count(value) == 1 and text.count(value) == 1:
            at = text.index(value)
            assert source[found.source(at) : found.source(at + len(value), is_end=True)] == value


def test_the_content_of_a_string_knows_its_escapes() -> None:
    text = '"a\\n\\u0041\\ud83d\\ude00\\ud800é"'
    content = Content(text, 0, len(text))
    assert content.text == "a\nA😀\ud800é"
    assert [text[content.raw(at) : content.raw(at + 1)] for at in range(len(content.text))] == [
        "a",
        "\\n",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud800",
        "é",
    ]


def test_leaves_are_read_in_order() -> None:
    assert list(leaves(parsed('{"b":[1,{}],"a":{"b":null},"a":"x"}'))) == [
        Leaf("/b/0", "1"),
        Leaf("/b/1", ("empty", True)),
        Leaf("/a/b", None),
        Leaf("/a", ("string", "x")),
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (' { "a b" : [ 1 , " \\\\" , "\\" " ] }\n', '{"a b":[1," \\\\","\\" "]}'),
        ('[\t"\u4e2d  \u6587"\r\n]', '["\u4e2d  \u6587"]'),
        ("[1 2 , 3]", "[1 2,3]"),  # no JSON, and none without its space either
        ("", ""),
    ],
)
def test_white_space_goes_from_between_tokens_only(text: str, wanted: str) -> None:
    assert Compact(text, 0).text == wanted


def test_the_way_back_leads_to_both_sides_of_white_space() -> None:
    compact = Compact("\ufeff [ 1,  2 ] ", 1)
    assert compact.text == "[1,2]"
    assert compact.sources([0, 1, 3, 4], is_end=False) == [2, 4, 8, 10]
    assert compact.sources([1, 2, 4, 5], is_end=True) == [3, 5, 9, 11]

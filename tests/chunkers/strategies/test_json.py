"""`json`: whole members, pointers, sizes as emitted, and the reported faults of other splitters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers import OptionError, build, chunk
from tests.laws.json_leaves import differences

REPORTED: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads((Path(__file__).parents[2] / "cases" / "reported.json").read_text("utf-8"))
}


def made(text: str, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    assert differences(text, build("json", **options).split(text), converted=options.get("convert_lists", False)) == []
    return [(piece.text, dict(piece.metadata)) for piece in chunk(text, "json", **options)]


def test_reported_over_limit() -> None:
    assert made(REPORTED["json-over-limit"]["input"], max_size=50) == [
        ('"stock arrives on friday"', {"pointer": "/region/store/note", "base": "/region/store/note"})
    ]


def test_reported_list_not_split() -> None:
    assert made(REPORTED["json-list-not-split"]["input"], max_size=60) == [
        ('{"rows":[{"id":0,"v":"abc"},{"id":1,"v":"abc"}]}', {"pointer": "/rows", "first_item": 0, "last_item": 1}),
        ('{"rows":[{"id":2,"v":"abc"},{"id":3,"v":"abc"}]}', {"pointer": "/rows", "first_item": 2, "last_item": 3}),
    ]


def test_reported_lost_keys() -> None:
    assert made(REPORTED["json-lost-keys"]["input"], max_size=60, min_size=20) == [
        ('{"t":{"AB":{"AB-0":{},"AB-1":{},"AB-2":{},"AB-3":{}}}}', {"pointer": "/t/AB"}),
        ('{"t":{"AB":{"AB-4":{},"AB-5":{}}}}', {"pointer": "/t/AB"}),
        ('{"t":{"CD":{"CD-0":{},"CD-1":{}}}}', {"pointer": "/t"}),
    ]


def test_small_pieces_join_a_neighbour_and_none_is_lost() -> None:
    text = '{"a":{"x":1,"long":"aaaaaaaaaaaaaaaa"},"b":2,"c":{"y":"bbbbbbbbbbbbbbbbbb"}}'
    assert [text for text, _ in made(text, max_size=44)] == [
        '{"a":{"x":1,"long":"aaaaaaaaaaaaaaaa"}}',
        '{"b":2,"c":{"y":"bbbbbbbbbbbbbbbbbb"}}',
    ]
    rows = json.dumps({"rows": [{"i": number} for number in range(20)], "z": "tail"}, separators=(",", ":"))
    for least in (0, 10, 20, 40):
        assert min(len(text) for text, _ in made(rows, max_size=60, min_size=least)) >= min(least, 12)


def test_a_long_string_is_cut_like_text_and_keeps_its_escapes() -> None:
    text = '{"t":"one two\\n three \\u00e9 four five six"}'
    assert made(text, max_size=26) == [
        ('{"t":"one two\\n "}', {"pointer": "/t", "part": 0}),
        ('{"t":"three \\u00e9 four "}', {"pointer": "/t", "part": 1}),
        ('{"t":"five six"}', {"pointer": "/t", "part": 2}),
    ]


def test_white_space_in_strings_is_kept() -> None:
    text = json.dumps({"t": "a" + " " * 100 + "b\n" + "\t" * 30})
    assert max(len(text) for text, _ in made(text, max_size=30)) <= 30


def test_a_token_that_is_too_long_is_bare_and_oversize() -> None:
    text = '{"id":12345678901234567890123,"t":true}'
    found = chunk(text, "json", max_size=12)
    assert [(piece.text, piece.cut) for piece in found] == [
        ("12345678901234567890123", "oversize"),
        ('{"t":true}', "document-end"),
    ]
    assert text[found[0].start : found[0].end] == found[0].text


def test_a_document_that_fits_is_its_slice() -> None:
    text = '\ufeff {"a" : [1,  2]}\n'
    (piece,) = chunk(text, "json")
    assert (piece.text, piece.start, piece.end, piece.metadata) == ('{"a" : [1,  2]}', 2, 17, {"pointer": ""})
    (piece,) = chunk(text, "json", max_size=11)
    assert (piece.text, piece.start, piece.end) == ('{"a":[1,2]}', 2, 17)


def test_a_value_by_itself_is_its_slice() -> None:
    text = '{"a long key that takes all the room":[1,  2, 3]}'
    (piece,) = chunk(text, "json", max_size=20)
    assert (piece.text, text[piece.start : piece.end]) == ("[1,  2, 3]", "[1,  2, 3]")
    assert piece.metadata == dict.fromkeys(("pointer", "base"), "/a long key that takes all the room")


def test_numbers_repeated_keys_and_order_stay() -> None:
    text = '{"b":1.0,"a":1e2,"b":-0,"a":0.10000000000000000001,"c":12345678901234567890123}'
    assert "".join(text for text, _ in made(text, max_size=30)) == (
        '{"b":1.0,"a":1e2,"b":-0}{"a":0.10000000000000000001}{"c":12345678901234567890123}'
    )


def test_lists_become_objects() -> None:
    assert made('{"a":[{"b":1},[2,3]],"c":[]}', max_size=24, convert_lists=True) == [
        ('{"a":{"0":{"b":1}}}', {"pointer": "/a"}),
        ('{"0":2,"1":3}', {"pointer": "/a/1", "base": "/a/1"}),
        ('{"c":{}}', {"pointer": ""}),
    ]


def test_a_key_with_half_a_character_gives_a_pointer_that_can_be_stored() -> None:
    (_, metadata), *_ = made('{"\\ud800":[1,2,3,4,5,6,7,8,9]}', max_size=20)
    assert metadata["pointer"] == "/\\ud800"


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"min_size": -1}, "min_size"),
        ({"min_size": 300, "max_size": 200}, "min_size"),
        ({"min_size": 10, "max_size": None}, "min_size"),
        ({"max_size": 0}, "max_size"),
        ({"ensure_ascii": "yes"}, "ensure_ascii"),
        ({"convert_lists": 1}, "convert_lists"),
        ({"overlap": 10}, "overlap"),
        ({"strip_whitespace": True}, "strip_whitespace"),
        ({"unit": "lines"}, "unit"),
        ({"unit": "words", "length_function": len}, "unit"),
        ({"encoding_name": "gpt2"}, "encoding_name"),
        ({"max_size": True}, "max_size"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], name: str) -> None:
    with pytest.raises(OptionError, match=name):
        build("json", **options)

"""Documents that name their encoding themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers import chunk
from pipelines.documents.charset import encoding_in_markup
from pipelines.documents.decode import decode

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["id"].startswith("html-charset")
}


def headings(text: str) -> list[str]:
    return [piece.text for piece in chunk(text, "html")]


def test_handed_case_of_western_bytes() -> None:
    found = decode(CASES["html-charset-c1"]["input"].encode("latin-1"))
    assert headings(found.text) == CASES["html-charset-c1"]["right"]["headings"]


def test_handed_case_of_chinese_bytes() -> None:
    """The case prints 鎔, which is E6 67 in GBK; its bytes are E7 46, which is 鏔."""
    found = decode(CASES["html-charset-gbk"]["input"].encode("latin-1"))
    assert (headings(found.text), found.encoding) == (["鏔基"], CASES["html-charset-gbk"]["right"]["encoding"])


def test_handed_case_without_a_declaration() -> None:
    case = CASES["html-charset-none"]
    assert headings(decode(case["input"].encode("utf-8")).text) == case["right"]["headings"]


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="gb2312">', "gb18030"),
        ("<META CHARSET=GBK>", "gb18030"),
        ("<meta http-equiv='Content-Type' content='text/html; charset=Shift_JIS'>", "cp932"),
        ('<meta charset="iso-8859-1">', "cp1252"),
        ('<meta charset="latin1">', "cp1252"),
        ("<meta charset=euc-kr>", "cp949"),
        ('<?xml version="1.0" encoding="windows-1251"?>', "cp1251"),
        ("<meta charset=utf-8>", None),
        ("<meta charset=utf-16>", None),
        ("<meta charset=nonsense>", None),
        ("<meta name=charset content=x>", None),
        ("charset=gbk", None),
        ("", None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(head: str, encoding: str | None) -> None:
    assert encoding_in_markup(head.encode()) == encoding


def test_utf8_is_utf8_whatever_the_document_says() -> None:
    text = '<meta charset="gb2312"><p>標題</p>'
    assert decode(text.encode("utf-8"))[:2] == (text, "utf-8")


def test_a_label_that_does_not_fit_is_not_believed() -> None:
    data = b'<meta charset="euc-jp"><p>' + "Съешь ещё этих мягких французских булок, да выпей чаю".encode("cp1251")
    assert decode(data).encoding != "euc_jp"

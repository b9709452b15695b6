"""JSON Lines: lines end at LF, are counted, fail alone, and parts give what the whole gives."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.config.model import Decoding
from pipelines.documents.failures import DocumentFailure
from tests.pipelines.documents.formats.reading import CONTEXT, read, record


def line(**values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode()


def test_records_with_all_their_columns() -> None:
    data = line(id="a", text="日\u2028本\n", name="N", lang="ja", price=3) + b"\n" + line(id=7, text="")
    assert read("jsonl", data) == (
        [record(0, "a", "日\u2028本\n", "N", 3.0, lang="ja"), record(1, "7", "")],
        "utf-8",
        True,
    )


def test_lines_are_counted_blank_or_not_and_carriage_returns_do_not_matter() -> None:
    data = b"\n \r\n" + line(id="a", text="t") + b"\r\n\n\n" + line(id="b", text="\x85") + b"\r\n"
    assert read("jsonl", data)[0] == [record(2, "a", "t"), record(5, "b", "\x85")]
    assert read("jsonl", b"") == ([], "utf-8", True)
    assert read("jsonl", b"\n\n") == ([], "utf-8", True)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (b"{", "malformed"),
        (b'{"id": "x", "text": NaN}', "malformed"),
        (b'{"id": "x", "text": "t"} {}', "malformed"),
        (b"[" * 100_000, "malformed"),
        (b'{"id":' * 50_000, "malformed"),
        (b'"text"', "malformed"),
        (b"null", "malformed"),
        (b'{"id": ' + b"9" * 5000 + b', "text": "t"}', "malformed"),
        (b'{"id": "x", "text": "\xff"}', "decode"),
        (b"\xef\xbb\xbf{}", "malformed"),
        (b'{"text": "t"}', "no-id"),
        (b'{"id": "x", "text": "a\tb"}', "malformed"),
    ],
    ids=range(12),
)
def test_a_bad_line_fails_alone_but_is_remembered(bad: bytes, error: str) -> None:
    data = b"\n".join([line(id="a", text="t"), bad, line(id="b", text="t")])
    assert read("jsonl", data) == (
        [record(0, "a", "t"), (1, "line 2", None, error), record(2, "b", "t")],
        "utf-8",
        False,
    )


def test_a_bad_record_with_an_id_leaves_the_container_whole() -> None:
    found, _, whole = read("jsonl", line(id="a", text=None) + b"\n" + line(id="b", text="\ud800"[:0]))
    assert (found, whole) == ([(0, "line 1", "p/a", "malformed"), record(1, "b", "")], True)


def test_the_last_of_equal_keys_wins() -> None:
    assert read("jsonl", b'{"id": "a", "text": "1", "text": "2"}')[0] == [record(0, "a", "2")]


def test_a_line_over_the_limit_is_skipped_to_its_end() -> None:
    context = replace(CONTEXT, max_bytes=100)
    long = line(id="x", text="y" * 3_000_000)
    data = b"\n".join([line(id="a", text="t"), long, line(id="b", text="t"), long])
    expected = [
        record(0, "a", "t"),
        (1, "line 2", None, "too-large"),
        record(2, "b", "t"),
        (3, "line 4", None, "too-large"),
    ]
    assert read("jsonl", data, context)[0] == expected
    whole = read("jsonl", data)[0]
    assert [each.text[:1] for each in whole] == ["t", "y", "t", "y"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", None])
def test_only_what_has_parts_may_be_larger_than_the_limit(encoding: str | None) -> None:
    data = b"\n".join(line(id=str(number), text="t") for number in range(100))
    context = replace(CONTEXT, max_bytes=1000, decoding=Decoding(encoding=encoding))
    if encoding is None:
        assert len(read("jsonl", data, context)[0]) == 100
        return
    with pytest.raises(DocumentFailure) as caught:
        read("jsonl", data, context)
    assert caught.value.error == "too-large"
    with pytest.raises(DocumentFailure) as caught:
        read("jsonl", gzip.compress(data), context)
    assert caught.value.error == "too-large"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_with_and_without_mark(encoding: str) -> None:
    data = (line(id="a", text="日本語の文書") + b"\n" + line(id="b", text="一")).decode().encode(encoding)
    found, name, whole = read("jsonl", data)
    assert (found, whole) == ([record(0, "a", "日本語の文書"), record(1, "b", "一")], True)
    assert name in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")


def test_a_declared_encoding_is_for_lines_that_are_not_utf8() -> None:
    data = line(id="a", text="é") + b"\n" + line(id="b", text="é").decode().encode("cp1252")
    declared = replace(CONTEXT, decoding=Decoding(encoding="cp1252"))
    assert read("jsonl", data, declared) == ([record(0, "a", "é"), record(1, "b", "é")], "cp1252", True)
    replaced = replace(CONTEXT, decoding=Decoding(errors="replace"))
    assert read("jsonl", data, replaced)[0][1] == record(1, "b", "\ufffd")
    iso = replace(CONTEXT, decoding=Decoding(encoding="iso2022_jp"))
    assert read("jsonl", '{"id": "a", "text": "日本"}'.encode("iso2022_jp"), iso)[0] == [record(0, "a", "日本")]


def test_compressed_lines() -> None:
    data = line(id="a", text="t") + b"\n"
    assert read("jsonl", gzip.compress(data) * 2)[:2] == ([record(0, "a", "t"), record(1, "a", "t")], "gzip+utf-8")
    with pytest.raises(DocumentFailure) as caught:
        read("jsonl", gzip.compress(data)[:-3])
    assert caught.value.error == "truncated"


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"PK\x03\x04", b"PAR1\x15\x04"])
def test_what_is_no_text_is_refused_as_a_whole(data: bytes) -> None:
    with pytest.raises(DocumentFailure) as caught:
        read("jsonl", data)
    assert caught.value.error == "binary"


@given(
    st.lists(st.sampled_from([b"", b"{", b" ", line(id="a", text="t"), line(id="b", text="日" * 50)]), max_size=20),
    st.data(),
)
def test_parts_give_what_the_whole_gives(lines: list[bytes], data: st.DataObject) -> None:
    content = b"\n".join(lines)
    starts = [0, *(at + 1 for at, byte in enumerate(content) if byte == 10)]
    chosen = sorted(data.draw(st.sets(st.sampled_from(starts)))) or [0]
    if chosen[0]:
        chosen.insert(0, 0)
    parts = []
    for start, stop in zip(chosen, [*chosen[1:], len(content)], strict=True):
        parts += read("jsonl", content, start=start, stop=stop, first=content.count(b"\n", 0, start))[0]
    assert parts == read("jsonl", content)[0]

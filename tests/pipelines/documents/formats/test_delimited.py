"""CSV and TSV: header, quotes, and what is done about rows that do not fit."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from pipelines.config.model import Decoding
from pipelines.documents.failures import DocumentFailure
from tests.pipelines.documents.formats.reading import CONTEXT, read, record

FRENCH = "C'était très beau là-bas, à la plage. Où êtes-vous allés après l'été ?"


def failure(data: bytes, format_: str = "csv", **changes: object) -> tuple[str, str]:
    with pytest.raises(DocumentFailure) as caught:
        read(format_, data, replace(CONTEXT, **changes))  # type: ignore[arg-type]
    return caught.value.error, str(caught.value)


def test_rows_with_all_their_columns() -> None:
    data = 'x,price,id,text,lang,name\r\n1,2.5,a,"one\r\n""two"", three",ja,N\r\n,,b,日,,\r\n'.encode()
    expected = [record(0, "a", 'one\r\n"two", three', "N", 2.5, lang="ja"), record(1, "b", "日", lang="")]
    assert read("csv", data) == (expected, "utf-8", True)


def test_tabs_and_a_last_row_without_a_line_end() -> None:
    assert read("tsv", b'id\ttext\na\tb,c\nd\t"e\tf"')[0] == [record(0, "a", "b,c"), record(1, "d", "e\tf")]


def test_rows_of_another_width_fail_alone_and_blank_ones_are_counted() -> None:
    data = b"id,text\na,t\nb\n\nc,t,u\n,t\nd,t\n"
    expected = [
        record(0, "a", "t"),
        (1, "row 2", None, "malformed"),
        (3, "row 4", None, "malformed"),
        (4, "row 5", None, "no-id"),
        record(5, "d", "t"),
    ]
    assert read("csv", data) == (expected, "utf-8", False)


@pytest.mark.parametrize("rest", [b'b,"t"u\nc,t\n', b'b,"never closed\nc,t\n'])
def test_nothing_is_guessed_after_wrong_quotes(rest: bytes) -> None:
    found, _, whole = read("csv", b"id,text\na,t\n" + rest)
    assert (found, whole) == ([record(0, "a", "t"), (1, "row 2", None, "malformed")], False)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_with_and_without_mark(encoding: str) -> None:
    data = "id,text,lang\na,日本語の文書,ja\nb,plain,en\n".encode(encoding)
    assert read("csv", data)[0] == [record(0, "a", "日本語の文書", lang="ja"), record(1, "b", "plain", lang="en")]


def test_detected_declared_and_replaced() -> None:
    data = f"id,text\na,{FRENCH}\n".encode("cp1252").replace(b", ", b"; ")
    text = FRENCH.replace(", ", "; ")
    assert read("csv", data) == ([record(0, "a", text)], "cp1252", True)
    assert read("csv", data, replace(CONTEXT, decoding=Decoding(encoding="cp1252")))[0] == [record(0, "a", text)]
    damaged = "id,text\na,日本語の文書\n".encode()[:-2] + b"\n"
    assert failure(damaged)[0] == "decode"
    found = read("csv", damaged, replace(CONTEXT, decoding=Decoding(errors="replace")))
    assert found == ([record(0, "a", "日本語の文\ufffd")], "utf-8+replaced", True)


def test_far_from_the_beginning() -> None:
    rows = "".join(f"{number},{'x' * 100}\n" for number in range(30_000))
    assert len(read("csv", f"id,text\n{rows}é,t\n".encode())[0]) == 30_001
    assert failure(f"id,text\n{rows}".encode() + b"a,\xe6\x97\n" + ("日本" * 99).encode())[0] == "decode"


def test_long_fields_are_read() -> None:
    assert read("csv", b"id,text\na," + b"x" * 300_000)[0] == [record(0, "a", "x" * 300_000)]


def test_compressed() -> None:
    data = gzip.compress(b"id,text\na,t\n")
    assert read("csv", data) == ([record(0, "a", "t")], "gzip+utf-8", True)
    assert failure(data[:-9])[0] == "truncated"


def test_containers_that_cannot_be_read() -> None:
    assert failure(b"a,b\n1,2\n") == ("malformed", "no column 'id'; it has a, b (the source's `columns` names them)")
    assert failure(b"id,text,text\n") == ("malformed", "the column 'text' is there twice")
    assert failure(b'"id,text\n')[0] == "malformed"
    assert failure(b"%PDF-1.7\n")[0] == "binary"
    assert failure(bytes(range(256)) * 9)[0] == "binary"
    assert failure(b"id,text\n" + b"a,t\n" * 300, max_bytes=1024)[0] == "too-large"
    assert read("csv", b"") == ([], "utf-8", True)
    assert read("csv", b"id,text\n") == ([], "utf-8", True)

"""A JSON array of objects: elements fail alone, bad syntax ends the reading."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from pipelines.documents.failures import DocumentFailure
from tests.pipelines.documents.formats.reading import CONTEXT, read, record


def test_elements_are_records() -> None:
    data = json.dumps([{"id": "a", "text": "日", "lang": "ja"}, {"id": 2, "text": ""}], indent=2).encode()
    assert read("records", data) == ([record(0, "a", "日", lang="ja"), record(1, "2", "")], "utf-8", True)
    assert read("records", gzip.compress(data))[1] == "gzip+utf-8"
    assert read("records", data.decode().encode("utf-16"))[1] == "utf-16-le"
    assert read("records", b" [ ] \n") == ([], "utf-8", True)


def test_elements_that_are_no_objects_fail_alone() -> None:
    expected = [(0, "index 0", None, "malformed"), (1, "index 1", None, "no-id"), record(2, "a", "t")]
    assert read("records", b'[1, {}, {"id": "a", "text": "t"}]') == (expected, "utf-8", False)


@pytest.mark.parametrize(
    "rest", [b"", b",", b",]", b", {", b" {}", b', {"id": NaN}]', b"," + b"[" * 100_000, b"}", b"] x", b"]]"]
)
def test_nothing_is_guessed_after_wrong_syntax(rest: bytes) -> None:
    found, _, whole = read("records", b'[{"id": "a", "text": "t"}' + rest)
    assert (found, whole) == ([record(0, "a", "t"), (1, "index 1", None, "malformed")], False)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "malformed"),
        (b"{}", "malformed"),
        (b"x", "malformed"),
        (b"%PDF-1.7", "binary"),
        (b" " * 2000, "too-large"),
    ],
)
def test_containers_that_cannot_be_read(data: bytes, error: str) -> None:
    with pytest.raises(DocumentFailure) as caught:
        read("records", data, replace(CONTEXT, max_bytes=1500))
    assert caught.value.error == error

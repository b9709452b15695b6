"""Ids that are easily taken for one another."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from pipelines.twins import Twins, find_twins


def twins(*ids: str) -> Twins | None:
    return find_twins(pa.array(ids, pa.string()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A.txt", "a.txt"),
        ("docs/Read Me.md", "docs/READ ME.md"),
        ("caf\u00e9.txt", "cafe\u0301.txt"),
        ("\u00c9t\u00e9", "e\u0301te\u0301"),
        ("\u00c4.txt", "\u00e4.txt"),
        ("\uac00.txt", "\u1100\u1161.txt"),  # Hangul, composed and not
        ("\u2126.txt", "\u03c9.txt"),  # the ohm sign is a capital omega
        ("\u0412\u0421.txt", "\u0432\u0441.txt"),
    ],
)
def test_ids_alike_but_for_case_or_normalization(one: str, other: str) -> None:
    found = twins("other", one, "zebra", other)
    assert found == Twins(documents=2, example=(min(one, other), max(one, other)))


@pytest.mark.parametrize(
    "ids", [(), ("a",), ("a.txt", "b.txt"), ("cafe.txt", "café.txt"), ("a", "\u0430"), ("a ", "a"), ("ﬁ", "fi")]
)
def test_other_ids_are_no_twins(ids: tuple[str, ...]) -> None:
    assert twins(*ids) is None


def test_every_document_with_a_twin_is_counted_and_the_first_two_are_named() -> None:
    assert twins("b", "x", "B", "caf\u00e9", "CAFE\u0301", "cafe\u0301", "y") == Twins(documents=5, example=("B", "b"))
    chunks = pa.chunked_array([["x", "b"], ["B"]])
    assert find_twins(chunks) == Twins(documents=2, example=("B", "b"))


def test_names_that_look_the_same_are_shown_as_what_they_are() -> None:
    same, other = twins("caf\u00e9", "cafe\u0301"), twins("\u6587A", "\u6587a")
    assert same is not None
    assert "'cafe\\u0301' and 'caf\\xe9'" in same.text
    assert other is not None
    assert other.text == (
        "2 documents have ids that differ from another one's only in case or Unicode normalization, "
        "such as '\u6587A' and '\u6587a'; they are kept apart"
    )


@pytest.mark.parametrize("name", ["folder/document %d.txt", "文件夾/文件 é %d.txt"])
def test_a_hundred_thousand_ids_are_cheap(name: str) -> None:
    ids = pa.array([name % number for number in range(100_000)])
    began = time.process_time()
    assert find_twins(ids) is None
    assert time.process_time() - began < 0.5

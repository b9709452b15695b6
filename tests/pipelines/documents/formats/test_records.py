"""The rules for a record, whatever its container, and what its hash depends on."""

from __future__ import annotations

import datetime
import decimal
from dataclasses import replace
from typing import Any

import pytest

from pipelines.config.model import Budget, Columns, Config, Extractor, Output, Source
from pipelines.documents.formats import (
    BadRecord,
    ReadContext,
    Record,
    context_of,
    digest,
    format_of,
    is_container,
    place_of,
    plain_name,
)
from pipelines.documents.formats.records import RecordMaker

GOOD: dict[str, Any] = {"id": "a", "text": "t"}
CONTEXT = ReadContext(
    columns=Columns(title="name", media_type="type", metadata=("m",), payload={"n": "int64", "s": "string"}),
    payload=(("s", "string"), ("x", "bool"), ("n", "int64")),
    max_bytes=1024,
)


def make(**values: Any) -> Record | BadRecord:
    return RecordMaker(CONTEXT, "jsonl").make({**GOOD, **values}, 4)


def failure(**values: Any) -> tuple[str | None, str, str]:
    made = make(**values)
    assert isinstance(made, BadRecord)
    assert (made.position, made.place, made.failure.position, made.failure.stage) == (4, "line 5", "line 5", "record")
    return made.id, made.failure.error, made.failure.message


def test_a_record_has_all_its_columns() -> None:
    made = make(name="N", type="text/html", m=1.5, n=3, s="é", ignored=[1])
    assert made == Record(4, "a", "t", "N", "text/html", {"m": 1.5}, ("é", None, 3))
    assert make() == Record(4, "a", "t", None, None, {}, (None, None, None))
    assert make(name="", type=None, m=None, n=None) == make()


@pytest.mark.parametrize(("given", "id_"), [("x", "x"), (7, "7"), (-1, "-1"), (10**30, "1" + "0" * 30), (" ", " ")])
def test_an_id_is_text_or_a_whole_number(given: Any, id_: str) -> None:
    made = make(id=given)
    assert made.id == id_


@pytest.mark.parametrize("given", ["", None, True, 1.0, [1], {}, b"x"])
def test_anything_else_is_no_id(given: Any) -> None:
    id_, error, _ = failure(id=given)
    assert (id_, error) == (None, "no-id")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"text": None}, "malformed", "'text' is null, not text"),
        ({"text": 3}, "malformed", "'text' is of type int, not text"),
        ({"text": "x" * 1025}, "too-large", "1025 bytes of 1024 (limits.max_bytes)"),
        ({"text": "日" * 342}, "too-large", "1026 bytes of 1024 (limits.max_bytes)"),
        ({"name": 3}, "malformed", "'name' is of type int, not text"),
        ({"m": []}, "metadata", "metadata 'm' is a list, not a string, number or boolean"),
        ({"m": {}}, "metadata", "metadata 'm' is a dict, not a string, number or boolean"),
        ({"m": b"x"}, "metadata", "metadata 'm' is a bytes, not a string, number or boolean"),
        (
            {"m": float("inf")},
            "metadata",
            "metadata 'm' is a number that is not finite, not a string, number or boolean",
        ),
        ({"n": "3.5"}, "payload", "'n' is '3.5', which is no int64"),
        ({"s": 3}, "payload", "'s' is 3, which is no string"),
    ],
)
def test_a_record_with_an_id_fails_as_a_document(values: dict[str, Any], error: str, message: str) -> None:
    assert failure(**values) == ("a", error, message)


@pytest.mark.parametrize("name", ["text", "name", "m", "s", "type"])
def test_half_of_a_surrogate_pair_is_refused_wherever_it_is(name: str) -> None:
    id_, error, message = failure(**{name: "é\ud800"})
    assert (id_, error) == ("a", "surrogate")
    assert f"in {name!r}" in message
    assert failure(id="\udfff")[:2] == (None, "surrogate")


def test_metadata_of_parquet_becomes_text() -> None:
    for value, text in [
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3), "2026-01-02T03:00:00"),
        (decimal.Decimal("1.10"), "1.10"),
    ]:
        made = make(m=value)
        assert isinstance(made, Record)
        assert made.metadata == {"m": text}


def test_hash_depends_on_everything_but_the_place() -> None:
    base = Record(0, "a", "t", None, None, {"k": 1, "l": "x"}, (None, b"x", datetime.date(2026, 1, 2)))
    assert digest(base) == digest(base._replace(position=9, metadata={"l": "x", "k": 1}))
    others = [
        base._replace(id="b"),
        base._replace(text="u"),
        base._replace(title="t"),
        base._replace(media_type="t"),
        base._replace(metadata={"k": "1", "l": "x"}),
        base._replace(metadata={"k": True, "l": "x"}),
        base._replace(payload=(None, b"y", datetime.date(2026, 1, 2))),
        base._replace(payload=(b"x", None, datetime.date(2026, 1, 2))),
    ]
    assert len({digest(each) for each in [base, *others]}) == 1 + len(others)
    assert digest(Record(0, "a", "日", None, None, {}, ())) == (
        "a201999ec42f96d935ac571032b936630db5056d4280a75b69dad2beb78852fe"
    )


def test_formats_go_by_name_only_with_auto() -> None:
    auto = Source(path="d")
    names = ["a.jsonl", "A.NDJSON", "a.csv.gz", "a.tsv.zst", "a.parquet", "a.json", "a.csv.md", "a.gz", "jsonl", ".csv"]
    expected = ["jsonl", "jsonl", "csv", "tsv", "parquet", "text", "text", "text", "text", "csv"]
    assert [format_of(auto, name) for name in names] == expected
    assert [is_container(auto, name) for name in names] == [each != "text" for each in expected]
    assert format_of(replace(auto, format="records"), "a.md") == "records"
    assert format_of(replace(auto, format="text"), "a.jsonl") == "text"
    assert format_of(replace(auto, extractor=Extractor(function="json:loads", version="1")), "a.csv") == "text"


def test_places_and_names() -> None:
    assert [place_of(each, 2) for each in ("jsonl", "csv", "tsv", "parquet", "records")] == [
        "line 3",
        "row 3",
        "row 3",
        "row 3",
        "index 2",
    ]
    assert [plain_name(each) for each in ("a/b.md.GZ", "b.md", "x.zstd", ".gz")] == ["a/b.md", "b.md", "x", ""]


def test_context_of_a_source() -> None:
    config = Config(
        name="n",
        sources=(
            Source(path="a", columns=Columns(payload={"x": "bool"})),
            Source(path="b", id_prefix="b/", columns=Columns(payload={"y": "date", "x": "bool"})),
        ),
        output=Output(path="t"),
        limits=Budget(max_bytes=7, max_ratio=3),
    )
    assert context_of(config, 1) == ReadContext(
        columns=config.sources[1].columns,
        payload=(("x", "bool"), ("y", "date")),
        id_prefix="b/",
        max_bytes=7,
        max_ratio=3,
    )

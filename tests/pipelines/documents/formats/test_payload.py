"""Payload values: the declared type exactly, or an error that shows the value."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from pipelines.documents.formats.payload import PayloadError, cast, json_form
from pipelines.table.schemas import PAYLOAD_TYPES

UTC = datetime.UTC


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (None, "string", None),
        ("", "string", ""),
        ("a", "string", "a"),
        ("", "int64", None),
        (3, "int64", 3),
        ("-3", "int64", -3),
        (3.0, "int64", 3),
        (2**63 - 1, "int64", 2**63 - 1),
        (3, "double", 3.0),
        ("1.5e3", "double", 1500.0),
        (".5", "double", 0.5),
        (True, "bool", True),
        ("False", "bool", False),
        ("2026-11-30", "date", datetime.date(2026, 11, 30)),
        (datetime.date(2026, 11, 30), "date", datetime.date(2026, 11, 30)),
        ("2026-11-30T12:00:00+01:00", "timestamp", datetime.datetime(2026, 11, 30, 11, tzinfo=UTC)),
        ("2026-11-30 12:00:00", "timestamp", datetime.datetime(2026, 11, 30, 12, tzinfo=UTC)),
        (datetime.datetime(2026, 11, 30), "timestamp", datetime.datetime(2026, 11, 30, tzinfo=UTC)),
        ("aGk=", "binary", b"hi"),
        ("", "binary", b""),
        (b"\0", "binary", b"\0"),
    ],
)
def test_values(value: Any, type_: str, expected: Any) -> None:
    found = cast(value, type_)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (3, "string"),
        (b"a", "string"),
        ("3.5", "int64"),
        (3.5, "int64"),
        (True, "int64"),
        (2**63, "int64"),
        ("1_0", "int64"),
        ("nan", "double"),
        (float("inf"), "double"),
        ("1e999", "double"),
        (2**53 + 1, "double"),
        (True, "double"),
        (1, "bool"),
        ("yes", "bool"),
        ("2026-13-01", "date"),
        ("20261130", "date"),
        (datetime.datetime(2026, 1, 1), "date"),
        ("2026-11-30", "timestamp"),
        (1234567890, "timestamp"),
        ("not base64", "binary"),
        ([1], "string"),
    ],
)
def test_values_of_another_type_are_refused(value: Any, type_: str) -> None:
    with pytest.raises(PayloadError, match=f"^is .*, which is no {type_}$"):
        cast(value, type_)


def test_long_values_are_cut_in_the_message() -> None:
    with pytest.raises(PayloadError) as caught:
        cast("x" * 1000, "int64")
    assert str(caught.value) == f"is '{'x' * 58}…, which is no int64"


def test_every_declared_type_has_a_json_form() -> None:
    values = {
        "string": ("a", "a"),
        "int64": ("3", 3),
        "double": ("3", 3.0),
        "bool": ("true", True),
        "date": ("2026-01-02", "2026-01-02"),
        "timestamp": ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678000Z"),
        "binary": ("aGk=", "aGk="),
    }
    assert set(values) == set(PAYLOAD_TYPES)
    for type_, (value, form) in values.items():
        assert json_form(cast(value, type_)) == form

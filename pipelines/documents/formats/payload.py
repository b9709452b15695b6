"""Payload values: what a record holds, as the declared type of its column, exactly or not at all."""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

_UTC = datetime.UTC
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EXACT = 2**53


class PayloadError(ValueError):
    """A value that its column cannot hold. The message is a predicate: `is 'x', which is no int64`."""


def cast(value: Any, type_: str) -> Any:
    """`value` of JSON, CSV or Parquet as the payload type `type_`; None stays None. Raises PayloadError."""
    if value is None:
        return None
    if value == "" and type_ not in ("string", "binary"):
        return None  # CSV has no other word for nothing
    try:
        cast_value = _CASTS[type_](value)
    except (ValueError, OverflowError, binascii.Error):
        cast_value = None
    if cast_value is None:
        shown = repr(value)
        raise PayloadError(f"is {shown if len(shown) <= 60 else shown[:59] + '…'}, which is no {type_}")
    return cast_value


def json_form(value: Any) -> Any:
    """A payload value as JSON has it: dates in ISO form, times in UTC to the microsecond, bytes in base64."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _int64(value: Any) -> int | None:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    return value if whole else None


def _double(value: Any) -> float | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, int) and abs(value) > _EXACT)
    ):
        return None
    return float(value) if math.isfinite(value) else None


def _bool(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


def _date(value: Any) -> datetime.date | None:
    if isinstance(value, str) and _DATE.fullmatch(value):
        return datetime.date.fromisoformat(value)
    return value if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime) else None


def _timestamp(value: Any) -> datetime.datetime | None:
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value) if len(value) > 10 else None
    if not isinstance(value, datetime.datetime):
        return None
    return value.replace(tzinfo=_UTC) if value.tzinfo is None else value.astimezone(_UTC)


def _binary(value: Any) -> bytes | None:
    return base64.b64decode(value, validate=True) if isinstance(value, str) else value if type(value) is bytes else None


_CASTS: Mapping[str, Callable[[Any], Any]] = {
    "string": _string,
    "int64": _int64,
    "double": _double,
    "bool": _bool,
    "date": _date,
    "timestamp": _timestamp,
    "binary": _binary,
}

"""Records of containers: what readers yield, the one place with the rules for a record, and a record's digest."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple

from pipelines.config.model import Columns, Config, Decoding
from pipelines.documents.failures import DocumentFailure, Failure, failure_of
from pipelines.documents.formats.names import place_of
from pipelines.documents.formats.payload import PayloadError, cast, json_form

Scalar = str | int | float | bool


class Record(NamedTuple):
    """A document in a container. `position` is its ordinal from 0: of lines (JSON Lines), elements or data rows.

    `id` has the source's prefix. `payload` is in the order of `Config.payload`, None where this record has none.
    """

    position: int
    id: str
    text: str
    title: str | None
    media_type: str | None
    metadata: Mapping[str, Scalar]
    payload: tuple[Any, ...]


class BadRecord(NamedTuple):
    """A record that cannot be read. With an id it is a document that failed; without, only a place that did."""

    position: int
    place: str
    id: str | None
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContext:
    """What readers must know of the configuration. `payload` are the columns of the table, of all sources.

    `max_bytes` is the most that a record, or a container that is read whole, may have.
    """

    columns: Columns = field(default_factory=Columns)
    payload: tuple[tuple[str, str], ...] = ()
    id_prefix: str = ""
    decoding: Decoding = field(default_factory=Decoding)
    max_bytes: int = 512 * 1024 * 1024
    max_ratio: int = 200


def context_of(config: Config, source: int) -> ReadContext:
    """What readers of source number `source` must know."""
    chosen = config.sources[source]
    return ReadContext(
        columns=chosen.columns,
        payload=config.payload,
        id_prefix=chosen.id_prefix,
        decoding=chosen.decoding,
        max_bytes=config.limits.max_bytes,
        max_ratio=config.limits.max_ratio,
    )


def digest(record: Record) -> str:
    """SHA-256, in hexadecimal, of all that a record's rows are made of but its place: the record's `hash`."""
    head = _ENCODER.encode(
        (
            record.id,
            record.title,
            record.media_type,
            sorted(record.metadata.items()),
            [json_form(value) for value in record.payload],
        )
    )
    made = sha256(head.encode())
    made.update(b"\n")
    made.update(record.text.encode())
    return made.hexdigest()


_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def bad(format_: str, position: int, error: str | BaseException, message: str = "", id: str | None = None) -> BadRecord:
    """A record that cannot be read: `error` is a class with a message, or what was raised."""
    place = place_of(format_, position)
    if isinstance(error, str):
        error = DocumentFailure(error, message)
    return BadRecord(position, place, id, replace(failure_of(error, "record"), position=place))


class RecordMaker:
    """Records from the values of their columns, for one container."""

    def __init__(self, context: ReadContext, format_: str) -> None:
        self._format = format_
        self._prefix = context.id_prefix
        self._max_bytes = context.max_bytes
        columns = context.columns
        self._id, self._text = columns.id, columns.text
        self._title, self._media_type = columns.title, columns.media_type
        self._metadata = columns.metadata
        # The table has the columns of all sources; this one fills its own.
        self._payload = tuple((name, type_ if name in columns.payload else None) for name, type_ in context.payload)
        self._no_payload = None if columns.payload else (None,) * len(context.payload)

    def make(self, values: Mapping[str, Any], position: int) -> Record | BadRecord:
        """The record of `values`, or what is wrong with it."""
        given = values.get(self._id)
        if type(given) is int:
            given = str(given)
        if type(given) is not str or not given:
            return self._bad(position, "no-id", f"has no id: {self._id!r} is {_shown(values, self._id)}")
        id_ = self._prefix + given
        if not id_.isascii() and _surrogate(id_):
            return self._bad(position, "surrogate", f"in {self._id!r}")
        text = values.get(self._text)
        if type(text) is not str:
            return self._bad(position, "malformed", f"{self._text!r} is {_shown(values, self._text)}, not text", id_)
        if len(text) * 4 > self._max_bytes and (size := len(text.encode("utf-8", "surrogatepass"))) > self._max_bytes:
            return self._bad(position, "too-large", f"{size} bytes of {self._max_bytes} (limits.max_bytes)", id_)
        if not text.isascii() and (at := _surrogate(text)):
            return self._bad(position, "surrogate", f"in {self._text!r} at character {at - 1}", id_)
        try:
            return Record(
                position,
                id_,
                text,
                None if self._title is None else self._optional(values, self._title),
                None if self._media_type is None else self._optional(values, self._media_type),
                self._metadata_of(values) if self._metadata else _NOTHING,
                self._payload_of(values) if self._no_payload is None else self._no_payload,
            )
        except DocumentFailure as failure:
            return self._bad(position, failure.error, str(failure), id_)

    def _bad(self, position: int, error: str, message: str, id_: str | None = None) -> BadRecord:
        return bad(self._format, position, error, message, id_)

    def _optional(self, values: Mapping[str, Any], name: str) -> str | None:
        value = values.get(name)
        if value is None or value == "":
            return None
        if type(value) is not str:
            raise DocumentFailure("malformed", f"{name!r} is {_shown(values, name)}, not text")
        return _storable(name, value)

    def _metadata_of(self, values: Mapping[str, Any]) -> Mapping[str, Scalar]:
        found = {}
        for name in self._metadata:
            value = values.get(name)
            if value is not None:
                found[name] = value if type(value) in (bool, int) else _scalar(name, value)
        return found

    def _payload_of(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        found = []
        for name, type_ in self._payload:
            try:
                value = None if type_ is None else cast(values.get(name), type_)
            except PayloadError as error:
                raise DocumentFailure("payload", f"{name!r} {error}") from None
            found.append(_storable(name, value) if type(value) is str else value)
        return tuple(found)


_NOTHING: Mapping[str, Scalar] = {}


def _scalar(name: str, value: Any) -> Scalar:
    if isinstance(value, str):
        return _storable(name, value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return str(value)
    kind = "number that is not finite" if isinstance(value, float | decimal.Decimal) else type(value).__name__
    raise DocumentFailure("metadata", f"metadata {name!r} is a {kind}, not a string, number or boolean")


def _storable(name: str, value: str) -> str:
    if not value.isascii() and _surrogate(value):
        raise DocumentFailure("surrogate", f"in {name!r}")
    return value


def _surrogate(text: str) -> int:
    """1 + the place of the first lone surrogate, 0 when there is none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start + 1
    return 0


def _shown(values: Mapping[str, Any], name: str) -> str:
    if name not in values:
        return "missing"
    value = values[name]
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "empty" if value == "" else f"of type {type(value).__name__}"

"""What the tests of all formats share: a reading as plain values."""

from __future__ import annotations

import io
from typing import Any

from pipelines.config.model import Columns
from pipelines.documents.formats import ReadContext, Record, read_records

CONTEXT = ReadContext(
    columns=Columns(title="name", metadata=("lang",), payload={"price": "double"}),
    payload=(("other", "string"), ("price", "double")),
    id_prefix="p/",
)


def read(format_: str, data: bytes, context: ReadContext = CONTEXT, **part: Any) -> tuple[list[Any], str | None, bool]:
    """Records as they are, bad ones as (position, place, id, class); the encoding; whether all was read."""
    reading = read_records(format_, io.BytesIO(data), context, **part)
    found = [
        item if isinstance(item, Record) else (item.position, item.place, item.id, item.failure.error)
        for item in reading
    ]
    return found, reading.encoding, reading.whole


def record(
    position: int, id: str, text: str, title: str | None = None, price: float | None = None, **metadata: Any
) -> Record:
    """A record as CONTEXT makes it."""
    return Record(position, f"p/{id}", text, title, None, metadata, (None, price))

"""Any container as records: decompressed, with whatever reader its format has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pipelines.documents.compression import open_expanded
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.array import open_array
from pipelines.documents.formats.delimited import open_rows
from pipelines.documents.formats.jsonl import open_lines
from pipelines.documents.formats.parquet import open_parquet
from pipelines.documents.formats.records import BadRecord, ReadContext, Record


class Reading:
    """The records of a container, or of a part of one, in their order.

    `encoding` is what its text is in, as documents have it (`gzip+utf-8`), None where the format says so. `whole` is
    meant for after the last record: whether all of them were read and had ids. Iterating may raise DocumentFailure.
    """

    def __init__(self, items: Iterator[Record | BadRecord], encoding: str | None) -> None:
        self._items = items
        self.encoding = encoding
        self.whole = True

    def __iter__(self) -> Iterator[Record | BadRecord]:
        for item in self._items:
            if type(item) is BadRecord and item.id is None:
                self.whole = False
            yield item


def read_records(
    format_: str,
    file: BinaryIO,
    context: ReadContext,
    *,
    start: int | None = None,
    stop: int | None = None,
    first: int = 0,
) -> Reading:
    """The records in `file`, which is seekable and open in binary, as `format_` (`names.format_of`) says.

    `start` and `stop` name a part: bytes of JSON Lines, the first of them at the beginning of line number `first`; rows
    of Parquet. Other formats, and what is compressed, have no parts.

    Raises DocumentFailure for a container that cannot be read at all; whatever reading `file` raises.
    """
    expanded, compression = open_expanded(file, max_bytes=context.max_bytes, max_ratio=context.max_ratio)
    if compression is not None and (start is not None or stop is not None):
        raise DocumentFailure("read", "it was not compressed when its parts were planned; it is read in the next run")
    if format_ == "parquet":
        return Reading(open_parquet(expanded, context, start, stop, compressed=compression is not None), compression)
    if format_ == "jsonl":
        encoding, items = open_lines(expanded, context, start, stop, first)
    elif format_ == "records":
        encoding, items = open_array(expanded, context)
    else:
        encoding, items = open_rows(expanded, context, format_)
    return Reading(items, encoding if compression is None else f"{compression}+{encoding}")

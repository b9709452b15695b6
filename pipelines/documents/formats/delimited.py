"""CSV and TSV: a header, then one record a row. Quotes are `"`, doubled inside of quotes; a comma or a tab delimits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import BinaryIO, cast

from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.records import BadRecord, ReadContext, Record, RecordMaker, bad
from pipelines.documents.formats.streams import checked_encoding, columns_of


def open_rows(file: BinaryIO, context: ReadContext, format_: str) -> tuple[str, Iterator[Record | BadRecord]]:
    """The encoding of `file`, and its records. Raises DocumentFailure when it has no such header."""
    codec, encoding = checked_encoding(file, context)
    errors = context.decoding.errors
    text = io.TextIOWrapper(cast(BinaryIO, _Kept(file)), codec, errors, newline="")
    if text.read(1) != "\ufeff":
        text.seek(0)
    csv.field_size_limit(max(csv.field_size_limit(), context.max_bytes))  # the process has one; 128 KiB at first
    rows = csv.reader(text, delimiter="\t" if format_ == "tsv" else ",", strict=True)
    try:
        header = next(rows, None)
    except csv.Error as error:
        raise DocumentFailure("malformed", f"its header cannot be read: {error}", position="row 0") from None
    if header is None:
        return encoding, iter(())
    columns_of(header, context)
    return encoding, _records(rows, header, context, format_)


def _records(
    rows: Iterator[list[str]], header: list[str], context: ReadContext, format_: str
) -> Iterator[Record | BadRecord]:
    make = RecordMaker(context, format_).make
    width = len(header)
    position = -1
    while True:
        position += 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            # Where the next row begins is anybody's guess.
            yield bad(format_, position, "malformed", f"{error}; nothing after it was read")
            return
        except UnicodeDecodeError as error:
            raise DocumentFailure("decode", f"not {error.encoding} in all places: {error}") from None
        if row is None:
            return
        if len(row) == width:
            yield make(dict(zip(header, row, strict=True)), position)
        elif row:
            yield bad(format_, position, "malformed", f"{len(row)} fields; the header has {width}")


class _Kept(io.BufferedIOBase):
    """A file for a wrapper that would close it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return self._file.read(-1 if size is None else size)

    def read1(self, size: int = -1, /) -> bytes:
        return self._file.read(size if size > 0 else io.DEFAULT_BUFFER_SIZE)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

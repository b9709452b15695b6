"""What readers of containers share: a look at the beginning, all of it within limits, its encoding, its columns."""

from __future__ import annotations

import codecs
import io
import json
import os
from collections.abc import Sequence
from typing import Any, BinaryIO

from pipelines.documents.decode import REPLACED, SAMPLE, decode, keeps_ascii
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.records import ReadContext
from pipelines.documents.sniff import unmarked_utf16

HEAD = 4096
BLOCK = 1024 * 1024
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def head_of(file: BinaryIO, size: int = HEAD) -> bytes:
    """The first bytes of `file`, which stands at its beginning again."""
    file.seek(0)
    head = file.read(size)
    file.seek(0)
    return head


def is_wide(head: bytes) -> bool:
    """Whether JSON that begins so is in UTF-16 or UTF-32, by its mark or by its NUL bytes. It begins in ASCII."""
    even = head[: len(head) // 2 * 2]
    return head.startswith(_WIDE) or (0 in head[:2] and unmarked_utf16(even, utf8=False) is not None)


def read_whole(file: BinaryIO, context: ReadContext) -> bytes:
    """All of `file`. Raises DocumentFailure `too-large`."""
    file.seek(0)
    data = file.read(context.max_bytes + 1)
    if len(data) > context.max_bytes:
        raise too_large(context)
    return data


def refuse_large(file: BinaryIO, context: ReadContext) -> None:
    """Raises DocumentFailure `too-large` for a file over the limit. (A compressed one raises that while it is read.)"""
    try:
        size = file.seek(0, os.SEEK_END)
    except io.UnsupportedOperation:
        return
    if size > context.max_bytes:
        raise too_large(context)


def checked_encoding(file: BinaryIO, context: ReadContext) -> tuple[str, str]:
    """The encoding that `decode` would find for all of `file`, which is read through but not held, and how it says so.

    Raises DocumentFailure, as `decode` does, and `too-large`. Only what is not UTF-8 is held whole, for its detection.
    """
    declared, errors = context.decoding.encoding, context.decoding.errors
    head = head_of(file, SAMPLE)
    marked = head.startswith((codecs.BOM_UTF8, *_WIDE))
    if marked or (declared is not None and not keeps_ascii(declared)):
        encoding = decode(head[:4] if marked else b"", encoding=declared, errors="replace").encoding
        encoding = encoding.removesuffix(REPLACED) if marked else str(declared)
    else:
        encoding = "utf-8"
    try:
        _read_through(file, encoding, context)
    except UnicodeDecodeError:
        found = decode(read_whole(file, context), encoding=declared, errors=errors).encoding
        return found.removesuffix(REPLACED), found
    else:
        found = "" if marked else decode(head[: _whole_characters(head)], encoding=declared, errors="replace").encoding
        if found.startswith("utf-16"):  # which is valid UTF-8 when all of it is ASCII
            encoding = found.removesuffix(REPLACED)
    finally:
        file.seek(0)
    return encoding, encoding


def _read_through(file: BinaryIO, encoding: str, context: ReadContext) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    size = 0
    while block := file.read(BLOCK):
        size += len(block)
        if size > context.max_bytes:
            raise too_large(context)
        decoder.decode(block)
    decoder.decode(b"", final=True)


def _whole_characters(head: bytes) -> int:
    """How many of the bytes at the start of UTF-8 text are whole characters."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(head)
    return len(head) - len(decoder.getstate()[0])


def too_large(context: ReadContext) -> DocumentFailure:
    """The failure of a container that cannot be read in parts."""
    return DocumentFailure(
        "too-large",
        f"more than {context.max_bytes} bytes (limits.max_bytes), and it cannot be read in parts; split it, "
        "or write JSON Lines in UTF-8 or Parquet",
    )


def columns_of(names: Sequence[str], context: ReadContext) -> list[str]:
    """The columns of a container that are needed. Raises DocumentFailure if id or text is missing, or one is twice."""
    columns = context.columns
    wanted = [columns.id, columns.text, columns.title, columns.media_type, *columns.metadata, *columns.payload]
    for name in wanted[:2]:
        if name not in names:
            listed = ", ".join(names[:20])
            raise DocumentFailure(
                "malformed", f"no column {name!r}; it has {listed} (the source's `columns` names them)"
            )
    twice = sorted(name for name in {*wanted} & {*names} if name is not None and names.count(name) > 1)
    if twice:
        raise DocumentFailure("malformed", f"the column {twice[0]!r} is there twice")
    return [name for name in dict.fromkeys(wanted) if name is not None and name in names]


def kind_of(value: Any) -> str:
    """What JSON calls a value."""
    kinds = {list: "array", dict: "object", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")


def fault_of(error: Exception) -> str:
    """What a JSON parser did not like, and at which character; a line by itself has no line numbers."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
    return str(error)

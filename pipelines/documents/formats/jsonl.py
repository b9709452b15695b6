"""JSON Lines: one object a line. Lines end at LF only, and are counted whether they are blank or not."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from pipelines.documents.decode import decode, keeps_ascii
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.records import BadRecord, ReadContext, Record, RecordMaker, bad
from pipelines.documents.formats.streams import fault_of, head_of, is_wide, kind_of, read_whole, refuse_large
from pipelines.documents.sniff import refuse_known_format

BLOCK = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_SPLIT = ("utf-8", "ascii")
"""Encodings in which a byte of a line feed is a line feed, so that there are parts."""


def open_lines(
    file: BinaryIO, context: ReadContext, start: int | None, stop: int | None, first: int
) -> tuple[str, Iterator[Record | BadRecord]]:
    """The encoding of `file`, and its records: of the bytes from `start` to `stop`, whose first line is number `first`.

    A part begins where a line begins. Text in UTF-16 or another encoding without ASCII is read whole.
    """
    declared = context.decoding.encoding
    whole = start is None and stop is None
    head = head_of(file)
    refuse_known_format(head)
    if whole and (is_wide(head) or (declared is not None and not keeps_ascii(declared))):
        text, encoding, _ = decode(read_whole(file, context), encoding=declared, errors=context.decoding.errors)
        lines = _lines(io.BytesIO(text.encode("utf-8", "surrogatepass")), None, context.max_bytes)
        return encoding, _records(lines, context, first, "utf-8", "surrogatepass")
    if whole and (b"\0" in head or (declared is not None and codecs.lookup(declared).name not in _SPLIT)):
        refuse_large(file, context)
    file.seek(start or 0)
    length = None if stop is None else stop - (start or 0)
    return declared or "utf-8", _records(
        _lines(file, length, context.max_bytes, mark=not start), context, first, declared, context.decoding.errors
    )


def _records(
    lines: Iterator[bytes | None], context: ReadContext, first: int, declared: str | None, errors: str
) -> Iterator[Record | BadRecord]:
    make = RecordMaker(context, "jsonl").make
    parse = json.JSONDecoder(parse_constant=_no_number).decode
    for position, line in enumerate(lines, first):
        if line is None:
            yield bad("jsonl", position, "too-large", f"more than {context.max_bytes} bytes (limits.max_bytes)")
            continue
        try:
            values: Any = parse(line.decode())
        except UnicodeDecodeError as error:
            try:
                values = parse(_decoded(line, error, declared, errors))
            except (DocumentFailure, ValueError, RecursionError) as worse:
                yield bad("jsonl", position, *_class_of(worse))
                continue
        except (ValueError, RecursionError) as error:
            if line.isspace() or not line:
                continue
            yield bad("jsonl", position, *_class_of(error))
            continue
        yield (
            make(values, position)
            if type(values) is dict
            else bad("jsonl", position, "malformed", f"a JSON {kind_of(values)}, not an object")
        )


def _class_of(error: Exception) -> tuple[str, str]:
    if isinstance(error, DocumentFailure):
        return error.error, str(error)
    if isinstance(error, RecursionError):
        return "malformed", "nested too deep"
    return "malformed", f"not JSON: {fault_of(error)}"


def _decoded(line: bytes, error: UnicodeDecodeError, declared: str | None, errors: str) -> str:
    """A line that is not UTF-8."""
    try:
        return line.decode(declared or "utf-8", errors)
    except UnicodeDecodeError as worse:
        raise DocumentFailure(
            "decode",
            f"not {declared or 'UTF-8'} at byte {worse.start} of the line; correct it, or set the source's "
            f"{'' if declared else '`decoding.encoding` or '}`decoding: {{errors: replace}}`",
        ) from error


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _lines(file: BinaryIO, length: int | None, max_bytes: int, *, mark: bool = True) -> Iterator[bytes | None]:
    """The lines in the next `length` bytes, None for one of more than `max_bytes`. An empty last one is none."""
    pieces: list[bytes] = []  # of a line that is not complete
    held = 0
    left = length
    while left is None or left > 0:
        block = file.read(BLOCK if left is None else min(BLOCK, left))
        if not block:
            break
        if left is not None:
            left -= len(block)
        if mark:
            block = block.removeprefix(_BOM)
            mark = False
        lines = block.split(b"\n")
        if len(lines) > 1:
            if held + len(lines[0]) > max_bytes:
                yield None
            else:
                yield b"".join([*pieces, lines[0]]) if pieces else lines[0]
            if len(block) <= max_bytes:
                yield from lines[1:-1]
            else:
                yield from (line if len(line) <= max_bytes else None for line in lines[1:-1])
            pieces, held = [], 0
        held += len(lines[-1])
        if held > max_bytes:
            pieces = []  # only its length matters now
        elif lines[-1]:
            pieces.append(lines[-1])
    if held > max_bytes:
        yield None
    elif pieces:
        yield b"".join(pieces)

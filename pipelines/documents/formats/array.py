"""A JSON array of objects, read whole: the format `records`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

from pipelines.documents.decode import decode
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.records import BadRecord, ReadContext, Record, RecordMaker, bad
from pipelines.documents.formats.streams import fault_of, kind_of, read_whole

_SPACE = re.compile(r"[ \t\n\r]*")


def open_array(file: BinaryIO, context: ReadContext) -> tuple[str, Iterator[Record | BadRecord]]:
    """The encoding of `file`, and its records. Raises DocumentFailure for what does not begin as an array does."""
    decoding = context.decoding
    text, encoding, _ = decode(read_whole(file, context), encoding=decoding.encoding, errors=decoding.errors)
    start = _after_space(text, 0)
    if not text.startswith("[", start):
        raise DocumentFailure(
            "malformed", "not a JSON array of objects: it does not begin with '['", position=str(start)
        )
    return encoding, _records(text, start + 1, context)


def _records(text: str, at: int, context: ReadContext) -> Iterator[Record | BadRecord]:
    make = RecordMaker(context, "records").make
    parse = json.JSONDecoder(parse_constant=_no_number).raw_decode
    at = _after_space(text, at)
    position = 0
    done = text.startswith("]", at)
    while not done:
        try:
            values, at = parse(text, at)
        except RecursionError:
            yield bad("records", position, "malformed", "nested too deep; nothing after it was read")
            return
        except ValueError as error:
            yield bad("records", position, "malformed", f"not JSON: {fault_of(error)}; nothing after it was read")
            return
        yield (
            make(values, position)
            if type(values) is dict
            else bad("records", position, "malformed", f"a JSON {kind_of(values)}, not an object")
        )
        at = _after_space(text, at)
        done = text.startswith("]", at)
        if not done and not text.startswith(",", at):
            what = "it ends here" if at >= len(text) else f"',' or ']' expected at character {at}"
            yield bad("records", position + 1, "malformed", f"not JSON: {what}; nothing after it was read")
            return
        position += 1
        if not done:
            at = _after_space(text, at + 1)
    if (at := _after_space(text, at + 1)) < len(text):
        yield bad("records", position, "malformed", f"more follows the end of the array, at character {at}")


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")

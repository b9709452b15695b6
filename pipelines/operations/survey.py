"""Where a container can be cut so that every part is read by itself: only where that is sure to be right.

JSON Lines in bytes in which a line feed is a line feed (UTF-8), after counting the lines before each cut; Parquet at
rows, at the ends of row groups where it can be. Anything else is read in one piece.
"""

from __future__ import annotations

import codecs
import math
from typing import BinaryIO

from pipelines.config.model import Config
from pipelines.documents.formats import format_of
from pipelines.planning import Part
from pipelines.storage.store import Store
from pipelines.table.shards import parquet_file

SPLIT_ABOVE = 2
"""A container is split when it is larger than this many times `task_bytes`."""

BLOCK = 1 << 20
"""Bytes read at a time."""

HEAD = 1 << 16
"""Bytes that decide whether lines can be told apart without decoding."""

MOST_CUTS = 64
"""Parts of one row group: each of them decodes the rows before its own too."""

SMALL_RECORD = 128
"""Bytes that a record counts as at least."""

_UTF8 = {None, "utf-8", "ascii"}
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


def survey(config: Config, store: Store, source: int, path: str, size: int) -> tuple[Part, ...]:
    """The parts of the container at `path`, in order; none when it is to be read in one piece, whatever it holds.

    What cannot be opened is in one piece too: whoever reads it will say so.
    """
    configured = config.sources[source]
    task_bytes = config.output.task_bytes
    most = max(1, task_bytes // SMALL_RECORD)
    format_ = format_of(configured, path)
    try:
        if format_ == "parquet":
            with store.open(path) as file:
                return row_parts(file, task_bytes, most)
        encoding = configured.decoding.encoding
        name = None if encoding is None else codecs.lookup(encoding).name
        if format_ == "jsonl" and size > SPLIT_ABOVE * task_bytes and name in _UTF8:
            with store.open(path) as file:
                return line_parts(file, task_bytes, most)
    except Exception:
        return ()
    return ()


def line_parts(file: BinaryIO, task_bytes: int, most: int) -> tuple[Part, ...]:
    """Parts of lines: each ends with the first line that ends `task_bytes` or more after its start.

    It ends earlier with a block in which it reaches `most` lines: each record costs something, however short it is.
    """
    head = file.read(HEAD)
    if head.startswith(_COMPRESSED) or head.startswith(_WIDE) or b"\0" in head:
        return ()
    parts: list[Part] = []
    start = first = at = lines = 0  # bytes and lines: where the part began, and what was read
    block = head
    while block:
        offset = 0  # what of the block belongs to parts that are finished
        while (enough := max(start + task_bytes - 1 - at, offset)) < len(block):
            end = block.find(b"\n", enough) + 1
            if not end:
                break
            lines += block.count(b"\n", offset, end)
            parts.append(Part(start=start, stop=at + end, first=first, bytes=at + end - start))
            start, first, offset = at + end, lines, end
        lines += block.count(b"\n", offset)
        if lines - first >= most and (end := block.rfind(b"\n") + 1) > offset:
            parts.append(Part(start=start, stop=at + end, first=first, bytes=at + end - start))
            start, first = at + end, lines
        at += len(block)
        block = file.read(BLOCK)
    if at > start:
        parts.append(Part(start=start, stop=at, first=first, bytes=at - start))
    return tuple(parts) if len(parts) > 1 else ()


def row_parts(file: BinaryIO, task_bytes: int, most: int) -> tuple[Part, ...]:
    """Parts of rows: row groups up to `task_bytes` and `most` rows; larger ones are cut themselves.

    Sizes are those of all columns before compression. (What a damaged file says of single columns ends the process.)
    """
    metadata = parquet_file(file).metadata
    parts: list[Part] = []
    start = row = size = 0

    def close() -> None:
        nonlocal start, size
        if row > start:
            parts.append(Part(start=start, stop=row, first=start, bytes=size))
        start, size = row, 0

    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        rows, weight = group.num_rows, group.total_byte_size
        if size + weight > task_bytes or row - start + rows > most:
            close()
        wanted = max(weight / task_bytes, rows / most)
        cuts = min(MOST_CUTS, math.ceil(wanted), rows) if wanted > SPLIT_ABOVE else 1
        begin = row
        for cut in range(1, cuts + 1):
            row = begin + rows * cut // cuts
            size += weight // cuts
            if cut < cuts:
                close()
    close()
    return tuple(parts)

"""One part of a container to the documents in it. What cannot be read is a failure row, not an exception."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from pipelines.config.model import Config
from pipelines.documents.failures import OF_A_DOCUMENT, DocumentFailure, Failure, failure_of
from pipelines.documents.formats import (
    BadRecord,
    Reading,
    Record,
    context_of,
    digest,
    format_of,
    place_of,
    read_records,
)
from pipelines.storage.store import Store
from pipelines.table.keys import sort_key
from pipelines.work.chunk_document import Document
from pipelines.work.chunking import Chunking
from pipelines.work.made import Made, Read
from pipelines.work.old_rows import KnownRecords
from pipelines.work.results import PartResult
from pipelines.work.standing_failures import duplicate_message

EPOCH = datetime.fromtimestamp(0, UTC)


class PartReader:
    """Reads the parts of containers of one task, in their order.

    `known` are the records that the last commit has in the task's range, `high` the key where that range ends.
    """

    def __init__(self, config: Config, chunking: Chunking, made: Made, known: KnownRecords, high: str | None) -> None:
        self._config = config
        self._chunking = chunking
        self._made = made
        self._known = known
        self._high = high
        self._seen: dict[str, int] = {}  # of the container at hand: id to position
        self._key = ""

    def read(self, store: Store, read: Read, row: Mapping[str, Any]) -> PartResult:
        """Read the part that `row` of the plan describes (planning.PLAN_DOCUMENTS)."""
        if read.id != self._key:
            self._key, self._seen = read.id, {}
        part = _Part(self._config, read, row, self._high)
        error: str | None = None
        encoding: str | None = None
        whole = False
        records = bad = 0
        try:
            part.check_unchanged(store)
            where = (row["start"], row["stop"], row["first"] or 0)
            self._chunking.probe(read_through, self._config, store, read.source, read.path, *where)
            file, entry = store.opened(read.path)
            with file:
                self._made.read_object(read, entry.size, entry.modified, entry.validator)
                reading = part.open(file)
                encoding = reading.encoding
                known = self._known.hashes(row["fingerprint"], read.uri) if row["reason"] != "full" else {}
                for item in reading:
                    part.check(item)
                    if type(item) is BadRecord and item.id is None:
                        bad += 1
                        self._made.refused(read, item.failure, "")
                    else:
                        records += 1
                        self._take(part, item, known, encoding)
                whole = reading.whole
            part.check_unchanged(store)
        except OF_A_DOCUMENT as raised:
            failure = failure_of(raised, "read")
            error, whole = failure.error, False
            self._made.refused(read, part.located(failure), part.name)
        self._made.read_bytes(read.source, part.bytes)
        self._made.listed(read, records + bad + (error is not None))
        if part.number == 0:
            self._made.container(read, encoding)
        return PartResult(
            key=read.id,
            source=self._config.sources[read.source].path,
            uri=read.uri,
            part=part.number,
            parts=part.parts,
            whole=whole,
            records=records,
            bad=bad,
            error=error,
        )

    def _take(self, part: _Part, item: Record | BadRecord, known: Mapping[str, str], encoding: str | None) -> None:
        """A document of the container, good or failed. The first with an id has it."""
        id_, position, read, made = str(item.id), item.position, part.read, self._made
        first = self._seen.setdefault(id_, position)
        if first != position:
            message = duplicate_message(read.uri, part.place(first))
            failure = Failure(stage="id", error="duplicate-id", message=message, position=part.place(position))
            made.refused(read, failure, id_)
            return
        if isinstance(item, BadRecord):
            made.failed(read, item.failure, (id_, position), self._known.row(id_))
            return
        hashed = digest(item)
        if known.get(id_) == hashed:
            row = self._known.row(id_)
            assert row is not None
            made.same_record(read, row, position)
            return
        try:
            chunked = self._chunking.chunk(
                read.rule,
                item.text,
                Document(id_, None, read.uri, hashed),
                made.rows,
                title=item.title,
                media_type=item.media_type,
                metadata=item.metadata,
                payload=item.payload,
            )
        except OF_A_DOCUMENT as raised:
            failure = failure_of(raised, "chunk")
            where = part.place(position) if failure.position is None else f"{part.place(position)}: {failure.position}"
            failure = Failure(stage=failure.stage, error=failure.error, message=failure.message, position=where)
            made.failed(read, failure, (id_, position), self._known.row(id_))
            return
        made.chunked(read, chunked, encoding, None, hashed, (id_, position))


class _Part:
    """What a row of the plan says of a part, checked against the object as it is."""

    def __init__(self, config: Config, read: Read, row: Mapping[str, Any], high: str | None) -> None:
        self.read = read
        self.number: int = row["part"]
        self.parts: int = row["parts"]
        self._row = row
        self._config = config
        self._format = format_of(config.sources[read.source], read.path)
        self.name = config.sources[read.source].id_prefix + read.path
        is_bytes = self._format == "jsonl" and row["start"] is not None
        self.bytes: int = row["stop"] - row["start"] if is_bytes else (row["size"] or 0) // self.parts
        self._end = _position_in(read.id, high)
        self._most = config.limits.max_bytes
        self._characters = 0

    def open(self, file: BinaryIO) -> Reading:
        """Its records. Raises DocumentFailure."""
        row = self._row
        context = context_of(self._config, self.read.source)
        first = row["first"] or 0
        return read_records(self._format, file, context, start=row["start"], stop=row["stop"], first=first)

    def check_unchanged(self, store: Store) -> None:
        """Raise DocumentFailure if the object is not the one that was cut into parts."""
        if self.parts == 1:
            return
        entry = store.stat(self.read.path)
        if entry is None:
            raise FileNotFoundError(self.read.path)
        listed = self._row["modified"]
        is_same = entry.size == self._row["size"]
        if entry.validator is not None and self._row["validator"] is not None:
            is_same &= entry.validator == self._row["validator"]
        if entry.modified is not None and listed is not None:
            is_same &= entry.modified // 1000 == (listed - EPOCH) // timedelta(microseconds=1)
        if not is_same:
            raise _changed()

    def check(self, item: Record | BadRecord) -> None:
        """Raise DocumentFailure for a record beyond the part, which another task has, and for too much text."""
        if self._end is not None and item.position >= self._end:
            raise _changed()
        if isinstance(item, Record):
            self._characters += len(item.text)
            if self._characters > self._most:
                raise DocumentFailure(
                    "too-large",
                    f"more than {self._most} characters of text are to be in memory at once (limits.max_bytes): split "
                    "it, or write it as Parquet in smaller row groups",
                    position=self.place(item.position),
                )

    def place(self, position: int) -> str:
        """How people find a record."""
        return place_of(self._format, position)

    def located(self, failure: Failure) -> Failure:
        """The failure of the whole part, with the part as its position if it has no better one."""
        if self.parts == 1 or failure.position is not None:
            return failure
        position = f"part {self.number + 1} of {self.parts}"
        return Failure(stage=failure.stage, error=failure.error, message=failure.message, position=position)


def read_through(
    config: Config, store: Store, source: int, path: str, start: int | None, stop: int | None, first: int
) -> None:
    """Read a part and keep nothing of it, to see whether that kills the process; nothing else matters here."""
    try:
        format_ = format_of(config.sources[source], path)
        with store.open(path) as file:
            for _ in read_records(format_, file, context_of(config, source), start=start, stop=stop, first=first):
                continue
    except Exception:
        return  # whoever reads it for good will meet this too


def _position_in(key: str, bound: str | None) -> int | None:
    """The position of the record whose sort key is `bound`, None if it is no record of the container `key`."""
    start = sort_key(key, 0)[: len(key) + 1]
    return int(bound[len(start) :]) if bound is not None and bound.startswith(start) else None


def _changed() -> DocumentFailure:
    return DocumentFailure("read", "it changed while it was read; the next run reads it again")

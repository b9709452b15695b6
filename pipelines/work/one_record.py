"""One record at a time, for pipelines that are not the job: its values to chunk rows, by the rules for containers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.config.model import Columns
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.records import BadRecord, ReadContext, RecordMaker, digest
from pipelines.work.chunk_document import Document
from pipelines.work.one_document import Chunking, OneDocument
from pipelines.work.rows import ChunkRows


class OneRecord:
    """Chunks records one after the other. Not for several threads at a time.

    `columns` says what its values are; the one named `path`, if any, is what the strategy goes by, and the rows'
    `source_uri`, which is the record's id otherwise. `stage` is where the last one was when something was raised:
    decode, record or chunk.
    """

    def __init__(self, chunking: Chunking, columns: Columns, path: str | None = None) -> None:
        self._documents = OneDocument(chunking)
        self._columns, self._path = columns, path
        self._payload = tuple(columns.payload.items())
        context = ReadContext(columns=columns, payload=self._payload, max_bytes=chunking.limits.max_bytes)
        self._maker = RecordMaker(context, "records")

    @property
    def stage(self) -> str:
        """See OneDocument."""
        return self._documents.stage

    def rows(self, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows of a record; bytes are decoded. Raises DocumentFailure, and what the strategy raises."""
        text = values.get(self._columns.text)
        if isinstance(text, bytes):
            values = {**values, self._columns.text: self._documents.text(text)}
        self._documents.stage = "record"
        record = self._maker.make(values, 0)
        if isinstance(record, BadRecord):
            raise DocumentFailure(record.failure.error, record.failure.message)
        path = self._path_of(values)
        return self._documents.rows_of(
            record.text,
            Document(record.id, path, record.id if path is None else path, digest(record)),
            ChunkRows(self._payload),
            title=record.title,
            media_type=record.media_type,
            metadata=record.metadata,
            payload=record.payload,
        )

    def named(self, values: Mapping[str, Any]) -> tuple[object, object, object]:
        """(id, address, text) of a record as they were given, whatever they are."""
        id_ = values.get(self._columns.id)
        return id_, id_ if self._path is None else values.get(self._path), values.get(self._columns.text)

    def _path_of(self, values: Mapping[str, Any]) -> str | None:
        if self._path is None:
            return None
        path = values.get(self._path)
        if path is not None and not isinstance(path, str):
            raise DocumentFailure("malformed", f"{self._path!r} is of type {type(path).__name__}, not text")
        return path

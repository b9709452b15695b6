"""Documents and records to rows with the columns of the chunks table, in anybody's pipeline."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.utils.timestamp import Timestamp

from pipelines.beam.chunk_documents import DocumentChunker, Keyed
from pipelines.beam.failing import Chunker, ChunkingTransform
from pipelines.beam.schemas import chunk_row, chunk_row_type
from pipelines.config.model import Budget, Columns
from pipelines.work.one_document import Chunking, Failed, failed
from pipelines.work.one_record import OneRecord


@beam.typehints.with_input_types(Keyed)
class DocumentsToRows(ChunkingTransform):
    """(path, document) → one row a chunk, with the columns that the job writes (docs/outputs.md), and their values.

    The path is the document's id and address. `tokens` names the encoding that fills `token_count`. Everything else is
    as in ChunkDocuments.
    """

    def __init__(
        self, strategy: str = "auto", *, tokens: str | None = None, limits: Budget | None = None, **options: Any
    ) -> None:
        chunking = Chunking(strategy=strategy, options=options, limits=limits or Budget(), tokens=tokens)
        super().__init__(DocumentRows(chunking), chunk_row_type())


class DocumentRows(DocumentChunker):
    """(path, document) to rows."""

    def results(self, element: tuple[str, str | bytes]) -> Iterable[Any]:
        return map(chunk_row, self._documents.rows(*element))


class RecordsToRows(ChunkingTransform):
    """Rows, named tuples or dicts of documents → one row a chunk, as the job makes them of the records of a container.

    `id`, `text`, `title` and `media_type` name fields of the input, `metadata` those that go into `metadata`, `payload`
    those that become columns, with their types (docs/configuration.md). `path` names the field that the strategy goes
    by, and that becomes `source_uri`; without it a record is plain text. Everything else is as in DocumentsToRows.

    A bad record (no id, no text, a value that its column cannot hold) fails as a document does.
    """

    def __init__(
        self,
        strategy: str = "auto",
        *,
        id: str = "id",
        text: str = "text",
        title: str | None = None,
        media_type: str | None = None,
        path: str | None = None,
        metadata: Sequence[str] = (),
        payload: Mapping[str, str] | None = None,
        tokens: str | None = None,
        limits: Budget | None = None,
        **options: Any,
    ) -> None:
        chunking = Chunking(strategy=strategy, options=options, limits=limits or Budget(), tokens=tokens)
        columns = Columns(
            id=id, text=text, title=title, media_type=media_type, metadata=tuple(metadata), payload=dict(payload or {})
        )
        super().__init__(RecordRows(chunking, columns, path), chunk_row_type(columns.payload))


class RecordRows(Chunker):
    """A record to rows."""

    def __init__(self, chunking: Chunking, columns: Columns, path: str | None) -> None:
        super().__init__()
        self._how = chunking, columns, path
        self._records: Any = None

    def setup(self) -> None:
        self._records = OneRecord(*self._how)

    def results(self, element: Any) -> Iterable[Any]:
        values = {name: _plain(value) for name, value in _values(element).items()}
        return map(chunk_row, self._records.rows(values))

    def failed(self, element: Any, error: Exception) -> Failed:
        id_, uri, text = self._records.named(_values(element))
        return failed(id_, uri, self._records.stage, error, text)


def _values(element: Any) -> Mapping[str, Any]:
    return element if isinstance(element, Mapping) else element._asdict()


def _plain(value: Any) -> Any:
    if isinstance(value, Timestamp):
        return value.to_utc_datetime(has_tz=True)
    return value.item() if isinstance(value, np.generic) else value

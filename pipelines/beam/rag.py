"""`RechunkProvider`: the library where Beam's retrieval transforms want a chunker; and rows of the table as its chunks.

`MLTransform` applies it, and Beam's embeddings and vector databases go on from there. A module of its own, because
`apache_beam.ml` is much to import.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.ml.rag.chunking.base import ChunkIdFn, ChunkingTransformProvider
from apache_beam.ml.rag.types import Chunk, Content

import chunkers
from pipelines.beam.failing import DocumentFailed
from pipelines.config.model import Budget
from pipelines.work.one_document import Chunking, OneDocument, failed


class RechunkProvider(ChunkingTransformProvider):
    """Documents (dicts, rows or named tuples) to Beam's chunks, whose ids are `{id}#{n}`.

    `document_field` holds the text, or bytes to be decoded; `id_field` the id; `path_field` what the strategy goes by,
    the id unless it is named. `metadata_fields` are copied onto every chunk. Options are those of `chunkers.build`.

    The content of a chunk is what an embedding should see: its context and its text. Its metadata has, under the names
    of the table's columns, parent_id, start_index, end_index, headings, strategy, cut, and where there are
    any title and context; besides what the document says of itself, and the fields. `chunk_id_fn` makes other ids.

    Raises OptionError for options that do not make sense, ValueError for a name that is missing. In the pipeline a
    document that cannot be chunked raises DocumentFailed, which `MLTransform(…).with_exception_handling()` takes.
    """

    def __init__(
        self,
        strategy: str = "auto",
        *,
        document_field: str,
        id_field: str = "id",
        path_field: str | None = None,
        metadata_fields: Sequence[str] = (),
        chunk_id_fn: ChunkIdFn | None = None,
        limits: Budget | None = None,
        **options: Any,
    ) -> None:
        super().__init__(chunk_id_fn)
        for name, value in (("document_field", document_field), ("id_field", id_field)):
            if not value:
                raise ValueError(f"{name} must name a field")
        self._chunking = Chunking(strategy=strategy, options=options, limits=limits or Budget())
        self._fields = _Fields(document_field, id_field, path_field or id_field, metadata_fields)

    def get_splitter_transform(self) -> beam.PTransform:
        """Documents to chunks with ids `{id}#{n}`."""
        return beam.ParDo(_Split(self._chunking, self._fields)).with_output_types(Chunk)

    def get_ptransform_for_processing(self, **_: Any) -> beam.PTransform:
        """The same with the ids of `chunk_id_fn`.

        One step: a chain of two has no exception handling, and MLTransform then leaves it out without a word.
        """
        split = _Split(self._chunking, self._fields, self.assign_chunk_id_fn)
        return "Split document" >> beam.ParDo(split).with_output_types(Chunk)


def chunk_of_row(row: Mapping[str, Any]) -> Chunk:
    """A row of the chunks table (as `rechunk changes` gives them, too) as Beam's chunk.

    Its metadata are the document's, and every other column that is not null but chunk_count and document_hash: these
    change without the row being among the changes, and an index would hold on to old ones.
    """
    about = {name: value for name, value in row.items() if name not in _IN_CHUNK and value is not None}
    metadata = {**json.loads(row["metadata"]), **about}
    content = Content(text=row["context"] + row["text"])
    return Chunk(content=content, id=row["id"], index=row["chunk_index"], metadata=metadata)


_IN_CHUNK = frozenset({"id", "chunk_index", "text", "metadata", "chunk_count", "document_hash"})


class _Fields:
    """Which field of a document is what."""

    def __init__(self, document: str, id_: str, path: str, metadata: Sequence[str]) -> None:
        self.document, self.id, self.path, self.metadata = document, id_, path, tuple(metadata)


class _Split(beam.DoFn):
    """A document to chunks. Its state is plain: MLTransform writes it as JSON, and reads it back."""

    def __init__(self, chunking: Chunking, fields: _Fields, assign_id: Any = None) -> None:
        self._strategy, self._options, self._limits = chunking.strategy, dict(chunking.options), chunking.limits
        self._fields = fields
        self._assign_id = assign_id
        self._documents: Any = None

    def setup(self) -> None:
        self._documents = OneDocument(Chunking(strategy=self._strategy, options=self._options, limits=self._limits))

    def process(self, element: Any) -> Iterable[Chunk]:
        values = element if isinstance(element, Mapping) else element._asdict()
        fields = self._fields
        try:
            id_, path, document = values[fields.id], values[fields.path], values[fields.document]
            about = {name: values[name] for name in fields.metadata}
        except KeyError as error:
            raise DocumentFailed(f"a document has no field {error}; it has {', '.join(map(str, values))}") from None
        if id_ is None or id_ == "":
            raise DocumentFailed(f"a document has no id: {fields.id!r} is {id_!r}")
        try:
            chunks = self._documents.chunks(str(path), document)
        except Exception as error:
            raise DocumentFailed.of(failed(id_, path, self._documents.stage, error, None)) from error
        items = [_item(id_, each, about) for each in chunks]
        return items if self._assign_id is None else [self._assign_id(item) for item in items]


def _item(id_: object, chunk: chunkers.Chunk, about: Mapping[str, Any]) -> Chunk:
    metadata = {**about, **chunk.metadata}
    if chunk.title is not None:
        metadata.setdefault("title", chunk.title)
    if chunk.context:
        metadata["context"] = chunk.context
    metadata |= {
        "parent_id": str(id_),
        "start_index": chunk.start,
        "end_index": chunk.end,
        "headings": list(chunk.headings),
        "strategy": chunk.strategy,
        "cut": chunk.cut,
    }
    return Chunk(
        content=Content(text=chunk.embed_text), id=f"{id_}#{chunk.index}", index=chunk.index, metadata=metadata
    )

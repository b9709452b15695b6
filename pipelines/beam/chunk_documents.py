"""`ChunkDocuments`: the library as a step of anybody's pipeline."""

from collections.abc import Iterable
from typing import Any, List, Tuple, Union  # noqa: UP035  # Beam's type hints

import apache_beam as beam

from chunkers import Chunk
from pipelines.beam.failing import Chunker, ChunkingTransform
from pipelines.config.model import Budget
from pipelines.work.one_document import Chunking, Failed, OneDocument, failed

Keyed = Tuple[str, Union[str, bytes]]  # noqa: UP006, UP007
Chunked = Tuple[str, List[Chunk]]  # noqa: UP006


@beam.typehints.with_input_types(Keyed)
class ChunkDocuments(ChunkingTransform):
    """(path, document) → (path, list of Chunk), one for one; a document is text, or bytes to be decoded.

    Options are those of `chunkers.build` and are checked when the step is built (OptionError). `limits` are what one
    document may cost. Nothing is grouped, windows and times stay, so it runs on unbounded input too.

    A document that cannot be chunked stops the pipeline (DocumentFailed). With
    `.with_exception_handling()` it becomes a failure row instead, in a second output.
    """

    def __init__(self, strategy: str = "auto", *, limits: Budget | None = None, **options: Any) -> None:
        chunking = Chunking(strategy=strategy, options=options, limits=limits or Budget())
        super().__init__(DocumentChunker(chunking), Chunked)


class DocumentChunker(Chunker):
    """(path, document) to (path, chunks)."""

    def __init__(self, chunking: Chunking) -> None:
        super().__init__()
        self._chunking = chunking
        self._documents: Any = None

    def setup(self) -> None:
        self._documents = OneDocument(self._chunking)

    def results(self, element: tuple[str, str | bytes]) -> Iterable[Any]:
        path, document = element
        return ((path, self._documents.chunks(path, document)),)

    def failed(self, element: tuple[str, str | bytes], error: Exception) -> Failed:
        path, document = element
        return failed(path, path, self._documents.stage, error, document)

"""`ChunkDocuments`: the library as a step of anybody's pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam

import chunkers
from chunkers import Chunk
from pipelines.documents.decode import decode


class ChunkDocuments(beam.PTransform):
    """(path, document) → (path, list of Chunk), one for one; a document is text, or bytes to be decoded.

    Options are those of `chunkers.build` and are checked when the step is built. Nothing is grouped and windows stay,
    so it runs on unbounded input too. A document that cannot be chunked raises DocumentError or DocumentFailure: a
    pipeline that should live on gives the step documents that it has looked at, or handles the error around it.
    """

    def __init__(self, strategy: str = "auto", **options: Any) -> None:
        super().__init__()
        chunkers.build(strategy, **options)
        self._strategy = strategy
        self._options = options

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        """The step itself."""
        return documents | "Chunk" >> beam.ParDo(_Chunk(self._strategy, self._options))


class _Chunk(beam.DoFn):
    def __init__(self, strategy: str, options: dict[str, Any]) -> None:
        self._strategy = strategy
        self._options = options
        self._built: Any = None

    def setup(self) -> None:
        self._built = chunkers.build(self._strategy, **self._options)

    def process(self, element: tuple[str, str | bytes]) -> Iterator[tuple[str, list[Chunk]]]:
        path, document = element
        text = document if isinstance(document, str) else decode(document).text
        yield path, chunkers.chunks_of(text, self._built.split(text, path=path))

"""Documents that fail in other people's pipelines: an error, or a row beside the others.

The DoFn of a transform gives results and failures into one collection, which is then parted: there are runners that
merge tagged outputs, which Beam's own `with_exception_handling` is made of, and it knows a failure as a traceback only.
It takes the same time.

Annotations here are not postponed, as elsewhere: Beam reads them.
"""

import copy
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import apache_beam as beam
from apache_beam.transforms.error_handling import ErrorHandler

from pipelines.beam.schemas import failure_row, failure_type
from pipelines.work.one_document import Failed


class DocumentFailed(Exception):
    """A document cannot be chunked, and nobody handles that; the message names it, the stage and the class."""

    @classmethod
    def of(cls, failed: Failed) -> Self:
        """The error of a failure."""
        return cls(f"{failed.id!r} failed ({failed.stage}: {failed.error}): {failed.message}")


class Chunker(beam.DoFn):
    """Chunks one element at a time. `is_catching` gives a Failed for one that cannot be chunked, instead of raising."""

    def __init__(self) -> None:
        self.is_catching = False

    @abstractmethod
    def results(self, element: Any) -> Iterable[Any]:
        """What comes of an element. Raises what goes wrong with it."""

    @abstractmethod
    def failed(self, element: Any, error: Exception) -> Failed:
        """What is to be said of an element for which `results` raised `error`."""

    def process(self, element: Any) -> Iterable[Any]:
        try:
            return self.results(element)
        except Exception as error:
            failed = self.failed(element, error)
            if self.is_catching:
                return (failed,)
            raise DocumentFailed.of(failed) from error


class ChunkingTransform(beam.PTransform):
    """A transform that is one Chunker, with results of type `result`."""

    def __init__(self, chunker: Chunker, result: Any) -> None:
        super().__init__()
        self._chunker = chunker
        self._result = result
        self._handler: ErrorHandler | None = None

    def with_exception_handling(self) -> Self:
        """The same transform with two outputs, (results, failures), as Beam's transforms have it.

        A failure is a row with the columns id, uri, position, stage, error and message of the job's failure rows, and
        `document`, the bytes (or the text in UTF-8) that were given. It has the window and time of its element.
        """
        other = copy.copy(self)
        other._chunker = copy.copy(self._chunker)
        other._chunker.is_catching = True
        return other

    def with_error_handler(self, handler: ErrorHandler | None) -> Self:
        """The same transform, whose failures go to one of Beam's error handlers; None is no handling."""
        if handler is None:
            return self
        other = self.with_exception_handling()
        other._handler = handler
        return other

    def expand(self, elements: beam.PCollection) -> Any:
        """The step itself."""
        chunked = elements | "Chunk" >> beam.ParDo(self._chunker).with_output_types(
            Any if self._chunker.is_catching else self._result
        )
        if not self._chunker.is_catching:
            return chunked
        good = chunked | "Good" >> beam.ParDo(Good()).with_output_types(self._result)
        bad = chunked | "Failed" >> beam.ParDo(Bad()).with_output_types(failure_type())
        if self._handler is None:
            return good, bad
        self._handler.add_error_pcollection(bad)
        return good


class Good(beam.DoFn):
    """Passes on what is no failure."""

    def process(self, element: Any) -> Iterable[Any]:
        return () if type(element) is Failed else (element,)


class Bad(beam.DoFn):
    """Failures as rows."""

    def process(self, element: Any) -> Iterable[Any]:
        return (failure_row(element),) if type(element) is Failed else ()

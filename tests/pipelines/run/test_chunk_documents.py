"""The public Beam step gives what the library gives."""

from __future__ import annotations

import pytest

from chunkers import OptionError, chunk
from pipelines.beam.quiet import quiet_beam

with quiet_beam():
    import apache_beam as beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    from apache_beam.testing.util import assert_that, equal_to

    from pipelines.beam.chunk_documents import ChunkDocuments

TEXT = "One two three. Four five six.\n\nSeven eight nine."


def test_documents_are_chunked_one_for_one() -> None:
    expected = chunk(TEXT, "recursive", max_size=20, overlap=0)
    assert len(expected) == 3
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        chunked = (
            pipeline
            | beam.Create([("a.txt", TEXT), ("b.txt", TEXT.encode("utf-16")), ("empty.txt", "")])
            | ChunkDocuments("recursive", max_size=20, overlap=0)
        )
        assert_that(chunked, equal_to([("a.txt", expected), ("b.txt", expected), ("empty.txt", [])]))


def test_wrong_options_are_refused_when_the_step_is_built() -> None:
    with pytest.raises(OptionError):
        ChunkDocuments("recursive", max_sice=20)

"""The public Beam step gives what the library gives, for every document that can be chunked, whatever the others are."""

from __future__ import annotations

from typing import Any

import pytest

from chunkers import Chunk, OptionError, chunk
from pipelines.beam.quiet import quiet_beam
from pipelines.config.model import Budget

with quiet_beam():
    import apache_beam as beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    from apache_beam.testing.util import assert_that, equal_to
    from apache_beam.transforms.error_handling import CollectingErrorHandler
    from apache_beam.typehints.decorators import TypeCheckError
    from apache_beam.typehints.typehints import List, Tuple

    from pipelines.beam.chunk_documents import ChunkDocuments
    from pipelines.beam.failing import DocumentFailed

TEXT = "One two three. Four five six.\n\nSeven eight nine."
BINARY = bytes(range(256))
HALF = b'---\ntitle: "\\ud800"\n---\n\nabc'


def failures_of(rows: Any) -> Any:
    """What failure rows say, without their messages."""
    return rows | beam.Map(lambda row: (row.id, row.uri, row.position, row.stage, row.error, row.document))


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


def test_chunks_come_whole_through_a_shuffle_and_the_path_chooses_the_strategy() -> None:
    text = "---\ntag: a\n---\n\n# Title\n\nBody."
    expected = chunk(text, path="a.md", max_size=100)
    assert expected[0].headings == ("Title",)
    assert expected[0].metadata == {"tag": "a"}
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        grouped = pipeline | beam.Create([("a.md", text)]) | ChunkDocuments(max_size=100) | beam.GroupByKey()
        assert_that(grouped | beam.MapTuple(lambda path, found: (path, *found)), equal_to([("a.md", expected)]))
        classes = grouped | "Class" >> beam.FlatMap(lambda keyed: [type(each) for found in keyed[1] for each in found])
        assert_that(classes, equal_to([Chunk]), "classes")


def test_a_bad_document_is_a_failure_row_and_the_others_go_on() -> None:
    documents = [("a.txt", b"One."), ("b.bin", BINARY), ("half.md", HALF), ("x.json", "[1"), ("none", None)]
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        created = pipeline | beam.Create(documents).with_output_types(Any)
        chunks, failures = created | ChunkDocuments(max_size=20).with_exception_handling()
        assert_that(chunks, equal_to([("a.txt", chunk("One.", path="a.txt"))]))
        expected = [
            ("b.bin", "b.bin", None, "decode", "binary", BINARY),
            ("half.md", "half.md", None, "chunk", "surrogate", HALF),
            ("x.json", "x.json", "2", "chunk", "malformed", b"[1"),
            ("none", "none", None, "decode", "malformed", None),
        ]
        assert_that(failures_of(failures), equal_to(expected), "failures")


def test_what_a_document_may_cost_is_limited() -> None:
    text = "word " * 100
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        documents = pipeline | beam.Create([("a", text), ("b", text.encode())])
        few = documents | ChunkDocuments(max_size=10, limits=Budget(max_chunks=3)).with_exception_handling()
        small = documents | "Small" >> ChunkDocuments(limits=Budget(max_bytes=499)).with_exception_handling()
        for label, outputs, stage, error in (("few", few, "chunk", "budget"), ("small", small, "decode", "too-large")):
            expected = [(name, name, None, stage, error, text.encode()) for name in "ab"]
            assert_that(outputs[1] | label >> beam.Map(tuple_of), equal_to(expected), f"{label} fail")
            assert_that(outputs[0], equal_to([]), f"{label} pass")


def tuple_of(row: Any) -> tuple[Any, ...]:
    """What a failure row says, without its message."""
    return row.id, row.uri, row.position, row.stage, row.error, row.document


def test_failures_go_to_an_error_handler_of_beam() -> None:
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        documents = pipeline | beam.Create([("a.txt", b"One."), ("b.bin", BINARY)])
        with CollectingErrorHandler() as handler:
            chunks = documents | ChunkDocuments().with_error_handler(handler)
        assert_that(chunks | beam.Keys(), equal_to(["a.txt"]))
        assert_that(handler.output() | beam.Map(lambda row: (row.id, row.error)), equal_to([("b.bin", "binary")]), "2")


@pytest.mark.parametrize(
    ("name", "document", "message"),
    [
        ("b.bin", BINARY, "'b.bin' failed (decode: binary): not text"),
        ("c.json", "[1", "'c.json' failed (chunk: malformed): not JSON: the end"),
    ],
)
def test_without_handling_a_bad_document_stops_the_pipeline_and_is_named(
    name: str, document: str | bytes, message: str
) -> None:
    with quiet_beam(), pytest.raises(DocumentFailed) as raised, beam.Pipeline(runner=FnApiRunner()) as pipeline:
        _ = pipeline | beam.Create([("a.txt", b"One."), (name, document)]) | ChunkDocuments()
    assert str(raised.value).startswith(message)


def test_wrong_options_are_refused_when_the_step_is_built() -> None:
    with pytest.raises(OptionError):
        ChunkDocuments("recursive", max_sice=20)


def test_what_goes_in_and_comes_out_is_typed() -> None:
    with quiet_beam(), pytest.raises(TypeCheckError, match="ChunkDocuments"):
        _ = beam.Pipeline() | beam.Create([1, 2]) | ChunkDocuments()
    with quiet_beam():
        chunked = beam.Pipeline() | beam.Create([("a", "b")]) | ChunkDocuments()
    assert chunked.element_type == Tuple[str, List[Chunk]]

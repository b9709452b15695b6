"""The library as Beam's retrieval transforms take it: ids, offsets, metadata, MLTransform both ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chunkers import OptionError, chunk
from pipelines.beam.quiet import quiet_beam

with quiet_beam():
    import apache_beam as beam
    from apache_beam.ml.rag.types import Chunk, Content
    from apache_beam.ml.transforms.base import MLTransform
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    from apache_beam.testing.util import assert_that, equal_to

    from pipelines.beam.failing import DocumentFailed
    from pipelines.beam.rag import RechunkProvider, chunk_of_row

TEXT = "---\ntag: x\n---\n\n# Tides\n\nTwice a day, nearly.\n\n## Gulls\n\nAll day."
DOCUMENTS = [{"id": "notes/a.md", "text": TEXT, "lang": "en"}, {"id": "b.txt", "text": b"Plain.", "lang": "de"}]
BAD = {"id": "bad.json", "text": "[1", "lang": "en"}
CONTEXT = "{title}: "


def provider(**more: Any) -> RechunkProvider:
    """What the tests use."""
    return RechunkProvider(document_field="text", metadata_fields=["lang"], max_size=35, overlap=0, **more)


def expected() -> list[Chunk]:
    """What is made of DOCUMENTS."""
    found = []
    for document in DOCUMENTS:
        text = document["text"] if isinstance(document["text"], str) else document["text"].decode()
        chunks = chunk(text, path=document["id"], max_size=35, overlap=0)
        for each in chunks:
            metadata = {
                "lang": document["lang"],
                **each.metadata,
                "parent_id": document["id"],
                "start_index": each.start,
                "end_index": each.end,
                "headings": list(each.headings),
                "strategy": each.strategy,
                "cut": each.cut,
            }
            if each.title is not None:
                metadata["title"] = each.title
            content = Content(text=text[each.start : each.end])
            found.append(
                Chunk(content=content, id=f"{document['id']}#{each.index}", index=each.index, metadata=metadata)
            )
    return found


def doubled(item: Chunk) -> str:
    """A function for ids."""
    return f"{item.metadata['parent_id']}/{item.index}"


def test_chunks_have_ids_offsets_and_headings() -> None:
    chunks = expected()
    assert [each.id for each in chunks] == ["notes/a.md#0", "notes/a.md#1", "b.txt#0"]
    assert chunks[1].metadata["headings"] == ["Tides", "Gulls"]
    assert chunks[0].metadata["tag"] == "x"
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        documents = pipeline | beam.Create(DOCUMENTS)
        assert_that(documents | provider().get_ptransform_for_processing(), equal_to(chunks))
        assert_that(documents | "Splitter" >> provider().get_splitter_transform(), equal_to(chunks), "splitter")
        rows = documents | beam.Map(lambda each: beam.Row(**each))
        assert_that(rows | "Of rows" >> provider().get_ptransform_for_processing(), equal_to(chunks), "rows")
        named = documents | "Ids" >> provider(chunk_id_fn=doubled).get_ptransform_for_processing()
        ids = named | "Id" >> beam.Map(lambda item: item.id)
        assert_that(ids, equal_to(["notes/a.md/0", "notes/a.md/1", "b.txt/0"]), "ids")


@pytest.mark.parametrize("chunk_id_fn", [None, doubled])
def test_ml_transform_writes_what_it_did_and_does_it_again(tmp_path: Path, chunk_id_fn: Any) -> None:
    artifacts = str(tmp_path / "artifacts")
    chunks = expected()
    if chunk_id_fn:
        for each in chunks:
            each.id = doubled(each)
    for step in (
        MLTransform(write_artifact_location=artifacts).with_transform(provider(chunk_id_fn=chunk_id_fn)),
        MLTransform(read_artifact_location=artifacts),
    ):
        with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
            assert_that(pipeline | beam.Create(DOCUMENTS) | step, equal_to(chunks))


@pytest.mark.parametrize("chunk_id_fn", [None, doubled])
def test_ml_transform_puts_a_bad_document_beside_the_others(tmp_path: Path, chunk_id_fn: Any) -> None:
    step = MLTransform(write_artifact_location=str(tmp_path / "a")).with_transform(provider(chunk_id_fn=chunk_id_fn))
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        chunks, failures = pipeline | beam.Create([BAD, *DOCUMENTS]) | step.with_exception_handling()
        assert_that(chunks | beam.Map(lambda item: item.index), equal_to([0, 1, 0]))
        said = failures | "Said" >> beam.Map(lambda row: (row.element["id"], row.msg[:60]))
        message = "DocumentFailed(\"'bad.json' failed (chunk: malformed): not JSO"
        assert_that(said, equal_to([("bad.json", message[:60])]), "failures")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"text": "x", "lang": "en"}, "a document has no field 'id'; it has text, lang"),
        ({"id": "a", "text": "x"}, "a document has no field 'lang'; it has id, text"),
        ({"id": None, "text": "x", "lang": "en"}, "a document has no id: 'id' is None"),
        ({"id": "", "text": "x", "lang": "en"}, "a document has no id: 'id' is ''"),
    ],
)
def test_a_document_without_what_it_needs_is_told(document: dict[str, Any], message: str) -> None:
    split = provider().get_splitter_transform().fn
    split.setup()
    with pytest.raises(DocumentFailed) as raised:
        list(split.process(document))
    assert str(raised.value) == message


def test_a_number_is_an_id_too() -> None:
    split = provider().get_splitter_transform().fn
    split.setup()
    (item,) = split.process({"id": 7, "text": "x", "lang": "en"})
    assert (item.id, item.metadata["parent_id"]) == ("7#0", "7")


def test_content_is_what_an_embedding_should_see() -> None:
    step = RechunkProvider("markdown", document_field="text", context="{headings} | ", max_size=80, overlap=0)
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        chunks = pipeline | beam.Create([{"id": "a", "text": "# T\n\nBody."}]) | step.get_ptransform_for_processing()
        said = chunks | beam.Map(
            lambda item: (item.content.text, item.metadata["context"], item.metadata["start_index"])
        )
        assert_that(said, equal_to([("T | # T\n\nBody.", "T | ", 0)]))


def test_wrong_arguments_are_refused_at_once() -> None:
    with pytest.raises(OptionError):
        provider(max_sice=3)
    with pytest.raises(ValueError, match="document_field"):
        RechunkProvider(document_field="")


def test_a_row_of_the_table_is_a_chunk_without_what_changes_unsaid() -> None:
    row = {
        "id": "a.md#1",
        "parent_id": "a.md",
        "chunk_index": 1,
        "chunk_count": 2,
        "text": "Body.",
        "context": "T: ",
        "start_index": 7,
        "headings": ["T"],
        "title": None,
        "document_hash": "ab",
        "metadata": '{"lang":"en"}',
        "price": 1.5,
    }
    about = {"parent_id": "a.md", "context": "T: ", "start_index": 7, "headings": ["T"], "lang": "en", "price": 1.5}
    assert chunk_of_row(row) == Chunk(content=Content(text="T: Body."), id="a.md#1", index=1, metadata=about)

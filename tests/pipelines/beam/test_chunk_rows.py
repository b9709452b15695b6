"""Rows in other people's pipelines are the job's rows, and Beam's own transforms take them."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

import chunkers
from pipelines.beam.quiet import quiet_beam
from pipelines.config.load import load_config
from pipelines.operations.run import run
from pipelines.records import RunOptions
from pipelines.table import schemas

with quiet_beam():
    import apache_beam as beam
    from apache_beam.dataframe.convert import to_dataframe, to_pcollection
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    from apache_beam.testing.util import assert_that, equal_to
    from apache_beam.typehints.schemas import typing_to_runner_api
    from apache_beam.utils.timestamp import Timestamp

    from pipelines.beam.chunk_rows import DocumentsToRows, RecordsToRows
    from pipelines.beam.schemas import chunk_row_type, failure_type

CORPUS = Path(__file__).parents[3] / "examples/corpus"


class Article(NamedTuple):
    """A typed record."""

    key: str
    body: str
    language: str | None
    price: float | None


def as_dict(row: Any) -> dict[str, Any]:
    """A row's columns."""
    values: dict[str, Any] = row._asdict()
    return {**values, "headings": list(values["headings"])}


def table_of_job(folder: Path, source: str, chunking: str) -> list[dict[str, Any]]:
    """The chunks that the job makes."""
    config = folder / "job.yaml"
    config.write_text(
        f"name: t\nsource: [{source}]\nchunking: {{default: {chunking}}}\n"
        f"tokens: {{encoding_name: cl100k_base}}\noutput: {{path: {folder / 'table'}}}\n"
    )
    outcome = run(load_config(config), RunOptions(workers=1), lambda event: None)
    assert outcome.committed
    rows: list[dict[str, Any]] = pq.read_table(next((folder / "table/chunks").glob("2*"))).to_pylist()
    return rows


def test_rows_of_documents_are_those_of_the_job_and_are_written_as_parquet(tmp_path: Path) -> None:
    folder = f"{CORPUS}/"
    expected = table_of_job(tmp_path, f"{{path: '{CORPUS}', id_prefix: '{folder}'}}", "{strategy: auto, max_size: 900}")
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        documents = [(str(path), path.read_bytes()) for path in CORPUS.rglob("*.*")]
        rows = pipeline | beam.Create(documents) | DocumentsToRows(max_size=900, tokens="cl100k_base")
        dicts = rows | "Shuffled" >> beam.Reshuffle() | "Dicts" >> beam.Map(as_dict)
        _ = dicts | beam.io.WriteToParquet(str(tmp_path / "out"), schemas.CHUNKS, num_shards=1)
    written = pq.read_table(next(tmp_path.glob("out*")), schema=schemas.CHUNKS)
    assert len(expected) == 150
    assert written.sort_by([("parent_id", "ascending"), ("chunk_index", "ascending")]).to_pylist() == expected


def test_rows_of_records_are_those_of_the_job(tmp_path: Path) -> None:
    at = datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
    records = [
        {"k": "a#1", "body": "One two. Three.", "t": "T", "lang": "de", "n": 3, "p": 1.5, "at": at.isoformat()},
        {"k": "b", "body": "# H\n\nFour.", "media": "text/markdown", "lang": None, "n": None, "at": None},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    columns = "{id: k, text: body, title: t, media_type: media, metadata: [lang], payload: {n: int64, p: double, at: timestamp}}"
    source = f"{{path: '{tmp_path / 'in.jsonl'}', columns: {columns}}}"
    expected = table_of_job(tmp_path, source, "{strategy: auto, max_size: 10}")
    assert len(expected) == 3
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = (
            pipeline
            | beam.Create(records)
            | beam.Map(lambda each: {**each, "at": at_of(each["at"])})
            | RecordsToRows(
                id="k",
                text="body",
                title="t",
                media_type="media",
                metadata=["lang"],
                payload={"n": "int64", "p": "double", "at": "timestamp"},
                max_size=10,
                tokens="cl100k_base",
            )
            | beam.Reshuffle()
        )
        hashes = [(row["id"], row["content_hash"], row["token_count"], row["document_hash"]) for row in expected]
        found = rows | beam.Map(lambda row: (row.id, row.content_hash, row.token_count, row.document_hash))
        assert_that(found, equal_to(hashes))
        payload = rows | "Payload" >> beam.Map(
            lambda row: (row.n, row.p, row.at, row.title, row.metadata, row.source_uri)
        )
        first = (3, 1.5, Timestamp.from_utc_datetime(at), "T", '{"lang":"de"}', "a#1")
        assert_that(payload, equal_to([first, first, (None, None, None, "H", "{}", "b")]), "payload")


def at_of(text: str | None) -> Any:
    """Beam's time of an ISO time."""
    return None if text is None else Timestamp.from_rfc3339(text)


def test_typed_records_and_rows_go_in_and_bad_ones_fail_beside_the_others() -> None:
    articles = [
        Article("a.md", "# H\n\nOne.", "de", 1.5),
        Article("", "no id", None, None),
        Article("c", "x", None, float("nan")),
    ]
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        step = RecordsToRows(
            id="key", text="body", path="key", metadata=["language"], payload={"price": "double"}
        ).with_exception_handling()
        rows, failures = pipeline | beam.Create(articles) | step
        bytes_rows, _ = (
            pipeline
            | "Rows" >> beam.Create([beam.Row(key="k", body="é".encode("utf-16"), language="fr", price=2.0)])
            | "Of bytes" >> step
        )
        assert_that(
            rows | beam.Map(lambda row: (row.id, row.strategy, row.source_uri, row.metadata, row.price)),
            equal_to([("a.md#0", "markdown", "a.md", '{"language":"de"}', 1.5)]),
        )
        assert_that(
            failures | beam.Map(lambda row: (row.id, row.stage, row.error, row.document)),
            equal_to([("", "record", "no-id", b"no id"), ("c", "record", "payload", b"x")]),
            "failures",
        )
        assert_that(bytes_rows | "Text" >> beam.Map(lambda row: (row.text, row.price)), equal_to([("é", 2.0)]), "bytes")


def test_rows_have_every_column_of_the_table() -> None:
    named = [name for name, _ in chunk_row_type({"price": "double"})._fields]
    assert named == [*schemas.CHUNKS.names, "price"]


def test_every_column_is_of_a_type_that_other_languages_have() -> None:
    for row in (chunk_row_type({"a": "double", "b": "timestamp", "c": "binary", "d": "date"}), failure_type()):
        for field in typing_to_runner_api(row).row_type.schema.fields:
            plain = ("", "beam:logical_type:micros_instant:v1", "beam:logical_type:date:v1")
            assert field.type.logical_type.urn in plain, field.name
            assert field.type.nullable == (str(dict(row._fields)[field.name]).startswith("typing.Optional")), field.name


def test_rows_are_grouped_by_field_and_become_a_dataframe() -> None:
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = pipeline | beam.Create([("a", "One.\n\nTwo."), ("b", "Three.")]) | DocumentsToRows(max_size=6)
        counted = rows | beam.GroupBy("parent_id").aggregate_field("chunk_count", max, "chunks")
        assert_that(counted | beam.Map(tuple), equal_to([("a", 2), ("b", 1)]))
        last = to_pcollection(
            to_dataframe(rows)[["parent_id", "end_index"]].groupby("parent_id").max(), include_indexes=True
        )
        assert_that(last | "Last" >> beam.Map(tuple), equal_to([("a", 10), ("b", 6)]), "dataframe")


def test_payload_of_every_type_comes_through_a_shuffle() -> None:
    record = {
        "id": "a",
        "text": "One.",
        "day": datetime.date(2026, 2, 28),
        "at": Timestamp(1, 5),
        "raw": b"\x00\xff",
        "flag": False,
        "count": 2**40,
        "share": 0.1,
        "name": "é",
    }
    kinds = ("date", "timestamp", "binary", "bool", "int64", "double", "string")
    payload = dict(zip(list(record)[2:], kinds, strict=True))
    nulls = {"id": "b", "text": "Two."}
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = pipeline | beam.Create([record, nulls]) | RecordsToRows(payload=payload) | beam.Reshuffle()
        values = rows | beam.Map(lambda row: [getattr(row, name) for name in payload])
        assert_that(values, equal_to([list(record.values())[2:], [None] * 7]))


def test_no_option_of_a_strategy_has_the_name_of_an_argument() -> None:
    taken = {"strategy", "limits", "tokens", "id", "text", "title", "media_type", "path", "metadata", "payload"}
    options = {field.name for kind in chunkers.strategy_kinds().values() for field in dataclasses.fields(kind.Options)}
    assert not taken & options


def test_a_payload_column_that_the_table_has_is_refused_when_the_step_is_built() -> None:
    with pytest.raises(ValueError, match="'Title' collides"):
        RecordsToRows(payload={"Title": "string"})

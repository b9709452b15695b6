"""Parquet files of the table: the same rows make the same bytes, and come back as they were."""

from __future__ import annotations

import datetime
import errno
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.errors import StorageError, TableStateError
from pipelines.storage.store import open_store
from pipelines.table import schemas, shards
from tests.pipelines.table.tables import chunk_rows, document_rows

CORPUS = {"b.md": ["first\0with NUL", "second 名前"], "a.md": [f"text {n}" for n in range(12)], "a b.md": ["x"]}


def test_rows_are_sorted_and_come_back_whole() -> None:
    encoded = shards.encode(chunk_rows(CORPUS), "chunks")
    table = pq.read_table(pa.BufferReader(encoded.data))
    assert table.schema.remove_metadata().equals(schemas.CHUNKS)
    assert table["id"].to_pylist() == ["a b.md#0", *[f"a.md#{n}" for n in range(12)], "b.md#0", "b.md#1"]
    assert table["text"].to_pylist()[-2:] == ["first\0with NUL", "second 名前"]
    assert table["headings"].to_pylist()[1:4] == [[], ["A"], ["A", "B"]]
    assert (encoded.rows, encoded.min_id, encoded.max_id) == (15, "a b.md#0", "b.md#1")


def test_the_footer_holds_the_format_version_only() -> None:
    metadata = pq.ParquetFile(pa.BufferReader(shards.encode(chunk_rows(CORPUS), "chunks").data)).metadata
    assert metadata.metadata == {b"rechunk.format": b"1"}
    assert [column.column_index for column in metadata.row_group(0).sorting_columns] == [1, 2]


def test_only_ids_have_statistics() -> None:
    group = pq.ParquetFile(pa.BufferReader(shards.encode(chunk_rows(CORPUS), "chunks").data)).metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    with_statistics = [
        column.path_in_schema for column in columns if column.statistics and column.statistics.has_min_max
    ]
    assert with_statistics == ["id", "parent_id"]
    assert {column.compression for column in columns} == {"ZSTD"}
    assert all(column.has_offset_index for column in columns)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.permutations(range(15)), st.lists(st.integers(0, 15), max_size=4))
def test_bytes_depend_on_the_rows_alone(order: list[int], cuts: list[int]) -> None:
    rows = chunk_rows(CORPUS)
    expected = shards.encode(rows, "chunks").data
    edges = sorted({0, 15, *cuts})
    shuffled = rows.take(pa.array(order))
    pieces = [shuffled.slice(a, b - a) for a, b in pairwise(edges)]
    in_pieces = pa.concat_tables(pieces).select(sorted(rows.column_names))
    assert shards.encode(in_pieces, "chunks").data == expected


def test_bytes_do_not_depend_on_how_a_column_is_held_in_memory() -> None:
    rows = chunk_rows(CORPUS)
    other = rows.set_column(4, "text", rows["text"].cast(pa.large_string()))
    other = other.set_column(11, "strategy", rows["strategy"].dictionary_encode())
    assert shards.encode(other, "chunks").data == shards.encode(rows, "chunks").data


def test_large_tables_have_several_row_groups() -> None:
    corpus = {f"{n:05}.md": ["a", "b", "c", "d"] for n in range(10_000)}
    metadata = pq.ParquetFile(pa.BufferReader(shards.encode(chunk_rows(corpus), "chunks").data)).metadata
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [32_768, 7_232]
    heavy = {f"{n:05}.md": ["x" * (1 << 20)] for n in range(100)}
    metadata = pq.ParquetFile(pa.BufferReader(shards.encode(chunk_rows(heavy), "chunks").data)).metadata
    assert metadata.num_row_groups == 2


@pytest.mark.parametrize("kind", ["chunks", "documents", "changes", "failures", "renames"])
def test_every_kind_can_be_empty(kind: str, tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    schema = schemas.schema_of(kind)  # type: ignore[arg-type]
    entry = shards.write(store, "x/empty.parquet", schema.empty_table(), kind)  # type: ignore[arg-type]
    assert (entry.path, entry.rows, entry.min_id, entry.max_id) == ("x/empty.parquet", 0, None, None)
    assert shards.read(store, "x/empty.parquet").schema.equals(schema)


def test_payload_columns_follow_and_keep_their_types(tmp_path: Path) -> None:
    payload = {
        "price": "double",
        "day": "date",
        "at": "timestamp",
        "raw": "binary",
        "n": "int64",
        "ok": "bool",
        "s": "string",
    }
    values = {
        "price": 1.5,
        "day": datetime.date(2026, 1, 31),
        "at": datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC),
        "raw": b"\xff\0",
        "n": 2**62,
        "ok": True,
        "s": "é",
    }
    schema = schemas.chunks_schema(payload)
    rows = chunk_rows({"a": ["text"]})
    for name, value in values.items():
        rows = rows.append_column(schema.field(name), pa.array([value], schema.field(name).type))
    store = open_store(str(tmp_path))
    shards.write(store, "a.parquet", rows, "chunks", payload)
    again = shards.read(store, "a.parquet")
    assert again.schema.names == [*schemas.CHUNKS.names, *payload]
    assert {name: again[name][0].as_py() for name in values} == values


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"price": "decimal"}, "payload column 'price' is 'decimal'; allowed: string, int64"),
        ({"Text": "string"}, "payload column 'Text' collides with the table's own column 'text'"),
        ({"embedding": "string"}, "collides with the table's own column 'embedding'"),
        ({"a": "string", "A": "int64"}, "payload column 'A' collides with payload column 'a'"),
    ],
)
def test_payload_names_and_types_are_checked(payload: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        schemas.chunks_schema(payload)


def test_bounds_are_exact_or_left_out() -> None:
    long = "x" * 300
    assert shards.encode(document_rows({long: ["a"], "a": ["b"]}), "documents").min_id is None
    encoded = shards.encode(document_rows({"😀": ["a"], "\uffee": ["b"]}), "documents")
    assert (encoded.min_id, encoded.max_id) == ("\uffee", "😀")


def test_reading_filters_rows_and_columns(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    shards.write(store, "a.parquet", chunk_rows(CORPUS), "chunks")
    found = shards.read(store, "a.parquet", ["text", "id"], pc.field("parent_id") == "b.md")
    assert found.select(["id", "text"]).to_pylist() == [
        {"id": "b.md#0", "text": "first\0with NUL"},
        {"id": "b.md#1", "text": "second 名前"},
    ]


def test_missing_and_broken_files_are_table_errors(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.write("broken.parquet", b"PAR1 not really")
    for columns in (None, ["id"]):
        with pytest.raises(TableStateError, match=r"missing\.parquet: the table names this file but it is missing"):
            shards.read(store, "missing.parquet", columns)
        with pytest.raises(TableStateError, match=r"broken\.parquet: not a readable Parquet file"):
            shards.read(store, "broken.parquet", columns)


LONG = 3 * shards.SHORTEST_RUN
HALF = LONG // 2


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [1],
        [3, 1, 0],
        [*range(LONG)],
        [*range(HALF, LONG), *range(HALF)],
        [*range(HALF), *range(HALF + 1, LONG)],
        [*range(LONG - 1, -1, -1)],
    ],
    ids=["none", "one", "scattered", "all", "swapped", "without one", "reversed"],
)
def test_rows_at_positions_are_those_rows_however_they_are_copied(rows: list[int]) -> None:
    parts = [pa.table({"n": pa.array(range(start, start + HALF), pa.int64())}) for start in (0, HALF)]
    found = shards.rows_at(pa.concat_tables(parts), np.array(rows, np.int64))
    assert found["n"].to_pylist() == rows


def test_a_file_that_ends_early_is_damaged_and_one_that_the_system_cannot_read_is_not(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    written = shards.write(store, "a.parquet", chunk_rows(CORPUS), "chunks")
    file = tmp_path / "a.parquet"
    footer = file.read_bytes()[-2000:]
    file.write_bytes(footer)  # the columns that the footer speaks of are not there
    assert written.bytes > 4000
    with pytest.raises(TableStateError, match=r"a\.parquet: not a readable Parquet file"):
        shards.read(store, "a.parquet", ["text"])
    with (
        pytest.raises(StorageError, match=r"a\.parquet: cannot be read: Input/output error"),
        shards.readable(store, "a.parquet"),
    ):
        raise OSError(errno.EIO, "Input/output error")

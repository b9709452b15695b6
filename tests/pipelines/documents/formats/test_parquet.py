"""Parquet: rows as records, parts by row numbers, damage as failures."""

from __future__ import annotations

import datetime
import gzip
import io
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.config.model import Columns
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats import read_records
from tests.pipelines.documents.formats.reading import CONTEXT, read, record


def parquet(table: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


ROWS = pa.table({"id": [str(n) for n in range(1000)], "text": [f"text {n}" for n in range(1000)], "other": [0] * 1000})
DATA = parquet(ROWS, row_group_size=300)


def failure(data: bytes) -> tuple[str, str]:
    with pytest.raises(DocumentFailure) as caught:
        read("parquet", data)
    return caught.value.error, str(caught.value)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_rows_are_records(type_: pa.DataType) -> None:
    columns = {"id": [1, None, 3], "text": ["日", "x", None], "lang": ["ja", None, "fr"], "price": [1.5, 2, None]}
    table = pa.table({**columns, "name": pa.array(["N", None, ""], type_)})
    expected = [
        record(0, "1", "日", "N", 1.5, lang="ja"),
        (1, "row 2", None, "no-id"),
        (2, "row 3", "p/3", "malformed"),
    ]
    assert read("parquet", parquet(table)) == (expected, None, False)
    assert read("parquet", gzip.compress(parquet(table))) == (expected, "gzip", False)
    assert read("parquet", parquet(table.slice(0, 0))) == ([], None, True)


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 1000), (0, 300), (300, 600), (299, 301), (310, 320), (600, 1000), (900, 1000), (5, 5)]
)
def test_parts_are_row_numbers(start: int, stop: int) -> None:
    found = read("parquet", DATA, start=start, stop=stop)[0]
    assert found == [record(n, str(n), f"text {n}") for n in range(start, stop)]


def test_payload_and_metadata_of_every_kind() -> None:
    stamp = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901)
    columns = Columns(
        metadata=("day", "flag"), payload={"at": "timestamp", "day": "date", "raw": "binary", "n": "int64"}
    )
    context = replace(CONTEXT, columns=columns, payload=tuple(columns.payload.items()))
    table = pa.table(
        {
            "id": ["a"],
            "text": ["t"],
            "at": pa.array(
                [pa.scalar(stamp, pa.timestamp("us")).cast(pa.timestamp("ns")).value + 1], pa.timestamp("ns")
            ),
            "day": [stamp.date()],
            "flag": [False],
            "raw": [b"\0"],
            "n": pa.array([3], pa.int8()),
        }
    )
    found = read("parquet", parquet(table), context)[0][0]
    assert found.payload == (stamp.replace(tzinfo=datetime.UTC), stamp.date(), b"\0", 3)
    assert found.metadata == {"day": "2026-01-02", "flag": False}


def test_text_that_is_no_utf8_fails_alone() -> None:
    text = pa.array([b"good", b"\xff", b"\xe6\x97\xa5"], pa.binary()).view(pa.string())
    found = read("parquet", parquet(pa.table({"id": ["a", "b", "c"], "text": text})))[0]
    assert found == [record(0, "a", "good"), (1, "row 2", None, "decode"), record(2, "c", "日")]


def test_large_rows_are_decoded_few_at_a_time() -> None:
    rows = pa.table({"id": [str(n) for n in range(100)], "text": [str(n) * 700_000 for n in range(100)]})
    file = io.BytesIO(parquet(rows, use_dictionary=False, compression="snappy", write_batch_size=1))
    del rows
    before = pa.total_allocated_bytes()
    for item in read_records("parquet", file, CONTEXT):
        assert item == record(item.position, str(item.position), str(item.position) * 700_000)
        assert pa.total_allocated_bytes() - before < 80_000_000


def test_only_what_is_needed_is_read_in_small_pieces() -> None:
    class Counting(io.BytesIO):
        count = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.count += len(data)
            return data

    noise = pa.array([bytes([n % 256]) * 5000 for n in range(1000)])
    file = Counting(parquet(ROWS.append_column("noise", noise), row_group_size=300, compression="none"))
    assert sum(1 for _ in read_records("parquet", file, CONTEXT, start=300, stop=600)) == 300
    assert file.count < 200_000


def test_containers_that_cannot_be_read() -> None:
    assert failure(b"")[0] == "malformed"
    assert failure(b"hello")[0] == "malformed"
    assert failure(b"PAR1" + DATA[:1000])[0] == "malformed"
    assert failure(DATA[:-20])[0] == "malformed"
    assert failure(parquet(ROWS.rename_columns(["key", "text", "other"]))) == (
        "malformed",
        "no column 'id'; it has key, text, other (the source's `columns` names them)",
    )
    damaged = bytearray(DATA)
    damaged[4:400] = bytes(396)
    error, message = failure(bytes(damaged))
    assert (error, "damaged at row 1 or in the 256 after it" in message) == ("malformed", True)


def test_storage_that_fails_is_not_damage() -> None:
    class Broken(io.BytesIO):
        reads = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.reads += 1
            if self.reads > 5:
                raise OSError("connection reset")
            return super().read(size)

    with pytest.raises(OSError, match="connection reset"):
        list(read_records("parquet", Broken(DATA), CONTEXT))

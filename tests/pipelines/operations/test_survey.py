"""Surveys: the parts of a container cover it once, begin where records begin and know their first record's number."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.config.model import Config, Decoding, Output, Source
from pipelines.operations.survey import line_parts, row_parts, survey
from pipelines.planning import Part
from pipelines.storage.store import open_store


def naive(data: bytes, task_bytes: int) -> list[Part]:
    parts: list[Part] = []
    start = first = at = 0
    lines = data.splitlines(keepends=True) if b"\r" not in data else [*data.replace(b"\n", b"\n\0").split(b"\0")]
    for number, line in enumerate(line for line in lines if line):
        at += len(line)
        if at - start >= task_bytes and line.endswith(b"\n"):
            parts.append(Part(start=start, stop=at, first=first, bytes=at - start))
            start, first = at, number + 1
    if at > start:
        parts.append(Part(start=start, stop=at, first=first, bytes=at - start))
    return parts


@settings(deadline=None, max_examples=150)
@given(
    lengths=st.lists(st.integers(0, 40), max_size=60),
    task_bytes=st.integers(1, 200),
    block=st.integers(1, 64),
    ends=st.booleans(),
)
def test_parts_of_lines_are_those_of_a_naive_walk(lengths: list[int], task_bytes: int, block: int, ends: bool) -> None:
    data = b"\n".join(b"x" * length for length in lengths) + (b"\n" if ends else b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelines.operations.survey.BLOCK", block)
        patch.setattr("pipelines.operations.survey.HEAD", block)
        found = line_parts(io.BytesIO(data), task_bytes, 1_000_000)
        short = line_parts(io.BytesIO(data), task_bytes, 2)
    expected = naive(data, task_bytes)
    assert list(found) == (expected if len(expected) > 1 else [])
    for parts in (found, short):
        assert b"".join(data[part.start : part.stop] for part in parts) == (data if parts else b"")
        assert all(part.first == data.count(b"\n", 0, part.start) for part in parts)


@pytest.mark.parametrize(
    "head", [b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff", b"{\0\n\0"]
)
def test_what_is_compressed_or_wide_has_no_parts(head: bytes) -> None:
    assert line_parts(io.BytesIO(head + b"abc\n" * 1000), 100, 1000) == ()


@pytest.mark.parametrize(
    ("name", "values", "splits"),
    [
        ("a.jsonl", {}, True),
        ("a.ndjson", {"decoding": Decoding(encoding="utf8")}, True),
        ("a.jsonl", {"decoding": Decoding(encoding="gb18030")}, False),
        ("a.csv", {}, False),
        ("a.json", {"format": "records"}, False),
        ("a.txt", {"format": "jsonl"}, True),
        ("missing.parquet", {}, False),
    ],
)
def test_only_utf8_json_lines_and_parquet_are_cut(
    tmp_path: Path, name: str, values: dict[str, Any], splits: bool
) -> None:
    if not name.startswith("missing"):
        (tmp_path / name).write_bytes(b"{}\n" * 1000)
    source = Source(path=str(tmp_path), **values)
    config = Config(name="t", sources=(source,), output=Output(path=str(tmp_path / "table"), task_bytes=100))
    assert bool(survey(config, open_store(str(tmp_path)), 0, name, 3000)) is splits


def test_a_container_of_two_tasks_is_read_in_one_piece(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}\n" * 100)
    source = Source(path=str(tmp_path))
    config = Config(name="t", sources=(source,), output=Output(path=str(tmp_path / "table"), task_bytes=150))
    assert survey(config, open_store(str(tmp_path)), 0, "a.jsonl", 300) == ()


def parquet(rows: int, group: int, width: int = 100) -> io.BytesIO:
    file = io.BytesIO()
    table = pa.table({"id": [f"{n:08}" for n in range(rows)], "text": [f"{n:0{width}}" for n in range(rows)]})
    pq.write_table(table, file, row_group_size=group, compression="none", use_dictionary=False)
    file.seek(0)
    return file


@pytest.mark.parametrize(("rows", "group", "task_bytes"), [(1000, 50, 20_000), (1000, 1000, 10_000), (10, 5, 1)])
def test_parts_of_rows_cover_them_once(rows: int, group: int, task_bytes: int) -> None:
    parts = row_parts(parquet(rows, group), task_bytes, 1000)
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == rows
    assert all(part.first == part.start < part.stop for part in parts)


def test_row_groups_are_put_together_and_large_ones_are_cut() -> None:
    small = row_parts(parquet(1000, 50), 20_000, 1000)
    assert {(part.stop - part.start) % 50 for part in small} == {0}
    assert max(part.bytes for part in small) <= 20_000
    large = row_parts(parquet(1000, 1000), 20_000, 1000)
    assert len(large) == 6
    assert {part.stop - part.start for part in large} == {166, 167}


def test_short_records_are_cut_by_their_number() -> None:
    assert len(row_parts(parquet(1000, 1000), 1_000_000, 300)) == 4
    assert [part.stop for part in row_parts(parquet(1000, 50), 1_000_000, 300)] == [300, 600, 900, 1000]

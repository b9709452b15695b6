"""Sort keys: where files, containers and records belong in the table."""

from __future__ import annotations

import pyarrow as pa

from pipelines.table.keys import container_key, end_of, sort_key, sort_keys
from tests.pipelines.tables import state, states


def test_a_container_is_named_by_its_path_and_its_source() -> None:
    key = container_key("a/", "data.jsonl", "s3://docs")
    assert key == "a/data.jsonl\0" + key[-8:]
    assert key != container_key("a/", "data.jsonl", "s3://other")


def test_records_sort_after_their_container_and_before_anything_else() -> None:
    key = container_key("", "data.jsonl", "s3://docs")
    ordered = ["data.jsonl", key, *(sort_key(key, position) for position in (0, 9, 10, 10**15)), end_of(key)]
    assert ordered == sorted(ordered)
    others = ["data.jsonl.gz", "data.jsonm", "data.jsonl!"]
    assert all(other > end_of(key) for other in others)


def test_sort_keys_of_a_table_are_those_of_its_rows() -> None:
    key = container_key("", "d.jsonl", "s3://docs")
    rows = [
        state("a.md", "x"),
        state(key, kind="container", key=key),
        *(state(f"r{n}", "x", kind="record", key=key, position=n) for n in (0, 7, 12345)),
    ]
    table = states(*rows)
    expected = [sort_key(row["key"], row["position"]) for row in table.to_pylist()]
    assert sort_keys(table).to_pylist() == expected


def test_files_alone_have_their_ids_as_sort_keys() -> None:
    table = states(state("b", "x"), state("a", "x"))
    assert sort_keys(table).to_pylist() == ["a", "b"]
    assert (
        sort_keys(pa.table({"key": pa.array([], pa.string()), "position": pa.array([], pa.int64())})).to_pylist() == []
    )

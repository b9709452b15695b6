"""Readers that are not ours see what we committed, version by version."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from pipelines.errors import TableStateError
from pipelines.storage.store import open_store
from pipelines.table import layout, log, schemas, shards
from pipelines.table.commit import Committed, commit
from pipelines.table.publish import publish
from pipelines.table.records import Shard, Snapshot
from tests.pipelines.table.tables import Corpus, attempt, chunk_rows, document_rows, run, snapshot_of, texts_of

deltalake = pytest.importorskip("deltalake")
duckdb = pytest.importorskip("duckdb")
polars = pytest.importorskip("polars")

LONG = "長" * 200
HISTORY: list[tuple[Corpus, list[str]]] = [
    ({"a.md": ["one", "two\0"], "b [1] #%.md": ["drei 名前"], "z.md": ["last"]}, ["b", "c"]),
    ({"a.md": ["one"], "b [1] #%.md": ["drei", "more"], "c.md": ["new"], "z.md": ["last"]}, ["b", "c"]),
    ({}, []),
    ({}, ["a", "b"]),
    ({f"{n:04}.md": [f"{n}-{i}" for i in range(3)] for n in range(500)} | {LONG: ["long id"]}, ["0100.md", "0200.md"]),
    ({"only.md": ["one"]}, []),
]


def rows(table: pa.Table) -> dict[str, str]:
    assert len(set(table["id"].to_pylist())) == table.num_rows
    return dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("table")
    store = open_store(str(root))
    for corpus, bounds in HISTORY:
        assert isinstance(run(store, corpus, bounds), Committed)
    return root


@pytest.fixture(params=range(len(HISTORY)))
def version(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


def folder_of(table: Path, version: int) -> Path:
    run_id = log.versions(open_store(str(table)))[version].run_id
    assert run_id is not None
    return table / "chunks" / run_id


def test_pyarrow_reads_the_folder_of_a_run(table: Path, version: int) -> None:
    found = ds.dataset(folder_of(table, version), format="parquet").to_table()
    assert rows(found) == texts_of(HISTORY[version][0])
    assert found.schema.remove_metadata().equals(schemas.CHUNKS)


def test_duckdb_reads_a_glob_over_the_folder_of_a_run(table: Path, version: int) -> None:
    files = f"read_parquet('{folder_of(table, version)}/*.parquet')"
    with duckdb.connect() as connection:
        found = connection.execute(f"select id, text from {files}").fetchall()
        assert len(found) == len(texts_of(HISTORY[version][0]))
        assert dict(found) == texts_of(HISTORY[version][0])
        count = connection.execute(f"select count(*) from {files} where id = 'z.md#0'").fetchall()
        assert count == [(int("z.md" in HISTORY[version][0]),)]


def test_polars_reads_a_glob_over_the_folder_of_a_run(table: Path, version: int) -> None:
    frame = polars.scan_parquet(f"{folder_of(table, version)}/*.parquet")
    assert rows(frame.collect().to_arrow()) == texts_of(HISTORY[version][0])
    assert frame.filter(polars.col("id") == "z.md#0").collect().height == int("z.md" in HISTORY[version][0])


def test_polars_reads_every_version_of_the_delta_table(table: Path, version: int) -> None:
    frame = polars.scan_delta(str(table / "chunks"), version=version)
    assert rows(frame.collect().to_arrow()) == texts_of(HISTORY[version][0])
    assert frame.filter(polars.col("id") == "z.md#0").collect().height == int("z.md" in HISTORY[version][0])


def test_deltalake_reads_every_version(table: Path, version: int) -> None:
    found = deltalake.DeltaTable(table / "chunks", version=version)
    assert rows(found.to_pyarrow_table()) == texts_of(HISTORY[version][0])
    one = found.to_pyarrow_dataset().to_table(filter=ds.field("id") == "z.md#0")
    assert one.num_rows == int("z.md" in HISTORY[version][0])
    adds = pa.table(found.get_add_actions(flatten=True))
    assert sum(adds["num_records"].to_pylist()) == len(texts_of(HISTORY[version][0]))


def test_deltalake_knows_the_history(table: Path) -> None:
    found = deltalake.DeltaTable(table / "chunks")
    assert found.version() == len(HISTORY) - 1
    history = found.history()
    assert [(entry["version"], entry["operation"]) for entry in history] == [
        (number, "WRITE") for number in reversed(range(len(HISTORY)))
    ]
    assert [column.name for column in found.schema().fields] == schemas.CHUNKS.names
    assert found.protocol().min_reader_version == 1
    assert found.vacuum(dry_run=True) == []


def test_a_vacuum_by_another_tool_leaves_the_table_and_its_states_alone(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    first, second = run(store, HISTORY[0][0]), run(store, HISTORY[1][0])
    assert isinstance(first, Committed)
    assert isinstance(second, Committed)
    removed = deltalake.DeltaTable(tmp_path / "chunks").vacuum(
        retention_hours=0, enforce_retention_duration=False, dry_run=False
    )
    assert removed == [first.snapshot.shards[0].chunks.path.removeprefix("chunks/")]
    assert run(store, {"x.md": ["after"]}) is not None
    newest = deltalake.DeltaTable(tmp_path / "chunks")
    assert rows(newest.to_pyarrow_table()) == {"x.md#0": "after"}
    assert store.exists(first.snapshot.shards[0].documents.path)


def test_a_checkpoint_by_another_tool_changes_nothing(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    run(store, HISTORY[0][0])
    deltalake.DeltaTable(tmp_path / "chunks").create_checkpoint()
    run(store, HISTORY[1][0])
    assert rows(deltalake.DeltaTable(tmp_path / "chunks").to_pyarrow_table()) == texts_of(HISTORY[1][0])
    assert rows(deltalake.DeltaTable(tmp_path / "chunks", version=0).to_pyarrow_table()) == texts_of(HISTORY[0][0])


def test_optimize_by_another_tool_is_noticed_and_can_be_committed_over(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    run(store, HISTORY[0][0], ["b"])
    deltalake.DeltaTable(tmp_path / "chunks").optimize.compact()
    with pytest.raises(TableStateError, match=r"version 1 \(OPTIMIZE\) was written by another tool"):
        log.head(store)
    head = log.head(store, over_foreign=True)
    assert head is not None
    assert (head.version, head.newest, len(head.live)) == (0, 1, 1)
    run_id = layout.new_run_id()
    repaired = snapshot_of(run_id, publish(store, run_id, attempt(store, run_id, HISTORY[1][0])), head)
    assert isinstance(commit(store, repaired, head, over_foreign=True), Committed)
    assert rows(deltalake.DeltaTable(tmp_path / "chunks").to_pyarrow_table()) == texts_of(HISTORY[1][0])
    assert rows(polars.scan_delta(str(tmp_path / "chunks")).collect().to_arrow()) == texts_of(HISTORY[1][0])
    assert log.head(store) is not None


def test_payload_columns_of_every_type_are_read(tmp_path: Path) -> None:
    payload = {
        "s": "string",
        "n": "int64",
        "d": "double",
        "b": "bool",
        "day": "date",
        "at": "timestamp",
        "raw": "binary",
    }
    values = [
        "é",
        2**60,
        0.5,
        True,
        datetime.date(2026, 1, 31),
        datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC),
        b"\xff",
    ]
    store, run_id = open_store(str(tmp_path)), layout.new_run_id()
    made = chunk_rows({"a": ["text"]})
    for field, value in zip(list(schemas.chunks_schema(payload))[-7:], values, strict=True):
        made = made.append_column(field, pa.array([value], field.type))
    folder = layout.attempts_folder(run_id, 0)
    part = Shard(
        low="",
        high=None,
        input_bytes=4,
        chunks=shards.write(store, f"{folder}/x/chunks.parquet", made, "chunks", payload),
        documents=shards.write(store, f"{folder}/x/documents.parquet", document_rows({"a": ["text"]}), "documents"),
    )
    snapshot = Snapshot(
        run_id=run_id,
        parent_version=None,
        created=datetime.datetime.now(tz=datetime.UTC),
        shards=tuple(publish(store, run_id, [part])),
        payload=payload,
    )
    assert isinstance(commit(store, snapshot, None), Committed)
    expected = [dict(zip(payload, values, strict=True))]
    assert deltalake.DeltaTable(tmp_path / "chunks").to_pyarrow_table().select(list(payload)).to_pylist() == expected
    assert polars.scan_delta(str(tmp_path / "chunks")).select(list(payload)).collect().to_dicts() == expected

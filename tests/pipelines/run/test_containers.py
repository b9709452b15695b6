"""Containers in a run: what rows, states and failures their records leave."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.config.model import Budget, Columns, Output
from pipelines.errors import TableStateError
from pipelines.observe.events import ignore
from pipelines.operations.prepare import prepare
from pipelines.operations.run import run
from pipelines.records import RunOptions
from pipelines.routing import Router
from pipelines.table import layout
from pipelines.table.keys import container_key
from pipelines.work.chunk_shard import chunk_shard
from pipelines.work.job import Job
from pipelines.work.stored_plan import load_plan
from tests.pipelines.run.corpus import Corpus, assert_changes_law


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


def lines(*records: Any) -> str:
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


def record(id_: Any, text: str = "some text", **values: Any) -> dict[str, Any]:
    return {"id": id_, "text": text, **values}


def columns(corpus: Corpus, payload: dict[str, str], **values: Any) -> None:
    """Declare columns."""
    corpus.source(columns=Columns(payload=payload, **values))


def small_tasks(corpus: Corpus) -> None:
    corpus.change(output=Output(path=corpus.config.output.path, task_bytes=1024))


def test_a_container_has_a_state_and_each_record_one(corpus: Corpus) -> None:
    corpus.write("d.jsonl", lines(record("r1"), record("r2", "")))
    corpus.run()
    states = corpus.states()
    key = container_key("", "d.jsonl", corpus.config.sources[0].path)
    assert set(states) == {key, "r1", "r2"}
    of_object = ("validator", "size", "modified")
    assert all(states[key][name] is not None for name in of_object)
    assert [states[id_][name] for id_ in ("r1", "r2") for name in of_object] == [None] * 6
    found = {
        id_: tuple(state[name] for name in ("kind", "key", "position", "status", "chunk_count"))
        for id_, state in states.items()
    }
    assert found == {
        key: ("container", key, None, "chunked", 0),
        "r1": ("record", key, 0, "chunked", 1),
        "r2": ("record", key, 1, "empty", 0),
    }
    (row,) = corpus.rows().values()
    assert (row["parent_id"], row["source_uri"]) == ("r1", str(corpus.root / "docs" / "d.jsonl"))


def test_payload_columns_are_on_every_row_and_in_its_hash(corpus: Corpus) -> None:
    payload = {
        "zz": "string",
        "price": "double",
        "at": "timestamp",
        "on": "date",
        "raw": "binary",
        "n": "int64",
        "ok": "bool",
    }
    columns(corpus, payload, title="name", metadata=("lang",))
    given = {
        "zz": 'q"ü',
        "price": -0.0,
        "at": "2024-05-01T10:00:00.5Z",
        "on": "2024-05-02",
        "raw": "AAE=",
        "n": 7,
        "ok": True,
    }
    corpus.write("d.jsonl", lines(record("r1", "a" * 500, name="T", lang="de", **given), record("r2")))
    corpus.write("f.md", "a file has no payload")
    corpus.run()
    rows = corpus.rows()
    assert len(rows) == 4
    moment = datetime.datetime(2024, 5, 1, 10, 0, 0, 500_000, datetime.UTC)
    expected = {
        "zz": 'q"ü',
        "price": -0.0,
        "at": moment,
        "on": datetime.date(2024, 5, 2),
        "raw": b"\0\1",
        "n": 7,
        "ok": True,
    }
    for row in rows.values():
        has = row["parent_id"] == "r1"
        assert {name: row[name] for name in payload} == (expected if has else dict.fromkeys(payload))
        assert (row["title"], row["metadata"]) == (("T", '{"lang":"de"}') if has else (None, "{}"))
        forms = {
            name: value
            for name, value in row.items()
            if name not in ("text", "chunk_count", "document_hash", "content_hash", "row_hash")
        }
        if has:
            forms |= {
                "at": "2024-05-01T10:00:00.500000Z",
                "on": "2024-05-02",
                "raw": base64.b64encode(b"\0\1").decode(),
            }
        canonical = json.dumps(forms, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert row["row_hash"] == hashlib.sha256(canonical.encode()).hexdigest()


def test_other_columns_rewrite_all_shards_and_another_type_needs_another_table(corpus: Corpus) -> None:
    small_tasks(corpus)
    corpus.fill(6)
    corpus.write("d.jsonl", lines(*(record(f"r{n}", "x" * 300, n=n) for n in range(20))))
    corpus.run()
    before = corpus.rows()
    columns(corpus, {"n": "int64"})
    corpus.run()
    after = corpus.rows()
    assert [after[f"r{n}#0"]["n"] for n in range(20)] == list(range(20))
    assert_changes_law(before, after, corpus.changes())
    columns(corpus, {"n": "string"})
    with pytest.raises(TableStateError, match="'n' is string now and was int64"):
        corpus.run()


def test_the_first_of_two_records_with_one_id_stays(corpus: Corpus) -> None:
    corpus.write("d.jsonl", lines(record("r1", "one"), record("r2"), record("r1", "two")))
    corpus.run()
    assert {row["parent_id"]: row["text"] for row in corpus.rows().values()} == {"r1": "one", "r2": "some text"}
    (failure,) = corpus.failures()
    assert {name: failure[name] for name in ("id", "position", "stage", "error")} == {
        "id": "r1",
        "position": "line 3",
        "stage": "id",
        "error": "duplicate-id",
    }
    assert f"line 1 of {corpus.root}/docs/d.jsonl" in failure["message"]


def test_a_bad_record_does_not_stop_the_others_and_lets_nothing_go(corpus: Corpus) -> None:
    corpus.write("d.jsonl", lines(record("r1"), record("r2"), record("r3"), record("r4")))
    corpus.run()
    corpus.write("d.jsonl", lines(record("r1", "new"), "{broken", record("r4", None)))
    outcome = corpus.run()
    texts = {row["parent_id"]: row["text"] for row in corpus.rows().values()}
    assert texts == {"r1": "new", "r2": "some text", "r3": "some text", "r4": "some text"}
    assert sorted((each["id"], each["position"], each["error"], each["kept_chunks"]) for each in corpus.failures()) == [
        ("", "line 2", "malformed", 0),
        ("r4", "line 3", "malformed", 1),
    ]
    assert outcome.exit_code == 0
    corpus.write("d.jsonl", lines(record("r1", "new"), record("r4")))
    corpus.run()
    assert sorted({row["parent_id"] for row in corpus.rows().values()}) == ["r1", "r4"]
    assert corpus.failures() == []


@pytest.mark.parametrize("broken", [b"not parquet", b"PAR1" + b"\xff" * 100 + b"PAR1"])
def test_a_container_that_cannot_be_read_keeps_its_records(corpus: Corpus, broken: bytes) -> None:
    file = corpus.root / "t.parquet"
    pq.write_table(pa.table({"id": ["r1", "r2"], "text": ["one", "two"]}), file)
    corpus.write("d.parquet", file.read_bytes())
    corpus.run()
    rows = corpus.rows()
    corpus.write("d.parquet", broken)
    corpus.run()
    assert corpus.rows() == rows
    (failure,) = corpus.failures()
    assert (failure["id"], failure["stage"], failure["error"]) == ("d.parquet", "read", "malformed")
    corpus.write("d.parquet", file.read_bytes())
    corpus.run()
    assert (corpus.rows(), corpus.failures()) == (rows, [])


def test_a_container_that_is_only_touched_is_not_chunked_again(corpus: Corpus) -> None:
    small_tasks(corpus)
    content = lines(*(record(f"r{n}", "x" * 300) for n in range(20)))
    corpus.write("d.jsonl", content)
    corpus.run()
    files = [shard.chunks.sha256 for shard in corpus.snapshot().shards]
    assert len(files) > 4
    corpus.write("d.jsonl", content)
    outcome = corpus.run()
    assert (outcome.committed, corpus.counts(outcome)["unchanged"], corpus.changes()) == (True, 20, [])
    assert [shard.chunks.sha256 for shard in corpus.snapshot().shards] == files


def test_a_container_that_changes_after_it_was_cut_is_read_another_time(corpus: Corpus) -> None:
    small_tasks(corpus)
    corpus.write("d.jsonl", lines(*(record(f"r{n:02}", "x" * 300) for n in range(20))))
    store, run_id = corpus.store, layout.new_run_id()
    prepare(corpus.config, RunOptions(), store, run_id, ignore)
    plan = load_plan(store, run_id)
    corpus.write("d.jsonl", lines(record("q"), *(record(f"r{n:02}", "x" * 300) for n in range(20))))
    job = Job(config=corpus.config, run_id=run_id)
    results = [chunk_shard(job, plan, Router(corpus.config), task.index) for task in plan.tasks]
    parts = [part for result in results for part in result.containers]
    assert len(parts) == len(plan.tasks) > 4
    assert {(part.whole, part.error, part.records) for part in parts} == {(False, "read", 0)}
    corpus.run()
    assert len(corpus.rows()) == 21


def test_more_text_than_may_be_in_memory_fails_its_part_and_no_other(corpus: Corpus) -> None:
    table = pa.table({"id": [f"r{n:03}" for n in range(600)], "text": ["one long text " * 100] * 600})
    pq.write_table(table, corpus.root / "t.parquet", row_group_size=300)
    corpus.write("d.parquet", (corpus.root / "t.parquet").read_bytes())
    corpus.write("f.md", "file")
    corpus.change(limits=Budget(max_bytes=20 * 1400))
    corpus.run()
    assert "f.md#0" in corpus.rows()
    assert {each["error"] for each in corpus.failures()} == {"too-large"}
    corpus.change(limits=Budget())
    run(corpus.config, RunOptions(workers=1), ignore)
    assert len({row["parent_id"] for row in corpus.rows().values()}) == 601
    assert corpus.failures() == []


def test_a_full_run_chunks_the_records_of_a_changed_container_again_that_did_not_change(corpus: Corpus) -> None:
    corpus.write("d.jsonl", lines(record("r1"), record("r2")))
    corpus.write("e.jsonl", lines(record("r4")))
    corpus.run()
    corpus.write("d.jsonl", lines(record("r1"), record("r2", "another text"), record("r3")))
    assert corpus.counts(corpus.run(full=True)) == {"listed": 4, "chunked": 4}
    assert corpus.rows() == corpus.afresh()


def test_a_container_that_stays_counts_as_it_did_when_it_was_read(corpus: Corpus) -> None:
    corpus.write("a.jsonl", lines(record("r1"), "{", {"text": "no id"}, record("r1"), record("r2", text=5)))
    corpus.write("b.jsonl", lines(record("r3"), record("r1", "also in a")))
    corpus.write("c.jsonl", lines(record("r3", "also in b"), record("r4")))
    assert corpus.counts(corpus.run()) == {"listed": 9, "chunked": 3, "failed": 6}
    assert corpus.counts(corpus.run()) == {"listed": 9, "unchanged": 3, "failed": 6}
    corpus.write("d.txt", "another one")
    assert corpus.counts(corpus.run()) == {"listed": 10, "chunked": 1, "unchanged": 3, "failed": 6}


def test_an_object_of_two_sources_that_stays_counts_as_it_did(corpus: Corpus) -> None:
    corpus.write("in/a.jsonl", lines(record("r1"), record("r2"), "{"))
    (source,) = corpus.config.sources
    corpus.change(sources=(source, replace(source, path=f"{source.path}/in")))
    assert corpus.counts(corpus.run()) == {"listed": 6, "chunked": 2, "failed": 4}
    assert corpus.counts(corpus.run()) == {"listed": 6, "unchanged": 2, "failed": 4}


def test_an_object_that_is_listed_twice_counts_as_one_more(corpus: Corpus) -> None:
    corpus.write("a.jsonl", lines(record("r1"), record("r2"), "{"))
    corpus.change(sources=corpus.config.sources * 2)
    assert corpus.counts(corpus.run()) == {"listed": 4, "chunked": 2, "failed": 2}
    assert corpus.counts(corpus.run()) == {"listed": 4, "unchanged": 2, "failed": 2}

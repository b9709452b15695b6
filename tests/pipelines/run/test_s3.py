"""The whole job with its sources, its table or both on S3."""

from __future__ import annotations

import gzip
import io
import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from pipelines.__main__ import main
from pipelines.storage.base import Fetched
from pipelines.storage.bucket import BucketStore
from pipelines.storage.retry import Retry
from tests.pipelines.run.buckets import Stored
from tests.pipelines.run.corpus import assert_changes_law, text
from tests.servers.faults import Fault
from tests.servers.s3 import S3Server

Options = dict[str, dict[str, Any]]

HOSTILE = [
    "a b.txt",
    "a+b.txt",
    "a%20b.txt",
    "[x].txt",
    "#1;2&3.txt",
    "café.txt",
    "cafe\u0301.txt",
    "a//b.txt",
    "'\".txt",
]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.storage.bucket.Retry", lambda: Retry(tries=4, first=0.005))


@pytest.fixture
def stored(s3: S3Server, s3_options: Options) -> Stored:
    """Ten documents on S3, and a table there that does not exist yet."""
    stored = Stored("s3://bucket/docs", "s3://bucket/table", s3_options)
    for number in range(10):
        stored.write(f"{number:03d}.txt", text(3, f"of {number}"))
    return stored


def a_few_nights(stored: Stored) -> None:
    """Run, nothing changed, edit and remove and add, nothing changed: with the laws that hold."""
    for number in range(6):
        stored.write(f"{number:03d}.txt", text(3, f"of {number}"))
    for name in HOSTILE if "://" in stored.docs else HOSTILE[:-2]:
        stored.write(name, text(1, name))
    stored.write("empty.txt", b"")
    stored.write("binary.txt", b"\0\1\2\xff" * 100)
    first = stored.run()
    assert (first.exit_code, first.version, first.summary["failed"]) == (0, 0, 1)
    before = stored.rows()
    assert {id_.rpartition("#")[0] for id_ in before} >= set(HOSTILE[:-2])
    quiet = stored.run()
    assert (quiet.exit_code, quiet.committed, quiet.summary["unchanged"]) == (0, False, quiet.summary["listed"] - 1)
    stored.write("000.txt", text(6, "grown"))
    stored.write("001.txt", text(1, "shrunk"))
    stored.write("new.txt", text(2, "new"))
    stored.source.delete("002.txt")
    second = stored.run()
    assert (second.exit_code, second.version) == (0, 1)
    assert stored.counts(second)["chunked"] == 3
    after = stored.rows()
    assert after == stored.afresh()
    assert_changes_law(before, after, stored.changes())
    assert stored.rows(0) == before
    assert stored.run().committed is False


@pytest.mark.parametrize("where", ["both", "sources", "table"])
def test_nights_on_s3(where: str, s3: S3Server, s3_options: Options, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    docs = str(tmp_path / "docs") if where == "table" else "s3://bucket/docs"
    table = str(tmp_path / "table") if where == "sources" else "s3://bucket/table"
    a_few_nights(Stored(docs, table, s3_options))


def test_nights_on_moto(moto: tuple[str, Options]) -> None:
    address, options = moto
    a_few_nights(Stored(f"{address}/docs", f"{address}/table", options, task_bytes=100_000))


def command_lines() -> str:
    """Those of all processes of this machine, now."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(file.read_text(errors="replace"))
    return "\n".join(found)


def test_worker_processes_on_s3_make_the_same_table(stored: Stored, capfd: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            seen.append(command_lines())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        stored.run(workers=2)
    finally:
        done.set()
        watcher.join()
    if Path("/proc/self/cmdline").exists():
        assert any("pipelines.beam" in each for each in seen)
    assert not any("not-a-real-secret" in each for each in seen)
    parallel = [shard.chunks.sha256 for shard in stored.snapshot().shards]
    stored.change(output=type(stored.config.output)(path="s3://bucket/other", task_bytes=2000))
    stored.run(workers=1)
    assert [shard.chunks.sha256 for shard in stored.snapshot().shards] == parallel
    assert len(parallel) > 2
    assert "not-a-real-secret" not in "".join(capfd.readouterr())


def test_an_unchanged_night_costs_the_listing_and_the_state_files(s3: S3Server, stored: Stored) -> None:
    stored.run()
    shards = len(stored.snapshot().shards)
    s3.requests.clear()
    assert stored.run().committed is False
    assert s3.requests["put"] == s3.requests["copy"] == s3.requests["delete"] == 0
    assert s3.requests["list"] <= 3  # the source, the log, what claims there are
    assert s3.requests["get"] <= shards + 3  # their states, the log's entry, commit.json
    assert s3.requests["head"] <= 2


def test_the_validator_of_the_bytes_read_is_stored(
    s3: S3Server, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A when listed, B when read, A again the next night: S3's validators are digests, so A's is the same twice."""
    original = BucketStore.fetch

    def late(self: BucketStore, path: str) -> Fetched:
        if path == "003.txt":
            stored.write("003.txt", text(2, "B"))
        return original(self, path)

    monkeypatch.setattr(BucketStore, "fetch", late)
    stored.run()
    monkeypatch.undo()
    stored.write("003.txt", text(3, "of 3"))
    night = stored.run()
    assert stored.counts(night) == {"listed": 10, "chunked": 1, "unchanged": 9}
    assert stored.rows() == stored.afresh()
    state = stored.states()["003.txt"]
    assert state["validator"] == s3.bucket("bucket").objects["docs/003.txt"].etag
    assert state["size"] == len(text(3, "of 3"))


def test_a_container_that_changes_between_listing_and_reading_is_read_again(
    s3: S3Server, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = (json.dumps({"id": "r", "text": f"{name} is what it says."}) + "\n" for name in ("A", "B"))
    stored.write("x.jsonl", a)
    original = BucketStore.opened

    def late(self: BucketStore, path: str) -> Any:
        if path == "x.jsonl":
            stored.write("x.jsonl", b)
        return original(self, path)

    monkeypatch.setattr(BucketStore, "opened", late)
    stored.run()
    monkeypatch.undo()
    assert "B is" in next(row["text"] for id_, row in stored.rows().items() if id_.startswith("r#"))
    stored.write("x.jsonl", a)
    stored.run()
    assert "A is" in next(row["text"] for id_, row in stored.rows().items() if id_.startswith("r#"))


def test_a_document_that_vanishes_is_a_failure_until_a_listing_says_that_it_is_gone(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored.run()
    stored.write("003.txt", text(4, "edited"))
    original = BucketStore.fetch

    def late(self: BucketStore, path: str) -> Fetched:
        if path == "003.txt":
            self.delete(path)
        return original(self, path)

    monkeypatch.setattr(BucketStore, "fetch", late)
    stored.run()
    monkeypatch.undo()
    (failure,) = stored.failures()
    assert (failure["id"], failure["error"], failure["kept_chunks"]) == ("003.txt", "missing", 3)
    assert len([id_ for id_ in stored.rows() if id_.startswith("003")]) == 3
    stored.run()
    assert [id_ for id_ in stored.rows() if id_.startswith("003")] == []


def test_trouble_that_stays_is_a_failure_row_and_heals(s3: S3Server, stored: Stored) -> None:
    def meets(request: Any) -> bool:
        return bool(request.operation == "get" and request.name.startswith("docs/00"))

    s3.faults.add(Fault(kind="status", status=503, times=10**6, meets=lambda call: meets(call) and "003" in call.name))
    s3.faults.add(Fault(kind="short", times=10**6, meets=lambda call: meets(call) and "004" in call.name))
    s3.faults.add(Fault(kind="status", status=429, times=2, meets=lambda call: meets(call) and "005" in call.name))
    outcome = stored.run()
    assert stored.counts(outcome) == {"listed": 10, "chunked": 8, "failed": 2}
    assert {(row["id"], row["stage"], row["error"]) for row in stored.failures()} == {
        ("003.txt", "read", "read"),
        ("004.txt", "read", "read"),
    }
    s3.faults.clear()
    assert stored.counts(stored.run()) == {"listed": 10, "chunked": 2, "unchanged": 8}
    assert stored.rows() == stored.afresh()


def test_a_listing_that_fails_removes_nothing(s3: S3Server, stored: Stored) -> None:
    stored.run()
    before = stored.rows()
    s3.faults.add(
        Fault(kind="status", times=10**6, meets=lambda call: call.operation == "list" and call.name == "docs/")
    )
    with pytest.raises(Exception, match="no source could be listed"):
        stored.run()
    s3.faults.clear()
    assert stored.rows() == before


def test_a_store_that_ignores_the_condition_is_refused_before_anything_is_written(s3: S3Server, stored: Stored) -> None:
    s3.exclusive = False
    with pytest.raises(Exception, match="ignores create-if-absent"):
        stored.run()
    assert [key for key in s3.bucket("bucket").objects if key.startswith("table/")] == []


def test_containers_on_s3(s3: S3Server, s3_options: Options, tmp_path: Path) -> None:
    """Cut into parts, by bytes and by row groups, and read by ranges: as from a disk."""
    lines = "".join(json.dumps({"id": f"r{n}", "text": f"Record {n} of many. " * 5}) + "\n" for n in range(300))
    rows = pa.table({"id": [f"p{n}" for n in range(300)], "text": [f"Row {n} of many. " * 5 for n in range(300)]})
    file = io.BytesIO()
    pq.write_table(rows, file, row_group_size=50)
    (tmp_path / "docs").mkdir()
    here = Stored(str(tmp_path / "docs"), str(tmp_path / "table"), {}, task_bytes=5000)
    there = Stored("s3://bucket/docs", "s3://bucket/table", s3_options, task_bytes=5000)
    for stored in (here, there):
        stored.write("lines.jsonl", lines)
        stored.write("packed.jsonl.gz", gzip.compress(lines.replace('"r', '"z').encode(), mtime=0))
        stored.write("rows.parquet", file.getvalue())
        stored.run()
    local, remote = here.rows(), there.rows()
    assert len(remote) >= 900
    assert {id_: row["row_hash"] for id_, row in remote.items()} != {}
    strip = ("source_uri", "row_hash")
    assert {id_: {k: v for k, v in row.items() if k not in strip} for id_, row in remote.items()} == {
        id_: {k: v for k, v in row.items() if k not in strip} for id_, row in local.items()
    }
    assert there.run().committed is False


def test_the_commands_on_s3(
    s3: S3Server, s3_options: Options, stored: Stored, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "c.yaml"
    chunking = {"default": {"strategy": "recursive", "max_size": 300, "overlap": 0}}
    sections = {"source": [{"path": stored.docs}], "chunking": chunking, "output": {"path": stored.table}}
    config.write_text(yaml.safe_dump({**sections, "storage": s3_options}))

    def said(*arguments: str, code: int = 0) -> str:
        assert main([*arguments]) == code
        out, err = capsys.readouterr()
        assert "not-a-real-secret" not in out + err
        return out

    said("validate", str(config))
    assert json.loads(said("plan", str(config), "--output", "json"))
    said("run", str(config))
    stored.write("000.txt", text(1, "shrunk"))
    stored.source.delete("001.txt")
    said("run", str(config))
    files = said("files", str(config)).split()
    assert files
    assert all(name.startswith("s3://bucket/table/chunks/") for name in files)
    changes = said("changes", str(config), "--since", "0", "--output", "json")
    assert "001.txt#" in changes
    assert said("show", str(config))
    for key, stored_object in s3.bucket("bucket").objects.items():
        assert b"not-a-real-secret" not in stored_object.data, key
        assert b"AKIATESTS" not in stored_object.data, key


def test_credentials_and_endpoints_are_no_reason_to_chunk_again(stored: Stored, s3_options: Options) -> None:
    stored.run()
    other = {"s3": {**s3_options["s3"], "key": "AKIAOTHER", "secret": "another"}}
    again = Stored(stored.docs, stored.table, other)
    assert again.run().committed is False

"""`gc` on S3: parts of uploads that broke off lie there, and are paid for, until somebody says that they may go."""

from __future__ import annotations

import urllib.request
from typing import Any
from urllib.parse import quote

import pytest

from pipelines.cli.main import main
from pipelines.errors import StorageError
from pipelines.operations.gc import collect
from pipelines.storage import s3 as module
from pipelines.storage.store import Store, open_store
from pipelines.table.claims import claimed
from tests.pipelines.table import tables
from tests.servers.faults import Fault
from tests.servers.s3 import S3Server

Options = dict[str, dict[str, Any]]
RUN = "20260101T000000Z-0000000a"
OURS = [
    f"chunks/{RUN}/part-00000-of-00001.parquet",
    f"runs/{RUN}/attempts/00000/x/chunks.parquet",
    f"runs/{RUN}/documents/part-00000-of-00001.parquet",
]
OTHERS = [f"chunks/{RUN}/other.bin", "chunks/_delta_log/x.json", "elsewhere.parquet"]


def broken_off(store: Store, options: Options, *names: str) -> None:
    """What a process leaves that is killed between two parts."""
    root = store.address.removeprefix("s3://")
    for name in names:
        asked = urllib.request.Request(f"{options['s3']['endpoint_url']}/{root}/{quote(name)}?uploads", method="POST")
        urllib.request.urlopen(asked).close()


def left(store: Store) -> list[str]:
    return sorted(upload.path for upload in store.uploads())


@pytest.fixture
def table(s3: S3Server, s3_options: Options) -> Store:
    """A table with a commit, and uploads of a run and of others that began two hours ago."""
    store = open_store("s3://bucket/table", s3_options)
    tables.run(store, {"a": ["same"]})
    broken_off(store, s3_options, *OURS, *OTHERS)
    broken_off(open_store("s3://bucket", s3_options), s3_options, f"other-{OURS[0]}", f"tablet/{OURS[0]}")
    for upload in s3.uploads.values():
        upload.begun -= 7200
    return store


def test_uploads_of_ours_that_broke_off_are_let_go_and_no_others(s3: S3Server, table: Store) -> None:
    assert left(table) == sorted([*OURS, *OTHERS])
    dry = collect(table, dry_run=True)
    assert (dry.uploads, s3.unfinished_uploads) == (3, 8)
    assert collect(table).uploads == 3
    assert (left(table), s3.unfinished_uploads) == (OTHERS, 5)
    assert collect(table).uploads == 0


def test_on_moto(moto: tuple[str, Options]) -> None:
    store = open_store(f"{moto[0]}/table", moto[1])
    tables.run(store, {"a": ["same"]})
    broken_off(store, moto[1], *OURS, *OTHERS)
    assert collect(store).uploads == 3  # (here all uploads began in 2010)
    assert left(store) == OTHERS


def test_uploads_of_a_run_at_work_and_young_ones_stay(s3: S3Server, table: Store) -> None:
    with claimed(table, RUN):
        assert collect(table).uploads == 0
    assert collect(table, grace=7300).uploads == 0
    assert s3.unfinished_uploads == 8


def test_an_upload_that_ends_meanwhile_is_no_error(table: Store) -> None:
    (first, *_) = table.uploads()
    table.abort(first)
    table.abort(first)
    assert first.path not in left(table)


@pytest.mark.parametrize("operation", ["list uploads", "abort"])
def test_without_the_right_to_it_the_rest_is_collected_and_said(s3: S3Server, table: Store, operation: str) -> None:
    s3.faults.add(Fault(kind="status", status=403, times=-1, meets=lambda asked: asked.operation == operation))
    tables.run(table, {"a": ["other"]})
    found = collect(table, retain=0, grace=0)
    assert (found.versions, found.uploads) == ([0], 0)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("unfinished uploads are left: s3://bucket/table")
    assert found.notes[0].endswith("403 Injected: refused")


def test_a_large_write_whose_parts_are_taken_away_is_an_error(
    s3: S3Server, s3_options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PART", 1000)
    s3.faults.add(Fault(kind="status", status=404, meets=lambda asked: asked.operation == "part"))
    with pytest.raises(StorageError, match=r"^s3://bucket/x/a: cannot be written: its upload in parts was aborted$"):
        open_store("s3://bucket/x", s3_options).write("a", b"0123456789" * 450)


def test_the_command_says_it(
    s3_options: Options, table: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.cli.gc.open_table", lambda target: table)
    assert main(["gc", "c.yaml"]) == 0
    assert "unfinished uploads   3\n" in capsys.readouterr().out

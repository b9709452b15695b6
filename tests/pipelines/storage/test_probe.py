"""A store on which two runs could win one race is found out before a run writes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import StorageError
from pipelines.storage.probe import prove_exclusive
from pipelines.storage.store import open_store
from tests.servers.faults import Fault
from tests.servers.s3 import S3Server

Options = dict[str, dict[str, Any]]


def test_a_store_that_creates_exclusively_is_fine_and_left_empty(s3: S3Server, s3_options: Options) -> None:
    prove_exclusive(open_store("s3://bucket/table", s3_options), "runs/x/")
    assert s3.bucket("bucket").objects == {}
    assert dict(s3.requests) == {"put": 2, "head": 1, "get": 1, "delete": 1}


def test_a_store_that_ignores_the_condition_is_refused(s3_options: Options, s3: S3Server) -> None:
    s3.exclusive = False
    with pytest.raises(StorageError, match=r"s3://bucket/table: the store ignores create-if-absent"):
        prove_exclusive(open_store("s3://bucket/table", s3_options), "runs/x")
    assert s3.bucket("bucket").objects == {}


def test_a_disk_creates_exclusively(tmp_path: Path) -> None:
    prove_exclusive(open_store(str(tmp_path)), "runs/x")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_answer_that_was_lost_is_no_broken_promise(s3: S3Server, s3_options: Options) -> None:
    s3.faults.add(Fault(kind="lost", meets=lambda request: request.operation == "put"))
    prove_exclusive(open_store("s3://bucket/table", s3_options), "runs/x")


def test_a_key_that_may_not_delete_is_enough(s3: S3Server, s3_options: Options) -> None:
    s3.faults.add(Fault(kind="status", status=403, meets=lambda request: request.operation == "delete"))
    prove_exclusive(open_store("s3://bucket/table", s3_options), "runs/x")
    assert len(s3.bucket("bucket").objects) == 1

"""Names in a table."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from pipelines.errors import UsageError
from pipelines.table import layout


def test_run_ids_are_plain_and_sort_by_time() -> None:
    early = layout.new_run_id(datetime(2026, 1, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=2))))
    late = layout.new_run_id()
    assert early.startswith("20260131T215959Z-")
    assert layout.RUN_ID.fullmatch(early)
    assert layout.NAME.fullmatch(early)
    assert early < late


def test_every_file_has_its_place() -> None:
    run = "20260131T235959Z-1f2e3d4c"
    assert layout.version_file(42) == "chunks/_delta_log/00000000000000000042.json"
    assert layout.final_file(run, "chunks", 3, 16) == f"chunks/{run}/part-00003-of-00016.parquet"
    assert layout.final_file(run, "documents", 3, 16) == f"runs/{run}/documents/part-00003-of-00016.parquet"
    assert layout.final_file(run, "changes") == f"runs/{run}/changes/part-00000-of-00001.parquet"
    assert layout.commit_file(run) == f"runs/{run}/commit.json"
    assert layout.task_marker(run, 7) == f"runs/{run}/tasks/00007.json"
    assert layout.attempts_folder(run, 7) == f"runs/{run}/attempts/00007"
    assert layout.delta_path(f"chunks/{run}/part-00003-of-00016.parquet") == f"{run}/part-00003-of-00016.parquet"


def test_only_numbered_versions_are_versions() -> None:
    folder = "chunks/_delta_log/"
    assert layout.version_of(f"{folder}00000000000000000042.json") == 42
    for name in [
        "00000000000000000042.checkpoint.parquet",
        "00000000000000000042.json.tmp",
        "0000000000000000042.json",
        "_last_checkpoint",
        "_commits/00000000000000000042.json",
        "00000000000000000042.00000000000000000044.compacted.json",
    ]:
        assert layout.version_of(folder + name) is None
    assert layout.version_of("elsewhere/00000000000000000042.json") is None


@pytest.mark.parametrize("name", ["", ".hidden", "_x", "a/b", "a b", "a=b", "é", "a:b", "..", "-a"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name anything"):
        layout.run_file(name, "commit.json")


def test_a_percent_sign_in_the_address_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot hold '%'"):
        layout.check_address("/data/100%/table")
    assert layout.check_address("/data/table-1.0_x") == ""
    assert layout.check_address("/data/my table/é[1]") == " []é"

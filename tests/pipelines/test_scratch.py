"""Temporary folders: gone afterwards, and those of killed processes a little later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines import scratch
from pipelines.scratch import scratch_folder, sweep

ROOT = Path(__file__).parents[2]
HOLDER = "import time; from pipelines.scratch import scratch_folder\nwith scratch_folder() as f: print(f, flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_a_scratch_folder_is_gone_afterwards(tmp_path: Path) -> None:
    with scratch_folder() as folder:
        (Path(folder) / "a").write_text("a")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_goes_and_that_of_a_living_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holders = [
        subprocess.Popen([sys.executable, "-c", HOLDER], cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    dead, living = [Path(holder.stdout.readline().strip()) for holder in holders if holder.stdout is not None]
    try:
        (dead / "deep").mkdir()
        holders[0].send_signal(signal.SIGKILL)
        holders[0].wait()
        sweep()
        assert dead.exists(), "it may be one that is not locked yet"
        monkeypatch.setattr(scratch, "_YOUNG_SECONDS", 0.0)
        sweep()
        assert list(tmp_path.iterdir()) == [living]
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


def test_what_is_not_a_folder_of_ours_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_YOUNG_SECONDS", 0.0)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"{scratch.START}link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / f"{scratch.START}file").write_text("a")
    (tmp_path / "rechunk-else").mkdir()
    before = sorted(tmp_path.iterdir())
    sweep()
    assert sorted(tmp_path.iterdir()) == before
    assert os.listdir(tmp_path / "elsewhere") == []

"""Progress is for a person at a terminal, and for nobody else."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pipelines.observe.events import Event, Working, duration_text, size_text
from pipelines.observe.progress import told
from pipelines.storage.store import open_store
from pipelines.table import layout

ROOT = Path(__file__).parents[3]
DOCUMENTS = 150


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration whose run takes some seconds: every document is a task."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"{number:03d}.txt").write_text(f"Document {number}. " * 200)
    (folder / "broken.txt").write_bytes(b"\x7fELF\x00\x00\x00")
    file = tmp_path / "rechunk.json"
    settings = {
        "name": "test",
        "source": [{"path": str(folder)}],
        "chunking": {"default": {"strategy": "recursive", "max_size": 300}},
        "output": {"path": str(tmp_path / "table"), "task_bytes": 2000},
    }
    file.write_text(json.dumps(settings))
    return file


def on_a_terminal(*arguments: str) -> tuple[str, str]:
    """stdout, and what a terminal gets on stderr."""
    terminal, end = pty.openpty()
    shown = bytearray()

    def read() -> None:
        try:
            while data := os.read(terminal, 4096):
                shown.extend(data)
        except OSError:  # closed at the other end
            pass

    reader = threading.Thread(target=read)
    reader.start()
    command = [sys.executable, "-m", "pipelines", *arguments]
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=end, text=True, check=True)
    os.close(end)
    reader.join()
    os.close(terminal)
    return finished.stdout, shown.decode()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_live_on_a_terminal_in_both_modes(config: Path, workers: int) -> None:
    out, shown = on_a_terminal("run", str(config), "--workers", str(workers))
    lines = re.split(r"\r\x1b\[2K", shown)
    told = [line for line in lines if line.startswith("chunking: ")]
    assert told, shown
    assert re.fullmatch(
        rf"chunking: \d+ of {DOCUMENTS + 1} documents · [\d.]+ k?B of [\d.]+ [kM]B · [\d.]+ [kM]?B/s.*", told[0]
    )
    assert max(len(line) for line in told) < 80
    assert out.startswith("run ")
    assert "chunking" not in out
    assert shown.endswith("committed version 0\r\n")


def test_nothing_but_messages_off_a_terminal_or_for_json(config: Path) -> None:
    command = [sys.executable, "-m", "pipelines", "run", str(config)]
    piped = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.partition(":")[0] for line in piped.stderr.splitlines()] == ["failed", str(config.parent / "table")]
    _, shown = on_a_terminal("run", str(config), "--full", "--output", "json")
    assert shown == ""


def test_a_record_is_one_document_however_often_it_is_counted(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    documents = {"docs\tlisted": 2, "docs\tchunked": 1, "docs\tempty": 1}
    counts = {"documents": documents, "bytes_read": {"docs": 7}, "failures": {}}
    store.write(f"{layout.task_markers('run')}0.json", json.dumps({"counts": counts}).encode())
    told_events: list[Event] = []

    def emit(event: Event) -> None:
        told_events.append(event)
        seen.set()

    seen = threading.Event()
    emit.wants_progress = True  # type: ignore[attr-defined]
    with told(store, "run", emit, tasks=2, documents=3, size=9):
        assert seen.wait(10)
    assert str(told_events[0]).startswith("chunking: 2 of 3 documents · 7 B of 9 B")


def test_what_is_said() -> None:
    working = Working(
        stage="chunking",
        tasks_done=1,
        tasks=4,
        documents=10,
        documents_to_read=40,
        bytes=2_000_000,
        bytes_to_read=8_000_000,
        rate=1_000_000.0,
        eta=6.0,
        failures=1,
    )
    assert str(working) == "chunking: 10 of 40 documents · 2.0 MB of 8.0 MB · 1.0 MB/s · 6 s left · 1 failed"
    assert [size_text(999), size_text(1_500), size_text(2.5e12)] == ["999 B", "1.5 kB", "2.5 TB"]
    assert [duration_text(59.4), duration_text(185), duration_text(7_800)] == ["59 s", "3 min 5 s", "2 h 10 min"]

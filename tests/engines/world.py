"""A corpus of 2,000 documents, a night's edits of it, and the table that an engine makes of both."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.storage.store import open_store
from pipelines.table import shards, snapshot
from pipelines.table.reading import read_documents
from tests.engines.fetching import ROOT

CORPUS = Path(os.environ.get("RECHUNK_CORPUS", ROOT.parent / "shared" / "corpus"))
DOCUMENTS = 2_000

GARBAGE = bytes(range(256)) * 40
UNREADABLE = "unreadable.txt"

_LARGEST = 64 * 1024
_LONG_AGO = 1_600_000_000

_CONFIG = """\
name: engines
source:
  - path: docs
chunking:
  default: {strategy: auto, max_size: 1500}
  rules:
    - {match: "**/*.txt", strategy: recursive, max_size: 800, overlap: 80}
tokens: {encoding_name: cl100k_base}
output: {path: table, task_bytes: 256KiB}
guard: {documents: 100, percent: 50}
"""


@dataclass(frozen=True)
class Made:
    """What a run has said, and what the table then holds. Two of them are equal when everybody would take them for it.

    Left out is what may differ: when, under which run's name, and what a disk says of a file.
    """

    said: dict[str, Any]
    shards: dict[str, str]
    tables: dict[str, list[dict[str, Any]]]


class World:
    """One folder: `docs`, `table` and `c.yaml`, which names both relative to it."""

    def __init__(self, root: Path, documents: dict[str, bytes]) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self._documents = documents
        (root / "c.yaml").write_text(_CONFIG)

    def reset(self) -> None:
        """The first day's documents, and no table."""
        for name in ("docs", "table"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name, content in self._documents.items():
            self._write(name, content)
        self._write("garbage.md", GARBAGE)
        _make_unreadable(self.root / "docs" / UNREADABLE)

    def edit(self) -> None:
        """Documents are edited, added, removed and renamed, a few of each."""
        names = sorted(self._documents)
        dice = random.Random(7)
        dice.shuffle(names)
        for name in names[:20]:
            self._write(name, self._documents[name] + b"\n\nOne more paragraph, at the end of it.\n", day=1)
        for number in range(15):
            self._write(f"new/{number:02d}.md", f"# New {number}\n\nNobody has seen this before.\n".encode(), day=1)
        for name in names[20:35]:
            (self.root / "docs" / name).unlink()
        for name in names[35:45]:
            new = self.root / "docs" / "moved" / name
            new.parent.mkdir(parents=True, exist_ok=True)
            (self.root / "docs" / name).rename(new)

    def _write(self, name: str, content: bytes, day: int = 0) -> None:
        file = self.root / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        os.utime(file, (_LONG_AGO + 86_400 * day,) * 2)

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """`rechunk`, in this folder."""
        command = [sys.executable, "-m", "pipelines", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
        return subprocess.Popen(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(
        self,
        options: Sequence[str],
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        logs: bool = False,
    ) -> Made:
        """A run on the engine that pipeline options lead to, which `logs` or does not; local if there are none."""
        return self.made(self.start(*self.command(options, *arguments), environment=environment), logs=logs)

    @staticmethod
    def command(options: Sequence[str], *arguments: str) -> list[str]:
        return ["run", "c.yaml", "--output", "json", *arguments, *(["--", *options] if options else [])]

    def made(self, running: subprocess.Popen[str], seconds: float = 900, *, logs: bool = False) -> Made:
        """What a run comes to, when it has ended. AssertionError when it says anything but its outcome.

        An engine that `logs` where it is started from may say what it likes, but for exceptions.
        """
        try:
            out, err = running.communicate(timeout=seconds)
        finally:
            running.kill()
        assert "Traceback" not in err if logs else err == "", err
        said = json.loads(out)
        assert running.returncode == said["exit_code"]
        del said["run_id"], said["summary"]["seconds"]
        return Made(said=said, shards=self._shards(), tables=self._tables())

    def _shards(self) -> dict[str, str]:
        """The bytes of each file of chunks, by its name in the run's folder."""
        store = open_store(str(self.root / "table"))
        newest = snapshot.load(store)
        assert newest is not None
        return {
            shard.chunks.path.rpartition("/")[2]: hashlib.sha256(store.read(shard.chunks.path)).hexdigest()
            for shard in newest.shards
        }

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        store = open_store(str(self.root / "table"))
        newest = snapshot.load(store)
        assert newest is not None
        documents = read_documents(store, newest)
        found = {"documents": documents.drop_columns(["validator", "modified"])}
        for kind in ("changes", "failures", "renames"):
            parts = [shards.read(store, entry.path) for entry in getattr(newest, kind)]
            found[kind] = pa.concat_tables(parts) if parts else pa.table({})
        return {kind: table.to_pylist() for kind, table in found.items()}


def corpus() -> dict[str, bytes]:
    """2,000 documents by name: those of the corpus, and made ones for as many as it has not."""
    found: dict[str, bytes] = {}
    if CORPUS.is_dir():
        for file in sorted(CORPUS.rglob("*")):
            if file.is_file() and file.stat().st_size <= _LARGEST and len(found) < DOCUMENTS:
                found[file.relative_to(CORPUS).as_posix()] = file.read_bytes()
    for number in range(DOCUMENTS - len(found)):
        found[f"made/{number % 40:02d}/{number:04d}.md"] = _document(number)
    return found


def _document(number: int) -> bytes:
    """A document of Markdown with 1 to 40 sections, in one of three scripts."""
    dice = random.Random(number)
    words = ("harbour lamp winter ledger bridge quiet", "гавань фонарь зима мост тихий", "港 燈 冬 帳 橋 靜")[
        number % 3
    ].split()
    sections = []
    for section in range(1 + dice.randrange(40)):
        sentences = (" ".join(dice.choices(words, k=12)).capitalize() + "." for _ in range(1 + dice.randrange(8)))
        sections.append(f"{'#' * (1 + section % 3)} Section {section} of {number}\n\n{' '.join(sentences)}\n")
    return "\n".join(sections).encode()


def _make_unreadable(file: Path) -> None:
    """A file that is listed, and that nobody can read; not even root, whom permissions do not stop."""
    if os.geteuid() == 0:
        file.symlink_to("/proc/self/mem")
    else:
        file.write_bytes(b"Nobody may read this.\n")
        os.utime(file, (_LONG_AGO,) * 2)
        file.chmod(0)

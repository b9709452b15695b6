"""`watch`: rounds of the same run, one commit for each that found something, until it is stopped."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pipelines.config.model import Source
from pipelines.errors import RechunkError, SourcesUnreachable, StorageError, TableStateError
from pipelines.operations.watch import watch
from pipelines.records import Outcome, RunOptions
from tests.pipelines.run.corpus import Corpus, text
from tests.pipelines.run.test_faults import write_config

ROOT = Path(__file__).parents[3]


def edit(corpus: Corpus, chance: random.Random) -> None:
    """Something happens to some documents."""
    docs = corpus.root / "docs"
    for _ in range(chance.randint(1, 3)):
        here = sorted(each.name for each in docs.iterdir())
        name = chance.choice(here)
        kind = chance.choice(["write", "write", "new", "new", "remove", "rename", "break", "touch"])
        if kind == "write":
            corpus.write(name, text(chance.randint(0, 8), str(chance.random())))
        elif kind == "new":
            corpus.write(f"{chance.randint(0, 10**6)}.txt", text(chance.randint(1, 8), str(chance.random())))
        elif kind == "remove" and len(here) > 15:
            corpus.remove(name)
        elif kind == "rename":
            (docs / name).rename(docs / f"{chance.randint(0, 10**6)}.txt")
        elif kind == "break":
            corpus.write(name, b"\x7fELF\x00\x00\x00")
        elif kind == "touch":
            os.utime(docs / name, (1_700_000_000, 1_700_000_000))


def heal(corpus: Corpus) -> None:
    for file in sorted((corpus.root / "docs").iterdir()):
        if file.read_bytes().startswith(b"\x7fELF"):
            corpus.write(file.name, text(2, f"healed {file.name}"))


def test_each_round_that_finds_something_is_a_commit(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(20)
    chance, said = random.Random(1), []

    def ended(outcome: Outcome | RechunkError) -> None:
        assert isinstance(outcome, Outcome)
        said.append((outcome.exit_code, outcome.committed, outcome.version))
        if len(said) in (2, 3):
            edit(corpus, chance)

    watch(corpus.config, RunOptions(), ignore_all, every=0.0, stop=threading.Event(), rounds=5, ended=ended)
    assert said == [(0, True, 0), (0, False, 0), (0, True, 1), (0, True, 2), (0, False, 2)]
    heal(corpus)
    corpus.run()
    assert corpus.rows() == corpus.afresh()


def ignore_all(event: object) -> None:
    """A sink."""


def test_stops_after_the_round_that_is_going_on(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(2)
    stop, said = threading.Event(), []
    threading.Timer(0.01, stop.set).start()
    watch(corpus.config, RunOptions(), ignore_all, every=3600.0, stop=stop, ended=said.append)
    assert [outcome.committed for outcome in said] == [True]  # type: ignore[union-attr]


def test_storage_may_come_back_and_a_foreign_table_may_not(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(2)
    corpus.change(sources=(Source(path=str(tmp_path / "later")),))
    said: list[Outcome | RechunkError] = []

    def ended(outcome: Outcome | RechunkError) -> None:
        said.append(outcome)
        (tmp_path / "docs").rename(tmp_path / "later")

    watch(corpus.config, RunOptions(), ignore_all, every=0.0, stop=threading.Event(), rounds=1, ended=ended)
    assert isinstance(said[0], SourcesUnreachable | StorageError)
    watch(corpus.config, RunOptions(), ignore_all, every=0.0, stop=threading.Event(), rounds=1, ended=said.append)
    assert isinstance(said[1], Outcome)
    assert said[1].committed
    (tmp_path / "table/chunks/_delta_log" / f"{1:020d}.json").write_text('{"add": {"path": "foreign.parquet"}}')
    with pytest.raises(TableStateError):
        watch(corpus.config, RunOptions(), ignore_all, every=0.0, stop=threading.Event(), ended=said.append)


def resident(process: int) -> int:
    """Megabytes of RAM."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


@pytest.mark.slow
def test_fifty_rounds_on_a_live_folder(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(60, paragraphs=8)
    config = write_config(corpus)
    corpus.change(output=type(corpus.config.output)(path=corpus.config.output.path, task_bytes=2000))
    chance = random.Random(5)
    command = [sys.executable, "-m", "pipelines", "watch", str(config), "--every", "1s"]
    watching = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert watching.stdout is not None
    early = 0
    for version, line in enumerate(watching.stdout):
        assert f"  version {version}  " in line
        if version == 15:
            early = resident(watching.pid)
        if version == 50:
            break
        time.sleep(chance.random())
        edit(corpus, chance)
    late = resident(watching.pid)
    heal(corpus)
    time.sleep(3)
    watching.send_signal(signal.SIGTERM)
    watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert corpus.rows() == corpus.afresh()
    assert late <= early * 1.1, (early, late)

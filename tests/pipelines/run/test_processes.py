"""Worker processes: the same table, whoever dies on the way."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.beam.watched import workers_for
from pipelines.config.model import Budget, Config, Output, Source
from pipelines.errors import WorkersDied
from tests.pipelines.run.corpus import Corpus, assert_changes_law, rule, text
from tests.pipelines.run.killers import KILLER, SLOW, Unloadable, deadly, endless, leaving, quietly_deadly, slow

ROOT = Path(__file__).parents[3]
TASK_BYTES = 2000


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Twelve documents in a dozen tasks, not chunked yet."""
    corpus = Corpus(tmp_path)
    corpus.change(output=Output(path=corpus.config.output.path, task_bytes=TASK_BYTES))
    corpus.fill(12)
    return corpus


def table_bytes(corpus: Corpus) -> list[str]:
    """The digests of all files of chunks and states of the last commit, by shard."""
    snapshot = corpus.snapshot()
    return [shard.chunks.sha256 for shard in snapshot.shards] + [shard.documents.sha256 for shard in snapshot.shards]


@pytest.mark.parametrize("workers", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_tables_of_any_number_of_processes_are_the_same_bytes(corpus: Corpus, workers: int) -> None:
    corpus.run(workers=workers)
    parallel = table_bytes(corpus)
    corpus.change(output=Output(path=str(corpus.root / "other"), task_bytes=TASK_BYTES))
    corpus.run(workers=1)
    assert table_bytes(corpus) == parallel


def test_small_work_is_done_in_process() -> None:
    config = Config(name="t", sources=(Source(path="/nowhere/docs"),), output=Output(path="/nowhere/table"))
    assert workers_for(config, None, tasks=500, read_bytes=10_000_000) == 1
    assert workers_for(config, None, tasks=1, read_bytes=10_000_000_000) == 1
    assert workers_for(config, 3, tasks=1, read_bytes=1) == 3


@pytest.mark.parametrize("length", [deadly, pytest.param(quietly_deadly, marks=pytest.mark.slow)])
def test_document_that_kills_its_process_is_a_failure_row(corpus: Corpus, length: Callable[[str], int]) -> None:
    corpus.change(default=rule(length_function=length))
    corpus.write("005.txt", text(3, KILLER))
    outcome = corpus.run(workers=2)
    assert corpus.counts(outcome) == {"listed": 12, "chunked": 11, "failed": 1}
    (failure,) = corpus.failures()
    assert (failure["id"], failure["error"], failure["stage"]) == ("005.txt", "killed", "chunk")
    code = 7 if length is deadly else 0
    assert failure["message"].startswith(f"the process that worked on it ended by exit code {code};")
    rows = corpus.rows()
    corpus.remove("005.txt")
    assert rows == corpus.afresh()


@pytest.mark.slow
def test_many_documents_that_kill_their_process(corpus: Corpus) -> None:
    corpus.change(default=rule(length_function=deadly))
    for number in (0, 1, 3, 5, 7, 8, 11):
        corpus.write(f"{number:03d}.txt", text(3, f"{KILLER} of {number}"))
    assert corpus.counts(corpus.run(workers=2)) == {"listed": 12, "chunked": 5, "failed": 7}
    assert {failure["error"] for failure in corpus.failures()} == {"killed"}


@pytest.mark.slow
def test_workers_that_die_whatever_is_done_end_the_run(corpus: Corpus) -> None:
    corpus.run(workers=1)
    old = corpus.rows()
    corpus.change(default=rule(length_function=Unloadable()))
    with pytest.raises(
        WorkersDied, match=r"died 6 times in a row .* exit code 9\); nothing was published. Not done: tasks 0, "
    ):
        corpus.run(workers=2)
    assert corpus.rows() == old


def test_worker_that_is_killed_is_replaced(corpus: Corpus) -> None:
    corpus.change(default=rule(length_function=slow))
    corpus.write("005.txt", text(4, SLOW))
    killed = kill_a_worker(corpus.root)
    outcome = corpus.run(workers=2)
    killed.join()
    assert outcome.exit_code == 0
    assert corpus.counts(outcome) == {"listed": 12, "chunked": 12}
    assert len(starts(corpus)) > len(corpus.snapshot().shards)
    assert corpus.rows() == corpus.afresh()


def kill_a_worker(root: Path) -> threading.Thread:
    """Kills a worker of this process's run once some task is done."""

    def kill() -> None:
        while not list(root.glob("table/runs/*/tasks/*.json")):
            time.sleep(0.01)
        os.kill(workers_below(os.getpid())[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def workers_below(process: int) -> list[int]:
    """The worker processes among the descendants of a process."""
    parents: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            names[int(folder.name)] = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(folder.name))
    pending, found = [process], []
    while pending:
        for child in parents.get(pending.pop(), []):
            pending.append(child)
            if "pipelines.beam.worker" in names[child]:
                found.append(child)
    return sorted(found)


def starts(corpus: Corpus) -> list[Path]:
    return list((corpus.root / "table").glob("runs/*/starts/*/*"))


def test_slow_document_fails_by_its_budget_of_seconds(corpus: Corpus) -> None:
    corpus.change(default=rule(length_function=slow), limits=Budget(seconds=0.2))
    corpus.write("005.txt", text(40, SLOW))
    outcome = corpus.run()
    assert corpus.counts(outcome) == {"listed": 12, "chunked": 11, "failed": 1}
    (failure,) = corpus.failures()
    assert (failure["id"], failure["error"]) == ("005.txt", "budget")


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_function_that_never_returns_fails_by_its_budget_of_seconds(
    corpus: Corpus, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.work.alarm.GRACE_SECONDS", 0.1)
    monkeypatch.setattr("pipelines.work.alarm.LOOK_SECONDS", 0.05)
    corpus.change(default=rule(length_function=endless), limits=Budget(seconds=0.2))
    corpus.write("005.txt", text(4, SLOW))
    outcome = corpus.run(workers=workers)
    assert corpus.counts(outcome) == {"listed": 12, "chunked": 11, "failed": 1}
    (failure,) = corpus.failures()
    assert (failure["id"], failure["stage"], failure["error"]) == ("005.txt", "chunk", "budget")
    assert failure["message"] == "took more than 0.2 s; limits.seconds allows more"


def test_function_that_leaves_as_a_script_does_fails_its_document(corpus: Corpus) -> None:
    corpus.change(default=rule(length_function=leaving))
    corpus.write("005.txt", text(4, KILLER))
    assert corpus.counts(corpus.run()) == {"listed": 12, "chunked": 11, "failed": 1}
    (failure,) = corpus.failures()
    assert (failure["id"], failure["error"], failure["message"]) == ("005.txt", "exception", "SystemExit: 3")


def test_document_of_too_many_chunks_fails_as_a_whole(corpus: Corpus) -> None:
    corpus.change(limits=Budget(max_chunks=3))
    corpus.write("005.txt", text(20))
    corpus.run()
    (failure,) = corpus.failures()
    assert (failure["id"], failure["error"]) == ("005.txt", "budget")
    assert failure["message"] == "more than 3 chunks; raise limits.max_chunks or max_size, or split the document"
    assert not any(row["parent_id"] == "005.txt" for row in corpus.rows().values())


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.slow] if n else []) for n in range(10)])
def test_interrupted_run_leaves_the_table_whole(corpus: Corpus, workers: int, seed: int) -> None:
    from tests.pipelines.run.test_faults import write_config

    config = write_config(corpus)
    corpus.run()
    old = corpus.rows()
    files = len(files_of(corpus))
    corpus.run(full=True)
    most = len(files_of(corpus)) - files
    corpus.write("000.txt", text(5, "grown"))
    command = [sys.executable, "-m", "pipelines", "run", str(config), "--workers", str(workers), "--full"]
    files = len(files_of(corpus)) + random.Random(seed).randrange(1, most)
    running = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while len(files_of(corpus)) < files and running.poll() is None:
        time.sleep(0.002)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to every process of the foreground
    running.communicate(timeout=30)
    assert running.returncode in (0, 130)
    if corpus.snapshot().version == 0:
        assert corpus.rows() == old
    else:
        assert_changes_law(old, corpus.rows(), corpus.changes())
    assert corpus.run().exit_code == 0
    assert corpus.rows() == corpus.afresh()
    assert processes_of(running.pid) == []


def files_of(corpus: Corpus) -> list[str]:
    return [name for _, _, names in os.walk(corpus.root / "table") for name in names]


def processes_of(group: int) -> list[int]:
    """Processes of a process group that are still there; they get a moment."""
    for _ in range(100):
        left = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                left.append(int(folder.name))
        if not left:
            return []
        time.sleep(0.05)
    return left

"""An engine may take any step of a run twice: at the same time, later, or when all is over. It changes nothing."""

from __future__ import annotations

import hashlib
import multiprocessing
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from pipelines.config.model import Output
from pipelines.observe.events import Sink
from pipelines.operations.prepare import Prepared
from pipelines.routing import Router
from pipelines.table.records import Snapshot
from pipelines.work.chunk_shard import chunk_shard
from pipelines.work.decide import decide
from pipelines.work.finish import commit_run, publish_one
from pipelines.work.job import Job
from pipelines.work.results import TaskResult
from pipelines.work.stored_plan import load_plan
from tests.pipelines.run.corpus import Corpus, text

TIMES = 2

_ATTEMPT = re.compile(r"[0-9a-f]{32}(?=[./])")

Attempts = Callable[[Job, int], list[TaskResult]]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Documents that come to a dozen tasks; two of them fail."""
    corpus = Corpus(tmp_path)
    corpus.change(output=Output(path=str(tmp_path / "table"), task_bytes=4000))
    corpus.fill(12)
    corpus.write("bad.txt", b"\x00\x01\x02" * 500)
    corpus.write("records.jsonl", b'{"id": "a", "text": "one"}\n{"id": "b", "text": "two"}\nno record\n')
    return corpus


def edit(corpus: Corpus) -> None:
    corpus.write("003.txt", text(4, "another text"))
    corpus.write("new.txt", text(3, "a new one"))
    corpus.remove("007.txt")
    (corpus.root / "docs/009.txt").rename(corpus.root / "docs/moved.txt")


def in_threads(job: Job, task: int) -> list[TaskResult]:
    """Attempts at a task that begin at the same moment."""
    moment = threading.Barrier(TIMES)

    def attempt() -> TaskResult:
        plan, router = load_plan(job.table(), job.run_id), Router(job.config)
        moment.wait(30)
        return chunk_shard(job, plan, router, task)

    with ThreadPoolExecutor(TIMES) as pool:
        return [each.result() for each in [pool.submit(attempt) for _ in range(TIMES)]]


_moment: Barrier


def _know(moment: Barrier) -> None:
    global _moment
    _moment = moment


def _attempt(job: Job, task: int) -> TaskResult:
    plan, router = load_plan(job.table(), job.run_id), Router(job.config)
    _moment.wait(60)
    return chunk_shard(job, plan, router, task)


class Processes:
    """As `in_threads`, each attempt in a process of its own."""

    def __init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        moment = spawn.Barrier(TIMES)
        self.pool = ProcessPoolExecutor(TIMES, mp_context=spawn, initializer=_know, initargs=(moment,))

    def __call__(self, job: Job, task: int) -> list[TaskResult]:
        return [each.result() for each in [self.pool.submit(_attempt, job, task) for _ in range(TIMES)]]


class Twice:
    """Takes every step of a run twice, and all of them once more when it has ended."""

    def __init__(self, attempts: Attempts) -> None:
        self.attempts = attempts
        self.tasks = 0

    def drive(self, job: Job, engine: Any, prepared: Prepared, emit: Sink, *, publish: bool = True) -> None:
        """What `operations.run.drive` does."""
        tasks = [task.index for task in load_plan(job.table(), job.run_id).tasks]
        self.tasks += len(tasks)
        self.step(job, [_same(self.attempts(job, task)) for task in tasks])
        before = files(Path(job.config.output.path))
        self.step(job, [_same(self.attempts(job, task)) for task in tasks])
        assert files(Path(job.config.output.path)) == before

    def step(self, job: Job, results: Sequence[TaskResult]) -> None:
        """Everything after the tasks, each step twice."""
        plan = load_plan(job.table(), job.run_id)
        decisions = [decide(job, plan, results) for _ in range(TIMES)]
        assert len({_ATTEMPT.sub("", repr(each)) for each in decisions}) == 1  # they differ in names of files only
        decision = decisions[-1]
        shards = decision.shards if decision.action == "publish" else ()
        published = [
            _same([publish_one(job, index, len(shards), shard)[1] for _ in range(TIMES)])
            for index, shard in enumerate(shards)
        ]
        for _ in range(TIMES):
            commit_run(job, decision, published)


def _same(results: Sequence[Any]) -> Any:
    """The one result that all attempts have."""
    assert all(each == results[0] for each in results)
    return results[0]


def files(table: Path) -> dict[str, str]:
    """Every file of the table by its bytes, but for what attempts that came second leave behind."""
    return {
        file.relative_to(table).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(table.rglob("*"))
        if file.is_file() and not {"attempts", "starts"} & set(file.relative_to(table).parts)
    }


def _bytes(corpus: Corpus, table: str, found: Snapshot) -> list[str]:
    """The files of chunks of a snapshot, by their bytes."""
    paths = [corpus.root / table / shard.chunks.path for shard in found.shards]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def check(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, attempts: Attempts) -> None:
    """A first run and one after edits, everything twice, come to what everything once comes to."""
    twice = Twice(attempts)
    for night in range(2):
        if night:
            edit(corpus)
        with monkeypatch.context() as patched:
            patched.setattr("pipelines.operations.run.drive", twice.drive)
            outcome = corpus.run()
        assert (outcome.exit_code, outcome.version) == (0, night)
        doubled, config = corpus.snapshot(), corpus.config
        corpus.change(output=replace(config.output, path=str(corpus.root / "once")))
        once = corpus.run()
        assert once.summary["chunks"] == outcome.summary["chunks"] > 0
        assert {**once.summary, "seconds": 0, "table": ""} == {**outcome.summary, "seconds": 0, "table": ""}
        assert _bytes(corpus, "once", corpus.snapshot()) == _bytes(corpus, "table", doubled)
        assert len(doubled.shards) > 2
        corpus.change(output=config.output)
    assert twice.tasks >= 6


def test_attempts_in_threads(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    check(corpus, monkeypatch, in_threads)


@pytest.mark.slow
def test_attempts_in_processes(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes()
    with processes.pool:
        check(corpus, monkeypatch, processes)

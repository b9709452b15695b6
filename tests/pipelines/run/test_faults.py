"""Crashes and races: readers see a whole commit, whatever happened, and the next run goes on from there."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines.operations.run import drive
from tests.pipelines.run.corpus import Corpus, assert_changes_law, text

ROOT = Path(__file__).parents[3]

CHILD = """
import os, sys, json
from pipelines.config.load import load_config
from pipelines.operations.run import run
from pipelines.records import RunOptions
from pipelines.storage.local import LocalStore

left = int(sys.argv[2])

def counted(name):
    original = getattr(LocalStore, name)
    def call(self, *arguments, **options):
        global left
        left -= 1
        if left == 0 and sys.argv[3] == "before":
            os.kill(os.getpid(), 9)
        result = original(self, *arguments, **options)
        if left == 0:
            os.kill(os.getpid(), 9)
        return result
    setattr(LocalStore, name, call)

for name in ("read", "fetch", "open", "write", "create", "link", "touch", "stat", "delete", "sync"):
    counted(name)
outcome = run(load_config(sys.argv[1]), RunOptions(), lambda event: None)
print(json.dumps({"left": left, "exit_code": outcome.exit_code, "version": outcome.version}))
"""

WINNER_FIRST = """
import subprocess, sys
from pipelines.work import finish, here
from pipelines.config.load import load_config
from pipelines.operations.run import run
from pipelines.records import RunOptions

publish, won = finish.publish_one, []

def publish_one(*arguments):
    if not won:
        won.append(subprocess.run([sys.executable, "-m", "pipelines", "run", sys.argv[1]], capture_output=True).returncode)
    return publish(*arguments)

finish.publish_one = publish_one
loser = run(load_config(sys.argv[1]), RunOptions(), lambda event: None)
print(won, loser.exit_code, loser.version, loser.committed)
"""

WINNER_BEFORE_DECIDING = WINNER_FIRST.replace("publish_one", "chunk_shard").replace("finish.", "here.")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A table with one commit, and changes waiting for the next."""
    corpus = Corpus(tmp_path)
    corpus.fill(12)
    write_config(corpus)
    corpus.change(output=type(corpus.config.output)(path=corpus.config.output.path, task_bytes=2000))
    corpus.run()
    corpus.write("000.txt", text(6, "grown"))
    corpus.write("006.txt", text(1, "shrunk"))
    corpus.remove("011.txt")
    return corpus


def write_config(corpus: Corpus) -> Path:
    file = corpus.root / "rechunk.yaml"
    settings: dict[str, Any] = {
        "name": "test",
        "source": [{"path": corpus.config.sources[0].path}],
        "chunking": {"default": {"strategy": "recursive", "max_size": 300, "overlap": 0}},
        "output": {"path": corpus.config.output.path, "task_bytes": 2000},
    }
    file.write_text(json.dumps(settings))
    return file


def outcomes(corpus: Corpus) -> list[dict[str, Any]]:
    return [json.loads(file.read_bytes()) for file in (corpus.root / "table").glob("runs/*/outcome.json")]


def child(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True, env=dict(os.environ)
    )


def calls_of_a_whole_run(corpus: Corpus) -> int:
    """How many storage calls the run would make, counted on a copy of everything."""
    other = Corpus(corpus.root / "counting")
    other.fill(12)
    config = write_config(other)
    finished = child(CHILD, str(config), str(10**9), "after")
    return 10**9 - int(json.loads(finished.stdout)["left"])


def check_killed(corpus: Corpus, config: Path, at: int, when: str) -> None:
    old = corpus.rows()
    killed = child(CHILD, str(config), str(at), when)
    if killed.returncode != -signal.SIGKILL:
        assert killed.returncode == 0, killed.stderr  # the run makes fewer calls than that
    after = corpus.snapshot()
    if after.version == 0:
        assert corpus.rows() == old
    else:
        assert corpus.rows() == corpus.afresh("afresh at once")
        assert_changes_law(old, corpus.rows(), corpus.changes())
    found = corpus.run()
    assert found.exit_code == 0
    assert found.version == 1
    assert corpus.rows() == corpus.afresh()
    assert_changes_law(old, corpus.rows(), corpus.changes(1))
    assert corpus.run().committed is False


@pytest.mark.parametrize(("at", "when"), [(3, "before"), (40, "after"), (60, "before")])
def test_killed_run_leaves_the_last_commit(corpus: Corpus, at: int, when: str) -> None:
    check_killed(corpus, corpus.root / "rechunk.yaml", at, when)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_killed_anywhere(corpus: Corpus, seed: int) -> None:
    chance = random.Random(seed)
    at = chance.randint(1, calls_of_a_whole_run(corpus))
    check_killed(corpus, corpus.root / "rechunk.yaml", at, chance.choice(["before", "after"]))


@pytest.mark.parametrize("script", [WINNER_FIRST, WINNER_BEFORE_DECIDING], ids=["publish", "decide"])
def test_run_that_loses_the_race_touches_nothing_of_the_winner(corpus: Corpus, script: str) -> None:
    finished = child(script, str(corpus.root / "rechunk.yaml"))
    assert finished.stdout == "[0] 6 1 False\n", finished.stderr
    winner = corpus.snapshot()
    assert winner.version == 1
    (lost,) = (found for found in outcomes(corpus) if found["ending"] == "race")
    assert (lost["version"], lost["winner"]) == (1, winner.run_id)
    assert corpus.rows() == corpus.afresh()
    assert corpus.run().committed is False


@pytest.mark.slow
def test_two_runs_at_once(corpus: Corpus) -> None:
    command = [sys.executable, "-m", "pipelines", "run", str(corpus.root / "rechunk.yaml")]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
    codes = sorted(process.wait() for process in both)
    assert codes in ([0, 6], [0, 0])  # the second may have begun after the first was done
    assert corpus.snapshot().version == 1
    assert corpus.rows() == corpus.afresh()


def test_a_run_that_is_taken_up_again_after_its_commit_finds_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(*arguments: Any, **named: Any) -> None:
        drive(*arguments, **named)
        drive(*arguments, **named)

    monkeypatch.setattr("pipelines.operations.run.drive", twice)
    before = corpus.snapshot().version or 0
    corpus.write("000.txt", text(9))
    outcome = corpus.run()
    assert (outcome.exit_code, outcome.committed, outcome.version) == (0, True, before + 1)
    assert corpus.rows() == corpus.afresh()

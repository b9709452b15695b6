"""`resume`: what broke off goes on from its plan, or is refused with the reason."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli.main import main
from pipelines.config.model import Guard, Output
from pipelines.errors import TableStateError, UsageError
from pipelines.observe.events import Event, OtherRun
from pipelines.operations.gc import collect
from pipelines.operations.resume import resume
from pipelines.processes import do_duties
from pipelines.records import Outcome
from pipelines.storage.local import LocalStore
from pipelines.table import claims, layout
from pipelines.work import finish, here
from pipelines.work.chunk_shard import chunk_shard
from pipelines.work.deaths import deaths_before
from pipelines.work.decide import decide
from pipelines.work.job import Job
from tests.pipelines.run.corpus import Corpus, assert_changes_law, rule, text

ROOT = Path(__file__).parents[3]


class Broken(Exception):
    """What ends a run in the middle."""


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """One commit, and changes for several tasks."""
    corpus = Corpus(tmp_path)
    corpus.change(output=Output(path=str(tmp_path / "table"), task_bytes=2000))
    corpus.fill(8)
    corpus.run()
    edit(corpus)
    return corpus


def edit(corpus: Corpus) -> None:
    corpus.write("000.txt", text(5, "grown"))
    corpus.write("003.txt", text(1, "of 3"))
    corpus.remove("005.txt")
    corpus.write("007.txt", text(4, "new"))


def break_off(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, step: str = "decide", after: int = 0, **options: Any
) -> str:
    """Start a run that ends before its `step` is done the `after`th time; its id."""
    known = set(runs(corpus))
    module = finish if step == "publish_one" else here
    original, left = getattr(module, step), [after]

    def breaking(*arguments: Any) -> Any:
        if not left[0]:
            raise Broken
        left[0] -= 1
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, step, breaking)
        with pytest.raises(Broken):
            corpus.run(**options)
    (run_id,) = set(runs(corpus)) - known
    return run_id


def runs(corpus: Corpus) -> list[str]:
    return sorted(os.listdir(corpus.root / "table/runs"))


def resumed(corpus: Corpus, run: str | None = None, events: list[Event] | None = None, **options: Any) -> Outcome:
    return resume(corpus.config, run, (events if events is not None else []).append, **options)


@pytest.mark.parametrize(
    ("step", "after"), [("chunk_shard", 0), ("chunk_shard", 1), ("decide", 0), ("publish_one", 1), ("commit_run", 0)]
)
def test_a_run_that_broke_off_goes_on(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, step: str, after: int) -> None:
    old = corpus.rows()
    run_id = break_off(corpus, monkeypatch, step, after)
    done = sorted(path.name for path in (corpus.root / "table/runs" / run_id / "attempts").glob("0*"))
    outcome = resumed(corpus)
    assert (outcome.exit_code, outcome.run_id, outcome.version, outcome.committed) == (0, run_id, 1, True)
    assert outcome.summary["listed"] == 7
    assert corpus.rows() == corpus.afresh()
    assert_changes_law(old, corpus.rows(), corpus.changes())
    assert not corpus.run().committed
    for task in done:  # finished tasks were not done again
        assert len(list((corpus.root / "table/runs" / run_id / "attempts" / task).iterdir())) == 1


def test_nothing_is_listed_and_finished_tasks_stay(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    break_off(corpus, monkeypatch, "chunk_shard", 1)
    corpus.write("late.txt", text(1, "after the plan"))
    did: list[int] = []

    def counting(job: Any, plan: Any, router: Any, index: int) -> Any:
        if not job.table().exists(layout.task_marker(job.run_id, index)):
            did.append(index)
        return chunk_shard(job, plan, router, index)

    monkeypatch.setattr(here, "chunk_shard", counting)
    assert resumed(corpus).committed
    assert did
    assert 0 not in did
    assert "late.txt#0" not in corpus.ids()
    assert corpus.run().committed
    assert corpus.rows() == corpus.afresh()


def test_numbers_are_those_of_a_run_that_never_broke_off(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    break_off(corpus, monkeypatch)
    outcome = resumed(corpus)
    stats = json.loads((corpus.root / "table/runs" / outcome.run_id / "stats.json").read_bytes())
    twin = Corpus(corpus.root / "twin")
    twin.change(output=Output(path=str(twin.root / "table"), task_bytes=2000))
    twin.fill(8)
    twin.run()
    edit(twin)
    whole = twin.run()
    uninteresting = {"table": "", "seconds": 0, "failures": []}
    assert {**outcome.summary, **uninteresting} == {**whole.summary, **uninteresting}
    told = json.loads((twin.root / "table/runs" / whole.run_id / "stats.json").read_bytes())
    assert {name: stats[name] for name in ("plan", "tasks", "changes", "counts")} == {
        name: told[name] for name in ("plan", "tasks", "changes", "counts")
    }


def test_a_first_run_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = Corpus(tmp_path)
    corpus.fill(2)
    (tmp_path / "table/runs").mkdir(parents=True)
    break_off(corpus, monkeypatch)
    assert resumed(corpus).version == 0
    assert corpus.rows() == corpus.afresh()


def test_the_newest_is_taken_unless_one_is_named(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    identities = iter([layout.new_run_id() for _ in range(2)])
    names = sorted(identities)
    given = iter(names)
    monkeypatch.setattr(layout, "new_run_id", lambda: next(given))
    first, second = break_off(corpus, monkeypatch), break_off(corpus, monkeypatch)
    assert [first, second] == names
    assert resumed(corpus).run_id == second
    with pytest.raises(
        TableStateError, match=f"{first} was planned on version 0, and run {second} committed version 1"
    ):
        resumed(corpus, first)


def test_a_run_that_broke_off_before_one_that_ended_is_no_work_left(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["29990101T000000Z-00000000", "29990101T000001Z-00000000"])
    monkeypatch.setattr(layout, "new_run_id", lambda: next(names))
    break_off(corpus, monkeypatch)
    assert corpus.run().committed
    assert (resumed(corpus).exit_code, resumed(corpus).committed) == (0, False)


def test_approval_is_that_of_the_run_unless_given_again(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.change(guard=Guard(documents=0, percent=0.0))
    run_id = break_off(corpus, monkeypatch, approve_deletions=1)
    assert resumed(corpus, run_id).exit_code == 0
    corpus.remove("006.txt")
    break_off(corpus, monkeypatch)
    assert resumed(corpus, approve_deletions=5).exit_code == 0
    assert "006.txt#0" not in corpus.ids()


def test_nothing_to_resume(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = resumed(corpus)
    assert (outcome.exit_code, outcome.version, outcome.committed) == (0, 0, False)
    assert outcome.message == "nothing to resume: the newest run of this table did not break off"
    (run_id,) = runs(corpus)
    assert resumed(corpus, run_id).message == f"nothing to resume: run {run_id} ended (committed)"


def test_a_run_that_committed_but_did_not_say_so(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = corpus.run().run_id
    (corpus.root / "table/runs" / run_id / "outcome.json").unlink()
    outcome = resumed(corpus)
    assert (outcome.run_id, outcome.version, outcome.committed) == (run_id, 1, True)
    assert resumed(corpus).message == "nothing to resume: the newest run of this table did not break off"


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"default": rule(400)}, "chunking, versions of rechunk"),
        ({"guard": Guard(documents=1)}, "guard"),
        ({"metadata_values": "strings"}, "metadata_values, versions of rechunk"),
        ({"name": "another"}, "name"),
    ],
)
def test_another_configuration_is_refused(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], part: str
) -> None:
    break_off(corpus, monkeypatch)
    corpus.change(**change)
    with pytest.raises(UsageError, match=f"different now: {part}"):
        resumed(corpus)


def test_another_source_or_shard_size_is_refused(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    break_off(corpus, monkeypatch)
    whole = corpus.config
    corpus.source(exclude=("x/**",))
    with pytest.raises(UsageError, match="different now: source"):
        resumed(corpus)
    corpus.change(sources=whole.sources, output=replace(whole.output, task_bytes=3000))
    with pytest.raises(UsageError, match="different now: output"):
        resumed(corpus)


def test_an_expired_run_is_refused(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = break_off(corpus, monkeypatch)
    (corpus.root / "table" / layout.expired_file(run_id)).write_bytes(b"")
    with pytest.raises(TableStateError, match="are being collected; start a new run"):
        resumed(corpus, run_id)
    assert resumed(corpus).message == "nothing to resume: the newest run of this table did not break off"


def test_unknown_and_unplanned_runs(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="there is no run '20200101T000000Z-00000000'"):
        resumed(corpus, "20200101T000000Z-00000000")
    with pytest.raises(UsageError, match="is not the id of a run"):
        resumed(corpus, "../escape")
    run_id = break_off(corpus, monkeypatch)
    (corpus.root / "table" / layout.stored_run(run_id)).unlink()
    with pytest.raises(TableStateError, match="broke off before its plan was stored"):
        resumed(corpus, run_id)
    (corpus.root / "table" / layout.stored_run(run_id)).write_text('{"format": 99}')
    with pytest.raises(TableStateError, match="planned by another version of rechunk"):
        resumed(corpus, run_id)


# claims


def test_a_claim_is_there_while_a_run_works_and_warns_others(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    original = decide

    def looking(*arguments: Any) -> Any:
        seen.append([claim.run_id for claim in claims.fresh_claims(corpus.store)])
        return original(*arguments)

    monkeypatch.setattr(here, "decide", looking)
    outcome = corpus.run()
    assert seen == [[outcome.run_id]]
    assert os.listdir(corpus.root / "table/claims") == []
    assert not [event for event in corpus.events if isinstance(event, OtherRun)]
    leave_claim(corpus, host="elsewhere")
    corpus.write("more.txt", text(1))
    assert corpus.run().committed
    told = [event.text for event in corpus.events if isinstance(event, OtherRun)]
    assert told[0].startswith(
        "run 20200101T000000Z-00000000 (process 1 on elsewhere, since then) is at work on this table"
    )


def leave_claim(corpus: Corpus, run_id: str = "20200101T000000Z-00000000", **fields: Any) -> Path:
    file = corpus.root / "table" / layout.claim_file(run_id)
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"run_id": run_id, "host": "", "process": 1, "since": "then"} | fields))
    return file


def test_claims_expire_and_those_of_processes_that_are_gone_do_not_count(corpus: Corpus) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = socket.gethostname()
    leave_claim(corpus, host=host, process=ended.pid)
    assert claims.fresh_claims(corpus.store) == []
    leave_claim(corpus, host=host, process=os.getpid())
    assert len(claims.fresh_claims(corpus.store)) == 1
    file = leave_claim(corpus, host="elsewhere")
    assert len(claims.fresh_claims(corpus.store)) == 1
    os.utime(file, (1_700_000_000, 1_700_000_000))
    assert claims.fresh_claims(corpus.store) == []


def test_a_claim_is_refreshed(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "REFRESH_SECONDS", 0.01)
    with claims.claimed(corpus.store, "20200101T000000Z-00000000"):
        file = corpus.root / "table" / layout.claim_file("20200101T000000Z-00000000")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        for _ in range(500):
            if file.stat().st_mtime > 1_800_000_000 or file.stat().st_mtime != 1_700_000_000:
                break
            time.sleep(0.01)
        assert file.stat().st_mtime != 1_700_000_000
    assert not file.exists()


def test_a_claim_that_is_on_its_way_when_a_signal_comes_is_given_up(tmp_path: Path) -> None:
    on_its_way, arrives, arrived, over = (threading.Event() for _ in range(4))

    class FarAway(LocalStore):
        def write(self, path: str, data: bytes | memoryview[int]) -> None:
            on_its_way.set()
            arrives.wait()
            super().write(path, data)
            arrived.set()

    store = FarAway(str(tmp_path))

    def work() -> None:
        with claims.claimed(store, "20200101T000000Z-00000000"):
            over.wait()

    working = threading.Thread(target=work)
    working.start()
    on_its_way.wait()
    threading.Timer(0.1, arrives.set).start()
    do_duties(30)
    arrived.wait()
    held = store.exists(layout.claim_file("20200101T000000Z-00000000"))
    over.set()
    working.join()
    assert not held


def test_a_claim_that_nobody_refreshes_by_the_clock_lasts_longer_and_ends_with_its_run(corpus: Corpus) -> None:
    run_id = corpus.run().run_id
    other = "20200101T000000Z-00000000"
    claims.leave_claim(corpus.store, other)
    file = corpus.root / "table" / layout.claim_file(other)
    age(file, claims.UNATTENDED_SECONDS - 60)
    assert [str(claim) for claim in claims.fresh_claims(corpus.store)] == [other]
    age(file, claims.UNATTENDED_SECONDS + 1)
    assert claims.fresh_claims(corpus.store) == []
    claims.leave_claim(corpus.store, other)
    assert len(claims.fresh_claims(corpus.store)) == 1
    claims.drop_claim(corpus.store, other)
    assert not file.exists()
    claims.leave_claim(corpus.store, run_id)  # a worker that is late
    assert claims.fresh_claims(corpus.store) == []


def age(file: Path, seconds: float) -> None:
    written = time.time() - seconds
    os.utime(file, (written, written))


# processes


def test_a_document_that_kills_its_process_is_isolated_from_the_third_attempt_on(tmp_path: Path) -> None:
    """Run and resume are two attempts; the second resume is the third."""
    corpus = Corpus(tmp_path)
    corpus.fill(3, paragraphs=1)
    corpus.write("deadly.txt", "THE KILLER")
    ends = [
        subprocess.run([sys.executable, "-c", DEADLY, str(tmp_path), command], cwd=ROOT, capture_output=True).returncode
        for command in ("run", "resume", "resume")
    ]
    assert ends == [7, 7, 0]
    assert corpus.ids() == ["000.txt#0", "001.txt#0", "002.txt#0"]
    (failure,) = corpus.failures()
    assert (failure["id"], failure["error"]) == ("deadly.txt", "killed")


def test_a_document_that_kills_every_run_is_isolated_from_the_third_on(tmp_path: Path) -> None:
    """As a nightly job has it, which knows no resume and collects what is left."""
    corpus = Corpus(tmp_path)
    corpus.fill(3, paragraphs=1)
    corpus.run()
    corpus.write("deadly.txt", "THE KILLER")
    command = [sys.executable, "-c", DEADLY, str(tmp_path), "run"]
    ends = []
    for _ in range(3):
        ends.append(subprocess.run(command, cwd=ROOT, capture_output=True).returncode)
        for claim in (tmp_path / "table/claims").iterdir():
            age(claim, 24 * 3600)
        collect(corpus.store)
    assert ends == [7, 7, 0]
    assert corpus.ids() == ["000.txt#0", "001.txt#0", "002.txt#0"]
    (failure,) = corpus.failures()
    assert (failure["id"], failure["error"]) == ("deadly.txt", "killed")
    claim = leave_claim(corpus)
    age(claim, 24 * 3600)
    collect(corpus.store)
    assert not claim.exists()


def test_runs_that_died_outside_of_a_task_or_on_another_version_are_no_deaths(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_no_task, before_any = break_off(corpus, monkeypatch, "decide"), break_off(corpus, monkeypatch, "chunk_shard")
    in_a_task = break_off(corpus, monkeypatch, "chunk_shard", after=1)
    corpus.store.write(layout.start_marker(in_a_task, 1, "a"), b"")
    alive = break_off(corpus, monkeypatch, "chunk_shard", after=1)
    corpus.store.write(layout.start_marker(alive, 1, "a"), b"")
    for run_id in (in_no_task, before_any, in_a_task):
        age(leave_claim(corpus, run_id), 24 * 3600)
    leave_claim(corpus, alive, host=socket.gethostname(), process=os.getpid())
    job = Job(config=corpus.config, run_id="20991231T235959Z-00000000", isolate_after=10)
    assert deaths_before(job, base=0) == 1
    assert deaths_before(job, base=1) == 0
    assert deaths_before(replace(job, run_id=in_a_task), base=0) == 0


DEADLY = """
import sys
import pipelines.operations.resume, pipelines.operations.run
from pipelines.config.model import Config, Output, Rule, Source
from pipelines.records import RunOptions
from tests.pipelines.run.killers import deadly

root, command = sys.argv[1:]
config = Config(
    name="test",
    sources=(Source(path=f"{root}/docs"),),
    output=Output(path=f"{root}/table"),
    default=Rule(strategy="recursive", options={"max_size": 300, "overlap": 0, "length_function": deadly}),
)
if command == "run":
    outcome = pipelines.operations.run.run(config, RunOptions(), lambda event: None)
else:
    outcome = pipelines.operations.resume.resume(config, None, lambda event: None)
sys.exit(outcome.exit_code)
"""


def test_the_command(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    config = corpus.root / "rechunk.yaml"
    settings = {
        "name": "test",
        "source": [{"path": corpus.config.sources[0].path}],
        "chunking": {"default": {"strategy": "recursive", "max_size": 300, "overlap": 0}},
        "output": {"path": corpus.config.output.path, "task_bytes": 2000},
    }
    config.write_text(json.dumps(settings))
    run_id = break_off(corpus, monkeypatch)
    config.write_text(json.dumps(settings | {"name": "another"}))
    assert main(["resume", str(config)]) == 2
    assert "different now: name. Resume it" in capsys.readouterr().err
    config.write_text(json.dumps(settings))
    assert main(["resume", str(config), "--output", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run_id"], told["version"], told["committed"]) == (run_id, 1, True)
    assert main(["resume", str(config)]) == 0
    assert capsys.readouterr().err == "nothing to resume: the newest run of this table did not break off\n"

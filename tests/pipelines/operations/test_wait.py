"""`wait`: the outcome that `run` would have had, whoever did the run and wherever."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from apache_beam.runners.runner import PipelineState

from pipelines.beam.engine import Engine
from pipelines.config.model import Gates, Limits
from pipelines.errors import EngineFailed, StillAtWork, TableStateError, UsageError
from pipelines.observe.events import ignore
from pipelines.operations.gc import collect
from pipelines.operations.run import begin, carry_out
from pipelines.operations.wait import ENDED, wait
from pipelines.records import Outcome, RunOptions
from pipelines.table import layout
from pipelines.table.claims import fresh_claims, leave_claim
from pipelines.work.here import run_here
from pipelines.work.job import Job
from pipelines.work.signs import SignsOfLife
from tests.pipelines.run.corpus import Corpus

NOBODY = "20200101T000000Z-00000000"


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Twelve documents that are chunked."""
    corpus = Corpus(tmp_path)
    corpus.fill(12)
    corpus.run()
    return corpus


def done(corpus: Corpus) -> Outcome:
    corpus.write("new.txt", "Something new.")
    return corpus.run()


def nothing_published(corpus: Corpus) -> Outcome:
    for number in range(4):
        corpus.write(f"binary{number}.txt", b"\x00\x01\x02" * 99)
    corpus.change(gates=Gates(failed_documents=Limits(hard=10.0)))
    return corpus.run()


def soft_gate(corpus: Corpus) -> Outcome:
    corpus.write("binary.txt", b"\x00\x01\x02" * 99)
    corpus.change(gates=Gates(failed_documents=Limits(soft=1.0)))
    return corpus.run()


def withheld(corpus: Corpus) -> Outcome:
    for number in range(12):
        corpus.remove(f"{number:03d}.txt")
    corpus.write("new.txt", "Something new.")
    return corpus.run()


def only_withheld(corpus: Corpus) -> Outcome:
    corpus.change(guard=corpus.config.guard.__class__(documents=0, percent=0.0))
    corpus.remove("003.txt")
    return corpus.run()


def lost(corpus: Corpus) -> Outcome:
    corpus.write("new.txt", "Something new.")
    corpus._settle()
    late = begin(corpus.config, RunOptions(), ignore)
    assert corpus.run().committed
    return carry_out(corpus.config, late, ignore, engine=Engine(), approve_deletions=None)


ENDINGS = [(done, 0), (soft_gate, 1), (withheld, 4), (only_withheld, 4), (nothing_published, 5), (lost, 6)]


@pytest.mark.parametrize(("ending", "code"), ENDINGS)
def test_wait_ends_as_the_run_did(corpus: Corpus, ending: Callable[[Corpus], Outcome], code: int) -> None:
    outcome = ending(corpus)
    assert outcome.exit_code == code
    assert without_failures(wait(corpus.store, outcome.run_id, ignore)) == without_failures(outcome)


@pytest.mark.parametrize(("ending", "code"), ENDINGS)
def test_wait_writes_the_statistics_that_nobody_wrote(
    corpus: Corpus, ending: Callable[[Corpus], Outcome], code: int
) -> None:
    outcome = ending(corpus)
    file = corpus.root / "table" / layout.run_file(outcome.run_id, "stats.json")
    written = json.loads(file.read_text())
    file.unlink()
    waited = wait(corpus.store, outcome.run_id, ignore)
    assert waited.exit_code == code
    assert waited.summary["failures"] == outcome.summary["failures"]
    assert without_seconds(waited) == without_seconds(outcome)
    assert json.loads(file.read_text()) | {"seconds": 0} == written | {"seconds": 0}


@pytest.mark.parametrize(("ending", "code"), ENDINGS)
def test_wait_knows_the_end_when_the_plan_was_collected(
    corpus: Corpus, ending: Callable[[Corpus], Outcome], code: int
) -> None:
    outcome = ending(corpus)
    shutil.rmtree(corpus.root / "table" / layout.plan_folder(outcome.run_id))
    assert without_failures(wait(corpus.store, outcome.run_id, ignore)) == without_failures(outcome)
    (corpus.root / "table" / layout.run_file(outcome.run_id, "stats.json")).unlink()
    waited = wait(corpus.store, outcome.run_id, ignore)
    assert (waited.exit_code, waited.message, waited.version) == (code, outcome.message, outcome.version)


def test_a_source_that_was_not_listed_whole_is_remembered(corpus: Corpus) -> None:
    source = corpus.config.sources[0]
    corpus.change(sources=(source, source.__class__(path=str(corpus.root / "none"), id_prefix="none/")))
    outcome = done(corpus)
    assert outcome.exit_code == 4
    shutil.rmtree(corpus.root / "table" / layout.plan_folder(outcome.run_id))
    assert wait(corpus.store, outcome.run_id, ignore).exit_code == 4


def without_failures(outcome: Outcome) -> dict[str, object]:
    """Which failures are shown goes by the version of the table that is there to be read."""
    found = asdict(outcome)
    return {**found, "summary": {**found["summary"], "failures": None}}


def without_seconds(outcome: Outcome) -> dict[str, object]:
    found = without_failures(outcome)
    return {**found, "summary": {**found["summary"], "seconds": None}}  # type: ignore[dict-item]


def test_the_newest_run_is_meant_where_none_is_named(corpus: Corpus) -> None:
    time.sleep(1.1)  # ids of one second are in no order
    outcome = done(corpus)
    assert wait(corpus.store, None, ignore).run_id == outcome.run_id


def planned(corpus: Corpus) -> str:
    """A run that is planned and that nobody does."""
    corpus.write("new.txt", "Something new.")
    corpus._settle()
    return begin(corpus.config, RunOptions(), ignore).run_id


def test_wait_waits(corpus: Corpus) -> None:
    corpus.write("new.txt", "Something new.")
    corpus._settle()
    begun = begin(corpus.config, RunOptions(), ignore)
    leave_claim(corpus.store, begun.run_id)
    waited: list[Outcome] = []
    thread = threading.Thread(
        target=lambda: waited.append(wait(corpus.store, begun.run_id, ignore, poll=0.01)), daemon=True
    )
    thread.start()
    time.sleep(0.2)
    assert not waited
    outcome = carry_out(corpus.config, begun, ignore, engine=Engine(), approve_deletions=None)
    thread.join(10)
    assert [without_seconds(each) for each in waited] == [without_seconds(outcome)]


def test_a_run_that_nobody_waits_for_looks_after_its_claim(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = planned(corpus)
    job = Job(config=corpus.config, run_id=run_id, unattended=True)
    signs = SignsOfLife(job)
    assert fresh_claims(corpus.store) == []
    signs.give()
    assert [claim.run_id for claim in fresh_claims(corpus.store)] == [run_id]
    claim = corpus.root / "table" / layout.claim_file(run_id)
    claim.unlink()
    signs.give()  # within the same minute: a request less
    assert not claim.exists()
    monkeypatch.setattr("time.monotonic", lambda: 1e9)
    signs.give()
    assert claim.exists()
    run_here(job)
    assert not claim.exists()
    SignsOfLife(replace(job, unattended=False)).give()
    assert not claim.exists()
    assert wait(corpus.store, run_id, ignore).committed


def test_the_time_to_wait_may_be_over_before_the_run_is(corpus: Corpus) -> None:
    run_id = planned(corpus)
    leave_claim(corpus.store, run_id)
    with pytest.raises(StillAtWork, match=f"run {run_id} is still at work") as error:
        wait(corpus.store, run_id, ignore, timeout=0.05, poll=0.01)
    assert error.value.exit_code == 124
    assert [claim.run_id for claim in fresh_claims(corpus.store)] == [run_id]


def test_a_run_without_a_sign_of_life_is_given_up(corpus: Corpus) -> None:
    run_id = planned(corpus)
    with pytest.raises(EngineFailed, match=r"no sign of life any more.*`rechunk resume`") as error:
        wait(corpus.store, run_id, ignore, poll=0.01)
    assert error.value.exit_code == 5


def test_states_that_a_job_does_not_leave_are_those_of_beam() -> None:
    states = [value for name, value in vars(PipelineState).items() if name.isupper()]
    assert set(ENDED) == {state for state in states if PipelineState.is_terminal(state)}


def test_a_commit_without_a_word_is_found_in_the_log(corpus: Corpus) -> None:
    outcome = done(corpus)
    (corpus.root / "table" / layout.run_file(outcome.run_id, "outcome.json")).unlink()
    waited = wait(corpus.store, outcome.run_id, ignore, poll=0.01)
    assert (waited.exit_code, waited.version, waited.committed) == (0, outcome.version, True)
    assert waited.message.startswith(f"committed version {outcome.version}; but what the run says of itself")


def test_runs_that_are_not_there_are_told_apart(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'yesterday' is not the id of a run"):
        wait(corpus.store, "yesterday", ignore)
    with pytest.raises(TableStateError, match=f"knows of no run {NOBODY}: it belongs to another table, or its files"):
        wait(corpus.store, NOBODY, ignore)
    run_id = planned(corpus)
    (corpus.root / "table" / layout.stored_run(run_id)).unlink()
    with pytest.raises(TableStateError, match="broke off before its plan was stored"):
        wait(corpus.store, run_id, ignore)
    run_id = planned(corpus)
    collect(corpus.store, retain=0, grace=3600)
    with pytest.raises(TableStateError, match=f"run {run_id} did not end, and its files are being collected"):
        wait(corpus.store, run_id, ignore)
    other = Corpus(tmp_path / "other")
    with pytest.raises(TableStateError, match=r"knows of no run$"):
        wait(other.store, None, ignore)

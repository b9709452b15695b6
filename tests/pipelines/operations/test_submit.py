"""`run --no-wait`: which engines it takes, and what it leaves in the table. Jobs that run: tests/packaging."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.beam.submission import JobState, note_of, refuse_attached
from pipelines.cli.main import main
from pipelines.errors import EngineFailed, UsageError
from pipelines.observe.events import ignore
from pipelines.operations.gc import collect
from pipelines.operations.submit import submit
from pipelines.operations.wait import wait
from pipelines.records import Outcome, RunOptions
from pipelines.table import layout
from pipelines.table.claims import drop_claim, fresh_claims, leave_claim
from tests.pipelines.run.corpus import Corpus

NOWHERE = "localhost:1"
ALONE = ("--runner=PortableRunner", f"--job_endpoint={NOWHERE}", "--environment_type=EXTERNAL")
IMPATIENT = (*ALONE, "--environment_config=localhost:1", "--job_server_timeout=1")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Three documents that are chunked."""
    corpus = Corpus(tmp_path)
    corpus.fill(3)
    corpus.run()
    return corpus


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "and DirectRunner is this process"),
        (["--runner=FlinkRunner"], "and the job server of FlinkRunner would be a part of it"),
        (["--runner=PortableRunner", "--job_endpoint=embed"], "and the job server of PortableRunner would be a part"),
        (["--runner=PrismRunner", "--environment_type=EXTERNAL"], "and the job server of PrismRunner would be a part"),
        ([*ALONE[:2]], "workers that go on without this process.*it is not given"),
        ([*ALONE[:2], "--environment_type=LOOPBACK"], "workers that go on without this process.*it is LOOPBACK"),
    ],
)
def test_an_engine_that_ends_with_the_command_is_refused(corpus: Corpus, options: list[str], problem: str) -> None:
    before = sorted((corpus.root / "table").rglob("*"))
    with pytest.raises(UsageError, match=f"^--no-wait needs .*{problem}"):
        submit(corpus.config, RunOptions(pipeline=tuple(options)), ignore)
    assert sorted((corpus.root / "table").rglob("*")) == before


@pytest.mark.parametrize(
    "options",
    [
        ALONE,
        ("--runner=FlinkRunner", "--job_endpoint=host:8099", "--environment_type=DOCKER"),
        ("--runner=FlinkRunner", "--flink_master=host:8081", "--flink_submit_uber_jar", "--environment_type=DOCKER"),
        ("--runner=SparkRunner", "--spark_submit_uber_jar", "--environment_type=PROCESS"),
    ],
)
def test_an_engine_that_goes_on_alone_is_taken(options: tuple[str, ...]) -> None:
    from pipelines.beam.engine import Engine

    refuse_attached(Engine(runner=options[0].partition("=")[2], arguments=options[1:]))


def test_a_night_without_changes_starts_no_job_and_is_known(corpus: Corpus) -> None:
    outcome = submit(corpus.config, RunOptions(pipeline=ALONE), ignore)
    assert isinstance(outcome, Outcome)
    assert (outcome.exit_code, outcome.message, outcome.version) == (0, "nothing changed", 0)
    assert (outcome.summary["listed"], outcome.summary["unchanged"]) == (3, 3)
    assert wait(corpus.store, outcome.run_id, ignore) == outcome
    files = {path.name for path in (corpus.root / "table/runs" / outcome.run_id).iterdir()}
    assert files == {"outcome.json", "stats.json"}


def test_an_engine_that_does_not_take_the_run_leaves_no_claim_and_a_plan(corpus: Corpus) -> None:
    corpus.write("new.txt", "Something new.")
    corpus._settle()
    with pytest.raises(EngineFailed, match=r"PortableRunner could not be given the run: .*`rechunk resume`"):
        submit(corpus.config, RunOptions(pipeline=IMPATIENT), ignore)
    assert fresh_claims(corpus.store) == []
    planned = {path.parent.parent.name for path in corpus.root.glob("table/runs/*/plan/run.json")}
    (run_id,) = planned - {corpus.snapshot().run_id}
    assert not corpus.store.exists(layout.submitted_file(run_id))


def test_what_is_noted_of_a_job_goes_with_its_run(corpus: Corpus) -> None:
    run_id = "20200101T000000Z-00000000"
    corpus.store.write(layout.submitted_file(run_id), b"{}")
    leave_claim(corpus.store, run_id)
    collect(corpus.store, retain=0, grace=0)
    assert corpus.store.exists(layout.submitted_file(run_id))
    drop_claim(corpus.store, run_id)
    for _ in range(2):
        collect(corpus.store, retain=0, grace=0)
    assert not corpus.store.exists(layout.submitted_file(run_id))


def test_what_is_noted_of_a_job_is_is_no_credential() -> None:
    from pipelines.beam.engine import Engine

    arguments = ("--project=p", "--region=r", "--temp_location=gs://b/t", "--labels=secret=x", "--dataflow_kms_key=k")
    note = note_of(Engine(runner="DataflowRunner", arguments=arguments), "job-1")
    assert note == {
        "runner": "DataflowRunner",
        "job_id": "job-1",
        "project": "p",
        "region": "r",
        "endpoint": "https://dataflow.googleapis.com",
        "no_auth": False,
    }


def test_the_state_of_a_job_that_cannot_be_asked_for_is_not_known() -> None:
    assert JobState({"runner": "PortableRunner", "job_id": None, "endpoint": NOWHERE}).look() is None
    assert JobState({"runner": "PortableRunner", "job_id": "job-1"}).look() is None


def test_the_command_says_what_is_wrong(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    config = corpus.root / "c.yaml"
    config.write_text(json.dumps({"source": [{"path": "docs"}], "output": {"path": "table"}}))
    assert main(["run", str(config), "--no-wait"]) == 2
    assert "error: --no-wait needs an engine that goes on without this process" in capsys.readouterr().err
    assert main(["wait", str(corpus.root / "table"), "yesterday"]) == 2
    assert main(["wait", str(corpus.root / "table"), "--output", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["exit_code"], said["version"], said["committed"]) == (0, 0, True)

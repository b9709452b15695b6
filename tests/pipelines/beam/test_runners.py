"""Runs through a runner that is not local: Beam's job service in this process, its workers talked to over gRPC."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.beam.engine import Engine
from pipelines.beam.quiet import quiet_beam
from pipelines.config.model import Output
from pipelines.errors import EngineFailed, StorageError, UsageError
from pipelines.operations.resume import resume
from pipelines.table import layout
from pipelines.work.job import Job
from pipelines.work.versions import Versions
from tests.pipelines.run.corpus import Corpus

with quiet_beam():
    from pipelines.beam.job_servers import put_right, silence_threads
    from pipelines.beam.runners import launch

EMBEDDED = ("--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Documents of three tasks."""
    corpus = Corpus(tmp_path)
    corpus.change(output=Output(path=str(tmp_path / "table"), task_bytes=2000))
    corpus.fill(5)
    corpus.write("bad.txt", b"\x00\x01\x02" * 500)
    return corpus


def files(corpus: Corpus) -> list[str]:
    """The bytes of the files of chunks."""
    paths = [corpus.root / "table" / shard.chunks.path for shard in corpus.snapshot().shards]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def test_the_table_is_that_of_a_local_run(corpus: Corpus) -> None:
    outcome = corpus.run(pipeline=EMBEDDED)
    assert (outcome.exit_code, outcome.version) == (0, 0)
    remote = files(corpus)
    assert len(remote) > 2
    assert corpus.run(full=True).version == 1
    assert files(corpus) == remote


def test_one_process_needs_no_beam_and_makes_the_same_table(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    assert corpus.run(pipeline=("--runner=FnApiRunner",)).version == 0
    through_beam = files(corpus)
    with monkeypatch.context() as patched:
        patched.setattr("pipelines.beam.run_graph.chunk_shard", None)
        assert corpus.run(full=True).version == 1
        with pytest.raises(TypeError, match="NoneType"):
            corpus.run(full=True, pipeline=("--runner=FnApiRunner",))
    assert files(corpus) == through_beam


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let every task end with `error`; the workers are threads of this process."""

    def fail(*arguments: Any) -> None:
        raise error

    monkeypatch.setattr("pipelines.beam.run_graph.chunk_shard", fail)


def test_an_error_of_the_job_crosses_as_what_it_is_and_the_run_is_resumed(corpus: Corpus) -> None:
    with pytest.MonkeyPatch.context() as patched:
        failing(patched, StorageError("is full", address="disk"))
        with pytest.raises(StorageError, match=r"^disk: is full$"):
            corpus.run(pipeline=EMBEDDED)
    assert resume(corpus.config, None, corpus.events.append, pipeline=EMBEDDED).version == 0
    assert corpus.rows() == corpus.afresh()


def test_any_other_exception_of_a_step_is_a_bug(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, KeyError("this"))
    with pytest.raises(RuntimeError, match=r"^PortableRunner did not finish the run: KeyError: \"this\"$"):
        corpus.run(pipeline=EMBEDDED)


def test_an_engine_that_is_not_there_is_told(corpus: Corpus) -> None:
    away = ("--runner=PortableRunner", "--job_endpoint=localhost:1", "--job_server_timeout=1")
    with pytest.raises(EngineFailed, match=r"^PortableRunner could not be given the run: ") as caught:
        corpus.run(pipeline=(*away, "--environment_type=LOOPBACK"))
    assert str(caught.value).endswith("Nothing was published by it; `rechunk resume` goes on with its plan")
    assert len(str(caught.value)) < 400
    assert resume(corpus.config, None, corpus.events.append).version == 0


def test_what_beam_s_own_checks_say_is_usage() -> None:
    engine = Engine(runner="DataflowRunner", arguments=("--project=p", "--temp_location=nowhere"))
    with pytest.raises(UsageError, match="DataflowRunner"):
        launch(engine, lambda pipeline: None, name="x")


def test_relative_addresses_stay_where_the_run_was_started(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus.root)
    corpus.change(output=Output(path="table"))
    corpus.source(path="docs")
    job = Job(config=corpus.config, run_id=layout.new_run_id())
    monkeypatch.chdir("/")
    assert job.table().address == str(corpus.root / "table")
    assert job.source(corpus.config.sources[0]).address == str(corpus.root / "docs")


class Service:
    """A job service that knows one option, and how long it was asked to wait."""

    def __init__(self) -> None:
        self.timeouts: list[Any] = []

    def DescribePipelineOptions(self, request: Any) -> Any:
        return SimpleNamespace(options=[SimpleNamespace(name="checkpointing_interval")])

    def GetStateStream(self, request: Any, timeout: Any = "none given") -> str:
        self.timeouts.append(timeout)
        return "states"

    def Prepare(self, request: Any, timeout: Any = "none given") -> str:
        self.timeouts.append(timeout)
        return "prepared"


def test_a_job_may_take_longer_than_a_request() -> None:
    runner = SimpleNamespace(create_job_service_handle=lambda service, options: service)
    put_right(runner, "FlinkRunner", [])
    service = Service()
    handle = runner.create_job_service_handle(service, None)
    assert handle.GetStateStream("of this job", timeout=300) == "states"
    assert handle.Prepare("this job", timeout=300) == "prepared"
    assert service.timeouts == ["none given", 300]


def test_options_that_the_job_server_does_not_know_are_refused() -> None:
    def connected(unknown: list[str]) -> Any:
        runner = SimpleNamespace(create_job_service_handle=lambda service, options: "connected")
        put_right(runner, "FlinkRunner", unknown)
        return runner.create_job_service_handle(Service(), None)

    assert connected(["checkpointing_interval"]) == "connected"
    with pytest.raises(UsageError) as caught:
        connected(["checkpointing_interval", "checkpoint_interval", "zzz"])
    assert str(caught.value) == (
        "neither Beam nor the job server of FlinkRunner has the option --checkpoint_interval (did you mean "
        "'checkpointing_interval'?), --zzz; the job server has checkpointing_interval"
    )


def test_only_threads_of_beam_are_silenced(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda raised: heard.append(str(raised.exc_value)))
    silence_threads()
    hook = threading.excepthook
    silence_threads()
    assert threading.excepthook is hook
    for file in ("/lib/grpc/_channel.py", "/lib/apache_beam/x.py", "/ours/pipelines/x.py"):
        code = compile(f"raise OSError({file!r})", file, "exec")
        thread = threading.Thread(target=exec, args=(code, {}))
        thread.start()
        thread.join()
    assert heard == ["/ours/pipelines/x.py"]


def test_a_worker_with_other_versions_is_refused(corpus: Corpus) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pipelines.beam.run_graph.versions_of", _in_turn())
        with pytest.raises(EngineFailed, match=r"^a worker would chunk otherwise than this process: it has regex 2 "):
            corpus.run(pipeline=EMBEDDED)
    assert resume(corpus.config, None, corpus.events.append).version == 0


def _in_turn() -> Any:
    """Versions of the process that plans, and then others."""
    calls = iter(range(100))

    def versions_of(config: Any, router: Any) -> Versions:
        number = min(next(calls), 1)
        return Versions(fingerprints=((str(number),),), named={"regex": str(number + 1)})

    return versions_of


@pytest.mark.parametrize(("arguments", "hinted"), [((), True), (("--prism_location=/there/prism",), False)])
def test_prism_that_cannot_be_had_says_how_it_can(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], hinted: bool
) -> None:
    def away(self: Any) -> None:
        raise OSError("Unable to fetch remote prism binary")

    monkeypatch.setattr("apache_beam.Pipeline.run", away)
    with pytest.raises(EngineFailed, match="remote prism binary") as caught:
        launch(Engine(runner="PrismRunner", arguments=arguments), lambda pipeline: None, name="x")
    assert ("--prism_location names one" in str(caught.value)) is hinted

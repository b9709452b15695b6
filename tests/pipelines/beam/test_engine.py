"""Which engine a configuration and a command line come to, and what does not go together."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.beam.engine import Engine, engine_for, local_engine
from pipelines.beam.options import tokens_of
from pipelines.config.model import Config, Hidden, Output, Source
from pipelines.errors import UsageError


def config(beam: dict[str, Any] | None = None, docs: str = "docs", table: str = "table") -> Config:
    return Config(name="c", sources=(Source(path=docs),), output=Output(path=table), beam=Hidden(beam))


def test_this_machine_is_the_engine_if_nothing_is_said() -> None:
    assert engine_for(config()) == Engine(runner="DirectRunner", arguments=(), workers=None)
    assert engine_for(config({"runner": "FnApiRunner"}), workers=3) == Engine(runner="FnApiRunner", workers=3)
    assert engine_for(config()).is_local
    assert local_engine(2) == Engine(runner="DirectRunner", workers=2)


def test_options_of_the_command_line_come_after_those_of_the_configuration() -> None:
    told = config({"runner": "FlinkRunner", "parallelism": 2, "experiments": ["a", "b"], "flink_submit_uber_jar": True})
    engine = engine_for(told, ["--parallelism", "3", "--environment_type=LOOPBACK"])
    assert engine.runner == "FlinkRunner"
    assert engine.arguments == (
        *("--parallelism=2", "--experiments=a", "--experiments=b", "--flink_submit_uber_jar"),
        *("--parallelism", "3", "--environment_type=LOOPBACK"),
    )
    assert not engine.is_local


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        ({"use_public_ips": False}, ("--no_use_public_ips",)),
        ({"use_public_ips": True}, ("--use_public_ips",)),
        ({"flink_submit_uber_jar": False}, ()),
        ({"checkpointing_interval": 500}, ("--checkpointing_interval=500",)),  # a job server's, not Python's
    ],
)
def test_values_become_what_a_command_line_would_say(value: dict[str, Any], tokens: tuple[str, ...]) -> None:
    assert engine_for(config({"runner": "FlinkRunner", **value})).arguments == tokens


def test_true_is_a_value_where_an_option_takes_one() -> None:
    assert tokens_of("dry_run", True) == ["--dry_run=true"]
    with pytest.raises(UsageError, match="dry_run makes a graph that nobody runs; `rechunk plan` says"):
        engine_for(config({"runner": "FlinkRunner", "dry_run": True}))


@pytest.mark.parametrize(
    "arguments", [["--runner", "flink"], ["--runner=FlinkRunner"], ["--runner=direct", "--runner=flinkrunner"]]
)
def test_the_command_line_names_the_runner(arguments: list[str]) -> None:
    assert engine_for(config({"runner": "DirectRunner"}), arguments) == Engine(runner="FlinkRunner", arguments=())


def test_a_runner_may_be_named_by_its_import_path() -> None:
    path = "apache_beam.runners.portability.flink_runner.FlinkRunner"
    assert engine_for(config(), ["--runner", path]).runner == path


def test_options_may_be_credentials_and_are_not_shown() -> None:
    engine = engine_for(config({"runner": "FlinkRunner", "s3_secret_access_key": "hush"}))
    assert engine.arguments == ("--s3_secret_access_key=hush",)
    assert "hush" not in repr(engine)
    assert "hush" not in repr(config({"runner": "FlinkRunner", "s3_secret_access_key": "hush"}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x"], "'x' is not a pipeline option; after -- there may be options of Beam, as --name=value"),
        (["--runner"], "--runner needs a value"),
        (
            ["--flink_master", "h:1"],
            "--flink_master would do nothing: the runner is DirectRunner, which works on this machine",
        ),
        (
            ["--runner=Flink", "--prism_location=p", "--flink_version=0.1"],
            (
                "--prism_location is an option of PrismRunner, but the runner is FlinkRunner\n"
                "--flink_version cannot be used: invalid choice: '0.1' (choose from '1.19', '1.20', '2.0', '2.1', '2.2')"
            ),
        ),
        (["--direct_num_workers=2"], "--direct_num_workers is what --workers says; use that"),
        (
            ["--runner=PortableRunner"],
            "PortableRunner needs the option job_endpoint, as --job_endpoint=host:port of a job server",
        ),
        (["--runner=no.such.Runner"], "the runner no.such.Runner cannot be imported: No module named 'no'"),
    ],
)
def test_options_that_cannot_be_used_are_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        engine_for(config(), arguments)
    assert str(caught.value) == message


def test_options_of_the_configuration_must_fit_the_runner_of_the_command_line() -> None:
    with pytest.raises(UsageError, match=r"^beam\.flink_master is an option of FlinkRunner and PortableRunner, but"):
        engine_for(config({"runner": "FlinkRunner", "flink_master": "h:1"}), ["--runner", "SparkRunner"])


def test_workers_of_this_machine_and_another_engine_contradict_each_other() -> None:
    with pytest.raises(UsageError, match=r"^--workers is for processes of this machine, but the runner is FlinkRunner"):
        engine_for(config({"runner": "FlinkRunner"}), workers=2)


@pytest.mark.parametrize("at", ["table", "docs"])
def test_memory_cannot_be_seen_from_elsewhere(at: str) -> None:
    with pytest.raises(UsageError, match="memory://x is in this process's memory, which no worker of PrismRunner"):
        engine_for(config({"runner": "PrismRunner"}, **{at: "memory://x"}))
    assert engine_for(config(**{at: "memory://x"})).is_local


@pytest.mark.parametrize("at", ["table", "docs"])
def test_dataflow_cannot_see_this_disk(at: str) -> None:
    places = {"docs": "gs://b/docs", "table": "gs://b/table", at: "file:///here"}
    with pytest.raises(UsageError, match=r"^file:///here is on this machine's disk, which no worker of DataflowRunner"):
        engine_for(config({"runner": "DataflowRunner"}, **places))

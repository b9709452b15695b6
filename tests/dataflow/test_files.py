"""The files for Dataflow: a configuration, a Flex Template and its images. What they say holds of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipelines.beam.engine import Engine
from pipelines.beam.options import problem_with
from pipelines.beam.submission import writes_template
from pipelines.cli import template
from pipelines.cli.parser import parse_arguments
from pipelines.cli.running import options_of
from pipelines.config.load import load_config
from pipelines.records import RunOptions
from pipelines.version import VERSION

ROOT = Path(__file__).parents[2]
FILES = ROOT / "configs/dataflow"
ADDRESSES = {"CORPUS": "gs://my-corpus", "TABLE": "gs://my-table/documents"}


@pytest.fixture(scope="module")
def parameters() -> dict[str, dict[str, Any]]:
    """The template's parameters by name."""
    return {each["name"]: each for each in json.loads((FILES / "metadata.json").read_text())["parameters"]}


def test_the_configuration_is_valid_and_names_this_version() -> None:
    config = load_config(ROOT / "configs/dataflow.yaml", ADDRESSES)
    assert config.beam["runner"] == "DataflowRunner"
    assert config.beam["sdk_container_image"].endswith(f"/worker:{VERSION}")
    assert config.warnings == ()


def test_every_parameter_is_the_launchers_or_an_option_of_beam(parameters: dict[str, dict[str, Any]]) -> None:
    assert set(template.PARAMETERS) <= set(parameters)
    for name in set(parameters) - set(template.PARAMETERS):
        assert problem_with("DataflowRunner", name, [f"--{name}=1"]) == "", name
    assert [name for name, each in parameters.items() if not each.get("isOptional")] == ["config"]
    assert set(template.PARAMETERS) == {"config", "approve_deletions", "full", "prune", "objects"}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("config", ["gs://b/nightly.yaml", "gs://b/a b/x.yml"], ["nightly.yaml", "gs://b", "gs://b/x.json"]),
        ("approve_deletions", ["", "0", "12"], ["-1", "all"]),
        ("full", ["", "true", "false"], ["yes", "True"]),
        ("prune", ["", "true", "false"], ["1"]),
        ("objects", ["", "gs://b/list.tsv"], ["list.tsv"]),
        ("number_of_worker_harness_threads", ["1", "12"], ["0", "many"]),
    ],
)
def test_patterns_of_parameters_take_what_the_launcher_takes(
    parameters: dict[str, dict[str, Any]], name: str, good: list[str], bad: list[str]
) -> None:
    (pattern,) = parameters[name]["regexes"]
    for value in good:
        assert re.fullmatch(pattern, value), value
        if name in template.PARAMETERS:
            parse_arguments(template.command_line([*(["--config=c"] if name != "config" else []), f"--{name}={value}"]))
    for value in bad:
        assert not re.fullmatch(pattern, value), value


def test_parameters_become_the_options_of_a_run() -> None:
    launched = [
        *("--config=gs://b/nightly.yaml", "--approve_deletions=12", "--full=true", "--prune=true"),
        *("--objects=gs://b/list.tsv", "--runner=DataflowRunner", "--template_location=gs://b/job", "--job_name=night"),
        "--save_main_session",
    ]
    arguments = parse_arguments(template.command_line(launched))
    assert (arguments.config, arguments.no_wait) == ("gs://b/nightly.yaml", True)
    beam = ("--runner=DataflowRunner", "--template_location=gs://b/job", "--job_name=night")
    assert options_of(arguments) == RunOptions(
        prune=True, approve_deletions=12, full=True, objects="gs://b/list.tsv", pipeline=beam
    )
    assert writes_template(Engine(runner="DataflowRunner", arguments=beam))
    assert not writes_template(Engine(runner="DataflowRunner", arguments=beam[2:]))


def test_parameters_that_are_left_empty_are_not_there() -> None:
    bare = template.command_line(["--config=c", "--approve_deletions=", "--full=false", "--prune=", "--objects="])
    assert bare == template.command_line(["--config=c"]) == ["run", "c", "--no-wait", "--"]


def test_parameters_that_are_wrong_end_the_launch_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ([], ["--config=c", "--full=yes"]):
        with pytest.raises(SystemExit) as stop:
            template.command_line(wrong)
        assert stop.value.code == 2
    assert "'yes' is neither true nor false" in capsys.readouterr().err
    assert template.launch(["--config=c", "--approve_deletions=all"]) == 2


@pytest.mark.parametrize("name", ["worker", "launcher"])
def test_images_have_what_the_packages_say(name: str) -> None:
    text = (FILES / f"{name}.Dockerfile").read_text()
    pins = dict(re.findall(r"^([a-z0-9-]+)==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    extras = re.findall(r'\)\[([a-z0-9,]+)\]"', text)[0].split(",")
    if name == "worker":
        assert f"FROM apache/beam_python3.11_sdk:{pins['apache-beam']}\n" in text
    else:
        assert "FROM python:3.11-slim\n" in text
        assert "gcp" in extras
    known = re.findall(r'"(\w+)": [A-Z0-9]+', (ROOT / "setup.py").read_text().partition("extras_require=")[2])
    assert set(extras) <= set(known)
    assert f"/{name}:{VERSION} ." in text
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for source in copied.split():
            assert source == "dist/rechunk-*.tar.gz" or (ROOT / source).exists(), source

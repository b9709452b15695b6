"""docs/dataflow.md: what it states that can be checked without a cloud."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from pipelines.cli.parser import parse_arguments
from pipelines.version import VERSION
from tests.docs.pages import ROOT, fences, tables

PAGE = ROOT / "docs/dataflow.md"


def commands() -> list[str]:
    """The commands of rechunk on the page, in snippets and in sentences."""
    shown = [line for fence in fences(PAGE) if fence.language == "bash" for line in fence.code.splitlines()]
    said = re.findall(r"`(rechunk [^`]+ (?:configs|gs:)[^`]+)`", PAGE.read_text())
    return sorted({line for line in (*shown, *said) if line.startswith("rechunk ")})


@pytest.mark.parametrize("command", commands())
def test_every_command_on_the_page_is_one(command: str) -> None:
    assert parse_arguments(shlex.split(command)[1:]).command


def test_the_page_shows_commands() -> None:
    assert len(commands()) >= 4


def test_the_table_of_parameters_is_the_templates() -> None:
    metadata = json.loads((ROOT / "configs/dataflow/metadata.json").read_text())
    assert [name for name, _ in tables(PAGE)["A run"]] == [each["name"] for each in metadata["parameters"]]


def test_names_of_files_and_images_have_this_version() -> None:
    text = PAGE.read_text()
    assert set(re.findall(r"(?:worker:|launcher:|rechunk-)(\d+\.\d+\.\d+)", text)) == {VERSION}


def test_costs_add_up() -> None:
    *rows, total = tables(PAGE)["What it costs"]
    costs = [float(quantity) * float(price) for _, quantity, _, price, _ in rows]
    assert [f"{cost:.2f}" for cost in costs] == [cost for *_, cost in rows]
    assert f"**{sum(costs):.2f}**" == total[-1]
    cores, starting, memory, disks, shuffle, *_ = (float(quantity) for _, quantity, *_ in rows)
    documents, tasks = 8_800_000, 100_000_000_000 / 2**24
    assert cores == pytest.approx(documents / 400 / 3600, rel=0.01)
    assert starting == pytest.approx(40 * 4 / 60, rel=0.02)
    assert (memory, disks) == (pytest.approx(4 * (cores + starting)), pytest.approx(15 * (cores + starting)))
    assert shuffle == pytest.approx(tasks * 1.8e3 / 1e9, rel=0.05)
    assert float(rows[7][1]) == pytest.approx(7 * tasks / 1000, rel=0.02)

"""`Rechunk` in Beam YAML: the example's pipeline by Beam's own command, and what the transform refuses."""

from __future__ import annotations

import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np
import pytest

from chunkers import InvalidOption, OptionError, chunk
from pipelines.beam.quiet import quiet_beam

with quiet_beam():
    import apache_beam as beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    from apache_beam.testing.util import assert_that, equal_to
    from apache_beam.utils.timestamp import Timestamp
    from apache_beam.yaml import main
    from apache_beam.yaml.yaml_transform import YamlTransform

    from pipelines.beam.chunk_rows import RecordsToRows
    from pipelines.beam.yaml_transforms import Rechunk

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples/beam"


Item = NamedTuple(  # noqa: UP014  # with annotations that are types and no text, and that Beam reads
    "Item",
    [
        ("id", str),
        ("text", str),
        ("flag", bool),
        ("small", np.int32),
        ("number", Optional[int]),  # noqa: UP045
        ("share", float),
        ("name", Optional[str]),  # noqa: UP045
        ("raw", bytes),
        ("at", Optional[Timestamp]),  # noqa: UP045
        ("tags", list[str]),
    ],
)
ITEM = Item("a", "One.", True, np.int32(1), 2, 0.5, "n", b"\x00", Timestamp(1), ["x"])
KEPT = ["flag", "small", "number", "share", "name", "raw", "at"]


def lines(file: Path) -> list[dict[str, Any]]:
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def arguments(folder: Path) -> list[str]:
    """The arguments of Beam's command for the example, with everything in one folder."""
    for file in FOLDER.glob("*.*"):
        shutil.copy(file, folder)
    variables = json.dumps({"articles": f"{folder}/articles.jsonl", "output": f"{folder}/out"})
    file = folder / "chunk_articles.yaml"
    return [f"--yaml_pipeline_file={file}", "--runner=FnApiRunner", f"--jinja_variables={variables}"]


@pytest.mark.slow
def test_beams_command_runs_the_example_and_says_nothing_about_our_types(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "apache_beam.yaml.main", *arguments(tmp_path)]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Running pipeline" in done.stdout
    assert "string literal type hint" not in done.stderr
    assert list((tmp_path / "out").glob("chunks.jsonl*"))


def test_the_example_gives_the_chunks_of_the_library(tmp_path: Path) -> None:
    with quiet_beam():
        main.run(arguments(tmp_path))
    (chunks,) = (tmp_path / "out").glob("chunks.jsonl*")
    (failures,) = (tmp_path / "out").glob("failures.jsonl*")
    expected = [
        {
            "id": f"{article['key']}#{each.index}",
            "text": each.text,
            "start": each.start,
            "end": each.end,
            "headings": list(each.headings),
            "price": article["price"],
        }
        for article in lines(FOLDER / "articles.jsonl")
        if article["key"] != "broken.json"
        for each in chunk(article["body"], path=article["key"], max_size=120, overlap=0)
    ]
    assert len(expected) == 4
    assert sorted(lines(chunks), key=lambda row: row["id"]) == sorted(expected, key=lambda row: row["id"])
    assert [(row["id"], row["error"]) for row in lines(failures)] == [("broken.json", "malformed")]


def test_fields_are_kept_with_the_types_of_the_input() -> None:
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = pipeline | beam.Create([ITEM]).with_output_types(Item) | Rechunk(payload=KEPT) | beam.Reshuffle()
        kept = rows | beam.Map(lambda row: [getattr(row, name) for name in KEPT])
        assert_that(kept, equal_to([[True, 1, 2, 0.5, "n", b"\x00", Timestamp(1)]]))


def test_nested_options_come_through_yaml() -> None:
    spec = """
        type: Rechunk
        config:
          id: key
          text: body
          path: key
          strategy: auto
          per_type: {markdown: {headers: [["#", section]]}}
          payload: {price: double}
    """
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = pipeline | beam.Create([beam.Row(key="a.md", body="# T\n\nOne.\n\n# U\n\nTwo.", price=1.0)])
        providers = {"Rechunk": Rechunk}
        chunks = rows | YamlTransform(spec, providers=providers)
        assert_that(
            chunks | beam.Map(lambda row: (row.id, row.metadata, row.price)),
            equal_to([("a.md#0", '{"section":"T"}', 1.0), ("a.md#1", '{"section":"U"}', 1.0)]),
        )


def test_limits_and_arguments_are_those_of_records_to_rows() -> None:
    ours = dict(inspect.signature(Rechunk.__init__).parameters)
    assert ours.keys() - {"error_handling"} == inspect.signature(RecordsToRows.__init__).parameters.keys()
    with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = pipeline | beam.Create([ITEM]).with_output_types(Item)
        step = Rechunk(text="text", max_size=2, overlap=0, limits={"max_chunks": 1}, error_handling={"output": "bad"})
        outputs = rows | step
        assert outputs.keys() == {"good", "bad"}
        assert_that(outputs["bad"] | beam.Map(lambda row: (row.id, row.error)), equal_to([("a", "budget")]))


def test_what_makes_no_sense_is_refused_when_the_pipeline_is_built() -> None:
    with pytest.raises(OptionError, match="max_sice"):
        Rechunk(max_sice=3)
    for wrong in ({"threshold": "1"}, {}, {"output": "bad", "threshold": "1"}):
        with pytest.raises(InvalidOption, match="error_handling"):
            Rechunk(error_handling=wrong)
    with pytest.raises(InvalidOption, match=r"limits is 'chunks'; limits must be of max_bytes, max_chunks"):
        Rechunk(limits={"chunks": 3})
    with quiet_beam():
        rows = beam.Pipeline() | beam.Create([ITEM]).with_output_types(Item)
        for payload, message in ((["prize"], "a field of the input: id, text, flag"), (["tags"], "plain type")):
            with pytest.raises(InvalidOption, match=message):
                _ = rows | f"{payload}" >> Rechunk(payload=payload)

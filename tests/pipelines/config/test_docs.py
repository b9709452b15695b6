"""docs/configuration.md: its examples load or fail as it says, and it names every key."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from pipelines.config.load import TOP_KEYS, config_from
from pipelines.config.model import Budget, Columns, Decoding, Extractor, Guard, Limits, Output, Source, Tokens
from pipelines.config.tree import parse
from pipelines.errors import ConfigError

PAGE = (Path(__file__).parents[3] / "docs/configuration.md").read_text("utf-8")
STORAGE = (Path(__file__).parents[3] / "docs/storage.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```\n(?:```text\n(.*?)\n```)?", PAGE, re.DOTALL)


@pytest.mark.parametrize(("text", "message"), EXAMPLES)
def test_example(text: str, message: str) -> None:
    if not message:
        config_from(parse(text.encode(), "c.yaml"), {})
        return
    with pytest.raises(ConfigError) as caught:
        config_from(parse(text.encode(), "c.yaml"), {})
    assert str(caught.value) == message


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", STORAGE, re.DOTALL))
def test_example_of_storage(text: str) -> None:
    assert config_from(parse(text.encode(), "c.yaml"), {}).storage


def test_there_are_examples_of_both_kinds() -> None:
    assert [bool(message) for _, message in EXAMPLES].count(True) == 5
    assert len(EXAMPLES) == 10


def test_every_key_has_a_row() -> None:
    rows = set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))
    sections = {"source[]": Source, "tokens": Tokens, "output": Output, "limits": Budget, "guard": Guard}
    wanted = {
        f"{section}.{field.name}" for section, record in sections.items() for field in fields(record) if field.init
    }
    nested = {"columns": Columns, "decoding": Decoding, "extractor": Extractor}
    wanted |= {f"source[].{name}.{field.name}" for name, record in nested.items() for field in fields(record)}
    wanted |= {f"gates.failed_documents.{field.name}" for field in fields(Limits)}
    assert wanted - rows == {f"source[].{name}" for name in nested}
    assert {key for key in TOP_KEYS if not any(row.split(".")[0].removesuffix("[]") == key for row in rows)} == set()

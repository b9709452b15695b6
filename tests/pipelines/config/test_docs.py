"""docs/configuration.md: its examples load or fail as it says, and it names every key."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from pipelines.config.load import TOP_KEYS, config_from
from pipelines.config.model import Decoding, Guard, Limits, Output, Source, Tokens
from pipelines.config.tree import parse
from pipelines.errors import ConfigError

PAGE = (Path(__file__).parents[3] / "docs/configuration.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```\n(?:```text\n(.*?)\n```)?", PAGE, re.DOTALL)


@pytest.mark.parametrize(("text", "message"), EXAMPLES)
def test_example(text: str, message: str) -> None:
    if not message:
        config_from(parse(text.encode(), "c.yaml"), {})
        return
    with pytest.raises(ConfigError) as caught:
        config_from(parse(text.encode(), "c.yaml"), {})
    assert str(caught.value) == message


def test_there_are_examples_of_both_kinds() -> None:
    assert [bool(message) for _, message in EXAMPLES].count(True) == 5
    assert len(EXAMPLES) == 8


def test_every_key_has_a_row() -> None:
    rows = set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))
    sections = {"source[]": Source, "tokens": Tokens, "output": Output, "guard": Guard}
    wanted = {
        f"{section}.{field.name}" for section, record in sections.items() for field in fields(record) if field.init
    }
    wanted |= {f"source[].decoding.{field.name}" for field in fields(Decoding)}
    wanted |= {f"gates.failed_documents.{field.name}" for field in fields(Limits)}
    assert wanted - rows == {"source[].decoding"}
    assert {key for key in TOP_KEYS if not any(row.split(".")[0].removesuffix("[]") == key for row in rows)} == set()

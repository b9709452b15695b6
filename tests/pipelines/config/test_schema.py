"""The JSON Schema says what the loader does, and the shipped configurations are valid by both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pipelines.config.load import TOP_KEYS, config_from, load_config
from pipelines.config.model import Budget, Columns, Decoding, Extractor, Guard, Limits, Output, Source, Tokens
from pipelines.config.schema import schema
from pipelines.config.tree import parse
from pipelines.errors import ConfigError

CONFIGS = sorted((Path(__file__).parents[3] / "configs").glob("*.yaml"))
ENVIRONMENT = {"CORPUS": "corpus", "TABLE": "table"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_shipped_configurations_are_valid(path: Path) -> None:
    load_config(path, ENVIRONMENT)
    jsonschema.validate(yaml.safe_load(path.read_text("utf-8")), schema())


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def names(record: type) -> set[str]:
    return {field.name for field in fields(record) if field.init}


def test_schema_and_model_list_the_same_keys() -> None:
    properties = schema()["properties"]
    assert set(properties) == set(TOP_KEYS)
    assert set(properties["source"]["items"]["properties"]) == names(Source)
    of_source = properties["source"]["items"]["properties"]
    assert set(of_source["columns"]["properties"]) == names(Columns)
    assert set(of_source["decoding"]["properties"]) == names(Decoding)
    assert set(of_source["extractor"]["properties"]) == names(Extractor)
    assert set(properties["limits"]["properties"]) == names(Budget)
    assert set(properties["output"]["properties"]) == names(Output)
    assert set(properties["guard"]["properties"]) == names(Guard)
    assert set(properties["tokens"]["properties"]) == names(Tokens)
    assert set(properties["gates"]["properties"]["failed_documents"]["properties"]) == names(Limits)


def test_nightly_shows_every_key() -> None:
    nightly: Any = yaml.safe_load((CONFIGS[0].parent / "nightly.yaml").read_text("utf-8"))
    assert set(nightly) == set(TOP_KEYS)
    shown = {key: value for source in nightly["source"] for key, value in source.items()}
    assert set(shown) == names(Source)
    assert set(shown["columns"]) == names(Columns)
    assert set(shown["decoding"]) == names(Decoding)
    assert set(shown["extractor"]) == names(Extractor)
    assert set(nightly["limits"]) == names(Budget)
    assert set(nightly["output"]) == names(Output)
    assert set(nightly["guard"]) == names(Guard)
    assert set(nightly["chunking"]) == {"default", "rules"}
    assert set(nightly["gates"]["failed_documents"]) == names(Limits)


START = "source:\n  - path: docs\noutput: {path: table}\n"
WRONG = [
    "zzz: 1\n",
    "name: 3\n",
    "guard: {document: 3}\n",
    "guard: {percent: 120}\n",
    "limits: {seconds: 0}\n",
    "limits: {max_chunks: 0}\n",
    "gates: {}\n",
    "gates: {failed_documents: {}}\n",
    "gates: {failed_documents: {soft: 1}}\n",
    "tokens: {encoding_name: gpt9}\n",
    "beam: {flink_master: x}\n",
    "metadata_values: text\n",
    "storage: {file: {x: 1}}\n",
    "chunking: {default: {strategy: recursiv}}\n",
    "chunking: {default: {strategy: recursive, max_sise: 3}}\n",
    "chunking: {rules: [{strategy: recursive}]}\n",
]


@pytest.mark.parametrize("text", WRONG)
def test_schema_refuses_what_the_loader_refuses(text: str) -> None:
    with pytest.raises(ConfigError):
        config_from(parse((START + text).encode(), "c.yaml"), {})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(START + text), schema())


def test_every_option_of_every_strategy_is_in_the_schema() -> None:
    import chunkers

    listed = {name for name, _ in _strategies(schema())}
    assert listed == set(chunkers.strategy_kinds())
    for name, options in _strategies(schema()):
        assert options == {field.name for field in fields(chunkers.strategy_kinds()[name].Options)}


def _strategies(whole: dict[str, Any]) -> Iterator[tuple[str, set[str]]]:
    for case in whole["properties"]["chunking"]["properties"]["default"]["allOf"]:
        yield case["if"]["properties"]["strategy"]["const"], set(case["then"]["properties"])

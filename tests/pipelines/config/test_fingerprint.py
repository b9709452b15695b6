"""What of a source of records, an extractor or limits decides chunks, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import chunkers
from pipelines.config.fingerprint import fingerprint
from pipelines.config.model import Budget, Columns, Config, Extractor, Output, Source

STRATEGY = chunkers.build("recursive")
SOURCE = Source(path="docs")


def of(source: Source, *others: Source, limits: Budget | None = None) -> str:
    config = Config(name="n", sources=(source, *others), output=Output(path="t"), limits=limits or Budget())
    return fingerprint(config, STRATEGY, source)


def test_columns_decide_records_and_nothing_of_a_source_of_text() -> None:
    columns = [Columns(), Columns(id="key"), Columns(text="body"), Columns(title="t"), Columns(metadata=("m",))]
    assert len({of(replace(SOURCE, format="jsonl", columns=each)) for each in columns}) == len(columns)
    assert len({of(replace(SOURCE, format="text", columns=each)) for each in columns}) == 1


def test_payload_columns_of_any_source_are_in_every_row() -> None:
    other = Source(path="other", format="csv", columns=Columns(payload={"price": "double"}))
    fewer = replace(other, columns=Columns())
    assert of(SOURCE, other) != of(SOURCE, fewer) == of(SOURCE)
    assert of(SOURCE, other) != of(SOURCE, replace(other, columns=Columns(payload={"price": "int64"})))


def test_an_extractor_is_its_function_and_version() -> None:
    extractors = [None, Extractor(function="a:b", version="1"), Extractor(function="a:b", version="2")]
    extractors.append(Extractor(function="a:c", version="1"))
    assert len({of(replace(SOURCE, extractor=each)) for each in extractors}) == len(extractors)


def test_limits_decide_no_chunk() -> None:
    assert of(SOURCE, limits=Budget(max_bytes=1024, max_chunks=1, work=1, seconds=1, max_ratio=1)) == of(SOURCE)


@pytest.mark.parametrize("strategy", ["markdown", "json", "auto"])
def test_a_template_of_context_decides_chunks(strategy: str) -> None:
    templates = [None, "{title}: ", "{path}: "]
    config = Config(name="n", sources=(SOURCE,), output=Output(path="t"))
    found = set()
    for template in templates:
        options = {"per_type": {"markdown": {"context": template}}} if strategy == "auto" else {"context": template}
        found.add(fingerprint(config, chunkers.build(strategy, **options), SOURCE))
    assert len(found) == len(templates)

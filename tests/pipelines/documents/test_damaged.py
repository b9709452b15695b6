"""Whatever arrives, it becomes a document, records, or a failure of the right class. Nothing else ever comes out."""

from __future__ import annotations

import io
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import chunkers
from pipelines.__main__ import main
from pipelines.config.model import Config, Output
from pipelines.documents.failures import failure_of
from pipelines.documents.formats import Record, context_of, format_of, read_records
from pipelines.documents.read import read_document
from tests.pipelines.documents.damaged import LIMITS, RECORDS, Damaged, damaged

BUGS = frozenset({"exception", "read", "missing", "memory", "interrupted"})
"""Classes that stand for something that was not foreseen, or that another try may heal. None of these inputs may."""

STRATEGY = chunkers.build("auto")


def outcome(one: Damaged) -> tuple[str | None, list[Record], dict[str, str]]:
    """The text of a document, the records of a container, and what failed: class to message."""
    format_ = format_of(one.source, one.name)
    stage = "record" if format_ != "text" else "decode"
    records: list[Record] = []
    failed: dict[str, str] = {}
    try:
        if format_ == "text":
            text, _, _, hint, media_type, _ = read_document(one.data, one.source, one.name, LIMITS)
            stage = "chunk"
            chunk(text, hint, media_type)
            return text, records, failed
        config = Config(name="n", sources=(one.source,), output=Output(path="t"), limits=LIMITS)
        for item in read_records(format_, io.BytesIO(one.data), context_of(config, 0)):
            if isinstance(item, Record):
                records.append(item)
            else:
                failed[item.failure.error] = item.failure.message
        stage = "chunk"
        for record in records[:5]:
            chunk(record.text, None, None)
    except Exception as error:
        failure = failure_of(error, stage)
        failed[failure.error] = failure.message
    return None, records, failed


def chunk(text: str, hint: str | None, media_type: str | None) -> None:
    for span in STRATEGY.split(text, path=hint, media_type=media_type).spans:
        text[span.start : span.end].encode()


def check(one: Damaged) -> str:
    """What is wrong with the outcome, or an empty string."""
    text, records, failed = outcome(one)
    if wrong_classes := failed.keys() - one.classes | failed.keys() & BUGS:
        return f"failed as { ({each: failed[each] for each in wrong_classes}) }, allowed are {sorted(one.classes)}"
    if one.must_fail and (text is not None or (records and one.records is None)):
        return f"was read: {text!r:.80} {records[:1]!r:.80}"
    if text is not None and one.text is not None and text != one.text:
        return "was read as something else"
    if one.records:
        known = set(one.records)
        wrong = [each for each in records if (each.id, each.text) not in known]
        if wrong:
            return f"has records that it does not have: {wrong[:1]!r:.200}"
    if len(records) < one.at_least:
        return f"has {len(records)} records of {one.at_least}"
    if text is None and not records and not failed and one.must_fail:
        return "vanished"
    return ""


def failures(count: int, seed: int) -> list[str]:
    wrong = []
    slowest: Counter[str] = Counter()
    for number, one in enumerate(damaged(count, seed)):
        started = time.monotonic()
        problem = check(one)
        slowest[one.kind] = max(slowest[one.kind], round(1000 * (time.monotonic() - started)))
        if problem:
            wrong.append(f"{number} {one.kind} {one.name} ({len(one.data)} bytes): {problem}")
    print(f"{count} damaged inputs; the slowest of each kind, in ms:", dict(slowest.most_common()))
    return wrong


def test_two_hundred_damaged_inputs() -> None:
    assert failures(200, seed=1) == []


@pytest.mark.slow
def test_ten_thousand_damaged_inputs() -> None:
    assert failures(10_000, seed=2) == []


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_run_accounts_for_every_damaged_object(
    count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    allowed = {}
    for number, one in enumerate(damaged(count, seed=4)):
        path = tmp_path / ("arrays" if one.source is RECORDS else "others") / f"{number}{one.name[1:]}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(one.data)
        allowed[str(path)] = one.classes
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG.format(tmp_path), "utf-8")
    assert main(["run", str(config), "--output", "json"]) == 0
    states, failed = rows(tmp_path / "table", "documents"), rows(tmp_path / "table", "failures")
    assert {row["uri"] for row in states + failed} == set(allowed)
    wrong = [row for row in failed if row["error"] not in allowed[row["uri"]] | {"duplicate-id"}]
    assert not wrong
    capsys.readouterr()
    assert main(["run", str(config)]) == 0
    assert "nothing changed" in capsys.readouterr().err


def rows(table: Path, kind: str) -> list[dict[str, Any]]:
    files = sorted(table.glob(f"runs/*/{kind}/*.parquet"))
    return [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]


CONFIG = """
source:
  - {{path: {0}/others, id_prefix: others/}}
  - {{path: {0}/arrays, id_prefix: arrays/, format: records}}
output: {{path: {0}/table}}
limits: {{max_bytes: 24MiB, max_ratio: 50}}
"""


def test_the_same_seed_makes_the_same_inputs() -> None:
    assert list(damaged(40, seed=3)) == list(damaged(40, seed=3))
    assert len({one.kind for one in damaged(40, seed=3)}) == 18

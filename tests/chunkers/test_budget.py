"""Budgets: what takes too much fails the same way on every machine, and nothing ordinary comes near to one."""

from __future__ import annotations

import time
from typing import Any

import pytest

from chunkers import build
from chunkers.budget import Meter, current
from chunkers.errors import BudgetExceeded
from tests.laws.pathological import PATHOLOGICAL
from tests.laws.subjects import CORPUS, documents

HEADROOM = 10
WORDS = "a b\n" * 20_000

COSTLY: dict[str, tuple[str, dict[str, Any]]] = {
    "overlap": ("recursive", {"max_size": 4000, "overlap": 3999}),
    "overlap of windows": ("fixed", {"max_size": 4000, "overlap": 3999}),
    "overlap in Markdown": ("markdown", {"max_size": 4000, "overlap": 3999}),
    "overlap in tokens": ("token", {"max_size": 1000, "overlap": 999}),
    "overlap of sentences": ("sentence", {"max_size": 4000, "overlap": 3999, "sentence_enders": ["b"]}),
    "measured in words": ("recursive", {"max_size": 1500, "overlap": 1499, "unit": "words"}),
}


def spent(strategy: str, options: dict[str, Any], text: str, work: int | None = None) -> int:
    meter = Meter(work=work, seconds=1e9)
    with meter.over(len(text)):
        build(strategy, **options).split(text)
    return meter.spent


@pytest.mark.parametrize("name", COSTLY)
def test_work_that_repeats_itself_fails_the_document(name: str) -> None:
    with pytest.raises(BudgetExceeded, match=r"took more than 17000000 units of work, or made more than 100000 chunks"):
        spent(*COSTLY[name], WORDS)
    assert current() is None


def test_without_a_meter_nothing_is_counted() -> None:
    strategy, options = COSTLY["overlap"]
    assert len(build(strategy, **options).split(WORDS).spans) == 19_001


def test_the_same_work_everywhere() -> None:
    strategy, options = "recursive", {"max_size": 100, "length_function": len, "overlap": 20}
    found = {spent(strategy, options, WORDS) for _ in range(3)}
    (units,) = found
    assert spent(strategy, options, WORDS, work=units) == units
    with pytest.raises(BudgetExceeded):
        spent(strategy, options, WORDS, work=units - 1)


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_input_that_is_made_to_hurt_is_far_from_its_budget(name: str) -> None:
    text = PATHOLOGICAL[name](20_000)
    for strategy, options in (("recursive", {}), ("recursive", {"max_size": 80, "overlap": 20}), ("markdown", {})):
        meter = Meter(seconds=1e9)
        with meter.over(len(text)):
            build(strategy, **options).split(text)
        assert meter.spent * HEADROOM <= meter.allowed, (strategy, options)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus")
@pytest.mark.parametrize("kind", ["md", "txt", "cjk", "code", "html"])
def test_real_documents_are_far_from_their_budget(kind: str) -> None:
    subjects = [
        build("auto"),
        build("recursive", max_size=300, overlap=100),
        build("recursive", max_size=200, unit="tokens"),
        build("recursive", max_size=400, length_function=len),
        build("token", max_size=200),
        build("markdown", max_size=500),
    ]
    meter = Meter(seconds=1e9)
    for path, text in documents(kind, step=40):
        for strategy in subjects:
            with meter.over(len(text)):
                strategy.split(text, path=path)
            assert meter.spent * HEADROOM <= meter.allowed, (path, strategy)


def test_seconds_are_the_backstop() -> None:
    def sleepy(text: str) -> int:
        time.sleep(0.01)
        return len(text)

    began = time.monotonic()
    with pytest.raises(BudgetExceeded, match=r"took more than 0\.1 s"), Meter(seconds=0.1).over(len(WORDS)):
        build("recursive", max_size=100, length_function=sleepy).split(WORDS)
    assert time.monotonic() - began < 2


def test_pattern_gets_no_more_time_than_the_document_has() -> None:
    text = "a" * 50_000
    strategy = build("recursive", separators=["(a+)+b"], is_separator_regex=True, max_size=10, overlap=0)
    began = time.monotonic()
    with pytest.raises(BudgetExceeded, match="separator"), Meter(seconds=0.2).over(len(text)):
        strategy.split(text)
    assert time.monotonic() - began < 2


def test_number_of_chunks() -> None:
    meter = Meter(chunks=3)
    meter.check_chunks(3)
    with pytest.raises(BudgetExceeded, match=r"more than 3 chunks; raise limits\.max_chunks"):
        meter.check_chunks(4)
    with pytest.raises(BudgetExceeded), meter.over(len(WORDS)):
        build("recursive", max_size=3, overlap=0).split(WORDS)  # before the memory for twenty thousand is taken

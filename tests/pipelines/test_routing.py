"""Rules by document id, and the fingerprint of what decides a document's chunks."""

from __future__ import annotations

import json
import pickle
import time
from dataclasses import fields, replace

import pytest

import chunkers
from pipelines.config.fingerprint import describe
from pipelines.config.model import Config, Decoding, Guard, Hidden, Output, Rule, Source, Tokens
from pipelines.routing import Router

CONFIG = Config(
    name="n",
    sources=(Source(path="docs"), Source(path="law", id_prefix="law/")),
    output=Output(path="t"),
    default=Rule(strategy="recursive", options={"max_size": 500}),
    rules=(
        Rule(match="law/**", strategy="fixed", options={"max_size": 100}),
        Rule(match="**/*.md", strategy="recursive", options={"max_size": 300}),
    ),
)


def test_first_rule_that_matches_the_id_wins_and_the_default_is_last() -> None:
    router = Router(CONFIG)
    ids = ["law/a.md", "x/a.md", "a.md", "a.txt", "laws/x"]
    assert router.rules_of(ids) == [0, 1, 1, 2, 2]
    assert [router.rule_of(each) for each in ids] == [0, 1, 1, 2, 2]


def test_no_rules_is_the_default() -> None:
    assert Router(replace(CONFIG, rules=())).rules_of(["a", "b/c"]) == [0, 0]


def test_strategies_are_built_once_with_their_options() -> None:
    router = Router(CONFIG)
    assert [router.strategy(n).name for n in range(3)] == ["fixed", "recursive", "recursive"]
    assert router.strategy(0) is router.strategy(0)
    assert len(router.strategy(0).split("x" * 250).spans) == 4


def test_router_pickles_without_what_it_built() -> None:
    router = Router(CONFIG)
    router.strategy(0)
    assert pickle.loads(pickle.dumps(router)).rule_of("a.md") == 1


def test_a_hundred_thousand_ids_are_routed_in_a_moment() -> None:
    router = Router(replace(CONFIG, rules=tuple(Rule(match=f"f{n}/**/*.md", strategy="fixed") for n in range(20))))
    ids = [f"folder-{n % 100}/sub/{n}.md" for n in range(100_000)]
    started = time.process_time()
    router.rules_of(ids)
    assert time.process_time() - started < 3


def prints(config: Config) -> tuple[str, ...]:
    router = Router(config)
    return router.fingerprints(0) + router.fingerprints(1)


def test_every_pair_of_rule_and_source_has_its_fingerprint() -> None:
    found = prints(CONFIG)
    assert len(set(found)) == 6
    assert all(len(each) == 64 for each in found)
    assert prints(pickle.loads(pickle.dumps(CONFIG))) == found


@pytest.mark.parametrize(
    "changes",
    [
        {"output": Output(path="elsewhere", task_bytes=5)},
        {"guard": Guard(documents=1)},
        {"storage": Hidden({"s3": {"key": "x"}})},
        {"name": "other"},
        {"beam": {"runner": "FnApiRunner"}},
        {"sources": (Source(path="moved", include=("*.md",)), replace(CONFIG.sources[1], exclude=("x",)))},
    ],
)
def test_what_does_not_decide_chunks_is_not_in_the_fingerprint(changes: dict[str, object]) -> None:
    assert prints(replace(CONFIG, **changes)) == prints(CONFIG)


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ({"default": Rule(strategy="recursive", options={"max_size": 501})}, {2, 5}),
        ({"default": Rule(strategy="fixed", options={"max_size": 500})}, {2, 5}),
        ({"tokens": Tokens(encoding_name="gpt2")}, {0, 1, 2, 3, 4, 5}),
        ({"metadata_values": "strings"}, {0, 1, 2, 3, 4, 5}),
        ({"sources": (replace(CONFIG.sources[0], decoding=Decoding(errors="replace")), CONFIG.sources[1])}, {0, 1, 2}),
        ({"sources": (replace(CONFIG.sources[0], id_prefix="p/"), CONFIG.sources[1])}, {0, 1, 2}),
    ],
)
def test_what_decides_chunks_changes_only_the_documents_concerned(
    changes: dict[str, object], changed: set[int]
) -> None:
    before, after = prints(CONFIG), prints(replace(CONFIG, **changes))
    assert {n for n in range(6) if before[n] != after[n]} == changed


def test_a_default_written_out_is_the_same_fingerprint() -> None:
    written = replace(CONFIG, default=Rule(strategy="recursive", options={"max_size": 500, "unit": "characters"}))
    assert prints(written) == prints(CONFIG)


NEEDED: dict[str, dict[str, object]] = {
    "sentence": {"max_size": 100},
    "semantic-markdown": {"max_size": 100},
    "custom": {"chunker": "textwrap:wrap"},
}
"""Options of strategies that want to be told."""


def test_every_strategy_is_fingerprinted_by_name_version_and_options() -> None:
    for name, kind in chunkers.strategy_kinds().items():
        described = describe(chunkers.build(name, **NEEDED.get(name, {})))
        assert (described["name"], described["version"]) == (name, kind.version)
        assert set(described["options"]) == {each.name for each in fields(kind.Options)}
        assert json.loads(json.dumps(described)) == described


def test_auto_depends_on_every_strategy_it_may_choose() -> None:
    described = describe(chunkers.build("auto"))
    assert described["choices"]["recursive"]["version"] == chunkers.build("recursive").version


def test_what_has_no_stable_form_is_refused() -> None:
    with pytest.raises(TypeError, match="an option has a value of type object, which has no fingerprint"):
        describe(object())

"""Planning: the decision for every document, and which shards that touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.planning import LISTING, STATE_COLUMNS, Plan, PlanSource, plan
from pipelines.planning.layout import MOST_DOCUMENTS
from tests.pipelines.tables import first_rule, listed, listing, source, state, states


@dataclass(frozen=True)
class Range:
    low: str
    high: str | None


def ranges(*lows: str) -> list[Range]:
    return [Range(low, high) for low, high in zip(lows, [*lows[1:], None], strict=True)]


def planned(
    rows: list[dict[str, Any]],
    old: list[dict[str, Any]] | None = None,
    *,
    sources: list[PlanSource] | None = None,
    shards: list[Range] | None = None,
    task_bytes: int = 1000,
    **options: Any,
) -> Plan:
    if shards is None:
        shards = [] if old is None else ranges("")
    return plan(
        listing=listing(*rows),
        sources=[source()] if sources is None else sources,
        route=options.pop("route", first_rule),
        states=None if old is None else states(*old),
        shards=shards,
        task_bytes=task_bytes,
        **options,
    )


def decisions(made: Plan) -> dict[str, str]:
    rows = made.documents.select(["id", "action", "reason"]).to_pylist()
    return {row["id"]: f"{row['action']} {row['reason']}" for row in rows}


LISTED_CASES = [
    ("never seen", None, {}, "read new"),
    ("same validator and fingerprint", {}, {}, "keep unchanged"),
    ("an empty document too", {"status": "empty"}, {}, "keep unchanged"),
    ("another validator", {}, {"validator": "v2"}, "read changed"),
    ("another size under the same validator", {}, {"size": 99_999}, "read changed"),
    ("another address under the same id", {"uri": "s3://old/a.md"}, {}, "read changed"),
    ("from another source", {"source": "s3://old"}, {}, "read changed"),
    ("another fingerprint", {"fingerprint": "older"}, {}, "read rule"),
    ("changed and another fingerprint", {"fingerprint": "older"}, {"validator": "v2"}, "read changed"),
    ("time too fresh to trust now", {}, {"validator": None}, "read untrusted"),
    ("time too fresh to trust then", {"validator": None}, {}, "read untrusted"),
    ("never trusted", {"validator": None}, {"validator": None}, "read untrusted"),
    ("failed for good", {"status": "failed", "error": "binary"}, {}, "keep failed"),
    ("failed for good, then changed", {"status": "failed", "error": "binary"}, {"validator": "v2"}, "read changed"),
    ("failed for good, other rule", {"status": "failed", "error": "decode", "fingerprint": "x"}, {}, "read rule"),
    ("failed to read", {"status": "failed", "error": "read"}, {}, "read retry"),
    ("was missing", {"status": "failed", "error": "missing", "validator": "v0"}, {}, "read retry"),
]


@pytest.mark.parametrize(
    ("old", "now", "decision"), [case[1:] for case in LISTED_CASES], ids=[c[0] for c in LISTED_CASES]
)
def test_decision_for_a_listed_document(old: dict[str, Any] | None, now: dict[str, Any], decision: str) -> None:
    before = None if old is None else [state("a.md", "text", **old)]
    assert decisions(planned([listed("a.md") | now], before)) == {"a.md": decision}


def test_full_reads_every_document_again_and_only_those_listed() -> None:
    old = [state("a.md", "x"), state("b.md", "y", status="failed", error="binary"), state("c.md", "z")]
    made = planned([listed("a.md"), listed("b.md")], old, full=True)
    assert decisions(made) == {"a.md": "read full", "b.md": "read full", "c.md": "vanish removed"}


def only(*paths: str) -> Any:
    return lambda path: path in paths


UNLISTED_CASES = [
    ("its listing is whole", [source()], [], "vanish removed"),
    ("its listing broke off", [source(completed=False)], [], "keep unreachable"),
    ("globs narrowed", [source(selects=only("b.md"))], [], "keep out_of_scope"),
    ("globs narrowed, listing broke off", [source(selects=only("b.md"), completed=False)], [], "keep out_of_scope"),
    ("source dropped", [source("s3://other")], [], "keep out_of_scope"),
    ("no source at all", [], [], "keep out_of_scope"),
    ("prefix changed, object gone", [source(id_prefix="new/")], [], "vanish removed"),
    ("prefix changed", [source(id_prefix="new/")], [listed("a.md")], "vanish rekeyed"),
    (
        "prefix changed, listing broke off after it",
        [source(id_prefix="n/", completed=False)],
        [listed("a.md")],
        "keep unreachable",
    ),
    (
        "root moved up",
        [source("s3:/")],
        [listed("docs/a.md", root="s3:/")],
        "vanish rekeyed",
    ),
    (
        "two sources share a root, one takes it and broke off",
        [source(selects=only("b.md")), source(completed=False)],
        [],
        "keep unreachable",
    ),
    (
        "narrowed, but another source lists the object under another id",
        [source(selects=only("b.md")), source(id_prefix="second/")],
        [listed("a.md", source=1)],
        "keep out_of_scope",
    ),
]


@pytest.mark.parametrize(
    ("sources", "rows", "decision"), [case[1:] for case in UNLISTED_CASES], ids=[c[0] for c in UNLISTED_CASES]
)
def test_decision_for_a_document_that_is_not_listed(
    sources: list[PlanSource], rows: list[dict[str, Any]], decision: str
) -> None:
    made = planned(rows, [state("a.md", "text")], sources=sources)
    assert decisions(made)["a.md"] == decision


@pytest.mark.parametrize(
    ("sources", "decision"),
    [
        ([source(selects=only("b.md"))], "vanish out_of_scope"),
        ([source("s3://other")], "vanish out_of_scope"),
        ([source(completed=False)], "keep unreachable"),
    ],
)
def test_prune_lets_go_of_what_is_out_of_scope_and_of_nothing_else(sources: list[PlanSource], decision: str) -> None:
    assert decisions(planned([], [state("a.md", "text")], sources=sources, prune=True)) == {"a.md": decision}


def test_a_listing_that_broke_off_still_brings_news() -> None:
    old = [state("a.md", "x"), state("b.md", "y"), state("c.md", "z")]
    made = planned([listed("a.md"), listed("b.md", validator="v2")], old, sources=[source(completed=False)])
    assert decisions(made) == {"a.md": "keep unchanged", "b.md": "read changed", "c.md": "keep unreachable"}


def test_a_document_that_nobody_lists_keeps_its_old_values() -> None:
    old = state("a.md", "text", fingerprint="older", size=7)
    row = planned([], [old], sources=[]).documents.to_pylist()[0]
    assert row == {
        "id": "a.md",
        "source": -1,
        "path": "a.md",
        "uri": "s3://docs/a.md",
        "size": 7,
        "modified": old["modified"],
        "validator": "v1",
        "rule": -1,
        "fingerprint": "older",
        "action": "keep",
        "reason": "out_of_scope",
        "kind": "file",
        "part": 0,
        "parts": 1,
        "start": None,
        "stop": None,
        "first": None,
    }


def test_ids_are_prefix_and_path_and_sorted_by_code_point() -> None:
    sources = [source(), source("s3://b", id_prefix="b/")]
    names = ["z.md", "é.md", "B.md", "a b#1 [x] 50%.md", "日.md", "👩.md", "\ue000.md"]
    made = planned([listed(name) for name in names] + [listed("c.md", source=1, root="s3://b")], sources=sources)
    assert made.documents["id"].to_pylist() == sorted([*names, "b/c.md"])


def test_each_document_has_the_fingerprint_of_its_source_and_rule() -> None:
    sources = [
        source(fingerprints=("a-law", "a-default")),
        source("s3://b", id_prefix="b/", fingerprints=("b-law", "b-default")),
    ]
    rows = [listed("law.md"), listed("x.md"), listed("law.md", source=1), listed("x.md", source=1)]
    made = planned(rows, sources=sources, route=lambda ids: [0 if "law" in id_ else 1 for id_ in ids])
    assert made.documents.select(["id", "rule", "fingerprint"]).to_pylist() == [
        {"id": "b/law.md", "rule": 0, "fingerprint": "b-law"},
        {"id": "b/x.md", "rule": 1, "fingerprint": "b-default"},
        {"id": "law.md", "rule": 0, "fingerprint": "a-law"},
        {"id": "x.md", "rule": 1, "fingerprint": "a-default"},
    ]


def test_the_first_source_keeps_an_id_that_two_make() -> None:
    rows = [listed("a.md", source=1, root="s3://b"), listed("a.md"), listed("only.md", source=1, root="s3://b")]
    made = planned(rows, sources=[source(), source("s3://b")])
    assert made.documents.select(["id", "source", "uri"]).to_pylist() == [
        {"id": "a.md", "source": 0, "uri": "s3://docs/a.md"},
        {"id": "only.md", "source": 1, "uri": "s3://b/only.md"},
    ]
    assert made.duplicates.to_pylist() == [
        {"id": "a.md", "source": 1, "path": "a.md", "uri": "s3://b/a.md", "kept_uri": "s3://docs/a.md"}
    ]


def test_three_sources_with_one_id_make_two_duplicates() -> None:
    rows = [listed("a.md", source=number, root=f"s3://{number}") for number in (2, 0, 1)]
    made = planned(rows, sources=[source(f"s3://{number}") for number in range(3)])
    assert made.documents["uri"].to_pylist() == ["s3://0/a.md"]
    assert made.duplicates["uri"].to_pylist() == ["s3://1/a.md", "s3://2/a.md"]
    assert set(made.duplicates["kept_uri"].to_pylist()) == {"s3://0/a.md"}


def test_an_object_that_a_listing_names_twice_is_one_document() -> None:
    made = planned([listed("a.md"), listed("b.md"), listed("a.md")])
    assert made.documents["id"].to_pylist() == ["a.md", "b.md"]
    assert made.duplicates.num_rows == 0


def test_an_id_stays_with_the_first_source_while_that_cannot_be_listed() -> None:
    made = planned(
        [listed("a.md", source=1, root="s3://b", validator="v9"), listed("b.md", source=1, root="s3://b")],
        [state("a.md", "text")],
        sources=[source(completed=False), source("s3://b")],
    )
    assert decisions(made) == {"a.md": "keep unreachable", "b.md": "read new"}
    assert made.duplicates.to_pylist() == [
        {"id": "a.md", "source": 1, "path": "a.md", "uri": "s3://b/a.md", "kept_uri": "s3://docs/a.md"}
    ]


def test_a_rekeyed_document_stays_while_its_new_id_is_another_objects() -> None:
    rows = [listed("n/a.md", root="s3://first"), listed("a.md", source=1)]
    made = planned(rows, [state("a.md", "text")], sources=[source("s3://first"), source(id_prefix="n/")])
    assert decisions(made) == {"a.md": "keep unreplaced", "n/a.md": "read new"}
    assert made.duplicates["uri"].to_pylist() == ["s3://docs/a.md"]


def test_a_rekeyed_document_stays_while_its_new_id_fails_for_good() -> None:
    old = [state("a.md", "text"), state("n/a.md", path="a.md", status="failed", error="binary")]
    made = planned([listed("a.md")], old, sources=[source(id_prefix="n/")])
    assert decisions(made) == {"a.md": "keep unreplaced", "n/a.md": "keep failed"}


def test_counts_name_actions_and_reasons() -> None:
    old = [state("a.md", "x"), state("b.md", "y"), state("c.md", "z")]
    made = planned([listed("a.md"), listed("b.md", validator="v2"), listed("d.md"), listed("e.md")], old)
    assert made.counts == {"keep": {"unchanged": 1}, "read": {"changed": 1, "new": 2}, "vanish": {"removed": 1}}
    assert made.vanishing() == {"c.md": "removed"}


# Shards


def shape(made: Plan) -> list[tuple[Any, ...]]:
    """Every shard of the next commit in key order: its range and documents, or the old shard it is."""
    shapes: list[tuple[Any, ...]] = []
    for kind, index in made.layout:
        if kind == "shard":
            shapes.append(("old", index))
        else:
            task = made.tasks[index]
            shapes.append((task.low, task.high, made.task_documents(task)["id"].to_pylist(), task.old_shards))
    return shapes


def test_an_empty_corpus_is_one_task_without_documents() -> None:
    made = planned([])
    assert shape(made) == [("", None, [], ())]
    assert made.tasks[0].input_bytes == 0
    assert not made.nothing_to_do


def test_a_first_run_fills_shards_in_key_order() -> None:
    rows = [
        listed(name, size=size)
        for name, size in [("d", 500), ("a", 600), ("b", 400), ("c", 600), ("e", 3000), ("f", 1)]
    ]
    made = planned(rows)
    assert shape(made) == [
        ("", "c", ["a", "b"], ()),
        ("c", "d", ["c"], ()),
        ("d", "e", ["d"], ()),
        ("e", "f", ["e"], ()),
        ("f", None, ["f"], ()),
    ]
    assert [task.input_bytes for task in made.tasks] == [1000, 600, 500, 3000, 1]
    assert [(region.old_shards, region.tasks) for region in made.regions] == [((), (n,)) for n in range(5)]


def test_of_tiny_documents_a_shard_takes_so_many_at_most() -> None:
    names = [f"{number:05d}" for number in range(2 * MOST_DOCUMENTS + 1)]
    made = planned([listed(name, size=3) for name in names], task_bytes=1 << 24)
    assert [task.stop - task.start for task in made.tasks] == [MOST_DOCUMENTS, MOST_DOCUMENTS, 1]
    assert [task.input_bytes for task in made.tasks] == [3 * MOST_DOCUMENTS, 3 * MOST_DOCUMENTS, 3]
    old = [state(name, "", size=3) for name in names]
    rows = [listed(name, size=3, validator="v2" if name == names[-1] else "v1") for name in names]
    grown = planned(rows, old, task_bytes=1 << 24)  # one more than twice as many as a shard should have
    assert [task.stop - task.start for task in grown.tasks] == [MOST_DOCUMENTS, MOST_DOCUMENTS, 1]
    gone = planned(rows[:-1], old, task_bytes=1 << 24)  # what vanishes weighs nothing
    assert [task.stop - task.start for task in gone.tasks] == [2 * MOST_DOCUMENTS + 1]


def test_nothing_changed_is_nothing_to_do() -> None:
    made = planned([listed("a"), listed("m")], [state("a", "x"), state("m", "y")], shards=ranges("", "k"))
    assert made.nothing_to_do
    assert (made.tasks, made.regions, made.untouched) == ((), (), (0, 1))
    assert shape(made) == [("old", 0), ("old", 1)]


def test_only_the_range_of_a_changed_document_is_touched() -> None:
    old = [state(name, name, size=900) for name in "adgj"]
    rows = [listed(name, size=900, validator="v2" if name == "g" else "v1") for name in "adgj"]
    made = planned(rows, old, shards=ranges("", "d", "g", "j"))
    assert shape(made) == [("old", 0), ("old", 1), ("g", "j", ["g"], (2,)), ("old", 3)]
    assert made.tasks[0].reads == 1


def test_a_new_document_joins_the_range_that_owns_its_key() -> None:
    old = [state(name, name, size=500) for name in "ag"]
    made = planned([listed(name, size=500) for name in "afg"], old, shards=ranges("", "g"))
    assert shape(made) == [("", "g", ["a", "f"], (0,)), ("old", 1)]


def test_a_touched_range_splits_only_above_twice_the_task_size() -> None:
    old = [state("a", "x", size=1000)]
    at_twice = planned([listed("a", size=1000), listed("b", size=1000)], old)
    assert shape(at_twice) == [("", None, ["a", "b"], (0,))]
    above = planned([listed("a", size=1000), listed("b", size=600), listed("c", size=401)], old)
    assert shape(above) == [("", "b", ["a"], (0,)), ("b", "c", ["b"], (0,)), ("c", None, ["c"], (0,))]
    assert [(region.low, region.high, region.old_shards, region.tasks) for region in above.regions] == [
        ("", None, (0,), (0, 1, 2))
    ]


def test_small_touched_neighbours_merge() -> None:
    old = [state(name, name, size=200) for name in "adgj"]
    rows = [listed(name, size=200, validator="v1" if name == "j" else "v2") for name in "adgj"]
    made = planned(rows, old, shards=ranges("", "d", "g", "j"))
    assert shape(made) == [("", "j", ["a", "d", "g"], (0, 1, 2)), ("old", 3)]
    assert made.regions[0].old_shards == (0, 1, 2)


def test_small_touched_ranges_with_an_untouched_one_between_stay_apart() -> None:
    old = [state(name, name, size=100) for name in "adg"]
    rows = [listed(name, size=100, validator="v1" if name == "d" else "v2") for name in "adg"]
    made = planned(rows, old, shards=ranges("", "d", "g"))
    assert shape(made) == [("", "d", ["a"], (0,)), ("old", 1), ("g", None, ["g"], (2,))]


def test_a_merged_range_never_exceeds_the_task_size() -> None:
    old = [state(name, name, size=size) for name, size in [("a", 900), ("d", 200), ("g", 200)]]
    rows = [listed(name, size=size, validator="v2") for name, size in [("a", 900), ("d", 200), ("g", 200)]]
    made = planned(rows, old, shards=ranges("", "d", "g"))
    assert [entry[2] for entry in shape(made)] == [["a"], ["d", "g"]]


def test_a_wiped_corpus_keeps_a_task_per_key_range_with_nothing_to_read() -> None:
    old = [state(name, name, size=900) for name in "ad"]
    made = planned([], old, shards=ranges("", "d"))
    assert shape(made) == [("", None, ["a", "d"], (0, 1))]
    assert (made.tasks[0].input_bytes, made.tasks[0].reads) == (0, 0)


@pytest.mark.parametrize(
    "shards",
    [
        [Range("a", None)],
        [Range("", "b")],
        [Range("", "b"), Range("c", None)],
        [Range("", "b"), Range("b", "b"), Range("b", None)],
        [Range("", "c"), Range("c", "b"), Range("b", None)],
    ],
)
def test_old_ranges_that_do_not_own_every_key_once_are_refused(shards: list[Range]) -> None:
    with pytest.raises(ValueError, match="owns"):
        planned([], [state("a", "x")], shards=shards)


def test_states_without_shards_are_refused() -> None:
    with pytest.raises(ValueError, match="no shards that own them"):
        planned([], [state("a", "x")], shards=[])


def test_planning_reads_only_the_columns_it_names() -> None:
    table = states(state("a", "x")).select(STATE_COLUMNS)
    made = plan(
        listing=listing(listed("a")),
        sources=[source()],
        route=first_rule,
        states=table,
        shards=ranges(""),
        task_bytes=9,
    )
    assert decisions(made) == {"a": "keep unchanged"}


# Laws

KEYS = st.text(alphabet="abé日👩\U0010ffff\ue000/# %", min_size=1, max_size=4)


@st.composite
def nights(draw: st.DrawFn) -> dict[str, Any]:
    """Any old corpus in any shards, and any listing."""
    keys = sorted(draw(st.sets(KEYS, max_size=12)))
    old = [state(key, "x", size=draw(st.integers(0, 900))) for key in keys]
    lows = sorted({"", *draw(st.sets(KEYS, max_size=5))})
    now = sorted(
        set(draw(st.lists(st.sampled_from(keys), max_size=12)) if keys else []) | draw(st.sets(KEYS, max_size=6))
    )
    rows = [
        listed(key, size=draw(st.integers(0, 900)), validator=draw(st.sampled_from(["v1", "v1", "v2", None])))
        for key in now
    ]
    fresh = draw(st.booleans())
    return {
        "rows": draw(st.permutations(rows)),
        "old": None if fresh else old,
        "shards": [] if fresh else ranges(*lows),
        "task_bytes": draw(st.integers(1, 2000)),
    }


@settings(max_examples=300, deadline=None, derandomize=True)
@given(nights())
def test_shards_own_every_key_and_every_document_once(night: dict[str, Any]) -> None:
    made = planned(**night)
    ids = made.documents["id"].to_pylist()
    assert ids == sorted(set(ids))
    key_ranges = [(made.tasks[index] if kind == "task" else night["shards"][index]) for kind, index in made.layout]
    assert key_ranges[0].low == ""
    assert [each.high for each in key_ranges] == [*(each.low for each in key_ranges[1:]), None]
    assert all(each.high is None or each.low < each.high for each in key_ranges)
    for task in made.tasks:
        assert made.task_documents(task)["id"].to_pylist() == [
            id_ for id_ in ids if task.low <= id_ and (task.high is None or id_ < task.high)
        ]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(nights())
def test_a_shard_is_touched_exactly_when_a_document_in_it_is(night: dict[str, Any]) -> None:
    made = planned(**night)
    moving = [id_ for id_, decision in decisions(made).items() if not decision.startswith("keep")]
    for index, shard in enumerate(night["shards"]):
        inside = any(shard.low <= id_ and (shard.high is None or id_ < shard.high) for id_ in moving)
        assert (index in made.untouched) is not inside
    drawn = sorted(index for region in made.regions for index in region.old_shards)
    assert drawn == [index for index in range(len(night["shards"])) if index not in made.untouched]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(nights(), st.randoms(use_true_random=False))
def test_the_order_of_a_listing_does_not_matter(night: dict[str, Any], shuffler: Any) -> None:
    rows = list(night["rows"])
    shuffler.shuffle(rows)
    assert planned(**night) == planned(**(night | {"rows": rows}))


def test_a_listing_in_many_chunks_plans_the_same() -> None:
    rows = [listed(name) for name in "gacb"]
    table = pa.concat_tables([listing(row) for row in rows] + [LISTING.empty_table()])
    options: dict[str, Any] = {
        "sources": [source()],
        "route": first_rule,
        "states": None,
        "shards": (),
        "task_bytes": 150,
    }
    assert plan(listing=table, **options) == plan(listing=listing(*rows), **options)

"""Planning containers: which are read again, in which parts, and which old shards that touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.planning import (
    CONTESTED,
    HELD,
    Part,
    Plan,
    PlanSource,
    StateSlice,
    decide_objects,
    identify,
    lay_out_plan,
)
from pipelines.table.keys import container_key, end_of, sort_key
from tests.pipelines.tables import first_rule, listed, listing, source, state, states
from tests.pipelines.test_planning import Range, decisions, only, ranges

KEY = container_key("", "m.jsonl", "s3://docs")


def box(path: str = "m.jsonl", **values: Any) -> dict[str, Any]:
    return listed(path, **values) | {"kind": "container"}


def box_state(path: str = "m.jsonl", **values: Any) -> dict[str, Any]:
    key = container_key("", path, "s3://docs")
    return state(key, path=path, kind="container", key=key, status="chunked") | values


def parts(*lengths: int, records: int = 10) -> list[Part]:
    found, start = [], 0
    for number, length in enumerate(lengths):
        found.append(Part(start=start, stop=start + length, first=number * records, bytes=length))
        start += length
    return found


@dataclass
class World:
    """A planned night after another one."""

    rows: list[dict[str, Any]]
    old: list[dict[str, Any]] | None = None
    shards: Sequence[Range] = ()
    held: list[dict[str, Any]] = field(default_factory=list)
    parts: dict[str, list[Part]] = field(default_factory=dict)
    contested: list[dict[str, str]] = field(default_factory=list)
    task_bytes: int = 100
    rewrite: bool = False

    def plan(self, sources: list[PlanSource] | None = None, **options: Any) -> Plan:
        held = pa.Table.from_pylist(self.held, schema=HELD)
        decided = decide_objects(
            identified=identify(listing(*self.rows), sources or [source()]),
            sources=sources or [source()],
            route=options.pop("route", first_rule),
            states=() if self.old is None else [StateSlice(high=None, rows=states(*self.old))],
            shards=self.shards,
            held=held,
            contested=pa.Table.from_pylist(self.contested, schema=CONTESTED),
            **options,
        )
        return lay_out_plan(
            decided, shards=self.shards, task_bytes=self.task_bytes, parts=self.parts, held=held, rewrite=self.rewrite
        )


def held(key: str, shard: int, records: int = 10, *, failed: int = 0, retry: bool = False) -> dict[str, Any]:
    return {"key": key, "shard": shard, "records": records, "failed": failed, "retry": retry}


def tasks(plan: Plan) -> list[tuple[str, str | None, tuple[int, ...], list[tuple[str, int]]]]:
    """Range, old shards and (id, part) of each task."""
    found = []
    for task in plan.tasks:
        rows = plan.task_documents(task)
        inside = list(zip(rows["id"].to_pylist(), rows["part"].to_pylist(), strict=True))
        found.append((task.low, task.high, task.old_shards, inside))
    return found


LISTED_CASES = [
    ("never seen", None, {}, [], "read new"),
    ("as it was", {}, {}, [], "keep unchanged"),
    ("another validator", {}, {"validator": "v2"}, [], "read changed"),
    ("failed for good", {"status": "failed", "error": "malformed"}, {}, [], "keep failed"),
    ("failed to read", {"status": "failed", "error": "read"}, {}, [], "read retry"),
    ("a record of it failed for good", {}, {}, [held(KEY, 0, failed=1)], "keep unchanged"),
    ("a record of it may heal", {}, {}, [held(KEY, 0, failed=1, retry=True)], "read retry"),
]


@pytest.mark.parametrize(
    ("old", "now", "records", "decision"), [case[1:] for case in LISTED_CASES], ids=[case[0] for case in LISTED_CASES]
)
def test_decision_for_a_listed_container(
    old: dict[str, Any] | None, now: dict[str, Any], records: list[dict[str, Any]], decision: str
) -> None:
    before = None if old is None else [box_state(**old)]
    world = World([box() | now], before, ranges("") if before else (), held=records)
    assert decisions(world.plan()) == {KEY: decision}


def test_a_container_vanishes_like_a_file_and_under_its_own_kind_of_id() -> None:
    world = World([], [box_state()], ranges(""))
    assert decisions(world.plan()) == {KEY: "vanish removed"}
    assert decisions(world.plan([source(completed=False)])) == {KEY: "keep unreachable"}
    assert decisions(world.plan([source(selects=only("x"))])) == {KEY: "keep out_of_scope"}


def test_a_container_that_is_a_text_now_is_another_document() -> None:
    made = World([listed("m.jsonl")], [box_state()], ranges("")).plan()
    assert decisions(made) == {"m.jsonl": "read new", KEY: "vanish rekeyed"}


def test_rules_match_the_path_of_a_container_not_its_key() -> None:
    asked: list[str] = []

    def route(ids: Sequence[str]) -> list[int]:
        asked.extend(ids)
        return [0] * len(ids)

    World([box(), listed("a.md")]).plan([source(id_prefix="p/")], route=route)
    assert sorted(asked) == ["p/a.md", "p/m.jsonl"]


def test_two_sources_may_each_have_a_container_of_one_name() -> None:
    rows = [box(), box(source=1, root="s3://b")]
    made = World(rows).plan([source(), source("s3://b")])
    assert made.duplicates.num_rows == 0
    assert sorted(decisions(made)) == sorted([KEY, container_key("", "m.jsonl", "s3://b")])


def test_first_run_gives_each_part_a_shard_and_the_last_one_what_follows() -> None:
    world = World([listed("a.md", size=60), box(size=240), listed("z.md", size=30)], parts={KEY: parts(100, 100, 40)})
    one, two = sort_key(KEY, 10), sort_key(KEY, 20)
    assert tasks(world.plan()) == [
        ("", KEY, (), [("a.md", 0)]),
        (KEY, one, (), [(KEY, 0)]),
        (one, two, (), [(KEY, 1)]),
        (two, None, (), [(KEY, 2), ("z.md", 0)]),
    ]
    rows = world.plan().documents.select(["part", "parts", "start", "stop", "first"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (0, 1, None, None, None),
        (0, 3, 0, 100, 0),
        (1, 3, 100, 200, 10),
        (2, 3, 200, 240, 20),
        (0, 1, None, None, None),
    ]


SPLIT = ["", KEY, sort_key(KEY, 10), sort_key(KEY, 20)]
OLD = [state("a.md", "x", size=60), box_state(size=240), state("z.md", "x", size=30)]
HELD_OF_SPLIT = [held(KEY, 1), held(KEY, 2), held(KEY, 3, 4)]


def test_reading_the_same_container_again_gives_the_same_shards() -> None:
    rows = [listed("a.md", size=60), box(size=240, validator="v2"), listed("z.md", size=30)]
    made = World(rows, OLD, ranges(*SPLIT), HELD_OF_SPLIT, {KEY: parts(100, 100, 40)}).plan()
    assert [(task[0], task[2]) for task in tasks(made)] == [(KEY, (1,)), (SPLIT[2], (2,)), (SPLIT[3], (3,))]
    assert made.untouched == (0,)


def test_other_parts_take_from_every_old_shard_they_overlap() -> None:
    rows = [listed("a.md", size=60), box(size=240, validator="v2"), listed("z.md", size=30)]
    made = World(rows, OLD, ranges(*SPLIT), HELD_OF_SPLIT, {KEY: parts(100, 100, 40, records=8)}).plan()
    one, two = sort_key(KEY, 8), sort_key(KEY, 16)
    assert [task[:3] for task in tasks(made)] == [(KEY, one, (1,)), (one, two, (1, 2)), (two, None, (2, 3))]


def test_a_container_that_shrinks_to_one_piece_merges_its_shards() -> None:
    rows = [listed("a.md", size=60), box(size=40, validator="v2"), listed("z.md", size=30)]
    made = World(rows, OLD, ranges(*SPLIT), HELD_OF_SPLIT).plan()
    assert tasks(made) == [(KEY, None, (1, 2, 3), [(KEY, 0), ("z.md", 0)])]


def test_a_container_that_vanishes_touches_every_shard_of_its_records() -> None:
    made = World([listed("a.md", size=60), listed("z.md", size=30)], OLD, ranges(*SPLIT), HELD_OF_SPLIT).plan()
    assert made.untouched == (0,)
    assert sorted({old for task in made.tasks for old in task.old_shards}) == [1, 2, 3]


def test_a_container_that_stays_has_a_row_in_every_touched_shard() -> None:
    rows = [listed("a.md", size=60), box(size=240), listed("z.md", size=30, validator="v2")]
    made = World(rows, OLD, ranges(*SPLIT), HELD_OF_SPLIT).plan()
    assert made.untouched == (0, 1, 2)
    assert tasks(made) == [(SPLIT[3], None, (3,), [(KEY, 0), ("z.md", 0)])]
    assert made.tasks[0].input_bytes == 240 * 4 // 24 + 30
    assert made.counts == {"keep": {"unchanged": 2}, "read": {"changed": 1}, "vanish": {}}


def test_other_columns_rewrite_every_shard() -> None:
    rows = [listed("a.md", size=60), box(size=240), listed("z.md", size=30)]
    made = World(rows, OLD, ranges(*SPLIT), HELD_OF_SPLIT, rewrite=True).plan()
    assert made.untouched == ()
    assert sorted({old for task in made.tasks for old in task.old_shards}) == [0, 1, 2, 3]


def test_a_container_with_a_record_of_a_taken_id_is_read_when_the_id_may_be_free() -> None:
    other = container_key("", "n.jsonl", "s3://docs")
    old = [box_state(), box_state("n.jsonl")]
    contested = [{"uri": "s3://docs/n.jsonl", "key": KEY}]
    changed = World([box(validator="v2"), box("n.jsonl")], old, ranges(""), contested=contested).plan()
    assert decisions(changed) == {KEY: "read changed", other: "read retry"}
    gone = World([box("n.jsonl")], old, ranges(""), contested=contested).plan()
    assert decisions(gone) == {KEY: "vanish removed", other: "read retry"}
    same = World([box(), box("n.jsonl")], old, ranges(""), contested=contested).plan()
    assert decisions(same) == {KEY: "keep unchanged", other: "keep unchanged"}


def test_freed_ids_pass_from_container_to_container() -> None:
    keys = [container_key("", f"{name}.jsonl", "s3://docs") for name in "mno"]
    contested = [{"uri": f"s3://docs/{after}.jsonl", "key": key} for after, key in zip("no", keys, strict=False)]
    old = [box_state(f"{name}.jsonl") for name in "mno"]
    made = World([box("n.jsonl"), box("o.jsonl")], old, ranges(""), contested=contested).plan()
    assert decisions(made) == {keys[0]: "vanish removed", keys[1]: "read retry", keys[2]: "read retry"}


def test_a_list_of_objects_lets_go_of_what_it_names_only() -> None:
    old = [state("a.md", "x"), state("b.md", "x"), box_state()]
    made = World([listed("c.md")], old, ranges("")).plan(
        [source(completed=False)], deleted={"s3://docs": {"a.md", "m.jsonl"}}
    )
    assert decisions(made) == {
        "a.md": "vanish removed",
        "b.md": "keep unlisted",
        KEY: "vanish removed",
        "c.md": "read new",
    }


def test_a_named_object_leaves_the_id_it_had() -> None:
    old = [state("a.md", "x"), state("b.md", "x"), box_state()]
    made = World([listed("a.md"), box()], old, ranges("")).plan([source(id_prefix="p/", completed=False)], deleted={})
    key = container_key("p/", "m.jsonl", "s3://docs")
    assert decisions(made) == {
        "a.md": "vanish rekeyed",
        "b.md": "keep unlisted",
        KEY: "vanish rekeyed",
        "p/a.md": "read new",
        key: "read new",
    }


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_nights_of_containers_own_every_key_once(data: st.DataObject) -> None:
    """Whatever is read, kept or gone: ranges are whole, parts lie in them in order, old shards are used or kept."""
    names = ["b.md", "d.jsonl", "f.md", "h.jsonl", "j.md"]
    shards: list[Range] = []
    old: list[dict[str, Any]] | None = None
    records: list[dict[str, Any]] = []
    cut: dict[str, list[Part]] = {}
    for night in range(3):
        rows, news = [], {}
        for name in names:
            if data.draw(st.integers(0, 5)) == 0:
                continue
            version = f"v{data.draw(st.integers(0, 1))}"
            size = data.draw(st.integers(1, 400))
            rows.append(box(name, size=size, validator=version) if "json" in name else listed(name, size=size))
            if "json" in name:
                count = -(-size // 100)
                news[container_key("", name, "s3://docs")] = parts(
                    *[size // count] * count, records=data.draw(st.integers(1, 4))
                )
        made = World(rows, old, shards, records, news).plan()
        owned = sorted(
            [(task.low, task.high) for task in made.tasks]
            + [(shards[index].low, shards[index].high) for index in made.untouched]
        )
        assert [low for low, _ in owned] == ["", *(high for _, high in owned[:-1])], night
        assert owned[-1][1] is None
        used = {index for task in made.tasks for index in task.old_shards} | set(made.untouched)
        assert used == set(range(len(shards)))
        for task in made.tasks:
            for row in made.task_documents(task).to_pylist():
                key = row["id"] if not row["part"] else sort_key(row["id"], row["first"])
                assert end_of(row["id"]) > task.low
                assert task.high is None or key < task.high
                assert row["action"] != "read" or key >= task.low
        # What the next night finds.
        read = {row["id"] for row in made.documents.to_pylist() if row["action"] == "read"}
        cut |= {key: news[key] for key in read if key in news}
        shards = [Range(low, high) for low, high in owned]
        states_now = {row["id"]: row for row in made.documents.to_pylist() if row["action"] != "vanish"}
        old = [
            state(id_, path=row["path"], size=row["size"], validator=row["validator"], kind=row["kind"], key=id_)
            for id_, row in states_now.items()
        ]
        records = []
        for key, found in cut.items():
            if key in states_now:
                firsts = [sort_key(key, part.first) for part in found]
                for index, shard in enumerate(shards):
                    inside = [
                        first for first in firsts if first >= shard.low and (not shard.high or first < shard.high)
                    ]
                    if inside:
                        records.append(held(key, index, len(inside)))

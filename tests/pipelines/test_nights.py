"""Hundreds of random nights over a world in memory: what planning, guard and reconciling do together."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

from tests.pipelines.model import Model, Source, check_changes, check_deletions, check_reads, rows_of, settled

NIGHTS = 12


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 400))])
def test_random_nights_delete_what_is_gone_and_nothing_else(seed: int) -> None:
    model = Model(seed=seed)
    for _ in range(8):
        model._add()
    for number in range(NIGHTS):
        for _ in range(model.random.randint(0, 5)):
            model.edit()
        prune = model.random.random() < 0.2
        full = model.random.random() < 0.05
        night = model.night(prune=prune, full=full)
        check_changes(night)
        check_deletions(model, night, prune=prune)
        if not full:
            check_reads(night, model)
        for id_ in night.withheld:
            assert night.after[id_] == night.before[id_]
        if number % 4 == 3:
            check_recovery(model)


def check_recovery(model: Model) -> None:
    """Once all is well and deletions are approved the table is what a new one would be, and then nothing is left to do."""
    model._heal()
    model._recover()
    for uri, found in list(model.objects.items()):
        if found.fresh:
            model._write(uri, found.chunks)
    held = model.night(prune=True)
    check_changes(held)
    check_deletions(model, held, prune=True)
    approved = model.night(prune=True, approved=10_000)
    check_changes(approved)
    check_deletions(model, approved, prune=True)
    assert not approved.withheld
    deleted = {row["parent_id"] for row in approved.changes.table.to_pylist() if row["change"] == "deleted"}
    assert held.withheld <= deleted
    # The one thing a new table would not have: rows under an old id whose object's new id is another object's.
    unreplaced = approved.plan.documents.filter(pc.equal(approved.plan.documents["reason"], "unreplaced"))[
        "id"
    ].to_pylist()
    for id_ in unreplaced:
        assert approved.after[id_]["uri"] in approved.plan.duplicates["uri"].to_pylist()
    replaced = {id_: state for id_, state in approved.after.items() if id_ not in unreplaced}
    assert rows_of(replaced) == model.from_scratch()
    again = model.night(prune=True)
    assert again.plan.nothing_to_do
    assert settled(again)


def test_withheld_deletions_stay_until_they_are_approved() -> None:
    model = Model(seed=0)
    for name in ("a/1", "a/2", "a/é", "a/sub/1", "b/1"):
        model._write(name, ("text", "more"))
    model.night()
    model.objects = {"a/1": model.objects["a/1"], "b/1": model.objects["b/1"]}
    few = model.night()
    assert (len(few.withheld), few.changes.by_reason) == (0, {"removed": 6})  # 3 documents are not more than 3
    model.objects = {"a/1": model.objects["a/1"]}
    for approved in (None, 0):
        held = model.night(approved=approved)
        assert held.withheld == {"b/1"}
        assert [(each.source, each.why) for each in held.verdict.sources] == [("b", "emptied-source")]
        assert held.changes.table.num_rows == 0
    let_go = model.night(approved=1)
    assert let_go.changes.by_reason == {"removed": 2}
    assert sorted(model.table or {}) == ["1"]


def test_a_failed_document_keeps_its_rows_until_it_heals() -> None:
    model = Model(seed=0)
    model._write("a/1", ("text", "more"))
    first = model.night()
    model._write("a/1", ("other",), fails="binary")
    failed = model.night()
    assert rows_of(failed.after) == rows_of(first.after)
    assert (failed.after["1"]["status"], failed.after["1"]["fail_streak"]) == ("failed", 1)
    assert model.night().plan.nothing_to_do
    model._heal()
    healed = model.night()
    assert healed.changes.by_change == {"added": 0, "changed": 1, "moved": 0, "deleted": 1}


def test_a_passing_failure_is_tried_every_night() -> None:
    model = Model(seed=0)
    model._write("a/1", ("text",), fails="read")
    assert [model.night().after["1"]["fail_streak"] for _ in range(3)] == [1, 2, 3]


def test_a_source_that_is_away_loses_nothing_and_hands_nothing_over() -> None:
    model = Model(seed=0, sources=(Source("a"), Source("b")))
    model._write("a/1", ("from a",))
    model._write("b/1", ("from b",))
    first = model.night()
    model.sources = (Source("a", reachable=False), Source("b"))
    away = model.night()
    assert away.after == first.after
    assert away.plan.duplicates["uri"].to_pylist() == ["b/1"]

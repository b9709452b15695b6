"""Reconciling: what changed between two states, chunk by chunk."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import differences
from pipelines.reconcile import net, reconcile, settle, states_changed
from pipelines.table.schemas import CHANGES, DOCUMENTS
from tests.pipelines.tables import content_hash, state, states


def changes(old: list[str] | None, new: list[str] | None, reason: str = "removed") -> list[tuple[Any, ...]]:
    """(index, change, reason, index it moved from) of one document's chunks; None: there is no such document."""
    before = states() if old is None else states(state("d", *old))
    after = states() if new is None else states(state("d", *new))
    found = reconcile(before, after, {"d": reason} if new is None else {})
    rows = found.table.to_pylist()
    for row in rows:
        assert row["id"] == f"d#{row['chunk_index']}"
        assert row["parent_id"] == "d"
        text = (old if row["change"] == "deleted" else new)[row["chunk_index"]]  # type: ignore[index]
        assert row["content_hash"] == content_hash(text.partition("|")[0])
    origins = [None if row["moved_from"] is None else int(row["moved_from"].removeprefix("d#")) for row in rows]
    return [
        (row["chunk_index"], row["change"], row["reason"], origin) for row, origin in zip(rows, origins, strict=True)
    ]


CASES: list[tuple[str, list[str] | None, list[str] | None, list[tuple[Any, ...]]]] = [
    ("nothing", ["a", "b"], ["a", "b"], []),
    ("a new document", None, ["a", "b"], [(0, "added", None, None), (1, "added", None, None)]),
    ("a new document without chunks", None, [], []),
    ("longer", ["a"], ["a", "b"], [(1, "added", None, None)]),
    ("shorter", ["a", "b", "c"], ["a"], [(1, "deleted", "tail", None), (2, "deleted", "tail", None)]),
    ("seven chunks, now four", list("abcdefg"), list("abcd"), [(n, "deleted", "tail", None) for n in (4, 5, 6)]),
    ("another text", ["a", "b"], ["a", "x"], [(1, "changed", "text", None)]),
    ("the same text in another row", ["a|1", "b|1"], ["a|2", "b|1"], [(0, "changed", "metadata", None)]),
    ("another text in another row", ["a|1"], ["b|2"], [(0, "changed", "text", None)]),
    ("emptied", ["a", "b"], [], [(0, "deleted", "emptied", None), (1, "deleted", "emptied", None)]),
    ("gone", ["a"], None, [(0, "deleted", "removed", None)]),
    ("gone without having had chunks", [], None, []),
    ("filled", [], ["a"], [(0, "added", None, None)]),
    (
        "one in front moves the others",
        ["a", "b"],
        ["x", "a", "b"],
        [(0, "changed", "text", None), (1, "moved", None, 0), (2, "moved", None, 1)],
    ),
    (
        "one less in front moves the others and leaves a tail",
        ["a", "b", "c"],
        ["b", "c"],
        [(0, "moved", None, 1), (1, "moved", None, 2), (2, "deleted", "tail", None)],
    ),
    ("swapped", ["a", "b"], ["b", "a"], [(0, "moved", None, 1), (1, "moved", None, 0)]),
    ("a second copy", ["a", "b"], ["a", "b", "a"], [(2, "moved", None, 0)]),
    ("the nearest of several copies", ["a", "x", "y", "a"], ["a", "x", "a", "a"], [(2, "moved", None, 3)]),
    ("of two equally near the lower", ["a", "x", "a"], ["a", "a", "a"], [(1, "moved", None, 0)]),
    ("a copy that stays is no move", ["a", "a", "b"], ["a", "a"], [(2, "deleted", "tail", None)]),
    ("moved into another row", ["a|1", "b|1"], ["b|2", "b|1"], [(0, "moved", None, 1)]),
]


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_changes_of_one_document(old: list[str] | None, new: list[str] | None, expected: list[tuple[Any, ...]]) -> None:
    assert changes(old, new) == expected


@pytest.mark.parametrize("reason", ["removed", "rekeyed", "out_of_scope"])
def test_a_vanished_document_says_why(reason: str) -> None:
    assert changes(["a"], None, reason) == [(0, "deleted", reason, None)]


def test_a_document_that_vanished_for_no_known_reason_was_removed() -> None:
    assert reconcile(states(state("d", "a")), states(), {}).table["reason"].to_pylist() == ["removed"]


def test_a_failed_document_that_kept_its_rows_has_no_changes() -> None:
    old = states(state("d", "a", "b"))
    new = states(state("d", "a", "b", status="failed", error="read", fail_streak=1))
    assert reconcile(old, new, {}).table.num_rows == 0


def test_text_that_moves_to_another_document_is_new_there() -> None:
    old = states(state("d", "a"), state("e", "x"))
    new = states(state("d", "y"), state("e", "x", "a"))
    assert reconcile(old, new, {}).table.select(["id", "change"]).to_pylist() == [
        {"id": "d#0", "change": "changed"},
        {"id": "e#1", "change": "added"},
    ]


def test_changes_are_counted_and_sorted() -> None:
    old = states(
        state("b", "1", "2"), state("a", "1", "2", "3"), state("é", "1"), state("same", "1"), state("z", "1|m")
    )
    new = states(state("b", "2"), state("a", "1", "x", "3"), state("same", "1"), state("z", "1|n"), state("B", "1"))
    found = reconcile(old, new, {"é": "rekeyed"})
    assert found.table.schema == CHANGES
    assert found.table["id"].to_pylist() == ["B#0", "a#1", "b#0", "b#1", "z#0", "é#0"]
    assert found.by_change == {"added": 1, "changed": 2, "moved": 1, "deleted": 2}
    assert found.by_reason == {"metadata": 1, "rekeyed": 1, "tail": 1, "text": 1}
    assert found.documents == 5


def test_no_changes_are_counted_as_none() -> None:
    found = reconcile(states(state("a", "1")), states(state("a", "1")), {})
    assert found.table == CHANGES.empty_table()
    assert (found.by_change, found.by_reason, found.documents) == (
        {"added": 0, "changed": 0, "moved": 0, "deleted": 0},
        {},
        0,
    )


def test_chunk_indexes_sort_as_numbers() -> None:
    found = reconcile(states(), states(state("a", *map(str, range(12)))), {})
    assert found.table["chunk_index"].to_pylist() == list(range(12))


def test_an_id_that_is_there_twice_is_refused() -> None:
    twice = pa.concat_tables([states(state("a", "1"), state("b", "1")), states(state("b", "2"))])
    with pytest.raises(ValueError, match="1 document ids are there twice, the first is 'b'"):
        reconcile(states(), twice, {})


def test_hashes_of_half_a_chunk_are_refused() -> None:
    with pytest.raises(ValueError, match="64 bytes a chunk"):
        reconcile(states(), states(state("a", chunk_hashes=b"x" * 32)), {})


@pytest.mark.parametrize(("byte", "reason"), [(0, "text"), (31, "text"), (32, "metadata"), (63, "metadata")])
def test_every_byte_of_a_hash_counts(byte: int, reason: str) -> None:
    was = bytes(64)
    now = was[:byte] + b"\x01" + was[byte + 1 :]
    found = reconcile(states(state("a", chunk_hashes=was)), states(state("a", chunk_hashes=now)), {})
    assert found.table["reason"].to_pylist() == [reason]


def test_settling_takes_the_new_states_but_keeps_the_old_ones_of_withheld_documents() -> None:
    old = states(state("a", "1"), state("b", "1"), state("c", "1"), state("gone", "1"))
    new = states(state("a", "2"), state("b"), state("d", "1"))
    settled = settle(old, new, {"b", "c"})
    assert settled == states(state("a", "2"), state("b", "1"), state("c", "1"), state("d", "1"))
    assert reconcile(old, settled, {"gone": "removed"}).by_change["deleted"] == 1


STATE_CASES = [
    ("nothing", {}, {}, 0),
    ("another validator", {}, {"validator": "v2"}, 1),
    ("a time that was too fresh", {"validator": None}, {}, 0),
    ("a time that is too fresh now", {}, {"validator": None}, 0),
    ("a time that is too fresh now, other bytes", {}, {"validator": None, "hash": "other"}, 1),
    ("another time only", {}, {"modified": None}, 0),
    ("a failure", {}, {"status": "failed", "error": "read", "fail_streak": 1}, 1),
    ("one more failure", {"fail_streak": 1}, {"fail_streak": 2}, 1),
    ("another rule", {}, {"fingerprint": "f1"}, 1),
    ("a confidence that came", {}, {"confidence": 0.5}, 1),
]


@pytest.mark.parametrize(
    ("before", "now", "count"), [case[1:] for case in STATE_CASES], ids=[case[0] for case in STATE_CASES]
)
def test_states_that_changed(before: dict[str, Any], now: dict[str, Any], count: int) -> None:
    other = state("other", "x")
    assert states_changed(states(state("a", "1", **before), other), states(state("a", "1", **now), other)) == count


def test_states_that_come_and_go_are_changes() -> None:
    assert states_changed(states(state("a"), state("b")), states(state("b"), state("c"))) == 2
    assert states_changed(states(), states(state("a"))) == 1
    assert states_changed(states(), states()) == 0


def test_net_compares_two_states_whatever_lies_between() -> None:
    old = states(state("a", "1", "2"), state("b", "1"), state("c", "1|m"))
    new = states(state("a", "2"), state("c", "1|n"), state("d", "1"))
    found = net(old, new)
    assert found.upserts.to_pylist() == [
        {"id": "a#0", "parent_id": "a", "chunk_index": 0, "content_hash": content_hash("2")},
        {"id": "c#0", "parent_id": "c", "chunk_index": 0, "content_hash": content_hash("1")},
        {"id": "d#0", "parent_id": "d", "chunk_index": 0, "content_hash": content_hash("1")},
    ]
    assert found.deletions.to_pylist() == [
        {"id": "a#1", "parent_id": "a", "chunk_index": 1, "content_hash": content_hash("2")},
        {"id": "b#0", "parent_id": "b", "chunk_index": 0, "content_hash": content_hash("1")},
    ]


# Laws

CHUNKS = st.lists(st.sampled_from(["a", "b", "c", "a|2", "b|2"]), max_size=6)
CORPORA = st.dictionaries(st.sampled_from(["d", "e", "é", "d#1", "日", "x/y z"]), CHUNKS, max_size=5)


def table(corpus: dict[str, list[str]]) -> pa.Table:
    return states(*(state(id_, *chunks) for id_, chunks in corpus.items()))


def chunk_map(corpus: dict[str, list[str]]) -> dict[str, str]:
    return {f"{id_}#{index}": chunk for id_, chunks in corpus.items() for index, chunk in enumerate(chunks)}


@settings(max_examples=400, deadline=None, derandomize=True)
@given(CORPORA, CORPORA)
def test_old_minus_deletions_plus_upserts_is_new(old: dict[str, list[str]], new: dict[str, list[str]]) -> None:
    found = reconcile(table(old), table(new), {})
    before, after = chunk_map(old), chunk_map(new)
    replayed = dict(before)
    for row in found.table.to_pylist():
        id_ = row["id"]
        if row["change"] == "deleted":
            assert id_ not in after
            del replayed[id_]
        else:
            assert before.get(id_) != after[id_], "an upsert of what was there already"
            assert (row["change"] == "added") <= (id_ not in before)
            replayed[id_] = after[id_]
        if row["change"] == "moved":
            origin = row["moved_from"]
            assert origin != id_
            assert origin.rpartition("#")[0] == row["parent_id"]
            assert before[origin].partition("|")[0] == after[id_].partition("|")[0]
    assert replayed == after
    assert found.table["id"].to_pylist() == [
        f"{parent}#{index}"
        for parent, index in sorted(
            zip(*(found.table[name].to_pylist() for name in ("parent_id", "chunk_index")), strict=True)
        )
    ]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(CORPORA, CORPORA, st.integers(1, 5))
def test_net_and_changes_agree_and_batches_do_not_matter(
    old: dict[str, list[str]], new: dict[str, list[str]], batch: int
) -> None:
    whole = reconcile(table(old), table(new), {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "BATCH", batch)
        assert reconcile(table(old), table(new), {}) == whole
        found = net(table(old), table(new))
    rows = whole.table.select(["id", "change"]).to_pylist()
    assert found.deletions["id"].to_pylist() == [row["id"] for row in rows if row["change"] == "deleted"]
    assert found.upserts["id"].to_pylist() == [row["id"] for row in rows if row["change"] != "deleted"]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CORPORA, CORPORA)
def test_the_order_and_chunking_of_states_do_not_matter(old: dict[str, list[str]], new: dict[str, list[str]]) -> None:
    def scattered(corpus: dict[str, list[str]]) -> pa.Table:
        parts = [states(state(id_, *chunks)) for id_, chunks in corpus.items()]
        return pa.concat_tables([DOCUMENTS.empty_table(), *reversed(parts)])

    assert reconcile(scattered(old), scattered(new), {}) == reconcile(table(old), table(new), {})


def test_a_document_of_one_repeated_chunk_reconciles_in_linear_time() -> None:
    old = states(state("d", *["a"] * 20_000))
    new = states(state("d", *["x", "a"] * 10_000))
    found = reconcile(old, new, {})
    assert found.by_change == {"added": 0, "changed": 10_000, "moved": 0, "deleted": 0}

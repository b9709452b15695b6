"""What changed between two states of the corpus: the one place where old and new are compared. Pure and columnar.

The law: old − deletions + upserts == new, as maps from chunk id to (content hash, row hash).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.differences import DIGEST, Differences, differing
from pipelines.table.schemas import CHANGES

NET_COLUMNS = pa.schema([CHANGES.field(name) for name in ("id", "parent_id", "chunk_index", "content_hash")])


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """`table` has the columns CHANGES, sorted by (parent_id, chunk_index); the counts are of its rows and parents.

    `change` is added, changed, moved or deleted. `reason` is text or metadata for a changed chunk; tail, emptied,
    removed, rekeyed or out_of_scope for a deleted one; else null. `moved_from` is the id that had the same content in
    the same document. `content_hash` is the new chunk's, a deleted one's the old, in hexadecimal.
    """

    table: pa.Table
    by_change: Mapping[str, int]
    by_reason: Mapping[str, int]
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Net:
    """What an index at the old state has to do to get to the new one. Both tables have NET_COLUMNS, sorted."""

    upserts: pa.Table
    deletions: pa.Table


def settle(old_states: pa.Table, new_states: pa.Table, kept_ids: Collection[str] | pa.Array) -> pa.Table:
    """The states to publish, sorted by id: the new ones, but those of `kept_ids` as they were (withheld deletions)."""
    kept = kept_ids if isinstance(kept_ids, pa.Array) else pa.array(sorted(kept_ids), pa.string())
    new = new_states.filter(pc.invert(pc.is_in(new_states["id"], value_set=kept)))
    old = old_states.filter(pc.is_in(old_states["id"], value_set=kept)).select(new.column_names).cast(new.schema)
    states = pa.concat_tables([new, old]).combine_chunks()
    return states.take(pc.sort_indices(states["id"]))


def reconcile(old_states: pa.Table, new_states: pa.Table, vanished: Mapping[str, str]) -> Changes:
    """Compare documents tables (`id`, `chunk_hashes`) chunk by chunk.

    `vanished` says why documents are not in `new_states` any more; one it does not name was removed. A document whose
    failure kept its rows has its old hashes and so no changes. ValueError when an id is there twice. Documents with
    the same hashes cost next to nothing; about 1.5 s per million chunks that differ.
    """
    tables = [_change_rows(batch, vanished) for batch in differing(old_states, new_states)]
    table = pa.concat_tables([CHANGES.empty_table(), *tables]).combine_chunks()
    return Changes(
        table=table,
        by_change=dict.fromkeys(_CHANGES, 0) | _counts(table["change"]),
        by_reason=_counts(table["reason"]),
        documents=pc.count_distinct(table["parent_id"]).as_py(),
    )


def net(old_states: pa.Table, new_states: pa.Table) -> Net:
    """The upserts and deletions between two documents tables, whatever lies between them (`changes --since`)."""
    upserts, deletions = [NET_COLUMNS.empty_table()], [NET_COLUMNS.empty_table()]
    for batch in differing(old_states, new_states):
        upserts.append(batch.rows(batch.has_new & ~batch.same_row).select(NET_COLUMNS.names))
        deletions.append(batch.rows(~batch.has_new).select(NET_COLUMNS.names))
    return Net(upserts=pa.concat_tables(upserts), deletions=pa.concat_tables(deletions))


def states_changed(old_states: pa.Table, new_states: pa.Table) -> int:
    """How many documents' states differ, come or go.

    A validator that was or is null says only that a time was too fresh to trust: with the same bytes, no change.
    """
    if not old_states.num_rows:  # a first run: it has nothing to compare
        return int(new_states.num_rows)
    ids = new_states["id"].combine_chunks()
    rows = pc.index_in(ids, value_set=old_states["id"].combine_chunks())
    kept = pc.is_valid(rows)
    came = len(ids) - pc.sum(kept).as_py() if len(ids) else 0
    went = old_states.num_rows - (len(ids) - came)
    new, old = new_states.filter(kept), old_states.take(rows.filter(kept))
    differs = pa.array(np.zeros(new.num_rows, dtype=bool))
    for name in new.column_names:
        if name in ("id", "modified"):
            continue
        was, now = old[name].cast(new.schema.field(name).type), new[name]
        unequal = pc.fill_null(pc.not_equal(was, now), False)
        if name != "validator":
            unequal = pc.or_(unequal, pc.not_equal(pc.is_null(was), pc.is_null(now)))
        differs = pc.or_(differs, unequal)
    return int(came + went + (pc.sum(differs).as_py() or 0))


_CHANGES = ("added", "changed", "moved", "deleted")
_ADDED, _CHANGED, _MOVED, _DELETED = range(4)


def _change_rows(batch: Differences, vanished: Mapping[str, str]) -> pa.Table:
    candidates = batch.has_new & ~batch.same_content
    moved_from = _moved_from(batch, candidates)
    change = np.full(len(batch.index), _CHANGED)
    change[candidates & ~batch.has_old] = _ADDED
    change[moved_from >= 0] = _MOVED
    change[~batch.has_new] = _DELETED
    kept = ~batch.same_row
    rows = batch.rows(kept)
    change_names = pa.array(_CHANGES).take(pa.array(change[kept]))
    moved = moved_from[kept]
    moved_index = pa.array(moved, mask=moved < 0).cast(pa.string())
    columns = {name: rows[name] for name in rows.column_names} | {
        "change": change_names,
        "reason": _reasons(batch, change, vanished).filter(pa.array(kept)),
        "moved_from": pc.binary_join_element_wise(rows["parent_id"], moved_index, "#"),
    }
    return pa.table({name: columns[name] for name in CHANGES.names}).cast(CHANGES)


def _moved_from(batch: Differences, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """For each candidate the old index of the same content: the nearest, of two equally near the lower; else -1."""
    moved = np.full(len(candidates), -1)
    rows = np.flatnonzero(candidates & (batch.old_counts[batch.parent] > 0))
    document, places = -1, dict[bytes, list[int]]()
    for row, parent, index in zip(rows.tolist(), batch.parent[rows].tolist(), batch.index[rows].tolist(), strict=True):
        if parent != document:
            document, places = parent, _places(batch.old_hashes[parent])
        found = places.get(batch.content[row].tobytes())
        if found is not None:
            moved[row] = _nearest(found, index)
    return moved


def _places(hashes: bytes) -> dict[bytes, list[int]]:
    places: dict[bytes, list[int]] = {}
    for index, start in enumerate(range(0, len(hashes), 2 * DIGEST)):
        places.setdefault(hashes[start : start + DIGEST], []).append(index)
    return places


def _nearest(places: list[int], index: int) -> int:
    after = bisect_left(places, index)
    around = places[max(after - 1, 0) : after + 1]
    return min(around, key=lambda place: (abs(place - index), place))


def _reasons(batch: Differences, change: npt.NDArray[np.int64], vanished: Mapping[str, str]) -> pa.Array:
    names = batch.parents.to_pylist()
    counts = zip(names, batch.listed.tolist(), batch.new_counts.tolist(), strict=True)
    losses = [
        "tail" if count else "emptied" if listed else vanished.get(id_, "removed") for id_, listed, count in counts
    ]
    lost = pa.array(losses, pa.string()).take(pa.array(batch.parent))
    altered = pc.if_else(pa.array(batch.same_content), "metadata", "text")
    nothing = pa.scalar(None, pa.string())
    return pc.if_else(pa.array(change == _DELETED), lost, pc.if_else(pa.array(change == _CHANGED), altered, nothing))


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    counted = pc.value_counts(column.drop_null().combine_chunks()).to_pylist()
    return {each["values"]: each["counts"] for each in sorted(counted, key=lambda each: each["values"])}

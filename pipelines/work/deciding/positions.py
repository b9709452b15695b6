"""Tables of states and chunks with some rows taken out or changed, by their positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Positions = npt.NDArray[np.int64]
"""Positions of rows in a table."""


def union(parts: Sequence[Positions]) -> Positions:
    """Row numbers of several passes, in order."""
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))


def without(states: pa.Table, rows: Sequence[Positions]) -> pa.Table:
    """The states but those at some rows."""
    if not rows:
        return states
    stays = np.ones(states.num_rows, bool)
    stays[np.concatenate(rows)] = False
    return states.filter(pa.array(stays))


def replaced(states: pa.Table, rows: Sequence[int], values: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The states with other values at some rows."""
    others = without(states, [np.array(rows)])
    order: Any = np.argsort(np.concatenate([np.delete(np.arange(states.num_rows), rows), rows]), kind="stable")
    return pa.concat_tables([others, pa.Table.from_pylist(list(values), schema=states.schema)]).take(pa.array(order))


def without_lost(rows: pa.Table, lost: pa.Table, final: pa.Table) -> pa.Table:
    """Chunks without those of `lost` documents. A document in `final` of the same id keeps its own.

    Rows follow from a document's bytes: two copies of one record in one object have equal rows, and one is enough.
    """
    theirs = pc.is_in(rows["parent_id"], value_set=lost["id"].combine_chunks())
    contested = final.filter(pc.is_in(final["id"], value_set=lost["id"].combine_chunks()))
    if not contested.num_rows:
        return rows.filter(pc.invert(theirs))
    owner = pc.index_in(rows["parent_id"], value_set=contested["id"].combine_chunks()).combine_chunks()
    own = pc.and_(
        pc.equal(rows["source_uri"], contested["uri"].combine_chunks().take(owner)),
        pc.equal(rows["document_hash"], contested["hash"].combine_chunks().take(owner)),
    )
    rows = rows.filter(pc.or_(pc.invert(theirs), pc.fill_null(own, False))).combine_chunks()
    ids = rows["id"].combine_chunks()
    first = pc.equal(pc.index_in(ids, value_set=ids), pa.array(np.arange(len(ids), dtype=np.int32)))
    return rows.filter(first)

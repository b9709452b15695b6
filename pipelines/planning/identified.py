"""Which id every listed object has, and who has it when several make it.

A listing is the largest thing that planning holds. So it is put in order a column and a part at a time, and whoever has
it may let go of it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.records import DUPLICATES, LISTING, PlanSource
from pipelines.table.keys import CONTAINER, container_key, source_suffix

ROWS = 1 << 18
"""Rows that are worked on at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """The listing with ids: `winners` sorted by id, each id once; `losers` (DUPLICATES) made an id that was taken."""

    winners: pa.Table
    losers: pa.Table


def identify(listing: pa.Table, sources: Sequence[PlanSource]) -> Identified:
    """Give every listed object its id. The first source in order keeps an id that several make.

    A file's is `id_prefix` + path, a container's is its key.
    """
    listing = listing.select(LISTING.names)
    listing = listing if listing.schema.equals(LISTING) else listing.cast(LISTING)
    path = listing["path"]
    ids = path if not any(source.id_prefix for source in sources) else names_of(listing, sources)
    containers = pc.equal(listing["kind"], CONTAINER)
    if pc.any(containers).as_py():
        suffixes = pa.array([source_suffix(source.path) for source in sources], pa.string())
        keys = pc.binary_join_element_wise(ids, suffixes.take(listing["source"].combine_chunks()), "")
        ids = pc.if_else(containers, keys, ids)
    order = _order(ids)
    in_order = _in_order(ids, order)
    first = _first_of_each(in_order)
    if not first.all():
        table = pa.table({"id": ids, "source": listing["source"]})
        order = pc.sort_indices(table, sort_keys=[("id", "ascending"), ("source", "ascending")])
        in_order = _in_order(ids, order)
    names = [name for name in listing.column_names if name != "path"]
    columns = {name: _in_order(listing[name], order) for name in names}
    columns["path"] = in_order if ids is path else _in_order(path, order)
    winners = pa.table({"id": in_order, **{name: columns[name] for name in LISTING.names}})
    if first.all():
        return Identified(winners=winners, losers=DUPLICATES.empty_table())
    return Identified(winners=winners.filter(pa.array(first)), losers=_losers(winners, first))


def without_reserved(winners: pa.Table, sources: Sequence[PlanSource], old: pa.Table) -> tuple[pa.Table, pa.Table]:
    """`winners` without ids that belong to an earlier source that could not be listed now, and those as DUPLICATES.

    Without this a night on which the first source is away would hand its documents over to the next one.
    """
    if all(source.completed for source in sources) or not winners.num_rows or not old.num_rows:
        return winners, DUPLICATES.empty_table()
    rows = pc.index_in(winners["id"], value_set=old["id"].combine_chunks())
    known = pc.is_valid(rows)
    owners = old.select(["id", "uri", "source", "path"]).take(rows.filter(known).combine_chunks())
    indexes = winners["source"].filter(known).to_pylist()
    origins = owners["source"].to_pylist()
    awaited = {source.path for source in sources if not source.completed}
    lost = np.zeros(owners.num_rows, bool)
    for row, (winner, origin) in enumerate(zip(indexes, origins, strict=True)):
        if origin in awaited:
            owner = owners.slice(row, 1).to_pylist()[0]
            lost[row] = any(
                not source.completed
                and source.path == origin
                and makes(source, owner["path"], owner["id"])
                and source.selects(owner["path"])
                for source in sources[:winner]
            )
    if not lost.any():
        return winners, DUPLICATES.empty_table()
    places = np.flatnonzero(known.to_numpy(zero_copy_only=False))[lost]
    stays = np.ones(winners.num_rows, bool)
    stays[places] = False
    losers = _as_losers(winners.take(pa.array(places)), owners["uri"].filter(pa.array(lost)))
    return winners.filter(pa.array(stays)), losers


def names_of(rows: pa.Table, sources: Sequence[PlanSource]) -> pa.ChunkedArray:
    """`id_prefix` + path of every row of a listing: what rules match."""
    if not any(source.id_prefix for source in sources):
        return rows["path"]
    prefixes = pa.array([source.id_prefix for source in sources], pa.string())
    return pc.binary_join_element_wise(prefixes.take(rows["source"].combine_chunks()), rows["path"], "")


def makes(source: PlanSource, path: str, id_: str) -> bool:
    """Whether `source` gives its object at `path` the id `id_`, of a file or of a container."""
    return id_ in (source.id_prefix + path, container_key(source.id_prefix, path, source.path))


def _order(ids: pa.ChunkedArray) -> pa.Array | None:
    """The order of rows by id; None: as they are."""
    if pc.all(pc.less(ids.slice(0, max(len(ids) - 1, 0)), ids.slice(1))).as_py():  # as an object store lists
        return None
    # (64-bit offsets: tens of millions of addresses pass the 2 GiB that `string` can hold)
    return pc.sort_indices(ids.cast(pa.large_string()).combine_chunks())


def _in_order(column: pa.ChunkedArray, order: pa.Array | None) -> pa.ChunkedArray:
    """A column in chunks of ROWS."""
    is_text = pa.types.is_string(column.type)
    flat = (column.cast(pa.large_string()) if is_text else column).combine_chunks()
    chunks = [
        (flat.slice(start, ROWS) if order is None else flat.take(order.slice(start, ROWS))).cast(column.type)
        for start in range(0, len(flat), ROWS)
    ]
    return pa.chunked_array(chunks, column.type)


def _first_of_each(ids: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Which rows of sorted `ids` differ from the row above."""
    first = np.ones(len(ids), dtype=bool)
    if len(ids) > 1:
        first[1:] = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy()
    return first


def _losers(rows: pa.Table, first: npt.NDArray[np.bool_]) -> pa.Table:
    heads = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))[~first]
    lost = rows.filter(pa.array(~first))
    head = rows.take(pa.array(heads))
    # A store that pages while it changes may name one object twice; that is no second document.
    other = pc.or_(pc.not_equal(lost["source"], head["source"]), pc.not_equal(lost["path"], head["path"]))
    return _as_losers(lost, head["uri"]).filter(other)


def _as_losers(rows: pa.Table, kept_uris: pa.Array | pa.ChunkedArray) -> pa.Table:
    table = rows.select(["id", "source", "path", "uri"]).append_column("kept_uri", kept_uris)
    return table.cast(DUPLICATES)


def slices(winners: pa.Table, highs: Sequence[str | None]) -> Iterator[pa.Table]:
    """`winners` cut at the ids `highs`, of which the last is None: up to the end."""
    start = 0
    for high in highs:
        stop = winners.num_rows if high is None else _bisect(winners["id"], high, start)
        yield winners.slice(start, stop - start)
        start = stop


def _bisect(ids: pa.ChunkedArray, id_: str, low: int) -> int:
    """The first row from `low` on whose id is not below `id_`."""
    high = len(ids)
    while low < high:
        middle = (low + high) // 2
        if ids[middle].as_py() < id_:
            low = middle + 1
        else:
            high = middle
    return low

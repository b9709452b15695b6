"""Documents that a source lists: whose id it is, and whether it has to be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.records import DUPLICATES, PLAN_DOCUMENTS, PlanSource, Route, Strings
from pipelines.table.keys import CONTAINER, container_key, source_suffix

PARTS = ("start", "stop", "first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """The listing with ids: `winners` sorted by id, each id once; `losers` (DUPLICATES) made an id that was taken."""

    winners: pa.Table
    losers: pa.Table


def identify(listing: pa.Table, sources: Sequence[PlanSource], old: pa.Table) -> Identified:
    """Give every listed object its id. The first source in order keeps an id that several make.

    A file's is `id_prefix` + path, a container's is its key.
    """
    ids = _names(listing, sources)
    containers = pc.equal(listing["kind"], CONTAINER)
    if pc.any(containers).as_py():
        suffixes = pa.array([source_suffix(source.path) for source in sources], pa.string())
        keys = pc.binary_join_element_wise(ids, suffixes.take(listing["source"].combine_chunks()), "")
        ids = pc.if_else(containers, keys, ids)
    rows = listing.add_column(0, "id", ids)
    rows = rows.combine_chunks()
    rows = rows.take(pc.sort_indices(rows["id"]))
    first = _first_of_each(rows["id"])
    if not first.all():
        rows = rows.sort_by([("id", "ascending"), ("source", "ascending")]).combine_chunks()
        first = _first_of_each(rows["id"])
    winners = rows if first.all() else rows.filter(pa.array(first)).combine_chunks()
    losers = _losers(rows, first)
    reserved = _reserved(winners, sources, old)
    if reserved:
        lost = pc.is_in(winners["id"], value_set=pa.array(list(reserved), pa.string()))
        kept_uris = pa.array([reserved[id_] for id_ in winners.filter(lost)["id"].to_pylist()], pa.string())
        losers = pa.concat_tables([losers, _as_losers(winners.filter(lost), kept_uris)])
        winners = winners.filter(pc.invert(lost)).combine_chunks()
    return Identified(winners=winners, losers=losers.sort_by([("id", "ascending"), ("source", "ascending")]))


def decide_listed(
    winners: pa.Table,
    sources: Sequence[PlanSource],
    route: Route,
    old: pa.Table,
    *,
    heals: Collection[str],
    retry: pa.Array,
    full: bool,
) -> pa.Table:
    """PLAN_DOCUMENTS rows of the listed objects: `keep` or `read`, and why.

    `heals` are the failure classes to try again, `retry` the ids of objects to read again in any case.
    """
    ids = winners["id"].combine_chunks()
    has_containers = pc.any(pc.equal(winners["kind"], CONTAINER)).as_py()
    names = _names(winners, sources).combine_chunks() if has_containers else ids
    rules = pa.array(route(Strings(names)), pa.int32())
    fingerprints = _fingerprints(winners["source"].combine_chunks(), rules, sources)
    if old["id"].equals(winners["id"]):  # as on most nights
        before = old
    else:
        old = old.combine_chunks()
        before = old.take(pc.index_in(ids, value_set=old["id"].combine_chunks()))
    source_paths = pa.array([source.path for source in sources] or [""], pa.string()).take(winners["source"])
    is_new = pc.is_null(before["id"])
    failed = pc.equal(before["status"], "failed")
    again = pc.and_(failed, pc.is_in(before["error"], value_set=pa.array(sorted(heals), pa.string())))
    if len(retry):
        again = pc.or_(pc.fill_null(again, False), pc.is_in(ids, value_set=retry))
    trusted = pc.and_(pc.is_valid(winners["validator"]), pc.is_valid(before["validator"]))
    # (the size is in no etag: a store may have damaged or replaced an object without making another)
    other = pc.or_(
        pc.fill_null(pc.not_equal(winners["validator"], before["validator"]), False),
        pc.fill_null(pc.not_equal(winners["size"], before["size"]), False),
    )
    changed = pc.or_(
        other,
        pc.or_(pc.not_equal(winners["uri"], before["uri"]), pc.not_equal(source_paths, before["source"])),
    )
    reasons = pc.case_when(
        pc.make_struct(
            is_new,
            pa.array(np.full(len(ids), full)),  # first: what is the same in a changed object is to be chunked again too
            again,
            changed,
            pc.fill_null(pc.not_equal(fingerprints, before["fingerprint"]), True),
            pc.invert(trusted),
            failed,
        ),
        "new",
        "full",
        "retry",
        "changed",
        "rule",
        "untrusted",
        "failed",
        "unchanged",
    )
    keeps = pc.is_in(reasons, value_set=pa.array(["failed", "unchanged"]))
    columns: dict[str, object] = {name: winners[name] for name in ("source", "path", "uri", "size", "modified", "kind")}
    columns |= {"id": ids, "validator": winners["validator"], "rule": rules, "fingerprint": fingerprints}
    columns |= {"action": pc.if_else(keeps, "keep", "read"), "reason": reasons} | whole(len(ids))
    return pa.table({name: columns[name] for name in PLAN_DOCUMENTS.names}).cast(PLAN_DOCUMENTS)


def whole(rows: int) -> dict[str, pa.Array]:
    """The columns that say which part of its object each row is: all of it."""
    nothing = pa.nulls(rows, pa.int64())
    numbers = {"part": np.zeros(rows, np.int32), "parts": np.ones(rows, np.int32)}
    return {name: pa.array(values) for name, values in numbers.items()} | dict.fromkeys(PARTS, nothing)


def makes(source: PlanSource, path: str, id_: str) -> bool:
    """Whether `source` gives its object at `path` the id `id_`, of a file or of a container."""
    return id_ in (source.id_prefix + path, container_key(source.id_prefix, path, source.path))


def _names(rows: pa.Table, sources: Sequence[PlanSource]) -> pa.ChunkedArray:
    """`id_prefix` + path of every row of a listing: what rules match."""
    if not any(source.id_prefix for source in sources):
        return rows["path"]
    prefixes = pa.array([source.id_prefix for source in sources], pa.string())
    return pc.binary_join_element_wise(prefixes.take(rows["source"].combine_chunks()), rows["path"], "")


def _first_of_each(ids: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows of sorted `ids` differ from the row above."""
    first = np.ones(len(ids), dtype=bool)
    if len(ids) > 1:
        first[1:] = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
    return first


def _losers(rows: pa.Table, first: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pa.Table:
    if first.all():
        return DUPLICATES.empty_table()
    heads = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))[~first]
    lost = rows.filter(pa.array(~first))
    head = rows.take(pa.array(heads))
    # A store that pages while it changes may name one object twice; that is no second document.
    other = pc.or_(pc.not_equal(lost["source"], head["source"]), pc.not_equal(lost["path"], head["path"]))
    return _as_losers(lost, head["uri"]).filter(other)


def _as_losers(rows: pa.Table, kept_uris: pa.Array) -> pa.Table:
    table = rows.select(["id", "source", "path", "uri"]).append_column("kept_uri", kept_uris)
    return table.cast(DUPLICATES)


def _reserved(winners: pa.Table, sources: Sequence[PlanSource], old: pa.Table) -> Mapping[str, str]:
    """Ids that belong to an earlier source that could not be listed now, with the object that owns them.

    Without this a night on which the first source is away would hand its documents over to the next one.
    """
    if all(source.completed for source in sources):
        return {}
    indexes = {id_: row for row, id_ in enumerate(old["id"].to_pylist())}
    uris, origins, paths = (old[name].combine_chunks() for name in ("uri", "source", "path"))
    reserved: dict[str, str] = {}
    for id_, winner in zip(winners["id"].to_pylist(), winners["source"].to_pylist(), strict=True):
        row = indexes.get(id_)
        if row is None:
            continue
        origin, path = origins[row].as_py(), paths[row].as_py()
        for source in sources[:winner]:
            if not source.completed and source.path == origin and makes(source, path, id_) and source.selects(path):
                reserved[id_] = uris[row].as_py()
                break
    return reserved


def _fingerprints(source: pa.Array, rule: pa.Array, sources: Sequence[PlanSource]) -> pa.Array:
    width = max((len(source.fingerprints) for source in sources), default=1)
    flat = [mark for source in sources for mark in (*source.fingerprints, *[None] * (width - len(source.fingerprints)))]
    codes = pc.add(pc.multiply(source, width), rule)
    return pa.array(flat or [None], pa.string()).take(codes)

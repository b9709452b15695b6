"""Documents that a source lists: whether they have to be read."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.identified import names_of
from pipelines.planning.records import PLAN_DOCUMENTS, PlanSource, Route, Strings
from pipelines.table.keys import CONTAINER

PARTS = ("start", "stop", "first")

IN_MEMORY = pa.schema(
    [
        pa.field(field.name, pa.dictionary(pa.int32(), pa.string())) if field.name == "fingerprint" else field
        for field in PLAN_DOCUMENTS
    ]
)
"""PLAN_DOCUMENTS while a plan is made: there are few fingerprints, and each is as long as a third of all the rest."""


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
    """PLAN_DOCUMENTS rows of the listed objects: `keep` or `read`, and why. Fingerprints are dictionary-encoded.

    `heals` are the failure classes to try again, `retry` the ids of objects to read again in any case.
    """
    ids = winners["id"].combine_chunks()
    has_containers = pc.any(pc.equal(winners["kind"], CONTAINER)).as_py()
    names = names_of(winners, sources).combine_chunks() if has_containers else ids
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
            pc.fill_null(pc.not_equal(fingerprints.dictionary_decode(), before["fingerprint"]), True),
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
    return pa.table({name: columns[name] for name in PLAN_DOCUMENTS.names}).cast(IN_MEMORY)


def whole(rows: int) -> dict[str, pa.Array]:
    """The columns that say which part of its object each row is: all of it."""
    nothing = pa.nulls(rows, pa.int64())
    numbers = {"part": np.zeros(rows, np.int32), "parts": np.ones(rows, np.int32)}
    return {name: pa.array(values) for name, values in numbers.items()} | dict.fromkeys(PARTS, nothing)


def _fingerprints(source: pa.Array, rule: pa.Array, sources: Sequence[PlanSource]) -> pa.Array:
    width = max((len(source.fingerprints) for source in sources), default=1)
    flat = [mark for source in sources for mark in (*source.fingerprints, *[None] * (width - len(source.fingerprints)))]
    codes = pc.add(pc.multiply(source, width), rule)
    return pa.DictionaryArray.from_arrays(codes, pa.array(flat or [None], pa.string()))

"""Files that are left out because another object has their id: those of the last commit and those of now."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.operations.last_commit import LastCommit
from pipelines.operations.listing import Listing
from pipelines.planning import DUPLICATES


def with_standing(
    duplicates: pa.Table, last: LastCommit, listing: Listing, deleted: Mapping[str, Collection[str]] | None
) -> pa.Table:
    """`duplicates` (planning.DUPLICATES) with those of the last commit that this listing says nothing of.

    They belong to no source of this run (`source` -1).
    """
    if all(listing.completed) or not last.refused:
        return duplicates
    uris = sorted({uri for _, uri in last.refused} - _listed(listing, {uri for _, uri in last.refused}))
    gone = {uri for uri in uris if deleted is not None and _is_deleted(uri, deleted)}
    standing = sorted((id_, uri) for id_, uri in last.refused if uri in uris and uri not in gone)
    if not standing or last.states is None:
        return duplicates
    ids, paths = zip(*standing, strict=True)
    owners = last.states.filter(pc.is_in(last.states["id"], value_set=pa.array(ids, pa.string())))
    kept = dict(zip(owners["id"].to_pylist(), owners["uri"].to_pylist(), strict=True))
    columns = [list(ids), [-1] * len(ids), [""] * len(ids), list(paths), [kept.get(id_) for id_ in ids]]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, DUPLICATES, strict=True)]
    return pa.concat_tables([duplicates, pa.table(arrays, schema=DUPLICATES)])


def same_refused(
    duplicates: pa.Table, last: LastCommit, listing: Listing, deleted: Mapping[str, Collection[str]] | None
) -> bool:
    """Whether just the files of last time have no id of their own, as far as this listing can tell."""
    pairs = set(zip(duplicates["id"].to_pylist(), duplicates["uri"].to_pylist(), strict=True))
    if last.refused != pairs:
        return False
    if deleted is not None:
        return not any(_is_deleted(uri, deleted) for uri in last.without_state)
    return not all(listing.completed) or last.without_state <= _listed(listing, last.without_state)


def _listed(listing: Listing, uris: Collection[str]) -> set[str]:
    """Which of `uris` are listed."""
    if not uris:
        return set()
    found = pc.is_in(listing.table["uri"], value_set=pa.array(sorted(uris), pa.string()))
    return set(listing.table.filter(found)["uri"].to_pylist())


def _is_deleted(uri: str, deleted: Mapping[str, Collection[str]]) -> bool:
    return any(uri.endswith(f"/{path}") for paths in deleted.values() for path in paths)

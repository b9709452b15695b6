"""Files that are left out because another object has their id: those of the last commit and those of now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.operations.last_commit import LastCommit
from pipelines.planning import DUPLICATES, Identified


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What this run's listing shows. `whole`: of every source all that is there.

    `deleted` (paths by source path) is what is known to be gone where only changed objects are listed.
    """

    identified: Identified
    whole: bool
    deleted: Mapping[str, Collection[str]] | None

    def among(self, uris: Collection[str]) -> set[str]:
        """Which of `uris` are listed."""
        wanted = pa.array(sorted(uris), pa.string())
        columns = (self.identified.winners["uri"], self.identified.losers["uri"]) if len(wanted) else ()
        return {uri for column in columns for uri in column.filter(pc.is_in(column, value_set=wanted)).to_pylist()}

    def is_deleted(self, uri: str) -> bool:
        """Whether the object is known to be gone."""
        paths = (path for paths in (self.deleted or {}).values() for path in paths)
        return any(uri.endswith(f"/{path}") for path in paths)


def with_standing(duplicates: pa.Table, last: LastCommit, shown: Shown) -> pa.Table:
    """`duplicates` (planning.DUPLICATES) with those of the last commit that this listing says nothing of.

    They belong to no source of this run (`source` -1).
    """
    if shown.whole or not last.refused:
        return duplicates
    uris = {uri for _, uri in last.refused}
    uris = {uri for uri in uris - shown.among(uris) if not shown.is_deleted(uri)}
    standing = sorted((id_, uri) for id_, uri in last.refused if uri in uris)
    if not standing:
        return duplicates
    ids, paths = zip(*standing, strict=True)
    kept: dict[str, str] = {}
    for each in last.states:
        owners = each.rows.filter(pc.is_in(each.rows["id"], value_set=pa.array(ids, pa.string())))
        kept.update(zip(owners["id"].to_pylist(), owners["uri"].to_pylist(), strict=True))
    columns = [list(ids), [-1] * len(ids), [""] * len(ids), list(paths), [kept.get(id_) for id_ in ids]]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, DUPLICATES, strict=True)]
    return pa.concat_tables([duplicates, pa.table(arrays, schema=DUPLICATES)])


def same_refused(duplicates: pa.Table, last: LastCommit, shown: Shown) -> bool:
    """Whether just the files of last time have no id of their own, as far as this listing can tell."""
    pairs = set(zip(duplicates["id"].to_pylist(), duplicates["uri"].to_pylist(), strict=True))
    if last.refused != pairs:
        return False
    if shown.deleted is not None:
        return not any(map(shown.is_deleted, last.without_state))
    return not shown.whole or last.without_state <= shown.among(last.without_state)

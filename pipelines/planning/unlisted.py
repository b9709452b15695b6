"""Documents of the last commit whose id no source makes any more. Not listed is not yet gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.identified import makes
from pipelines.planning.listed import IN_MEMORY, whole
from pipelines.planning.records import PLAN_DOCUMENTS, Action, PlanSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Of the addresses that unlisted documents were at: those that are `listed`, and those that have nothing to show.

    Under its new id such an object may have no id, or fail: then the old rows are all there is of it.
    """

    listed: pa.Array
    refused: pa.Array


def addresses_of(gone: Sequence[pa.Table], listed: Sequence[pa.Table], losers: pa.Table) -> Addresses:
    """What `listed` (PLAN_DOCUMENTS) and `losers` (DUPLICATES) say of the addresses of `gone` (STATES)."""
    wanted = pa.concat_arrays([pa.array([], pa.string()), *(chunk for rows in gone for chunk in rows["uri"].chunks)])
    found, refused = [pa.array([], pa.string())], [pa.array([], pa.string())]
    for rows in listed if len(wanted) else ():
        here = rows.filter(pc.is_in(rows["uri"], value_set=wanted))
        found += here["uri"].chunks
        refused += here.filter(pc.and_(pc.equal(here["action"], "keep"), pc.equal(here["reason"], "failed")))[
            "uri"
        ].chunks
    return Addresses(listed=pa.concat_arrays(found), refused=pa.concat_arrays([*refused, *losers["uri"].chunks]))


def not_in(old: pa.Table, listed: pa.Table) -> pa.Table:
    """The rows of `old` whose ids are not in `listed`."""
    if old["id"].equals(listed["id"]):  # as on most nights
        return old.slice(0, 0)
    return old.filter(pc.invert(pc.is_in(old["id"], value_set=listed["id"].combine_chunks())))


def decide_unlisted(
    gone: pa.Table,
    sources: Sequence[PlanSource],
    addresses: Addresses,
    *,
    deleted: Mapping[str, Collection[str]] | None,
    prune: bool,
) -> pa.Table:
    """PLAN_DOCUMENTS rows of the objects `gone` (STATES), which have no id in the listing: `keep` or `vanish`, and why.

    `deleted` (paths by source path) is all that is gone, if it is given.
    """
    elsewhere = pc.is_in(gone["uri"], value_set=addresses.listed)
    refused = pc.is_in(gone["uri"], value_set=addresses.refused)
    actions: list[Action] = []
    reasons: list[str] = []
    columns = [gone["id"], gone["source"], gone["path"], elsewhere, refused]
    for id_, origin, path, is_elsewhere, is_refused in zip(*(each.to_pylist() for each in columns), strict=True):
        configured = [source for source in sources if source.path == origin]
        if deleted is None:
            reason = _reason(id_, path, configured, elsewhere=is_elsewhere, refused=is_refused)
        elif path in deleted.get(origin, ()):
            reason = "removed"
        elif is_elsewhere or is_refused:
            reason = _under_another_id(id_, path, configured, refused=is_refused) or "unlisted"
        else:
            reason = "unlisted"
        vanishes = reason in ("removed", "rekeyed") or (prune and reason == "out_of_scope")
        actions.append("vanish" if vanishes else "keep")
        reasons.append(reason)
    nowhere = pa.array([-1] * gone.num_rows, pa.int32())
    values = {
        name: gone[name] for name in ("id", "path", "uri", "size", "modified", "validator", "fingerprint", "kind")
    }
    values |= {"source": nowhere, "rule": nowhere} | whole(gone.num_rows)
    values |= {"action": pa.array(actions, pa.string()), "reason": pa.array(reasons, pa.string())}
    return pa.table({name: values[name] for name in PLAN_DOCUMENTS.names}).cast(IN_MEMORY)


def _reason(id_: str, path: str, configured: Sequence[PlanSource], *, elsewhere: bool, refused: bool) -> str:
    """Why the document `id_` is in no listing. `configured` are the sources at the address it came from."""
    selecting = _selecting(id_, path, configured)
    if not all(source.completed for source in selecting):
        return "unreachable"
    reason = _under_another_id(id_, path, configured, refused=refused) if elsewhere or refused else None
    return reason or ("removed" if selecting else "out_of_scope")


def _under_another_id(id_: str, path: str, configured: Sequence[PlanSource], *, refused: bool) -> str | None:
    """Why an object that is listed has no longer the id `id_`; None if the source that gave it does not take it now.

    An owner that lists the object under another id takes it for a container now, or no longer for one.
    """
    owners = [source for source in configured if makes(source, path, id_)]
    if owners and not _selecting(id_, path, configured):
        return None
    return "unreplaced" if refused else "rekeyed"


def _selecting(id_: str, path: str, configured: Sequence[PlanSource]) -> list[PlanSource]:
    """The sources that take the object at `path`; those only that would give it `id_`, if there are any."""
    owners = [source for source in configured if makes(source, path, id_)]
    return [source for source in owners or configured if source.selects(path)]

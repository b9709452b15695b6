"""Documents of the last commit whose id no source makes any more. Not listed is not yet gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.listed import makes, whole
from pipelines.planning.records import PLAN_DOCUMENTS, Action, PlanSource


def decide_unlisted(
    listed: pa.Table,
    losers: pa.Table,
    sources: Sequence[PlanSource],
    old: pa.Table,
    *,
    deleted: Mapping[str, Collection[str]] | None,
    prune: bool,
) -> pa.Table:
    """PLAN_DOCUMENTS rows of the objects that are not in `listed` (PLAN_DOCUMENTS): `keep` or `vanish`, and why.

    `losers` (DUPLICATES) are objects that are listed but have no id of their own. `deleted` (paths by source path) is
    all that is gone, if it is given.
    """
    if old["id"].equals(listed["id"]):  # as on most nights
        return PLAN_DOCUMENTS.empty_table()
    gone = old.filter(pc.invert(pc.is_in(old["id"], value_set=listed["id"].combine_chunks())))
    elsewhere = pc.is_in(gone["uri"], value_set=listed["uri"].combine_chunks())
    # Under its new id the object may have nothing to show: then the old rows are all there is of it.
    failed = listed.filter(pc.and_(pc.equal(listed["action"], "keep"), pc.equal(listed["reason"], "failed")))
    without_rows = pa.concat_tables([losers.select(["uri"]), failed.select(["uri"])]).combine_chunks()
    refused = pc.is_in(gone["uri"], value_set=without_rows["uri"].combine_chunks())
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
    return pa.table({name: values[name] for name in PLAN_DOCUMENTS.names}).cast(PLAN_DOCUMENTS)


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

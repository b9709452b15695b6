"""Documents of the last commit whose id no source makes any more. Not listed is not yet gone."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.listed import Identified
from pipelines.planning.records import PLAN_DOCUMENTS, Action, PlanSource


def decide_unlisted(identified: Identified, sources: Sequence[PlanSource], old: pa.Table, *, prune: bool) -> pa.Table:
    """PLAN_DOCUMENTS rows of the documents that are in no listing: `keep` or `vanish`, and why."""
    winners, losers = identified.winners, identified.losers
    gone = old.filter(pc.invert(pc.is_in(old["id"], value_set=winners["id"].combine_chunks())))
    listed_elsewhere = pc.is_in(gone["uri"], value_set=winners["uri"].combine_chunks()).to_pylist()
    refused_elsewhere = pc.is_in(gone["uri"], value_set=losers["uri"].combine_chunks()).to_pylist()
    actions: list[Action] = []
    reasons: list[str] = []
    rows = zip(
        gone["id"].to_pylist(),
        gone["source"].to_pylist(),
        gone["path"].to_pylist(),
        listed_elsewhere,
        refused_elsewhere,
        strict=True,
    )
    for id_, origin, path, elsewhere, refused in rows:
        configured = [source for source in sources if source.path == origin]
        reason = _reason(id_, path, configured, elsewhere=elsewhere, refused=refused)
        vanishes = reason in ("removed", "rekeyed") or (prune and reason == "out_of_scope")
        actions.append("vanish" if vanishes else "keep")
        reasons.append(reason)
    nowhere = pa.array([-1] * gone.num_rows, pa.int32())
    columns: dict[str, object] = {name: gone[name] for name in ("id", "path", "uri", "size", "modified", "validator")}
    columns |= {"source": nowhere, "rule": nowhere, "fingerprint": gone["fingerprint"]}
    columns |= {"action": pa.array(actions, pa.string()), "reason": pa.array(reasons, pa.string())}
    return pa.table({name: columns[name] for name in PLAN_DOCUMENTS.names}).cast(PLAN_DOCUMENTS)


def _reason(id_: str, path: str, configured: Sequence[PlanSource], *, elsewhere: bool, refused: bool) -> str:
    """Why the document `id_` is in no listing. `configured` are the sources at the address it came from."""
    selecting = [source for source in configured if source.selects(path)]
    if not all(source.completed for source in selecting):
        return "unreachable"
    if refused:
        return "duplicate"  # the object is there, under an id that another one has
    makes_its_id = any(source.id_prefix + path == id_ for source in configured)
    if elsewhere and not makes_its_id:
        return "rekeyed"
    return "removed" if selecting else "out_of_scope"

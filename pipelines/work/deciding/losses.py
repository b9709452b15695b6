"""What the guard has to know: how many documents each source had, would have, and would lose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.guard import Verdict, judge
from pipelines.table.keys import RECORD
from pipelines.work.deciding.identities import NEW, OLD, UNTOUCHED, Settled, settle_shared
from pipelines.work.deciding.keeping import LOOKED_AT, Keeping, chunked_by_source
from pipelines.work.deciding.ledger import Ledger, count
from pipelines.work.deciding.places import Places
from pipelines.work.deciding.positions import Positions, without


@dataclass(slots=True, kw_only=True)
class Losses:
    """Documents with chunks by source, before this run and after it if nothing is withheld.

    `lost` counts the documents that would have no chunk any more, by source and reason; `containers` are those that
    were read and lost a record, with their sources. If nothing is lost, untouched shards are left out.
    """

    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    lost: Counter[tuple[str, str]] = field(default_factory=Counter)
    containers: dict[str, str] = field(default_factory=dict)


def find_losses(ledger: Ledger, places: Places, keeping: Keeping) -> Losses:
    """Look at the states of every task once, without the hashes of their chunks."""
    losses = Losses()
    if not ledger.plan.old_shards:  # a first run has nothing to lose
        return losses
    shared_new: dict[int, list[Positions]] = {}
    shared_old: dict[int, list[Positions]] = {}
    for settled in settle_shared(ledger, places, keeping):
        _add_shared(losses, settled)
        for origin, rows in ((NEW, shared_new), (OLD, shared_old)):
            for place in np.unique(settled.place[settled.origin == origin]).tolist():
                rows.setdefault(place, []).append(settled.rows(place, settled.origin == origin, origin))
    for place, result in enumerate(ledger.results):
        old = without(ledger.old(place).slim(LOOKED_AT), shared_old.get(place, []))
        if not result.rows_changed and place not in shared_new and place not in shared_old:
            same = chunked_by_source(old)
            losses.before.update(same)
            losses.after.update(same)
            continue
        _add(losses, old, without(ledger.new_states(place, LOOKED_AT), shared_new.get(place, [])), keeping)
    for shard in ledger.untouched if losses.lost else ():  # else nobody asks for shares
        chunked = ledger.untouched_chunked(shard)
        losses.before.update(chunked)
        losses.after.update(chunked)
    return losses


def judged(ledger: Ledger, losses: Losses, keeping: Keeping) -> tuple[Verdict, Keeping]:
    """The guard's verdict, and what stays because of it."""
    verdict = judge(
        vanishing=losses.lost,
        before=losses.before,
        after=losses.after,
        limits=ledger.job.config.guard,
        approved=ledger.job.approve_deletions,
    )
    withheld = verdict.withheld_sources
    reread = frozenset(key for key, source in losses.containers.items() if source in withheld)
    return verdict, replace(keeping, withheld=withheld, reread=reread)


def _add(losses: Losses, old: pa.Table, new: pa.Table, keeping: Keeping) -> None:
    """One task's documents, those apart that are in other places too."""
    losses.before.update(chunked_by_source(old))
    losses.after.update(chunked_by_source(new))
    had = old.filter(pc.greater(old["chunk_count"], 0))
    found = pc.index_in(had["id"], value_set=new["id"].combine_chunks())
    now = new["chunk_count"].combine_chunks().take(found.combine_chunks())
    emptied = had.filter(pc.equal(pc.fill_null(now, -1), 0))
    losses.lost.update({(source, "emptied"): number for source, number in count(emptied["source"]).items()})
    gone = had.filter(pc.is_null(found))
    reasons = keeping.reasons_of(gone)
    unseen = keeping.unseen(gone, reasons)
    losses.after.update(count(gone.filter(unseen)["source"]))
    gone = gone.append_column("reason", reasons).filter(pc.invert(unseen))
    grouped = gone.group_by(["source", "reason"], use_threads=False).aggregate([([], "count_all")])
    losses.lost.update({(row["source"], row["reason"]): row["count_all"] for row in grouped.to_pylist()})
    records = pa.concat_tables([gone.select(["key", "source", "kind"]), emptied.select(["key", "source", "kind"])])
    _add_containers(losses, records)


def _add_containers(losses: Losses, lost: pa.Table) -> None:
    records = lost.filter(pc.equal(lost["kind"], RECORD)).group_by(["key", "source"], use_threads=False).aggregate([])
    losses.containers.update(zip(records["key"].to_pylist(), records["source"].to_pylist(), strict=True))


def _add_shared(losses: Losses, settled: Settled) -> None:
    claims, origin = settled.claims, settled.origin
    chunks = claims["chunk_count"].to_numpy()
    losses.before.update(chunked_by_source(claims.filter(pa.array(origin == OLD))))
    losses.after.update(chunked_by_source(claims.filter(pa.array(settled.owns & (origin != UNTOUCHED)))))
    losses.after.subtract(chunked_by_source(claims.filter(pa.array(~settled.owns & (origin == UNTOUCHED)))))
    losses.after.update(chunked_by_source(claims.take(pa.array(settled.previous[settled.inherits]))))
    owners = np.flatnonzero(settled.owns & ~settled.inherits & (chunks == 0) & (settled.previous >= 0))
    emptied = owners[chunks[settled.previous[owners]] > 0]
    previous = claims.take(pa.array(settled.previous[emptied]))
    losses.lost.update({(source, "emptied"): number for source, number in count(previous["source"]).items()})
    _add_containers(
        losses, pa.concat_tables([previous, claims.take(pa.array(emptied))]).select(["key", "source", "kind"])
    )

"""What a run may publish: its tasks' states against the last commit's, the guard's and the gates' verdicts.

The one place where old and new are compared. It goes over the tasks one at a time, first without the hashes of chunks,
because the guard must know all that would vanish before any change is final.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.gates import GateVerdict, verdict
from pipelines.guard import Verdict
from pipelines.table import log, schemas
from pipelines.table.keys import CONTAINER, FILE
from pipelines.table.records import FileEntry, Shard
from pipelines.table.renaming import renames_between
from pipelines.work.deciding.assembly import Assembled, Assembly
from pipelines.work.deciding.identities import lost_failures, lost_outcomes, settle_shared
from pipelines.work.deciding.keeping import Keeping, keeping_of
from pipelines.work.deciding.ledger import Ledger, Rows, failures_of
from pipelines.work.deciding.losses import find_losses, judged
from pipelines.work.deciding.places import Places
from pipelines.work.job import Job
from pipelines.work.results import Counts, TaskResult
from pipelines.work.standing_failures import (
    Settlement,
    last_failures,
    marks_of,
    next_failures,
    place_marks,
    same_duplicates,
    with_streaks,
)
from pipelines.work.stored_plan import DECISIONS, StoredPlan, load_duplicates

Action = Literal["publish", "nothing", "gate", "race"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do with what the tasks wrote. `shards` is the whole next snapshot, files named where they lie now.

    `action`: publish; nothing (no row and no state changed, or only deletions that are withheld); gate (a hard gate
    failed); race (another run committed meanwhile). `listed` counts files and records, those without an id among them;
    `gone` those that the last snapshot has and this one has not, by reason; `renamed` are those of them that are there
    under another id.
    """

    action: Action
    shards: tuple[Shard, ...] = ()
    changes: tuple[FileEntry, ...] = ()
    failures: tuple[FileEntry, ...] = ()
    renames: tuple[FileEntry, ...] = ()
    documents: Mapping[str, int] = field(default_factory=dict)
    by_change: Mapping[str, int] = field(default_factory=dict)
    by_reason: Mapping[str, int] = field(default_factory=dict)
    gone: Mapping[str, int] = field(default_factory=dict)
    renamed: int = 0
    states_changed: int = 0
    listed: int = 0
    failed: int = 0
    guard: Verdict = field(default_factory=lambda: Verdict(sources=(), total=0))
    gate: GateVerdict = field(default_factory=lambda: GateVerdict(level="pass"))
    counts: Counts = field(default_factory=Counts)


def decide(job: Job, plan: StoredPlan, results: Sequence[TaskResult]) -> Decision:
    """Compare, judge, and write `changes`, `failures` and `renames`; nothing the table names is touched."""
    ledger = Ledger(job, plan, results)
    counts = Counts.total(result.counts for result in results)
    head = log.head(ledger.store)
    if (None if head is None else head.version) != plan.base:
        before = -1 if plan.base is None else plan.base
        if log.find_run(ledger.store, job.run_id, before) is None:  # else an earlier attempt died after it committed
            return Decision(action="race", counts=counts)
    places, keeping = Places(ledger), keeping_of(ledger)
    lost = _lost_ids(ledger, places, keeping, counts)
    found = _without_losers(list(failures_of(ledger)), lost, counts)
    failed = counts.failures.total() + plan.known_failures + load_duplicates(ledger.store, job.run_id).num_rows
    listed = plan.listed + sum(number for what, number in counts.documents.items() if what.endswith("\tlisted"))
    gate = verdict(job.config.gates, failed=failed, documents=listed)
    guard, keeping = judged(ledger, find_losses(ledger, places, keeping), keeping)
    outcome = Decision(action="gate", gate=gate, guard=guard, listed=listed, failed=failed, counts=counts)
    if gate.level == "hard":
        return outcome
    old_failures = last_failures(ledger.store, plan.base)
    changes = Rows(ledger, "changes")
    assembled = Assembly(ledger, places, keeping, changes, old_failures["id"].combine_chunks()).assemble()
    found = [with_streaks(rows, assembled.streaks) for rows in found]
    new_failures = next_failures(old_failures, [*found, *lost], _settlement(ledger, assembled, old_failures))
    renames = _renames(ledger, assembled)
    outcome = replace(
        outcome,
        shards=tuple(assembled.shards),
        changes=changes.entries(),
        renames=renames,
        documents=dict(sorted(assembled.documents.items())),
        by_change=dict(assembled.by_change),
        by_reason=dict(assembled.by_reason),
        gone=dict(sorted(assembled.gone.items())),
        renamed=sum(entry.rows for entry in renames),
        states_changed=assembled.states_changed,
    )
    changed = (
        plan.base is None
        or sum(outcome.by_change.values()) > 0
        or outcome.states_changed > 0
        or not same_duplicates(old_failures, new_failures)
    )
    failures = Rows(ledger, "failures")
    failures.add(new_failures)
    return replace(outcome, action="publish" if changed else "nothing", failures=failures.entries() if changed else ())


def _renames(ledger: Ledger, assembled: Assembled) -> tuple[FileEntry, ...]:
    """The documents that are gone and came under another id. What stays, whatever keeps it, is not gone."""
    renames = Rows(ledger, "renames")
    if assembled.gone and assembled.by_change["added"]:
        for rows in renames_between(ledger.store, ledger.plan.old_shards, assembled.shards):
            renames.add(rows)
    return renames.entries()


def _lost_ids(ledger: Ledger, places: Places, keeping: Keeping, counts: Counts) -> list[pa.Table]:
    """The failures of documents whose id is another's, which then count as failed and not as what they were read as."""
    found: list[pa.Table] = []
    for settled in settle_shared(ledger, places, keeping):
        rows = lost_failures(settled, ledger.job.config)
        found.append(rows)
        counts.failures["duplicate-id"] += rows.num_rows
        for (source, status), number in lost_outcomes(settled, ledger.unlisted).items():
            for outcome in (status, "unchanged"):
                taken = min(number, counts.documents[f"{source}\t{outcome}"])
                counts.document(source, outcome, -taken)
                counts.document(source, "failed", taken)
                number -= taken
    return found


def _without_losers(found: Sequence[pa.Table], lost: Sequence[pa.Table], counts: Counts) -> list[pa.Table]:
    """The failures that tasks found, without those of documents that lost their ids: they are failures once."""
    losers = pa.concat_tables([schemas.FAILURES.empty_table(), *lost])
    if not losers.num_rows:
        return list(found)
    losing = place_marks(losers).combine_chunks()
    files = marks_of(losers.filter(pc.is_null(losers["position"]))).combine_chunks()
    kept: list[pa.Table] = []
    for rows in found:
        gone = pc.or_(pc.is_in(place_marks(rows), value_set=losing), pc.is_in(marks_of(rows), value_set=files))
        counts.failures -= Counter(rows.filter(gone)["error"].to_pylist())
        kept.append(rows.filter(pc.invert(gone)))
    return kept


def _settlement(ledger: Ledger, assembled: Assembled, old_failures: pa.Table) -> Settlement:
    decided = ledger.decisions(partial(_answers, old_failures)) if old_failures.num_rows else DECISIONS.empty_table()
    containers = pc.equal(decided["kind"], CONTAINER)
    files = decided.filter(pc.invert(containers))
    return Settlement(
        files=pa.concat_arrays([*marks_of(files).chunks, *_earlier_marks(ledger, files, old_failures)]),
        containers=pc.unique(decided.filter(containers)["uri"]),
        documents_stay=pa.array(sorted(assembled.documents_stay), pa.string()),
        containers_stay=pa.array(sorted(assembled.containers_stay), pa.string()),
        duplicates=load_duplicates(ledger.store, ledger.job.run_id),
    )


def _answers(old_failures: pa.Table, decisions: pa.Table) -> pa.ChunkedArray:
    """Which objects were read or vanish, of those that the last commit's failures are about."""
    of_file = pc.is_in(decisions["id"], value_set=old_failures["id"].combine_chunks())
    of_container = pc.is_in(decisions["uri"], value_set=old_failures["uri"].combine_chunks())
    return pc.and_(pc.not_equal(decisions["action"], "keep"), pc.or_(of_file, of_container))


def _earlier_marks(ledger: Ledger, files: pa.Table, old_failures: pa.Table) -> list[pa.Array]:
    """`marks_of` those `files` that were at another address when they failed. (A record may have a file's id too.)"""
    same_id = old_failures.filter(pc.is_in(old_failures["id"], value_set=files["id"].combine_chunks()))
    if not same_id.num_rows:
        return [pa.array([], pa.string())]
    found = []
    for place in range(len(ledger.results)):
        states = ledger.old(place).slim(["id", "uri", "kind"])
        asked = pc.is_in(states["id"], value_set=same_id["id"].combine_chunks())
        found += marks_of(states.filter(pc.and_(pc.equal(states["kind"], FILE), asked))).chunks
    return [pa.array([], pa.string()), *found]

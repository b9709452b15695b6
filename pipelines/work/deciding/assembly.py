"""The next snapshot's shards, and what changed on the way to them: task by task, everything settled already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.documents.failures import TRANSIENT
from pipelines.reconcile import Changes, reconcile, settle, states_changed
from pipelines.table import shards
from pipelines.table.keys import CONTAINER, name_of
from pipelines.table.records import FileEntry, Shard
from pipelines.work.deciding.arrivals import COLUMNS, Arrivals
from pipelines.work.deciding.identities import NEW, OLD, UNTOUCHED, Settled, settle_shared
from pipelines.work.deciding.keeping import Keeping
from pipelines.work.deciding.ledger import EMPTY_STATES, Ledger, Rows, count, documents_only
from pipelines.work.deciding.places import Places
from pipelines.work.deciding.positions import Positions, replaced, union, without, without_lost
from pipelines.work.old_rows import OldShards, same_rows
from pipelines.work.results import TaskResult
from pipelines.work.standing_failures import marks_of

_HASHES = ["id", "chunk_hashes"]
_KNOWN = ["id", "key", "kind"]

INHERITED = ("encoding", "confidence", "hash", "strategy", "chunk_count", "chunk_hashes")
"""What a failed document's state says of the rows it kept."""


@dataclass(slots=True, kw_only=True)
class Assembled:
    """The shards of the next snapshot, files named where they lie now, and what is different from the last one.

    `documents_stay` (standing_failures.marks_of) are documents among those `watched`, `containers_stay` addresses of
    containers, that were put back: what is known of them stands. `gone` counts the documents, files and records, that
    the last snapshot has and the next one has not, by reason. `streaks` says how often in a row containers were not
    known whole (by name and address, as standing_failures.marks_of).
    """

    shards: list[Shard] = field(default_factory=list)
    documents: Counter[str] = field(default_factory=Counter)
    by_change: Counter[str] = field(default_factory=Counter)
    by_reason: Counter[str] = field(default_factory=Counter)
    states_changed: int = 0
    documents_stay: set[str] = field(default_factory=set)
    containers_stay: set[str] = field(default_factory=set)
    gone: Counter[str] = field(default_factory=Counter)
    streaks: dict[str, int] = field(default_factory=dict)

    def add(self, changes: Changes) -> None:
        """Count some more changes."""
        self.by_change.update(changes.by_change)
        self.by_reason.update(changes.by_reason)


@dataclass(slots=True)
class _Shared:
    """What was settled for the rows of one task about ids that are elsewhere too, by position in its states."""

    new: list[Positions] = field(default_factory=list)
    dropped: list[Positions] = field(default_factory=list)
    old: list[Positions] = field(default_factory=list)
    put_back: list[Positions] = field(default_factory=list)
    inherits: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # row to (origin, place, row)


class Assembly:
    """Compares and writes. `watched` are ids of documents that have a failure in the last commit."""

    def __init__(self, ledger: Ledger, places: Places, keeping: Keeping, changes: Rows, watched: pa.Array) -> None:
        self._ledger = ledger
        self._places = places
        self._keeping = keeping
        self._changes = changes
        self._watched = watched
        self._shared: dict[int, _Shared] = {}
        self._lost: dict[int, list[Positions]] = {}  # by untouched shard
        self._arrivals = Arrivals(self._add)
        self._found = Assembled()

    def assemble(self) -> Assembled:
        """Everything, in key order."""
        for settled in settle_shared(self._ledger, self._places, self._keeping):
            self._compare_shared(settled)
        by_task = {result.index: place for place, result in enumerate(self._ledger.results)}
        for kind, index in self._ledger.plan.layout:
            if kind == "task":
                self._found.shards.append(self._task(by_task[index]))
            else:
                self._found.shards.append(self._untouched(index))
        self._arrivals.flush()
        return self._found

    # ids that are in several places

    def _compare_shared(self, settled: Settled) -> None:
        origin, owns = settled.origin, settled.owns
        everything = np.ones(len(origin), bool)
        for place in np.unique(settled.place[origin != UNTOUCHED]).tolist():
            shared = self._shared.setdefault(place, _Shared())
            shared.new.append(settled.rows(place, everything, NEW))
            shared.dropped.append(settled.rows(place, ~owns, NEW))
            shared.old.append(settled.rows(place, everything, OLD))
            shared.put_back.append(settled.rows(place, owns, OLD))
        for shard in np.unique(settled.place[(origin == UNTOUCHED) & ~owns]).tolist():
            self._lost.setdefault(shard, []).append(settled.rows(shard, ~owns, UNTOUCHED))
        for heir in np.flatnonzero(settled.inherits).tolist():
            before = settled.previous[heir]
            self._shared[int(settled.place[heir])].inherits[int(settled.row[heir])] = (
                int(origin[before]),
                int(settled.place[before]),
                int(settled.row[before]),
            )
        owners = np.flatnonzero(owns & (origin == NEW) & ~settled.inherits)
        before = settled.previous[owners]
        self._add(reconcile(self._hashes(settled, before[before >= 0]), self._hashes(settled, owners), {}))

    def _hashes(self, settled: Settled, claims: Positions) -> pa.Table:
        """The chunk hashes of some claims."""
        wanted = np.zeros(len(settled.origin), bool)
        wanted[claims] = True
        found = [EMPTY_STATES.select(_HASHES)]
        for origin in (NEW, OLD, UNTOUCHED):
            for place in np.unique(settled.place[wanted & (settled.origin == origin)]).tolist():
                rows = pa.array(settled.rows(place, wanted, origin))
                if origin == NEW:
                    states = self._ledger.new_states(place, _HASHES)
                elif origin == OLD:
                    states = self._ledger.old(place).slim(_HASHES)
                else:
                    states = self._ledger.untouched_states(place, _HASHES)
                found.append(states.select(_HASHES).take(rows))
        return pa.concat_tables(found)

    def _add(self, changes: Changes) -> None:
        self._changes.add(changes.table)
        self._found.add(changes)

    # one task

    def _task(self, place: int) -> Shard:
        ledger, result = self._ledger, self._ledger.results[place]
        task = ledger.plan.tasks[result.index]
        reusable, shared = ledger.reusable(place), self._shared.get(place)
        shard = Shard(
            low=task.low,
            high=task.high,
            input_bytes=task.input_bytes,
            chunks=result.chunks,
            documents=result.documents,
        )
        if reusable is not None and shared is None and self._is_settled(result):
            self._count(ledger.new_states(place, ["source", "kind"]))
            self._found.states_changed += result.states_changed
            if result.states_changed:
                self._note_gone(ledger.old(place).slim(_KNOWN), ledger.new_states(place, ["id"]))
            documents = result.documents if result.states_changed else reusable.documents
            return replace(shard, chunks=reusable.chunks, documents=documents)
        if not task.old_shards and shared is None and not ledger.broken:
            came = ledger.new_states(place, COLUMNS)
            self._arrivals.add(came)
            self._count(came)
            self._found.states_changed += came.num_rows
            return shard
        old, written = ledger.old(place), ledger.new_states(place)
        states = self._with_broken(written, old.states)
        inherited: list[pa.Table] = []
        if shared and shared.inherits:
            states, inherited = self._with_inherited(states, shared.inherits)
        dropped = union(shared.dropped) if shared else union([])
        put_back = old.states.take(pa.array(union(shared.put_back) if shared else union([])))
        mine = without(states, shared.new if shared else [])
        before = without(old.states, shared.old if shared else [])
        kept = self._kept(before, mine)
        settled = settle(before, mine, kept) if len(kept) else mine
        self._add(reconcile(before, settled, self._reasons(before, settled)))
        self._note_gone(before, settled)
        final = settled
        if shared:
            staying = np.setdiff1d(union(shared.new), dropped)
            final = pa.concat_tables([settled, states.take(pa.array(staying)), put_back.select(settled.column_names)])
        self._count(final)
        as_written = final is written  # then the task has compared it
        differing = result.states_changed if as_written else states_changed(old.states, final)
        self._found.states_changed += differing
        kept = pa.concat_arrays([kept, *put_back["id"].chunks])
        self._note_stays(old.states, mine, kept)
        if reusable is not None and not differing:
            shard = replace(shard, documents=reusable.documents)
        elif not as_written:
            shard = replace(shard, documents=ledger.put(final, "documents"))
        if reusable is not None and not (result.rows_changed if as_written else not same_rows(old.states, final)):
            return replace(shard, chunks=reusable.chunks)
        lost = states.take(pa.array(dropped))
        return replace(shard, chunks=self._chunks(result.chunks, old, lost, final, kept, inherited))

    def _is_settled(self, result: TaskResult) -> bool:
        """Whether the task's own word is enough: no row changed, and no state that may have to be put back."""
        if result.rows_changed or {part.key for part in result.containers} & self._ledger.broken.keys():
            return False
        keeping = self._keeping
        return not result.states_changed or not (keeping.withheld or keeping.unread or keeping.unreplaced)

    def _kept(self, before: pa.Table, mine: pa.Table) -> pa.Array:
        """The ids whose old documents stay, or are put back."""
        found = pc.index_in(before["id"], value_set=mine["id"].combine_chunks())
        stays = pc.and_(pc.is_null(found), self._keeping.kept(before))
        now = mine["chunk_count"].combine_chunks().take(found.combine_chunks())
        emptied = pc.and_(pc.greater(before["chunk_count"], 0), pc.equal(pc.fill_null(now, -1), 0))
        withheld = pc.is_in(before["source"], value_set=pa.array(sorted(self._keeping.withheld), pa.string()))
        again = pc.is_in(before["id"], value_set=pa.array(sorted(self._keeping.reread), pa.string()))
        stays = pc.or_(stays, pc.or_(pc.and_(emptied, withheld), pc.and_(pc.is_valid(found), again)))
        return pa.concat_arrays([pa.array([], pa.string()), *before.filter(stays)["id"].chunks])

    def _reasons(self, before: pa.Table, settled: pa.Table) -> dict[str, str]:
        """Why documents are gone, where it is not simply that they were removed."""
        gone = before.filter(pc.invert(pc.is_in(before["id"], value_set=settled["id"].combine_chunks())))
        named = gone.filter(pc.not_equal(self._keeping.reasons_of(gone), "removed"))
        return dict(zip(named["id"].to_pylist(), self._keeping.reasons_of(named).to_pylist(), strict=True))

    def _with_broken(self, states: pa.Table, old: pa.Table) -> pa.Table:
        """The states, with containers that are not known whole as failed ones.

        If that may heal by itself, the container is as unknown as before.
        """
        broken = self._ledger.broken
        rows = [row for row, key in enumerate(states["id"].to_pylist()) if key in broken] if broken else []
        if not rows:
            return states
        found = states.take(pa.array(rows)).to_pylist()
        for state in found:
            earlier = old.filter(pc.equal(old["id"], state["id"])).to_pylist()
            state |= {"status": "failed", "error": broken[state["id"]]}
            state["fail_streak"] = 1 + (earlier[0]["fail_streak"] if earlier else 0)
            self._found.streaks[f"{name_of(state['id'])}\0{state['uri']}"] = state["fail_streak"]
            if state["error"] in TRANSIENT:
                state["validator"] = earlier[0]["validator"] if earlier else None
        return replaced(states, rows, found)

    def _with_inherited(
        self, states: pa.Table, heirs: Mapping[int, tuple[int, int, int]]
    ) -> tuple[pa.Table, list[pa.Table]]:
        """The states with what failed documents take over from where their ids were, and the chunks they get."""
        found = dict(zip(heirs, states.take(pa.array(list(heirs))).to_pylist(), strict=True))
        chunks: list[pa.Table] = []
        for origin, place in sorted({(origin, place) for origin, place, _ in heirs.values()}):
            owner = self._ledger.old(place) if origin == OLD else self._ledger.old_shard(place)
            mine = {row: earlier for row, (of, at, earlier) in heirs.items() if (of, at) == (origin, place)}
            before = owner.states.take(pa.array(list(mine.values())))
            for row, earlier in zip(mine, before.select(INHERITED).to_pylist(), strict=True):
                found[row] |= earlier
            rows = None if self._ledger.job.scratch is not None else owner.rows_of(before["id"].combine_chunks())
            chunks += [] if rows is None else [rows]
        return replaced(states, list(found), list(found.values())), chunks

    def _note_gone(self, before: pa.Table, now: pa.Table) -> None:
        gone = documents_only(before.filter(pc.invert(pc.is_in(before["id"], value_set=now["id"].combine_chunks()))))
        self._found.gone.update(count(self._keeping.reasons_of(gone)))

    def _note_stays(self, before: pa.Table, mine: pa.Table, kept: pa.Array) -> None:
        """Remember whose failures stand: documents that stay, and containers that should have vanished and stay."""
        if not len(kept):
            return
        stays = before.filter(pc.is_in(before["id"], value_set=kept))
        watched = stays.filter(pc.is_in(stays["id"], value_set=self._watched))
        self._found.documents_stay.update(marks_of(watched).to_pylist())
        containers = stays.filter(pc.equal(stays["kind"], CONTAINER))
        unlisted = pc.invert(pc.is_in(containers["id"], value_set=mine["id"].combine_chunks()))
        self._found.containers_stay.update(containers.filter(unlisted)["uri"].to_pylist())

    def _chunks(
        self,
        written: FileEntry,
        old: OldShards,
        dropped: pa.Table,
        final: pa.Table,
        kept: pa.Array,
        inherited: Sequence[pa.Table],
    ) -> FileEntry:
        """The task's chunk file, without the rows of documents that lost their ids, and with those that stay."""
        if self._ledger.job.scratch is not None:
            return replace(written, path="", rows=pc.sum(final["chunk_count"]).as_py() or 0)
        dropped = dropped.filter(pc.greater(dropped["chunk_count"], 0))
        # An owner that failed has the rows of before, which may say that they are the loser's. A loser that failed may
        # have brought the rows of an owner that is put back.
        owners = final.filter(pc.is_in(final["id"], value_set=dropped["id"].combine_chunks()))
        failed = owners.filter(pc.equal(owners["status"], "failed"))["id"].combine_chunks()
        heirs = pa.concat_arrays([kept, *(rows for table in inherited for rows in table["parent_id"].chunks)])
        kept = pa.concat_arrays([kept, failed.filter(pc.invert(pc.is_in(failed, value_set=heirs)))])
        returning = pc.is_in(final["id"], value_set=pa.concat_arrays([heirs, kept]))
        has_rows = old.states.filter(
            pc.and_(pc.is_in(old.states["id"], value_set=kept), pc.greater(old.states["chunk_count"], 0))
        )
        if not dropped.num_rows and not has_rows.num_rows and not inherited:
            return written
        rows = shards.read(self._ledger.store, written.path)
        if dropped.num_rows:
            rows = without_lost(rows, dropped, final.filter(pc.invert(returning)))
        returned = old.rows_of(has_rows["id"].combine_chunks())
        return self._ledger.put(
            pa.concat_tables([rows, *inherited, *([] if returned is None else [returned])]), "chunks"
        )

    # a shard that no task touched

    def _untouched(self, index: int) -> Shard:
        ledger, shard = self._ledger, self._ledger.plan.old_shards[index]
        lost = self._lost.get(index)
        if lost is None:
            self._found.documents.update(ledger.untouched_documents(index))
            return shard
        states = ledger.untouched_states(index)
        gone, final = states.take(pa.array(union(lost))), without(states, lost)
        self._count(final)
        self._found.states_changed += gone.num_rows
        chunks = shard.chunks
        if (pc.sum(gone["chunk_count"]).as_py() or 0) > 0:
            if ledger.job.scratch is None:
                rows = shards.read(ledger.store, chunks.path)
                chunks = ledger.put(without_lost(rows, gone, final), "chunks")
            else:
                chunks = replace(chunks, path="", rows=pc.sum(final["chunk_count"]).as_py() or 0)
        return replace(shard, chunks=chunks, documents=ledger.put(final, "documents"))

    def _count(self, states: pa.Table) -> None:
        self._found.documents.update(count(documents_only(states)["source"]))

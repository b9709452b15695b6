"""What planning needs of the last commit, read shard by shard: records are counted and let go, they may be millions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning import CONTESTED, HELD, STATE_COLUMNS, StateSlice
from pipelines.storage.store import Store
from pipelines.table import schemas
from pipelines.table.keys import FILE, RECORD
from pipelines.table.reading import each_documents
from pipelines.table.records import Snapshot
from pipelines.table.shards import read
from pipelines.work.deciding.ledger import count, documents_only

ROWS = 1 << 17
"""Rows of one slice of states, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCommit:
    """`states` of files and containers in order, their records as `held` (planning.HELD).

    `refused` are files, as pairs of id and address, that were left out because another file has their id; records that
    were for the same reason, and files because of a record, are `contested` (planning.CONTESTED). `without_state` are
    the addresses of such files. `documents` counts all documents of each shard by source. `failed` has the address
    of each failure, but of those in `refused`, which every plan finds anew.
    """

    states: tuple[StateSlice, ...]
    held: pa.Table
    contested: pa.Table
    refused: frozenset[tuple[str, str]]
    without_state: frozenset[str]
    documents: tuple[Mapping[str, int], ...] = ()
    failed: pa.ChunkedArray = field(default_factory=lambda: pa.chunked_array([], pa.string()))

    @property
    def has_records(self) -> bool:
        """Whether there is any container."""
        return len(self.held) > 0


def read_last_commit(store: Store, base: Snapshot | None, heals: Collection[str]) -> LastCommit:
    """What `base` holds. `heals` are the failure classes that are worth another try."""
    if base is None:
        return LastCommit(
            states=(),
            held=HELD.empty_table(),
            contested=CONTESTED.empty_table(),
            refused=frozenset(),
            without_state=frozenset(),
        )
    failures = _failures(store, base)
    lost = pc.equal(failures["stage"], "id")
    losers = failures.filter(lost)
    of_object = pc.and_(lost, pc.is_null(failures["position"]))
    wanted = pa.array(sorted(set(losers["id"].to_pylist())), pa.string())
    columns = [*STATE_COLUMNS, "key"]
    states: list[StateSlice] = []
    waiting: list[pa.Table] = []
    rows_waiting = 0
    held = [HELD.empty_table()]
    owners: list[tuple[str, str, str]] = []
    documents: list[Mapping[str, int]] = []
    for index, rows in enumerate(each_documents(store, base, columns)):
        high = base.shards[index].high
        if len(wanted):
            found = rows.filter(pc.is_in(rows["id"], value_set=wanted)).select(["id", "key", "kind"])
            owners += zip(*(found[name].to_pylist() for name in ("id", "key", "kind")), strict=True)
        documents.append(count(documents_only(rows)["source"]))
        is_record = pc.equal(rows["kind"], RECORD)
        if pc.any(is_record).as_py():
            held.append(_held(rows.filter(is_record), index, heals))
            rows = rows.filter(pc.invert(is_record))
        waiting.append(rows.select(STATE_COLUMNS))
        rows_waiting += rows.num_rows
        if high is None or rows_waiting >= ROWS:
            # (shards without states have plain columns)
            some = [each for each in waiting if each.num_rows] or waiting[:1]
            states.append(StateSlice(high=high, rows=pa.concat_tables(some).unify_dictionaries().combine_chunks()))
            waiting, rows_waiting = [], 0
    owner = {id_: (key, kind) for id_, key, kind in owners}
    refused, contested, without_state = set(), set(), set()
    for id_, uri, position in zip(*(losers[name].to_pylist() for name in ("id", "uri", "position")), strict=True):
        key, kind = owner.get(id_, ("", FILE))  # no object has the empty key: what lost to nobody may try again
        if position is None and kind == FILE:
            refused.add((id_, uri))
            continue
        contested.add((uri, key))
        if position is None:
            without_state.add(uri)
    uris, keys = zip(*sorted(contested), strict=True) if contested else ((), ())
    return LastCommit(
        states=tuple(states),
        held=pa.concat_tables(held),
        contested=pa.table([pa.array(uris, pa.string()), pa.array(keys, pa.string())], schema=CONTESTED),
        refused=frozenset(refused),
        without_state=frozenset(without_state),
        documents=tuple(documents),
        failed=failures.filter(pc.invert(of_object))["uri"],
    )


def _failures(store: Store, base: Snapshot) -> pa.Table:
    names = ["id", "uri", "stage", "position"]
    tables = [read(store, entry.path, columns=names) for entry in base.failures]
    return pa.concat_tables([schemas.FAILURES.empty_table().select(names), *tables])


def _held(records: pa.Table, shard: int, heals: Collection[str]) -> pa.Table:
    failed = pc.equal(records["status"], "failed")
    again = pc.and_(failed, pc.is_in(records["error"], value_set=pa.array(sorted(heals), pa.string())))
    columns = {"key": records["key"], "failed": failed.cast(pa.int64()), "retry": pc.fill_null(again, False)}
    grouped = pa.table(columns).group_by("key", use_threads=False)
    found = grouped.aggregate([([], "count_all"), ("failed", "sum"), ("retry", "any")])
    values = {
        "key": found["key"],
        "shard": pa.array(np.full(found.num_rows, shard, np.int32)),
        "records": found["count_all"],
        "failed": found["failed_sum"],
        "retry": found["retry_any"],
    }
    return pa.table({name: values[name] for name in HELD.names}).cast(HELD)

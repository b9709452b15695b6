"""The failures of a snapshot: those of this run, and older ones that still stand because nothing was tried again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.storage.store import Store
from pipelines.table import schemas, shards
from pipelines.table.snapshot import load


def last_failures(store: Store, version: int | None) -> pa.Table:
    """The failure rows of one version; none for None."""
    snapshot = None if version is None else load(store, version)
    return _concat([shards.read(store, entry.path) for entry in (() if snapshot is None else snapshot.failures)])


def next_failures(
    old: pa.Table, found: Sequence[pa.Table], duplicates: pa.Table, read_ids: pa.Array, gone_ids: pa.Array
) -> pa.Table:
    """`found` in this run, this run's `duplicates` (planning.DUPLICATES), and the rows of `old` that nothing settled.

    Reading a document again settles its old row, and so does its vanishing.
    """
    settled = pc.or_(pc.is_in(old["id"], value_set=read_ids), pc.is_in(old["id"], value_set=gone_ids))
    stands = old.filter(pc.invert(pc.or_(pc.equal(old["stage"], "id"), settled)))
    return _concat([stands, *found, _duplicate_rows(duplicates)])


def same_duplicates(old: pa.Table, new: pa.Table) -> bool:
    """Whether the same objects are left out because their id is another's."""
    return _duplicates(old) == _duplicates(new)


def _duplicate_rows(duplicates: pa.Table) -> pa.Table:
    kept = duplicates["kept_uri"].to_pylist()
    message = [f"the id is already that of {uri}; give one of the sources an id_prefix" for uri in kept]
    constant = {"position": None, "stage": "id", "error": "duplicate-id", "fail_streak": 1, "kept_chunks": 0}
    columns = {"id": duplicates["id"], "uri": duplicates["uri"], "message": pa.array(message, pa.string())}
    arrays = [
        columns[field.name] if field.name in columns else pa.array([constant[field.name]] * len(kept), field.type)
        for field in schemas.FAILURES
    ]
    return pa.table(arrays, schema=schemas.FAILURES)


def _duplicates(failures: pa.Table) -> set[tuple[Any, ...]]:
    rows = failures.filter(pc.equal(failures["stage"], "id"))
    return set(zip(rows["id"].to_pylist(), rows["uri"].to_pylist(), rows["message"].to_pylist(), strict=True))


def _concat(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables([schemas.FAILURES.empty_table(), *tables])

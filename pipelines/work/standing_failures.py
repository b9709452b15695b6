"""The failures of a snapshot: those of this run, and older ones that still stand because nothing was tried again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.storage.store import Store
from pipelines.table import schemas, shards
from pipelines.table.snapshot import load


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Which failures of the last commit this run has an answer to.

    `files` (`marks_of` each) and `containers` (addresses) are the objects that were read or vanish. `documents_stay`
    (`marks_of` each) and `containers_stay` (addresses) were put back as they were: what is said of them stands.
    `duplicates` (planning.DUPLICATES) are the objects whose id another object has, found anew by every plan.
    """

    files: pa.Array
    containers: pa.Array
    documents_stay: pa.Array
    containers_stay: pa.Array
    duplicates: pa.Table


def marks_of(rows: pa.Table) -> pa.ChunkedArray:
    """A document of one object, by `id` and `uri`: objects may fight over an id."""
    return pc.binary_join_element_wise(rows["id"], rows["uri"], "\0")


def place_marks(rows: pa.Table) -> pa.ChunkedArray:
    """A document by `id`, `uri` and the record that it is; what follows in a position is a place in its text."""
    record = pc.replace_substring_regex(pc.fill_null(rows["position"], ""), ":.*", "")
    return pc.binary_join_element_wise(rows["id"], rows["uri"], record, "\0")


def last_failures(store: Store, version: int | None) -> pa.Table:
    """The failure rows of one version; none for None."""
    snapshot = None if version is None else load(store, version)
    return _concat([shards.read(store, entry.path) for entry in (() if snapshot is None else snapshot.failures)])


def next_failures(old: pa.Table, found: Sequence[pa.Table], settlement: Settlement) -> pa.Table:
    """`found` in this run, its duplicates, and the rows of `old` that nothing settled.

    Reading an object again settles what was said of it and of its records, and so does its vanishing.
    """
    of_object = pc.and_(pc.is_null(old["position"]), pc.equal(old["stage"], "id"))
    marks = marks_of(old)
    tried = pc.or_(pc.is_in(marks, value_set=settlement.files), pc.is_in(old["uri"], value_set=settlement.containers))
    of_document = pc.is_in(marks, value_set=settlement.documents_stay)
    stays = pc.or_(of_document, pc.is_in(old["uri"], value_set=settlement.containers_stay))
    stands = pc.and_(pc.invert(of_object), pc.or_(pc.invert(tried), stays))
    return _concat([old.filter(stands), *found, _duplicate_rows(settlement.duplicates)])


def with_streaks(found: pa.Table, streaks: Mapping[str, int]) -> pa.Table:
    """`found`, where what is said of whole containers says how often in a row (by `marks_of`)."""
    rows = pc.index_in(marks_of(found), value_set=pa.array(list(streaks), pa.string()))
    if rows.null_count == len(rows):
        return found
    counted = pa.array(list(streaks.values()), pa.int32()).take(rows.combine_chunks())
    index = found.schema.get_field_index("fail_streak")
    return found.set_column(index, found.schema.field(index), pc.coalesce(counted, found["fail_streak"]))


def same_duplicates(old: pa.Table, new: pa.Table) -> bool:
    """Whether the same objects and records are left out because their id is another's."""
    return _duplicates(old) == _duplicates(new)


def duplicate_message(uri: str, position: str | None = None) -> str:
    """Why an object or a record whose id is that of another one leaves no chunk."""
    where = uri if position is None else f"{position} of {uri}"
    return f"the id is already that of {where}; give one of the sources an id_prefix"


def _duplicate_rows(duplicates: pa.Table) -> pa.Table:
    message = [duplicate_message(uri) for uri in duplicates["kept_uri"].to_pylist()]
    constant = {"position": None, "stage": "id", "error": "duplicate-id", "fail_streak": 1, "kept_chunks": 0}
    columns = {"id": duplicates["id"], "uri": duplicates["uri"], "message": pa.array(message, pa.string())}
    arrays = [
        columns[field.name] if field.name in columns else pa.array([constant[field.name]] * len(message), field.type)
        for field in schemas.FAILURES
    ]
    return pa.table(arrays, schema=schemas.FAILURES)


def _duplicates(failures: pa.Table) -> set[tuple[Any, ...]]:
    rows = failures.filter(pc.equal(failures["stage"], "id"))
    columns = (rows[name].to_pylist() for name in ("id", "uri", "position", "message"))
    return set(zip(*columns, strict=True))


def _concat(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables([schemas.FAILURES.empty_table(), *tables])

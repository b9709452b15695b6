"""A commit against the one before it: the changes and renames it tells are exactly those between the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.operations.verifying.problems import Problem
from pipelines.reconcile import net
from pipelines.storage.store import Store
from pipelines.table import layout, schemas, shards
from pipelines.table.differing import StatePairs
from pipelines.table.records import Snapshot
from pipelines.table.renaming import renames_between


def check_changes(store: Store, old: Snapshot | None, new: Snapshot) -> Iterator[Problem]:
    """old − deletions + upserts == new, as id → (content_hash, row_hash), by the states of both."""
    where = layout.commit_file(new.run_id)
    told = pa.concat_tables([schemas.CHANGES.empty_table(), *(shards.read(store, entry.path) for entry in new.changes)])
    counted = Counter(told["change"].to_pylist())
    said = {name: number for name, number in new.stats.get("changes", {}).items() if number}
    if said != counted:
        yield Problem(where, f"counts the changes {said}; the changes table has {dict(counted)}")
    pairs = StatePairs(store, old, new)
    for number, (before, after) in enumerate(pairs):
        difference = net(before, after)
        mine = pairs.of_pass(told, "parent_id", number)
        deleted = pc.equal(mine["change"], "deleted")
        yield from _compared("deleted", mine.filter(deleted), difference.deletions, where)
        yield from _compared("upserted", mine.filter(pc.invert(deleted)), difference.upserts, where)


def check_renames(store: Store, old: Snapshot | None, new: Snapshot) -> Iterator[Problem]:
    """Documents that are there under another id, by the states of both. Nothing of a commit that tells of none yet."""
    if "renamed" not in new.stats:
        return
    where = layout.commit_file(new.run_id)
    rows = [row for entry in new.renames for row in shards.read(store, entry.path).to_pylist()]
    if new.stats["renamed"] != len(rows):
        yield Problem(where, f"counts {new.stats['renamed']} renames; the renames table has {len(rows)}")
    told = {row["old_id"]: row for row in rows}
    if len(told) != len(rows):
        yield Problem(where, "its renames name a document twice")
    for found in renames_between(store, () if old is None else old.shards, new.shards):
        for row in found.to_pylist():
            said = told.pop(row["old_id"], None)
            if said is None:
                yield Problem(where, f"its renames do not say that {row['old_id']!r} is {row['new_id']!r} now")
            elif said != row:
                yield Problem(where, f"its renames have {said}; the documents' states say {row}")
    for row in told.values():
        yield Problem(where, f"its renames say that {row['old_id']!r} is {row['new_id']!r} now, which is not so")


def _compared(what: str, told: pa.Table, found: pa.Table, where: str) -> Iterator[Problem]:
    hashes = dict(zip(*(told[name].to_pylist() for name in ("id", "content_hash")), strict=True))
    if len(hashes) != told.num_rows:
        yield Problem(where, f"its changes name a chunk to be {what} twice")
    for id_, content in zip(*(found[name].to_pylist() for name in ("id", "content_hash")), strict=True):
        said = hashes.pop(id_, None)
        if said is None:
            yield Problem(where, f"its changes do not say that {id_!r} is {what}")
        elif said != content:
            yield Problem(where, f"its changes give {id_!r} another content_hash than the document's state")
    for id_ in hashes:
        yield Problem(where, f"its changes say that {id_!r} is {what}, which is not so")

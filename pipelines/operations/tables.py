"""Finding a table from what stands on a command line, and what lies where in it."""

from __future__ import annotations

from bisect import bisect_right

from pipelines.config.load import load_config
from pipelines.errors import TableStateError
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, snapshot
from pipelines.table.records import Shard, Snapshot


def open_table(target: str) -> Store:
    """The table of a configuration (`….yaml`, `….yml`), or the one at an address."""
    if target.endswith((".yaml", ".yml")):
        config = load_config(target)
        return open_store(config.output.path, config.storage.reveal())
    layout.check_address(target)
    return open_store(target)


def load_snapshot(store: Store, version: int | None = None) -> Snapshot:
    """The table as of `version` (None: now). TableStateError when there is no commit at all."""
    found = snapshot.load(store, version)
    if found is None:
        raise TableStateError(f"{store.address}: holds no table: nothing was committed there yet")
    return found


def shard_of(table: Snapshot, document_id: str) -> Shard:
    """The shard that owns a document id."""
    return table.shards[bisect_right([shard.low for shard in table.shards], document_id) - 1]

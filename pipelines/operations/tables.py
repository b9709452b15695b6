"""Finding a table from what stands on a command line, and what lies where in it."""

from __future__ import annotations

from pipelines.config.load import load_config
from pipelines.errors import TableStateError
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, snapshot
from pipelines.table.reading import may_hold
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


def shards_with(table: Snapshot, document_id: str) -> list[Shard]:
    """The shards that may hold a document: records lie where their container does, whatever their ids."""
    return [shard for shard in table.shards if may_hold(shard.documents, document_id)]

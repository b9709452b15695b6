"""The Parquet files that are the corpus right now."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.operations.tables import load_snapshot, open_table


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFile:
    """One live chunk file. `address` is complete; `bytes` and `rows` are what the commit recorded."""

    address: str
    rows: int
    bytes: int
    sha256: str


def live_files(target: str) -> list[LiveFile]:
    """The live chunk files of a table (a configuration or an address), in the order of their documents' ids."""
    store = open_table(target)
    entries = [shard.chunks for shard in load_snapshot(store).shards]
    return [
        LiveFile(address=store.child(entry.path), rows=entry.rows, bytes=entry.bytes, sha256=entry.sha256)
        for entry in entries
    ]


def live_folders(target: str) -> list[str]:
    """The folders that hold the live chunk files and nothing else; one for a table with whole snapshots."""
    return sorted({live.address.rpartition("/")[0] for live in live_files(target)})

"""Looking into a table: how a run ended, a document with its chunks, one chunk."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from pipelines.config.model import Source
from pipelines.documents.formats.names import is_container
from pipelines.errors import TableStateError, UsageError
from pipelines.operations.tables import load_snapshot, shards_with
from pipelines.storage.store import Store
from pipelines.table import layout, log, shards
from pipelines.table.reading import read_chunks
from pipelines.table.records import Snapshot
from pipelines.table.schemas import DOCUMENTS

LATEST = "latest"
CHUNK_COLUMNS = ("id", "chunk_index", "start_index", "end_index", "cut", "headings", "token_count", "context", "text")
STATE_COLUMNS = tuple(name for name in DOCUMENTS.names if name != "chunk_hashes")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    """A document's state and its chunks, in order, with CHUNK_COLUMNS. `failure` says why a failed one failed."""

    state: dict[str, Any]
    failure: str | None
    chunks: list[dict[str, Any]]


def run_outcome(store: Store, run: str) -> dict[str, Any]:
    """`outcome.json` of a run, or of the newest run that has one (`latest`)."""
    run_id = _latest_run(store) if run == LATEST else run
    try:
        outcome: dict[str, Any] = json.loads(store.read(layout.run_file(_checked(run_id), "outcome.json")))
    except FileNotFoundError:
        raise UsageError(f"{store.address}: there is no outcome of a run {run_id!r}") from None
    except ValueError as error:
        raise TableStateError(f"{store.address}: the outcome of run {run_id} cannot be read: {error}") from None
    return outcome


def snapshot_of(store: Store, run: str | None) -> Snapshot:
    """The table as a run committed it; None or `latest`: as it is."""
    if run is None or run == LATEST:
        return load_snapshot(store)
    version = log.find_run(store, _checked(run), above=-1)
    if version is None:
        raise UsageError(f"{store.address}: the run {run!r} committed nothing")
    return load_snapshot(store, version)


def show_document(store: Store, table: Snapshot, document_id: str) -> ShownDocument:
    """One document by its id. UsageError when the table does not have it."""
    wanted = pc.field("id") == document_id
    for shard in shards_with(table, document_id):
        states = shards.read(store, shard.documents.path, STATE_COLUMNS, filters=wanted).to_pylist()
        if states:
            break
    else:
        why = "; what is in it are records, with ids of their own" if is_container(Source(path=""), document_id) else ""
        raise UsageError(f"{store.address}: version {table.version} has no document {document_id!r}{why}")
    mine = pc.field("parent_id") == document_id
    chunks = shards.read(store, shard.chunks.path, CHUNK_COLUMNS, filters=mine).to_pylist()
    failures = [
        failure["message"]
        for entry in table.failures
        for failure in shards.read(store, entry.path, ["stage", "message"], filters=wanted).to_pylist()
        if failure["stage"] != "id"  # others failed because the id is this one's
    ]
    return ShownDocument(
        state=states[0],
        failure=failures[0] if failures else None,
        chunks=sorted(chunks, key=lambda chunk: int(chunk["chunk_index"])),
    )


def show_chunk(store: Store, table: Snapshot, chunk_id: str) -> dict[str, Any]:
    """The whole row of one chunk by its id, `{document id}#{n}`. UsageError when the table does not have it."""
    _, separator, number = chunk_id.rpartition("#")
    if not separator or not re.fullmatch(r"[0-9]+", number):
        raise UsageError(f"{chunk_id!r} is not the id of a chunk; they look like guide/start.md#0")
    rows: list[dict[str, Any]] = read_chunks(store, table, ids=[chunk_id]).to_pylist()
    if not rows:
        raise UsageError(f"{store.address}: version {table.version} has no chunk {chunk_id!r}")
    return rows[0]


def _latest_run(store: Store) -> str:
    suffix = "/outcome.json"
    found = [path for page in store.list(layout.RUNS) for path in page.paths if path.endswith(suffix)]
    if not found:
        raise TableStateError(f"{store.address}: holds no run that ended")
    return max(path.removeprefix(layout.RUNS).removesuffix(suffix) for path in found)


def _checked(run_id: str) -> str:
    if not layout.NAME.fullmatch(run_id):
        raise UsageError(f"{run_id!r} is not the id of a run; they look like 20260131T235959Z-1f2e3d4c")
    return run_id

"""Small tables for the tests of this folder, built through the product's own steps: encode, publish, commit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pyarrow as pa

from pipelines.storage.store import Store
from pipelines.table import layout, log, schemas, shards
from pipelines.table.commit import Committed, LostRace, commit
from pipelines.table.log import Head
from pipelines.table.publish import publish
from pipelines.table.records import Shard, Snapshot, SourceCount

Corpus = Mapping[str, Sequence[str]]
"""Document id → texts of its chunks."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def chunk_rows(corpus: Corpus) -> pa.Table:
    rows = [
        {
            "id": f"{parent}#{index}",
            "parent_id": parent,
            "chunk_index": index,
            "chunk_count": len(texts),
            "text": text,
            "context": "",
            "start_index": 0,
            "end_index": len(text),
            "headings": ["A", "B"][: index % 3],
            "title": None,
            "token_count": None,
            "strategy": "recursive",
            "cut": "document-end",
            "overlap": 0,
            "section_id": None,
            "content_hash": digest(text),
            "row_hash": digest(f"row{text}"),
            "document_hash": digest("".join(texts)),
            "source_uri": f"docs/{parent}",
            "metadata": "{}",
        }
        for parent, texts in corpus.items()
        for index, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows, schemas.CHUNKS)


def document_rows(corpus: Corpus) -> pa.Table:
    rows = [
        {
            "id": parent,
            "uri": f"docs/{parent}",
            "source": "docs",
            "path": parent,
            "hash": digest("".join(texts)),
            "chunk_count": len(texts),
            "chunk_hashes": b"".join(bytes.fromhex(digest(text) + digest(f"row{text}")) for text in texts),
            "status": "chunked" if texts else "empty",
            "fail_streak": 0,
        }
        for parent, texts in corpus.items()
    ]
    return pa.Table.from_pylist(rows, schemas.DOCUMENTS)


def attempt(store: Store, run_id: str, corpus: Corpus, bounds: Sequence[str] = ()) -> list[Shard]:
    """Shards of `corpus` cut at `bounds`, as attempts would have left them."""
    edges: list[str | None] = ["", *bounds, None]
    made = []
    for task, (low, high) in enumerate(pairwise(edges)):
        own = {key: texts for key, texts in corpus.items() if key >= (low or "") and (high is None or key < high)}
        folder = layout.attempts_folder(run_id, task)
        made.append(
            Shard(
                low=low or "",
                high=high,
                input_bytes=sum(len(text.encode()) for texts in own.values() for text in texts),
                chunks=shards.write(store, f"{folder}/once/chunks.parquet", chunk_rows(own), "chunks"),
                documents=shards.write(store, f"{folder}/once/documents.parquet", document_rows(own), "documents"),
            )
        )
    return made


def snapshot_of(run_id: str, parts: Sequence[Shard], head: Head | None) -> Snapshot:
    return Snapshot(
        run_id=run_id,
        parent_version=None if head is None else head.version,
        created=datetime.now(tz=UTC),
        shards=tuple(parts),
        sources=(SourceCount(path="docs", documents=sum(part.documents.rows for part in parts)),),
        config={"name": "nightly"},
        stats={"chunks": sum(part.chunks.rows for part in parts)},
    )


def run(store: Store, corpus: Corpus, bounds: Sequence[str] = ()) -> Committed | LostRace:
    """One whole run: attempts, publish, commit."""
    head = log.head(store)
    run_id = layout.new_run_id()
    parts = publish(store, run_id, attempt(store, run_id, corpus, bounds))
    return commit(store, snapshot_of(run_id, parts, head), head)


def texts_of(corpus: Corpus) -> dict[str, str]:
    return {f"{parent}#{index}": text for parent, texts in corpus.items() for index, text in enumerate(texts)}

"""One task: the documents of one range of keys to one shard.

Reads what the plan says to read, carries the rows of all other documents over from the old shards as they are, and
writes the shard, its document states, its failures and, apart, the old rows of documents that would vanish. A failure
of one document is a row, never an exception. The marker of the task is created exclusively: whoever creates it has done
the task, everyone else gets what the marker says and leaves files behind that nothing names.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.documents.failures import Failure, failure_of
from pipelines.documents.read import read_document
from pipelines.planning import Task
from pipelines.routing import Router
from pipelines.storage.store import Store
from pipelines.table import layout, schemas, shards
from pipelines.table.records import FileEntry
from pipelines.work.chunk_document import Document
from pipelines.work.chunking import Chunking
from pipelines.work.job import Job
from pipelines.work.old_rows import OldShards, Result, same_rows
from pipelines.work.read_ahead import read_ahead
from pipelines.work.results import Counts, TaskResult
from pipelines.work.rows import ChunkRows, table_of
from pipelines.work.starts import chunking_for
from pipelines.work.stored_plan import StoredPlan, load_task_documents


def chunk_shard(job: Job, plan: StoredPlan, router: Router, index: int) -> TaskResult:
    """Do task `index` of the plan, or find it done. Raises StorageError when the table cannot be read or written."""
    store = job.table()
    marker = layout.task_marker(job.run_id, index)
    done = _read_marker(store, marker)
    if done is not None:
        return done
    attempt = uuid.uuid4().hex
    chunking = chunking_for(job, router, store, index, attempt)
    try:
        result = _Attempt(job, plan, chunking, store, plan.tasks[index], attempt).run()
    finally:
        chunking.close()
    if store.create(marker, result.to_json()):
        return result
    winner = _read_marker(store, marker)
    return result if winner is None else winner


def _read_marker(store: Store, marker: str) -> TaskResult | None:
    try:
        return TaskResult.from_json(store.read(marker))
    except FileNotFoundError:
        return None


class _Read(NamedTuple):
    """One document to read, as the plan has it.

    `old` is the row of its old state, None when it had none; `known_hash` the hash of the bytes that would give just
    the rows it has. A full run does not take that on trust.
    """

    row: int
    id: str
    path: str
    uri: str
    size: int
    source: int
    rule: int
    old: int | None
    known_hash: str | None


class _Attempt:
    """One attempt at one task."""

    def __init__(self, job: Job, plan: StoredPlan, chunking: Chunking, store: Store, task: Task, attempt: str) -> None:
        self._job = job
        self._store = store
        self._chunking = chunking
        self._task = task
        self._may_reuse = plan.may_reuse(task)
        self._documents = load_task_documents(store, job.run_id, plan, task)
        self._old = OldShards(store, [plan.old_shards[i] for i in task.old_shards], task.low, task.high)
        self._attempt = attempt
        self._rows = ChunkRows()
        self._counts = Counts()
        self._states: list[tuple[Any, ...]] = []  # rows of Result's columns
        self._outcomes: list[tuple[int, str, str | None, str | None]] = []  # source, outcome, encoding, strategy
        self._bytes_read = [0] * len(job.config.sources)
        self._failures: list[tuple[Any, ...]] = []
        self._read_rows: list[int] = []
        self._carried: list[str] = []
        self._emptied: list[str] = []

    def run(self) -> TaskResult:
        reads = list(self._reads())
        stores = [self._job.source(source) for source in self._job.config.sources]
        contents = read_ahead([(stores[read.source], read.path, read.size) for read in reads])
        for read, content in zip(reads, contents, strict=True):
            self._document(read, content)
            del content
        return self._written()

    def _reads(self) -> Iterator[_Read]:
        # (not pc.indices_nonzero: it crashes on a column without chunks, which an empty table has)
        rows = np.flatnonzero(pc.equal(self._documents["action"], "read").to_numpy())
        chosen = self._documents.take(pa.array(rows))
        old = self._old.rows_of_ids(chosen["id"].combine_chunks())
        known = pc.if_else(
            pc.equal(chosen["reason"], "full"),
            None,
            self._old.known_hashes(old, chosen["fingerprint"], chosen["uri"]),
        )
        columns = [*(chosen[name] for name in ("id", "path", "uri", "size", "source", "rule")), old, known]
        return map(
            partial(tuple.__new__, _Read), zip(rows.tolist(), *(each.to_pylist() for each in columns), strict=True)
        )

    # one document

    def _document(self, read: _Read, content: bytes | Exception) -> None:
        source = self._job.config.sources[read.source]
        stage = "read"
        try:
            if isinstance(content, Exception):
                raise content
            self._bytes_read[read.source] += len(content)
            digest = sha256(content).hexdigest()
            if digest == read.known_hash:
                self._confirm(read)
                return
            stage = "decode"
            text, name, confidence, _, _, encoded = self._chunking.call(
                read_document, content, source, read.path, self._job.config.limits
            )
            stage = "chunk"
            chunks, strategy, drops, notes = self._chunking.chunk(
                read.rule,
                text,
                Document(read.id, read.path, read.uri, digest),
                self._rows,
                encoded=encoded,
            )
        except Exception as error:
            self._fail(read, failure_of(error, stage))
            return
        if not chunks and read.old is not None and self._old.state(read.old, "chunk_count"):
            self._emptied.append(read.id)
        for drop in drops:
            self._counts.drops[drop.kind] += drop.end - drop.start
        if notes:
            self._counts.notes.update(notes)
        status = "chunked" if chunks else "empty"
        self._outcomes.append((read.source, status, name, strategy))
        # Its chunk_hashes come when the task's rows are finished.
        self._read_rows.append(read.row)
        self._states.append((name, confidence, digest, strategy, chunks, b"", status, None, 0))

    def _confirm(self, read: _Read) -> None:
        """Read, and found to be the bytes that its rows were made from."""
        assert read.old is not None
        self._outcomes.append((read.source, "unchanged", None, None))
        self._carried.append(read.id)
        self._read_rows.append(read.row)
        self._states.append(self._old.result(read.old))

    def _fail(self, read: _Read, failure: Failure) -> None:
        """The document's old rows, if it has any, stay what readers see."""
        result = self._old.result(read.old) if read.old is not None else Result()
        if result.chunk_count:
            self._carried.append(read.id)
        self._outcomes.append((read.source, "failed", None, None))
        self._counts.failures[failure.error] += 1
        result = result._replace(status="failed", error=failure.error, fail_streak=result.fail_streak + 1)
        self._read_rows.append(read.row)
        self._states.append(result)
        row = (read.id, read.uri, failure.position, failure.stage, failure.error, failure.message)
        self._failures.append((*row, result.fail_streak, result.chunk_count))

    # the task's files

    def _written(self) -> TaskResult:
        kept = self._documents.filter(pc.equal(self._documents["action"], "keep"))["id"]
        vanishing = self._documents.filter(pc.equal(self._documents["action"], "vanish"))["id"]
        self._count()
        finished = self._rows.finish(schemas.CHUNKS)
        self._rows = ChunkRows()
        states = self._new_states(kept, iter(finished.chunk_hashes))
        carried = pa.concat_arrays([*kept.chunks, pa.array(self._carried, pa.string())])
        withheld = self._old.rows_of(pa.concat_arrays([*vanishing.chunks, pa.array(self._emptied, pa.string())]))
        reused = self._may_reuse and same_rows(self._old.states, states)
        return TaskResult(
            index=self._task.index,
            chunks=self._reused() if reused else self._write("chunks", self._merged(finished.table, carried)),
            documents=self._write("documents", states),
            failures=self._write("failures", table_of(self._failures, schemas.FAILURES)) if self._failures else None,
            withheld=None if withheld is None else self._write("chunks", withheld, "withheld"),
            reused=reused,
            counts=self._counts,
        )

    def _count(self) -> None:
        """Counts of documents and rows, at once: a step for each document would be felt."""
        counts = self._counts
        counts.cuts = Counter(self._rows.cut)
        counts.new_rows = len(self._rows)
        for source, size in zip(self._job.config.sources, self._bytes_read, strict=True):
            if size:
                counts.bytes_read[source.path] += size
        for (index, outcome, encoding_name, strategy), number in Counter(self._outcomes).items():
            counts.document(self._job.config.sources[index].path, outcome, number)
            if strategy is not None and encoding_name is not None:
                counts.strategies[strategy] += number
                counts.encodings[encoding_name] += number

    def _reused(self) -> FileEntry:
        self._counts.new_rows = 0
        self._counts.carried_rows = self._old.only_chunks.rows
        return self._old.only_chunks

    def _merged(self, new: pa.Table, carried: pa.Array) -> pa.Table:
        old = self._old.rows_of(carried)
        if old is None:
            return new
        self._counts.carried_rows = old.num_rows
        return pa.concat_tables([old, new])

    def _new_states(self, kept: pa.ChunkedArray, chunk_hashes: Iterator[bytes]) -> pa.Table:
        """States of the documents that were read, and the old ones of those that were kept."""
        listed = self._documents.take(pa.array(self._read_rows, pa.int64()))
        results = table_of(self._states, pa.schema([schemas.DOCUMENTS.field(name) for name in Result._fields]))
        known = zip(*(results[name].to_pylist() for name in ("chunk_count", "chunk_hashes")), strict=True)
        hashes = [next(chunk_hashes) if count and not hashed else hashed for count, hashed in known]
        results = results.set_column(
            Result._fields.index("chunk_hashes"), schemas.DOCUMENTS.field("chunk_hashes"), pa.array(hashes, pa.binary())
        )
        paths = pa.array([source.path for source in self._job.config.sources], pa.string())
        columns = []
        for field in schemas.DOCUMENTS:
            if field.name in Result._fields:
                columns.append(results[field.name])
            elif field.name == "source":
                columns.append(paths.take(listed["source"].combine_chunks()))
            elif field.name == "key":
                columns.append(listed["id"])
            elif field.name == "position":
                columns.append(pa.nulls(listed.num_rows, field.type))
            else:
                columns.append(listed[field.name])
        read = pa.table(columns, schema=schemas.DOCUMENTS)
        old = self._old.states_of(kept)
        return read if old.num_rows == 0 else pa.concat_tables([read, old])

    def _write(self, kind: layout.Kind, table: pa.Table, name: str | None = None) -> FileEntry:
        folder = layout.attempts_folder(self._job.run_id, self._task.index)
        path = f"{folder}/{self._attempt}/{name or kind}.parquet"
        return shards.write(self._store, path, table, kind)

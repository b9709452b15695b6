"""One task: the documents of one range of keys to one shard.

Reads what the plan says to read, files and parts of containers, carries the rows of all other documents over from the
old shards as they are, and writes the shard, its document states and its failures. What of the old shards is in none of
this vanishes, unless deciding puts it back. A failure of one document is a row, never an exception. The marker of the
task is created exclusively: whoever creates it has done the task, everyone else gets what the marker says and leaves
files behind that nothing names.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.documents.failures import OF_A_DOCUMENT, failure_of
from pipelines.documents.read import read_document
from pipelines.errors import TableStateError
from pipelines.planning import Task
from pipelines.reconcile import states_changed
from pipelines.routing import Router
from pipelines.storage.store import Fetched, Store
from pipelines.table import layout, shards
from pipelines.table.keys import FILE
from pipelines.table.records import FileEntry
from pipelines.work.chunk_document import Document
from pipelines.work.chunking import Chunking
from pipelines.work.containers import PartReader
from pipelines.work.job import Job
from pipelines.work.made import Made, Read
from pipelines.work.old_rows import KnownRecords, OldShards, same_rows
from pipelines.work.read_ahead import read_ahead
from pipelines.work.results import PartResult, TaskResult
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
    except (ValueError, KeyError, TypeError) as error:
        raise TableStateError(f"{store.child(marker)}: is not readable: {error}; start a new run") from error


class _Attempt:
    """One attempt at one task."""

    def __init__(self, job: Job, plan: StoredPlan, chunking: Chunking, store: Store, task: Task, attempt: str) -> None:
        self._job = job
        self._store = store
        self._chunking = chunking
        self._task = task
        self._may_reuse = plan.may_reuse(task)
        self._documents = load_task_documents(store, job.run_id, plan, task)
        old_shards = [plan.old_shards[i] for i in task.old_shards]
        self._old = OldShards(store, old_shards, task.low, task.high, job.config.payload)
        self._attempt = attempt
        self._made = Made(job.config, self._old)

    def run(self) -> TaskResult:
        stores = [self._job.source(source) for source in self._job.config.sources]
        reads = list(self._reads(pc.equal(self._documents["kind"], FILE)))
        contents = read_ahead([(stores[read.source], read.path, read.size) for read in reads], self._job.config.limits)
        for read, content in zip(reads, contents, strict=True):
            self._document(read, content)
            del content
        return self._written(tuple(self._containers(stores)))

    def _reads(self, kind: pa.ChunkedArray) -> Iterator[Read]:
        # (not pc.indices_nonzero: it crashes on a column without chunks, which an empty table has)
        rows = np.flatnonzero(pc.and_(kind, pc.equal(self._documents["action"], "read")).to_numpy())
        chosen = self._documents.take(pa.array(rows))
        old = self._old.rows_of_ids(chosen["id"].combine_chunks())
        known = pc.if_else(
            pc.equal(chosen["reason"], "full"),
            None,
            self._old.known_hashes(old, chosen["fingerprint"], chosen["uri"]),
        )
        columns = [*(chosen[name] for name in ("id", "path", "uri", "size", "source", "rule")), old, known]
        return map(
            partial(tuple.__new__, Read), zip(rows.tolist(), *(each.to_pylist() for each in columns), strict=True)
        )

    def _document(self, read: Read, content: Fetched | Exception) -> None:
        """A file."""
        source = self._job.config.sources[read.source]
        stage = "read"
        try:
            if isinstance(content, Exception):
                raise content
            data, modified, validator = content
            self._made.read_bytes(read.source, len(data))
            self._made.read_object(read, len(data), modified, validator)
            digest = sha256(data).hexdigest()
            if digest == read.known_hash:
                self._made.confirmed(read)
                return
            stage = "decode"
            text, name, confidence, path, media_type, encoded = self._chunking.call(
                read_document, data, source, read.path, self._job.config.limits
            )
            stage = "chunk"
            chunked = self._chunking.chunk(
                read.rule,
                text,
                Document(read.id, path, read.uri, digest),
                self._made.rows,
                encoded=encoded,
                media_type=media_type,
            )
        except OF_A_DOCUMENT as error:
            self._made.failed(read, failure_of(error, stage))
            return
        self._made.chunked(read, chunked, name, confidence, digest)

    def _containers(self, stores: Sequence[Store]) -> Iterator[PartResult]:
        """Parts of containers, one after the other."""
        reads = list(self._reads(pc.not_equal(self._documents["kind"], FILE)))
        if reads:
            known = KnownRecords(self._old.states)
            reader = PartReader(self._job.config, self._chunking, self._made, known, self._task.high)
            for read in reads:
                yield reader.read(stores[read.source], read, self._documents.slice(read.row, 1).to_pylist()[0])

    # the task's files

    def _written(self, containers: tuple[PartResult, ...]) -> TaskResult:
        new_rows, new_states = self._made.finish(self._documents)
        kept, others = self._old.parted(self._documents.filter(pc.equal(self._documents["action"], "keep"))["id"])
        rows_changed = not same_rows(others, new_states)
        reused = self._may_reuse and not rows_changed
        carried = pa.concat_arrays([*kept["id"].chunks, self._made.carried()])
        failures = self._made.failures()
        return TaskResult(
            index=self._task.index,
            chunks=self._reused() if reused else self._write("chunks", self._merged(new_rows, carried)),
            documents=self._write("documents", pa.concat_tables([new_states, kept]) if kept.num_rows else new_states),
            failures=None if failures is None else self._write("failures", failures),
            withheld=None,
            reused=reused,
            counts=self._made.counts,
            containers=containers,
            states_changed=states_changed(others, new_states),
            rows_changed=rows_changed,
        )

    def _reused(self) -> FileEntry:
        counts = self._made.counts
        counts.new_rows = counts.characters = counts.tokens = 0
        counts.carried_rows = self._old.only_chunks.rows
        return self._old.only_chunks

    def _merged(self, new: pa.Table, carried: pa.Array) -> pa.Table:
        found = self._old.among_rows(carried)
        if found is None:
            return new
        old, chosen = found
        self._made.counts.carried_rows = len(chosen)
        coming = np.arange(old.num_rows, old.num_rows + new.num_rows)
        return shards.in_order(pa.concat_tables([old, new]), np.concatenate([chosen, coming]), "chunks")

    def _write(self, kind: layout.Kind, table: pa.Table) -> FileEntry:
        if self._job.scratch is not None and kind == "chunks":  # a dry run needs their number only
            return FileEntry(path="", rows=table.num_rows, bytes=0, sha256="")
        folder = layout.attempts_folder(self._job.run_id, self._task.index)
        path = f"{folder}/{self._attempt}/{kind}.parquet"
        return shards.write(self._store, path, table, kind, dict(self._job.config.payload))

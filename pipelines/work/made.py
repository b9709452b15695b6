"""What became of the documents of one task: rows, states, failures and counts, collected one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.config.model import Config
from pipelines.documents.failures import Failure
from pipelines.table import schemas
from pipelines.table.keys import RECORD
from pipelines.work.chunk_document import Chunked
from pipelines.work.old_rows import OldShards, Result
from pipelines.work.results import Counts
from pipelines.work.rows import ChunkRows, table_of


class Read(NamedTuple):
    """One file, or one part of a container, to read, as row `row` of the task's plan has it.

    `old` is the row of its old state, None when it had none; `known_hash` the hash of the bytes that would give just
    the rows a file has. A full run does not take that on trust.
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


class Made:
    """Files first, then containers and their records: `record` of each call is None for a file, else the id and the
    position of a record, or the key of a container and None."""

    def __init__(self, config: Config, old: OldShards) -> None:
        self._config = config
        self._old = old
        self.rows = ChunkRows(config.payload)
        self.counts = Counts()
        self._plan_rows: list[int] = []
        self._states: list[tuple[Any, ...]] = []  # rows of Result's columns
        self._names: list[tuple[str, int | None]] = []  # of the last of them: id, position
        self._same: list[
            tuple[int, int, int]
        ] = []  # records that stay: row of the plan, row of the old state, position
        self._outcomes: list[tuple[int, str, str | None, str | None]] = []  # source, outcome, encoding, strategy
        self._failures: list[tuple[Any, ...]] = []
        self._carried: list[str] = []
        self._objects: dict[int, tuple[int, int | None, str | None]] = {}  # by row of the plan
        self._bytes_read = [0] * len(config.sources)

    def read_bytes(self, source: int, size: int) -> None:
        """So many more bytes of source number `source` were read."""
        self._bytes_read[source] += size

    def read_object(self, read: Read, size: int, modified: int | None, validator: str | None) -> None:
        """What was read is an object of `size` bytes, last modified (UTC ns) and validated so, whatever was listed."""
        self._objects[read.row] = (size, modified, validator)

    def chunked(
        self,
        read: Read,
        made: Chunked,
        encoding: str | None,
        confidence: float | None,
        digest: str,
        record: tuple[str, int] | None = None,
    ) -> None:
        """A document whose rows, if it has any, were appended to `rows`."""
        chunks, strategy, drops, notes = made
        for drop in drops:
            self.counts.drops[drop.kind] += drop.end - drop.start
        if notes:
            self.counts.notes.update(notes)
        status = "chunked" if chunks else "empty"
        self._outcomes.append((read.source, status, encoding, strategy))
        # Its chunk_hashes come when the rows are finished.
        self._plan_rows.append(read.row)
        self._states.append((encoding, confidence, digest, strategy, chunks, b"", status, None, 0))
        if record is not None:
            self._names.append(record)

    def confirmed(self, read: Read) -> None:
        """A file found to be the bytes that its rows were made from."""
        assert read.old is not None
        self._outcomes.append((read.source, "unchanged", None, None))
        self._carried.append(read.id)
        self._plan_rows.append(read.row)
        self._states.append(self._old.result(read.old))

    def same_record(self, read: Read, old: int, position: int) -> None:
        """A record found to be what its rows were made from; `old` is the row of its old state."""
        self._same.append((read.row, old, position))

    def failed(
        self, read: Read, failure: Failure, record: tuple[str, int] | None = None, old: int | None = None
    ) -> None:
        """A document that failed. Its old rows, if it has any, stay what readers see."""
        old = read.old if record is None else old
        result = self._old.result(old) if old is not None else Result()
        id_ = read.id if record is None else record[0]
        if result.chunk_count:
            self._carried.append(id_)
        result = result._replace(status="failed", error=failure.error, fail_streak=result.fail_streak + 1)
        self._plan_rows.append(read.row)
        self._states.append(result)
        if record is not None:
            self._names.append(record)
        self.refused(read, failure, id_, fail_streak=result.fail_streak, kept_chunks=result.chunk_count)

    def refused(self, read: Read, failure: Failure, id_: str, *, fail_streak: int = 1, kept_chunks: int = 0) -> None:
        """A failure of what has no state: a record without an id of its own, a whole container."""
        self._outcomes.append((read.source, "failed", None, None))
        self.counts.failures[failure.error] += 1
        row = (id_, read.uri, failure.position, failure.stage, failure.error, failure.message)
        self._failures.append((*row, fail_streak, kept_chunks))

    def container(self, read: Read, encoding: str | None) -> None:
        """The state of a container that was read."""
        self._plan_rows.append(read.row)
        self._states.append(Result(encoding=encoding, status="chunked"))
        self._names.append((read.id, None))

    def listed(self, read: Read, number: int) -> None:
        """So many documents were found in a container."""
        self.counts.document(self._config.sources[read.source].path, "listed", number)

    # all of it

    def carried(self) -> pa.Array:
        """Ids of the documents whose old rows are carried over."""
        return pa.concat_arrays([pa.array(self._carried, pa.string()), self._old_same()["id"].combine_chunks()])

    def failures(self) -> pa.Table | None:
        """The failure rows, None if there are none."""
        return table_of(self._failures, schemas.FAILURES) if self._failures else None

    def finish(self, documents: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The new chunk rows, and the states of all that was read; `documents` are the task's rows of the plan."""
        self._count(documents)
        finished = self.rows.finish(schemas.chunks_schema(dict(self._config.payload)))
        self.rows = ChunkRows(self._config.payload)
        self.counts.new_rows = finished.table.num_rows
        lengths = pc.subtract(finished.table["end_index"], finished.table["start_index"])
        self.counts.characters = pc.sum(lengths).as_py() or 0
        self.counts.tokens = pc.sum(finished.table["token_count"]).as_py() or 0
        states = self._read_states(documents, iter(finished.chunk_hashes))
        return finished.table, pa.concat_tables([states, self._same_states(documents)]) if self._same else states

    def _count(self, documents: pa.Table) -> None:
        """Counts of documents and rows, at once: a step for each document would be felt."""
        counts = self.counts
        counts.cuts = Counter(self.rows.cut)
        for source, size in zip(self._config.sources, self._bytes_read, strict=True):
            if size:
                counts.bytes_read[source.path] += size
        for (index, outcome, encoding_name, strategy), number in Counter(self._outcomes).items():
            counts.document(self._config.sources[index].path, outcome, number)
            if strategy is not None and encoding_name is not None:
                counts.strategies[strategy] += number
                counts.encodings[encoding_name] += number
        for row, number in Counter(row for row, _, _ in self._same).items():
            counts.document(self._config.sources[documents["source"][row].as_py()].path, "unchanged", number)

    def _read_states(self, documents: pa.Table, chunk_hashes: Iterator[bytes]) -> pa.Table:
        """States of all that was read but the records that stay."""
        listed = documents.take(pa.array(self._plan_rows, pa.int64())).combine_chunks()
        results = table_of(self._states, pa.schema([schemas.DOCUMENTS.field(name) for name in Result._fields]))
        known = zip(*(results[name].to_pylist() for name in ("chunk_count", "chunk_hashes")), strict=True)
        hashes = [next(chunk_hashes) if count and not hashed else hashed for count, hashed in known]
        columns: dict[str, Any] = {name: results[name] for name in Result._fields}
        columns["chunk_hashes"] = pa.array(hashes, pa.binary())
        columns |= self._whereabouts(listed)
        columns |= {name: listed[name] for name in ("id", "fingerprint", "kind")} | self._read_objects(listed)
        columns["position"] = pa.nulls(listed.num_rows, pa.int64())
        if self._names:
            files = listed.num_rows - len(self._names)
            ids = pa.array([id_ for id_, _ in self._names], pa.string())
            columns["id"] = pa.concat_arrays([*listed["id"].slice(0, files).chunks, ids])
            columns["position"] = pa.array([None] * files + [position for _, position in self._names], pa.int64())
            is_record = pc.is_valid(columns["position"])
            columns["kind"] = pc.if_else(is_record, RECORD, listed["kind"])
            for name in ("validator", "size", "modified"):
                columns[name] = pc.if_else(is_record, None, columns[name])
        return pa.table([columns[name] for name in schemas.DOCUMENTS.names], schema=schemas.DOCUMENTS)

    def _read_objects(self, listed: pa.Table) -> dict[str, Any]:
        """Size, time and validator of the bytes that were read; those listed where none were."""
        sizes, validators = (listed[name].to_pylist() for name in ("size", "validator"))
        times = listed["modified"].cast(pa.int64()).to_pylist()  # microseconds: a datetime each would cost more
        for at, row in enumerate(self._plan_rows):
            if (found := self._objects.get(row)) is not None:
                sizes[at], modified, validators[at] = found
                times[at] = None if modified is None else modified // 1000
        values = {"size": sizes, "modified": times, "validator": validators}
        return {name: pa.array(each, listed.schema.field(name).type) for name, each in values.items()}

    def _same_states(self, documents: pa.Table) -> pa.Table:
        """States of the records that stay, which may have another place in their container."""
        listed = documents.take(pa.array([row for row, _, _ in self._same], pa.int64())).combine_chunks()
        columns = self._whereabouts(listed) | {"position": pa.array([at for _, _, at in self._same], pa.int64())}
        old = self._old_same()
        return pa.table([columns.get(name, old[name]) for name in schemas.DOCUMENTS.names], schema=schemas.DOCUMENTS)

    def _old_same(self) -> pa.Table:
        return self._old.states.take(pa.array([row for _, row, _ in self._same], pa.int64()))

    def _whereabouts(self, listed: pa.Table) -> dict[str, Any]:
        """Columns that say which object a document is in."""
        sources = pa.array([source.path for source in self._config.sources], pa.string())
        return {
            "uri": listed["uri"],
            "source": sources.take(listed["source"].combine_chunks()),
            "path": listed["path"],
            "key": listed["id"],
        }

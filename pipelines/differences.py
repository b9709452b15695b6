"""Two states of the corpus side by side, chunk by chunk, for the documents that differ. Pure and columnar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

DIGEST = 32
"""Bytes of a SHA-256. A chunk has two in `chunk_hashes`: of its content, then of the rest of its row."""

BATCH = 1_000_000
"""Chunks compared at a time, so that memory stays flat and no Arrow string array outgrows its 32-bit offsets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Every chunk of some documents that differ: one row per (document, index) that the old or the new state has.

    Rows are sorted by (document id, index). `listed` says of each document whether the new states have it at all.
    """

    parents: pa.Array  # document -> id
    listed: npt.NDArray[np.bool_]  # document -> it is in the new states
    old_hashes: Sequence[bytes]  # document -> its old chunk_hashes
    old_counts: npt.NDArray[np.int64]  # document -> its old number of chunks
    new_counts: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]  # row -> document
    index: npt.NDArray[np.int64]  # row -> chunk index
    has_old: npt.NDArray[np.bool_]
    has_new: npt.NDArray[np.bool_]
    same_content: npt.NDArray[np.bool_]
    same_row: npt.NDArray[np.bool_]  # content and row
    content: npt.NDArray[np.uint8]  # row -> content digest: the new one's, else the old one's

    def rows(self, which: npt.NDArray[np.bool_]) -> pa.Table:
        """The rows' ids, parents, indexes and hashes."""
        parents = self.parents.take(pa.array(self.parent[which]))
        index = pa.array(self.index[which].astype(np.int32))
        ids = pc.binary_join_element_wise(parents, index.cast(pa.string()), "#")
        columns = {"id": ids, "parent_id": parents, "chunk_index": index, "content_hash": _hex(self.content[which])}
        return pa.table(columns)


def differing(old_states: pa.Table, new_states: pa.Table) -> Iterator[Differences]:
    """The documents whose hashes differ, in the order of their ids, BATCH chunks or one document at a time."""
    old, new = (_hashes(states) for states in (old_states, new_states))
    rows = pc.index_in(new["id"].combine_chunks(), value_set=old["id"].combine_chunks())
    before = pc.fill_null(old["hashes"].combine_chunks().take(rows), b"")
    here = pa.table({"id": new["id"], "old": before, "new": new["hashes"], "listed": _repeat(True, new.num_rows)})
    gone = old.filter(pc.invert(pc.is_in(old["id"], value_set=new["id"].combine_chunks())))
    nothing = pa.repeat(pa.scalar(b"", pa.large_binary()), gone.num_rows)
    lost = pa.table({"id": gone["id"], "old": gone["hashes"], "new": nothing, "listed": _repeat(False, gone.num_rows)})
    documents = pa.concat_tables([each.filter(pc.not_equal(each["old"], each["new"])) for each in (here, lost)])
    documents = documents.combine_chunks()
    documents = documents.take(pc.sort_indices(documents["id"])).combine_chunks()
    widest = pc.max_element_wise(pc.binary_length(documents["old"]), pc.binary_length(documents["new"]))
    ends = np.cumsum(widest.to_numpy()) // (2 * DIGEST)
    start = 0
    while start < documents.num_rows:
        reached = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, reached + BATCH, side="right")), start + 1)
        yield _batch(documents.slice(start, stop - start).combine_chunks())
        start = stop


def _repeat(value: bool, times: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), times)


def _hashes(states: pa.Table) -> pa.Table:
    # 64-bit offsets: a million documents of forty chunks pass the 2 GiB that `binary` can hold.
    hashes = pc.fill_null(states["chunk_hashes"].cast(pa.large_binary()), b"")
    table = pa.table({"id": states["id"].cast(pa.string()), "hashes": hashes}).combine_chunks()
    if pc.count_distinct(table["id"]).as_py() != table.num_rows:
        twice = pc.value_counts(table["id"].combine_chunks())
        names = [each["values"] for each in twice.to_pylist() if each["counts"] > 1]
        raise ValueError(f"{len(names)} document ids are there twice, the first is {min(names)!r}")
    return table


def _batch(documents: pa.Table) -> Differences:
    old, old_counts = _digests(documents["old"])
    new, new_counts = _digests(documents["new"])
    counts = np.maximum(old_counts, new_counts)
    parent = np.repeat(np.arange(len(counts)), counts)
    index = np.arange(len(parent)) - np.repeat(np.cumsum(counts) - counts, counts)
    has_old, has_new = index < old_counts[parent], index < new_counts[parent]
    old_row = (np.cumsum(old_counts) - old_counts)[parent] + index
    new_row = (np.cumsum(new_counts) - new_counts)[parent] + index
    both = has_old & has_new
    same_content, same_row = np.zeros(len(parent), bool), np.zeros(len(parent), bool)
    equal = old.view(np.uint64)[old_row[both]] == new.view(np.uint64)[new_row[both]]
    same_content[both] = equal[:, : DIGEST // 8].all(axis=1)
    same_row[both] = equal.all(axis=1)
    content = np.empty((len(parent), DIGEST), np.uint8)
    content[has_new] = new[new_row[has_new], :DIGEST]
    content[~has_new] = old[old_row[~has_new], :DIGEST]
    return Differences(
        parents=documents["id"].combine_chunks(),
        listed=documents["listed"].to_numpy(),
        old_hashes=documents["old"].to_pylist(),
        old_counts=old_counts,
        new_counts=new_counts,
        parent=parent,
        index=index,
        has_old=has_old,
        has_new=has_new,
        same_content=same_content,
        same_row=same_row,
        content=content,
    )


def _digests(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """All chunks of all documents as rows of 64 bytes, and the number of chunks of each document."""
    joined = b"".join(column.to_pylist())
    lengths = pc.binary_length(column).to_numpy().astype(np.int64)
    if (lengths % (2 * DIGEST)).any():
        raise ValueError(f"chunk_hashes must hold {2 * DIGEST} bytes a chunk")
    return np.frombuffer(joined, np.uint8).reshape(-1, 2 * DIGEST), lengths // (2 * DIGEST)


def _hex(digests: npt.NDArray[np.uint8]) -> pa.Array:
    """Rows of bytes as strings, without making a Python string of each."""
    width = 2 * digests.shape[1]
    text = digests.tobytes().hex().encode("ascii")
    offsets = np.arange(0, len(text) + 1, width, dtype=np.int32)
    return pa.StringArray.from_buffers(len(digests), pa.py_buffer(offsets), pa.py_buffer(text))

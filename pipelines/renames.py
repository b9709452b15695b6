"""Documents that are there under another id, with the same bytes and the same chunks. Pure and without I/O.

Their chunks are deletions and additions like any others. That they are renames says only that the vectors of the old
ones fit: chunk n of the new document has the content of chunk n of the old one, for every n.
"""

from __future__ import annotations

from collections import defaultdict, deque
from hashlib import sha256

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.differences import DIGEST
from pipelines.table.keys import RECORD
from pipelines.table.schemas import RENAMES

PAIRED = ("id", "uri", "hash", "chunk_count", "chunk_hashes", "kind")
"""The columns of document states that renames are told by."""


def slim(states: pa.Table) -> pa.Table:
    """States with the columns PAIRED for `pair`: in place of all chunk hashes a digest of what chunks are alike by."""
    digests = [
        sha256(np.frombuffer(each, np.uint8).reshape(-1, 2 * DIGEST)[:, :DIGEST].tobytes()).digest()
        for each in states["chunk_hashes"].to_pylist()
    ]
    columns = {name: states[name] for name in PAIRED if name != "chunk_hashes"}
    return pa.table(columns | {"contents": pa.array(digests, pa.binary())})


def pair(gone: pa.Table, came: pa.Table) -> pa.Table:
    """RENAMES of documents that are `gone` to those that `came` (both as `slim` gives them), sorted by the old id.

    A pair has the same `hash` and the same content in every chunk: under another rule the same bytes make other chunks,
    and then there is nothing to reuse. The hash of a record has its id in it; two records are a pair if their chunks
    are. Of several copies the first by id is paired with the first, and so on: no document is in two pairs.
    """
    copies: dict[tuple[str, bytes], deque[tuple[str, str, str]]] = defaultdict(deque)
    for new_id, uri, digest, _, kind, contents in _rows(came):
        copies[RECORD if kind == RECORD else digest, contents].append((new_id, uri, digest))
    found = []
    for old_id, old_uri, old_digest, count, kind, contents in _rows(gone):
        alike = copies.get((RECORD if kind == RECORD else old_digest, contents))
        if alike:
            new_id, new_uri, digest = alike.popleft()
            found.append((old_id, new_id, old_uri, new_uri, digest, count))
    columns = zip(*found, strict=True) if found else ((),) * len(RENAMES)
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, RENAMES, strict=True)], RENAMES)


def marks(chunk_hashes: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A number for each document that has chunks: documents that are a pair have the same."""
    return np.fromiter((int.from_bytes(each[:7]) for each in chunk_hashes.to_pylist()), np.int64, len(chunk_hashes))


def _rows(states: pa.Table) -> list[tuple[str, str, str, int, str, bytes]]:
    return sorted(zip(*(column.to_pylist() for column in states.columns), strict=True))

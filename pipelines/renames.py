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


def pair(gone: pa.Table, came: pa.Table) -> pa.Table:
    """RENAMES of documents that are `gone` to those that `came`, sorted by the old id. Both have the columns PAIRED.

    A pair has the same `hash` and the same content in every chunk: under another rule the same bytes make other chunks,
    and then there is nothing to reuse. The hash of a record has its id in it; two records are a pair if their chunks
    are. Of several copies the first by id is paired with the first, and so on: no document is in two pairs.
    """
    copies: dict[tuple[str, bytes], deque[tuple[str, str, str]]] = defaultdict(deque)
    for new_id, uri, digest, _, hashes, kind in _rows(came):
        copies[_alike(digest, hashes, kind)].append((new_id, uri, digest))
    found = []
    for old_id, old_uri, old_digest, count, hashes, kind in _rows(gone):
        alike = copies.get(_alike(old_digest, hashes, kind))
        if alike:
            new_id, new_uri, digest = alike.popleft()
            found.append((old_id, new_id, old_uri, new_uri, digest, count))
    columns = zip(*found, strict=True) if found else ((),) * len(RENAMES)
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, RENAMES, strict=True)], RENAMES)


def marks(chunk_hashes: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A number for each document that has chunks: documents that are a pair have the same."""
    return np.fromiter((int.from_bytes(each[:7]) for each in chunk_hashes.to_pylist()), np.int64, len(chunk_hashes))


def _rows(states: pa.Table) -> list[tuple[str, str, str, int, bytes, str]]:
    return sorted(zip(*(states[name].to_pylist() for name in PAIRED), strict=True))


def _alike(digest: str, hashes: bytes, kind: str) -> tuple[str, bytes]:
    """What two documents have in common that are a pair: bytes, and content of every chunk in order."""
    contents = np.frombuffer(hashes, np.uint8).reshape(-1, 2 * DIGEST)[:, :DIGEST]
    return RECORD if kind == RECORD else digest, sha256(contents.tobytes()).digest()

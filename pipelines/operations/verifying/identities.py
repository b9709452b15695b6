"""Whether a document is in the table twice. No shard can say so for itself: records lie where their container does."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.operations.verifying.problems import Problem
from pipelines.storage.store import Store
from pipelines.table import shards
from pipelines.table.records import Snapshot


class Identities:
    """Every document's id as 8 bytes of a digest: ten million take 80 MB."""

    def __init__(self) -> None:
        self._digests: list[npt.NDArray[np.uint64]] = []

    def add(self, ids: pa.ChunkedArray) -> None:
        """The documents of one more shard."""
        self._digests.append(_digests(ids))

    def check(self, store: Store, snapshot: Snapshot) -> Iterator[Problem]:
        """The ids that more than one shard has; read again only where digests say so."""
        everything = np.concatenate([np.empty(0, np.uint64), *self._digests])
        values, counts = np.unique(everything, return_counts=True)
        twice = values[counts > 1]
        if not len(twice):
            return
        first: dict[str, str] = {}
        for shard in snapshot.shards:
            path = shard.documents.path
            ids = shards.read(store, path, ["id"])["id"]
            for id_ in ids.filter(pa.array(np.isin(_digests(ids), twice))).to_pylist():
                if first.setdefault(id_, path) != path:
                    yield Problem(path, f"{id_!r} is in {first[id_]} too")


def _digests(ids: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    joined = b"".join(blake2b(id_.encode(), digest_size=8).digest() for id_ in ids.to_pylist())
    return np.frombuffer(joined, np.uint64)

"""Proof that a store creates exclusively, before anything relies on it."""

from __future__ import annotations

import uuid

from pipelines.errors import StorageError
from pipelines.storage.base import Store


def prove_exclusive(store: Store, folder: str) -> None:
    """Create an object twice below `folder`, and delete it: the second create must be refused.

    Raises StorageError for a store that ignores the condition (it would let two runs win one race), or whose keys
    may not write there. Costs four requests.
    """
    path = f"{folder.rstrip('/')}/probe-{uuid.uuid4().hex}"
    try:
        first = store.create(path, b"first")
        second = store.create(path, b"second")
        if not first or second or store.read(path) != b"first":
            raise StorageError(
                "the store ignores create-if-absent (the header If-None-Match, or what stands for it), so two runs "
                "could both commit: a table cannot be kept here (docs/storage.md says which stores can)",
                address=store.address,
            )
    finally:
        _forget(store, path)


def _forget(store: Store, path: str) -> None:
    try:
        store.delete(path)
    except StorageError:
        return  # keys that may not delete can still keep a table; `gc` takes what is left

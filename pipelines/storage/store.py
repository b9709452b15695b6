"""From an address in the configuration to a `Store`."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from pipelines.errors import StorageError, UsageError
from pipelines.storage.base import Entry, Fetched, Opened, Page, Skipped, Store, Upload
from pipelines.storage.bucket import BucketStore
from pipelines.storage.client import Client
from pipelines.storage.fast import faster
from pipelines.storage.local import LocalStore
from pipelines.storage.protocols import BUCKETS, CLIENTS, install
from pipelines.storage.remote import FsspecStore, MemoryStore

__all__ = ["Entry", "Fetched", "Opened", "Page", "Skipped", "Store", "Upload", "open_source", "open_store"]

Options = Mapping[str, Mapping[str, Any]]


def open_store(address: str, storage: Options | None = None) -> Store:
    """The store of a folder: a local path, `file://…`, `memory://…` or any fsspec address.

    `storage` holds filesystem options by protocol, as the configuration has them (`{"s3": {...}}`); a local folder
    takes `{"file": {"follow_links": false}}`. Nothing is connected to before the first use.
    """
    protocol, separator, rest = address.partition("://")
    if not separator:
        protocol, rest = "file", address
    options = _options(protocol, storage or {})
    if protocol in ("file", "local"):
        if unknown := set(options) - {"follow_links"}:
            raise UsageError(f"storage.file has no option {min(unknown)!r}; allowed: follow_links")
        return LocalStore(rest, **options)
    if protocol == "memory":
        return MemoryStore(address, options)
    if protocol in BUCKETS:
        if options.get("client", "auto") not in CLIENTS:
            raise UsageError(f"storage.{protocol}.client must be one of {', '.join(CLIENTS)}")
        return BucketStore(address, partial(_connect, protocol), options)
    return FsspecStore(address, options)


def _options(protocol: str, storage: Options) -> Mapping[str, Any]:
    """The options of a protocol, which may have been written under another of its names (gs, gcs)."""
    if protocol in storage or protocol not in BUCKETS:
        return storage.get(protocol, {})
    return next(
        (storage[name] for name, client in BUCKETS.items() if client == BUCKETS[protocol] and name in storage), {}
    )


def _connect(protocol: str, bucket: str, options: Mapping[str, Any]) -> Client:
    """The client of a bucket. Making one takes longer than many requests, so that a process shares it."""
    return _client(os.getpid(), protocol, bucket, pickle.dumps(dict(options)))


@lru_cache(maxsize=32)
def _client(process: int, protocol: str, bucket: str, options: bytes) -> Client:
    """A client of `BUCKETS`; its module is loaded when it is first needed, as it may need an extra."""
    module, _, name = BUCKETS[protocol].partition(".")
    try:
        found: type[Client] = getattr(import_module(f"pipelines.storage.{module}"), name)
        given = pickle.loads(options)
        chosen = given.pop("client", "auto")
        client = found(bucket, given)
        return client if chosen == "fsspec" else faster(client, given)
    except ImportError as error:
        problem = f"needs a package that is missing ({error.name or error}): {install(module)}"
        raise StorageError(problem, address=f"{protocol}://{bucket}") from None


def open_source(address: str, storage: Options | None = None) -> tuple[Store, str | None]:
    """The store of a source, which is a folder or one object; for one object its folder's store and its name."""
    folder, _, name = address.rstrip("/").rpartition("/")
    if name and not address.endswith("/"):
        parent = open_store(folder or ("/" if address.startswith("/") else "."), storage)
        if not folder.endswith(":/") and _is_object(parent, name):
            return parent, name
    return open_store(address, storage), None


def _is_object(store: Store, name: str) -> bool:
    """Whether an object has this name. An empty one with others "inside" only marks a folder, as some tools do."""
    entry = store.stat(name)
    return entry is not None and (entry.size > 0 or next(store.list(f"{name}/"), None) is None)

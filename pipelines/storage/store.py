"""From an address in the configuration to a `Store`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from pipelines.errors import UsageError
from pipelines.storage.base import Entry, Fetched, Opened, Page, Skipped, Store
from pipelines.storage.bucket import BucketStore
from pipelines.storage.client import Client
from pipelines.storage.local import LocalStore
from pipelines.storage.remote import FsspecStore, MemoryStore

__all__ = ["Entry", "Fetched", "Opened", "Page", "Skipped", "Store", "open_source", "open_store"]

Options = Mapping[str, Mapping[str, Any]]


def open_store(address: str, storage: Options | None = None) -> Store:
    """The store of a folder: a local path, `file://…`, `memory://…` or any fsspec address.

    `storage` holds filesystem options by protocol, as the configuration has them (`{"s3": {...}}`); a local folder
    takes `{"file": {"follow_links": false}}`. Nothing is connected to before the first use.
    """
    protocol, separator, rest = address.partition("://")
    if not separator:
        protocol, rest = "file", address
    options = (storage or {}).get(protocol, {})
    if protocol in ("file", "local"):
        if unknown := set(options) - {"follow_links"}:
            raise UsageError(f"storage.file has no option {min(unknown)!r}; allowed: follow_links")
        return LocalStore(rest, **options)
    if protocol == "memory":
        return MemoryStore(address, options)
    if protocol in BUCKETS:
        return BucketStore(address, partial(_connect, BUCKETS[protocol]), options)
    return FsspecStore(address, options)


BUCKETS: Mapping[str, str] = {"s3": "s3.S3Client", "s3a": "s3.S3Client"}
"""The client of each protocol whose stores can create exclusively: module and class in this folder."""


def _connect(client: str, bucket: str, options: Mapping[str, Any]) -> Client:
    """A client of `BUCKETS`; its module is loaded when it is first needed, as it may need an extra."""
    module, _, name = client.partition(".")
    found: type[Client] = getattr(import_module(f"pipelines.storage.{module}"), name)
    return found(bucket, options)


def open_source(address: str, storage: Options | None = None) -> tuple[Store, str | None]:
    """The store of a source, which is a folder or one object; for one object its folder's store and its name."""
    folder, _, name = address.rstrip("/").rpartition("/")
    if name and not address.endswith("/"):
        parent = open_store(folder or ("/" if address.startswith("/") else "."), storage)
        if not folder.endswith(":/") and parent.exists(name):
            return parent, name
    return open_store(address, storage), None

"""What an object store's own API must offer: `Client`, over which `BucketStore` builds everything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pipelines.storage.base import Fetched

TOKEN = "rechunk-create"
"""Name of the object metadata that says which call created an object."""


class Listed(NamedTuple):
    """One object of a listing: its whole key in the bucket, size in bytes, UTC ns, a strong validator."""

    key: str
    size: int
    modified: int | None
    validator: str | None


class Begun(NamedTuple):
    """An upload in parts: the whole key of what it is to become, when it began (UTC ns), the store's name of it."""

    key: str
    begun: int | None
    number: str


class UnknownOption(ValueError):
    """An option that the library behind a client does not have."""

    def __init__(self, library: str, name: str, allowed: Collection[str]) -> None:
        super().__init__(f"{library} has no option {name!r}; it has {', '.join(sorted(allowed))}")
        self.library, self.name, self.allowed = library, name, frozenset(allowed)


class Client(ABC):
    """One bucket (or container). Keys are whole and literal, never parsed as globs, versions or URLs.

    Each method is one attempt: nothing is retried here, and the SDK's own retries are off, so that there is one place
    for them (pipelines/storage/retry.py). A missing object is FileNotFoundError; any other exception of the SDK is let
    through. Used by many threads at once. Those made of (bucket, options), options as fsspec names them, have a static
    `check(options)` that raises UnknownOption and connects to nothing.
    """

    in_flight = 32
    """Reads worth having under way at once."""

    @abstractmethod
    def __init__(self, bucket: str, options: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def page(self, prefix: str, after: str | None) -> tuple[list[Listed], str | None]:
        """Objects whose key starts with `prefix`, as many as one request gives, and the token of the page after them.

        `after` is that token, None for the first page; the last page's is None. Directory markers are objects like any
        other. A missing bucket is an error (not FileNotFoundError), never an empty listing.
        """

    @abstractmethod
    def head(self, key: str) -> Listed:
        """What the store says of one object; not of a folder."""

    @abstractmethod
    def fetch(self, key: str) -> Fetched:
        """The whole object in one request, as stored (not decompressed), with the validator of these bytes.

        Fewer bytes than the response announced are an error: raise ShortBody.
        """

    @abstractmethod
    def fetch_range(self, key: str, start: int, stop: int, validator: str | None) -> bytes:
        """Bytes start..stop (0-based, stop exclusive, inside the object) of the object that has this validator.

        Raises Changed when it has another one, ShortBody as `fetch` does.
        """

    def fetch_start(self, key: str, most: int) -> tuple[Fetched, int]:
        """The first `most` bytes of the object, or all if it has fewer, and its size. In one request if possible."""
        found = self.head(key)
        if found.size <= most:
            fetched = self.fetch(key)
            return fetched, len(fetched.data)
        return Fetched(self.fetch_range(key, 0, most, found.validator), found.modified, found.validator), found.size

    @abstractmethod
    def put(self, key: str, data: bytes) -> None:
        """Store the whole object, in several parts where it is large; it appears at once."""

    @abstractmethod
    def create(self, key: str, data: bytes, token: str) -> bool:
        """Store the object if the key is free: one put with the store's own condition, with `TOKEN: token` as metadata.

        False when the store says that the key is taken, or that somebody else is just creating it.
        """

    @abstractmethod
    def creator(self, key: str) -> str | None:
        """The token an object was created with, None if it has none. FileNotFoundError when there is no object."""

    @abstractmethod
    def copy(self, old: str, new: str, size: int) -> None:
        """Copy an object of `size` bytes inside the store, without its bytes coming here."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete the object; a missing one may be an error or none."""

    def uploads(self, prefix: str) -> list[Begun]:
        """Uploads in parts of keys that start with `prefix` that have not ended; none where the store drops them."""
        return []

    def abort(self, key: str, number: str) -> None:
        """End an upload without an object. One that has ended is FileNotFoundError."""
        raise FileNotFoundError(key)


class ShortBody(Exception):
    """A response ended before all the bytes it announced had come."""

    def __init__(self, got: int, announced: int) -> None:
        super().__init__(f"the response ended after {got} of {announced} bytes")


class Changed(Exception):
    """The object is another one than the one that was opened."""

    def __init__(self) -> None:
        super().__init__("it changed while it was read")

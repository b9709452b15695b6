"""A store that is only read, and another one that takes everything written to it: for looking ahead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pipelines.errors import StorageError
from pipelines.storage.base import Entry, Fetched, Opened, Page, Skipped, Store


class OverlayStore(Store):
    """What `base` holds, as if everything written here lay in it. `base` is never changed, not even created.

    `scratch` takes what is written, under the same paths.
    """

    def __init__(self, base: Store, scratch: Store) -> None:
        self.address = base.address
        self._base = base
        self._scratch = scratch

    @property
    def in_flight(self) -> int:  # type: ignore[override]
        """As of what is read."""
        return self._base.in_flight

    def list(self, prefix: str = "", skipped: Skipped | None = None) -> Iterator[Page]:
        found: set[str] = set()
        for page in self._scratch.list(prefix):
            found.update(page.paths)
            yield page
        for page in self._base.list(prefix, skipped):
            rest = Page.new()
            for entry in page.entries():
                if entry.path not in found:
                    rest.add(entry)
            if rest.paths:
                yield rest

    def read(self, path: str) -> bytes:
        return self._holder(path).read(path)

    def open(self, path: str) -> BinaryIO:
        return self._holder(path).open(path)

    def fetch(self, path: str) -> Fetched:
        return self._holder(path).fetch(path)

    def opened(self, path: str) -> Opened:
        return self._holder(path).opened(path)

    def write(self, path: str, data: bytes | memoryview) -> None:
        self._scratch.write(path, data)

    def create(self, path: str, data: bytes) -> bool:
        return not self._base.exists(path) and self._scratch.create(path, data)

    def link(self, source: str, target: str) -> None:
        if self._scratch.exists(source):
            self._scratch.link(source, target)
        elif self._scratch.exists(target) and self._scratch.read(target) != self._base.read(source):
            raise StorageError(f"already holds other bytes than {source}", address=self.child(target))
        else:
            self._scratch.write(target, self._base.read(source))

    def touch(self, path: str) -> None:
        """Nothing to do: nobody goes by the times of what is thrown away."""

    def stat(self, path: str) -> Entry | None:
        return self._scratch.stat(path) or self._base.stat(path)

    def delete(self, path: str) -> None:
        if self._base.exists(path):
            raise StorageError("cannot be deleted: this is only looked at", address=self.child(path))
        self._scratch.delete(path)

    def _holder(self, path: str) -> Store:
        return self._scratch if self._scratch.exists(path) else self._base

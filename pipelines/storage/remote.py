"""Any storage system that fsspec knows, and the in-process `memory://` one."""

from __future__ import annotations

import datetime
import io
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import fsspec
from fsspec.asyn import AsyncFileSystem
from fsspec.spec import AbstractFileSystem

from pipelines.errors import StorageError
from pipelines.storage.base import PAGE, Entry, Page, Skipped, Store, check_path, is_text, printable, settled
from pipelines.storage.times import nanoseconds

_MEMORY = threading.Lock()
"""Makes `memory://` check and store in one step. Other processes have other memories anyway."""

_VALIDATORS = ("generation", "ETag", "etag", "version_id", "content_md5")
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "created")


class FsspecStore(Store):
    """A folder behind an fsspec filesystem. `options` go to the filesystem; they are never shown.

    `create` is refused: only a store's own conditional put is exclusive, and none is wired up yet for these protocols.
    """

    must_prove = True

    def __init__(self, address: str, options: Mapping[str, Any] | None = None) -> None:
        self.address = address.rstrip("/") or address
        self._options = dict(options or {})
        self._connection: tuple[int, Any, str] | None = None

    def list(self, prefix: str = "", skipped: Skipped | None = None) -> Iterator[Page]:
        files, root = self._connected()
        folder = prefix.rpartition("/")[0]
        if folder:
            check_path(folder, self.address)
        now = time.time_ns()
        base = f"{root}/" if root else ""
        page = Page.new()
        start = self._key(folder) if folder else root
        for name, info in self._infos(files, start, needed=not prefix):
            path = name[len(base) :]
            # A "directory marker" is an object whose name ends in a slash, or the folder's own name.
            if not name.startswith(base + prefix) or not path or path.endswith("/") or path == folder:
                continue
            if not is_text(path) or ".." in path.split("/"):
                if skipped is not None:
                    skipped(printable(path), "the name is not valid UTF-8" if not is_text(path) else "has '..'")
                continue
            page.add(self._entry(path, info, now))
            if len(page.paths) >= PAGE:
                yield page
                page = Page.new()
        if page.paths:
            yield page

    def _infos(self, files: Any, start: str, *, needed: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Name and description of everything below `start`, which must be there if it is `needed`.

        A filesystem with a listing of its own is asked for it, as an object store answers it at once. What fsspec makes
        of a listing for the others is all in memory, and takes a folder that cannot be listed for an empty one.
        """
        with self._failures("cannot be listed"):
            if _has_own_listing(files):
                yield from files.find(start, detail=True, withdirs=False).items()
                return
            pending = [start]
            while pending:
                folder = pending.pop()
                try:
                    entries = files.ls(folder, detail=True)
                except FileNotFoundError:  # deleted while we were listing
                    if needed and folder == start:
                        raise
                    continue
                for info in entries:
                    name = info["name"].rstrip("/")
                    if info["type"] != "directory":
                        yield info["name"], info
                    elif name != folder:
                        pending.append(name)

    def read(self, path: str) -> bytes:
        with self._failures("cannot be read", path) as files:
            return bytes(files.cat_file(self._key(path)))

    def open(self, path: str) -> BinaryIO:
        with self._failures("cannot be read", path) as files:
            file: BinaryIO = files.open(self._key(path), "rb")
            return file

    def write(self, path: str, data: bytes | memoryview) -> None:
        with self._failures("cannot be written", path) as files:
            files.pipe_file(self._key(path), bytes(data))

    def create(self, path: str, data: bytes) -> bool:
        protocol = self.address.partition("://")[0]
        raise StorageError(f"a table cannot be kept on {protocol}:// yet; no exclusive create", address=self.address)

    def link(self, source: str, target: str) -> None:
        old, new = self.stat(source), self.stat(target)
        if old is None:
            raise FileNotFoundError(self.child(source))
        if new is not None:
            if new.size != old.size or self.read(source) != self.read(target):
                raise StorageError(f"already holds other bytes than {source}", address=self.child(target))
            return
        with self._failures(f"cannot be copied to {target}", source) as files:
            files.cp_file(self._key(source), self._key(target))

    def touch(self, path: str) -> None:
        """Nothing to do: an object store's copy is new, and its modification time cannot be set."""

    def stat(self, path: str) -> Entry | None:
        try:
            with self._failures("cannot be read", path) as files:
                info = files.info(self._key(path))
        except FileNotFoundError:
            return None
        return None if info.get("type") == "directory" else self._entry(path, info, time.time_ns())

    def delete(self, path: str) -> None:
        try:
            with self._failures("cannot be deleted", path) as files:
                files.rm_file(self._key(path))
        except FileNotFoundError:
            return

    def _entry(self, path: str, info: Mapping[str, Any], now: int) -> Entry:
        validator = next((str(info[key]) for key in _VALIDATORS if info.get(key)), None)
        modified = next((nanoseconds(info[key]) for key in _TIMES if info.get(key)), None)
        return Entry(path, int(info.get("size") or 0), modified, validator)

    def _key(self, path: str) -> str:
        check_path(path, self.address)
        root = self._connected()[1]
        return f"{root}/{path}" if root else path

    def _connected(self) -> tuple[Any, str]:
        """The filesystem and the root's name in it; a forked child builds its own."""
        if self._connection is None or self._connection[0] != os.getpid():
            try:
                files, root = fsspec.url_to_fs(self.address, use_listings_cache=False, **self._options)
            except Exception as error:
                raise StorageError(f"cannot be opened: {error}", address=self.address) from error
            self._connection = (os.getpid(), files, str(root).rstrip("/"))
        return self._connection[1], self._connection[2]

    @contextmanager
    def _failures(self, what: str, path: str | None = None) -> Iterator[Any]:
        files, _ = self._connected()
        try:
            yield files
        except StorageError:
            raise
        except FileNotFoundError as error:
            if path is None:
                raise StorageError(f"{what}: it does not exist", address=self.address) from error
            raise FileNotFoundError(f"{self.child(path)}: no such object") from error
        except Exception as error:  # every backend has its own tree of errors
            address = self.address if path is None else self.child(path)
            raise StorageError(f"{what}: {type(error).__name__}: {error}", address=address) from error

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": None}


def _has_own_listing(files: Any) -> bool:
    """Whether `find` is the filesystem's own and not what fsspec makes of `ls`."""
    if isinstance(files, AsyncFileSystem):
        return type(files)._find is not AsyncFileSystem._find
    return type(files).find is not AbstractFileSystem.find


class MemoryStore(FsspecStore):
    """`memory://`: the objects of this process, for tests and in-process runs."""

    in_flight = 1
    must_prove = False

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path))  # fsspec would hand out the live object with its shared position

    def write(self, path: str, data: bytes | memoryview) -> None:
        with _MEMORY:
            super().write(path, data)

    def create(self, path: str, data: bytes) -> bool:
        with _MEMORY:
            if self.stat(path) is not None:
                return False
            super().write(path, data)
            return True

    def touch(self, path: str) -> None:
        with _MEMORY, self._failures("cannot be touched", path) as files:
            files.store[self._key(path)].modified = datetime.datetime.now(tz=datetime.UTC)

    def _entry(self, path: str, info: Mapping[str, Any], now: int) -> Entry:
        stored = self._connected()[0].store.get(info["name"])
        modified = now if stored is None else nanoseconds(stored.modified) or now
        validator = f"{info['size']}-{modified}" if settled(modified, now) else None
        return Entry(path, int(info["size"]), modified, validator)

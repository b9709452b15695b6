"""A folder on this machine's disk."""

from __future__ import annotations

import errno
import filecmp
import io
import os
import stat
import time
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from pipelines.errors import StorageError
from pipelines.storage.base import (
    Entry,
    Fetched,
    Opened,
    Page,
    Skipped,
    Store,
    check_path,
    printable,
)
from pipelines.storage.disk import (
    NO_LINKS,
    Whole,
    link_new,
    remove,
    share,
    sync_folder,
    temporaries,
    whole,
    write_temporary,
)
from pipelines.storage.plainfiles import entry_of, validator_of
from pipelines.storage.walk import Walk

Names = list[str]  # inside the class, `list` is the method


class LocalStore(Store):
    """Files below `root`.

    A whole object appears at once or not at all: it is written to a temporary file in its own folder, forced to disk,
    and then renamed (`write`) or hard-linked (`create`) to its name. Listings never show those temporary files.
    Symbolic links are followed unless `follow_links` is false; a folder is listed once, whatever links lead to it.
    """

    in_flight = 1

    def __init__(self, root: str, *, follow_links: bool = True) -> None:
        self.address = os.path.abspath(root)
        self._root = os.path.join(self.address, "")
        self._follow = follow_links

    def list(self, prefix: str = "", skipped: Skipped | None = None) -> Iterator[Page]:
        folder, slash, stem = prefix.rpartition("/")
        if folder:
            check_path(folder, self.address)
        try:
            walk = Walk(self._root, follow_links=self._follow, skipped=skipped or _ignore)
            yield from walk.pages(folder + slash, stem)
        except OSError as error:
            raise self._failure(error, "cannot be listed") from error

    def read(self, path: str) -> bytes:
        try:
            return whole(self._checked(path))[0]
        except OSError as error:
            raise self._failure(error, "cannot be read", path) from error

    def fetch(self, path: str) -> Fetched:
        # A write from now on gives the file another validator than the one that is settled now.
        now = time.time_ns()
        try:
            data, info = whole(self._checked(path))
        except OSError as error:
            raise self._failure(error, "cannot be read", path) from error
        return Fetched(data, info.st_mtime_ns, validator_of(info, now) if info.st_size == len(data) else None)

    def open(self, path: str) -> BinaryIO:
        try:
            return open(self._checked(path), "rb")
        except OSError as error:
            raise self._failure(error, "cannot be read", path) from error

    def opened(self, path: str) -> Opened:
        now = time.time_ns()
        try:
            file = Whole(self._checked(path))
        except OSError as error:
            raise self._failure(error, "cannot be read", path) from error
        return Opened(io.BufferedReader(file), entry_of(path, file.info, now))

    def write(self, path: str, data: bytes | memoryview) -> None:
        target = self._checked(path)
        try:
            temporary = write_temporary(target, data)
            try:
                os.rename(temporary, target)
            except OSError:
                os.unlink(temporary)
                raise
            sync_folder(os.path.dirname(target))
        except OSError as error:
            raise self._failure(error, "cannot be written", path, missing=False) from error

    def create(self, path: str, data: bytes) -> bool:
        target = self._checked(path)
        try:
            if os.path.lexists(target):
                return False
            temporary = write_temporary(target, data)
            try:
                created = link_new(temporary, target)
            finally:
                os.unlink(temporary)
            if created:
                sync_folder(os.path.dirname(target))
        except OSError as error:
            what = "cannot be created (the folder must be on a filesystem with hard links)"
            what = what if error.errno in NO_LINKS else "cannot be created"
            raise self._failure(error, what, path, missing=False) from error
        return created

    def link(self, source: str, target: str) -> None:
        old, new = self._checked(source), self._checked(target)
        try:
            share(old, new)
        except FileExistsError as error:
            if not (os.path.samefile(old, new) or filecmp.cmp(old, new, shallow=False)):
                raise StorageError(f"already holds other bytes than {source}", address=self.child(target)) from error
        except OSError as error:
            raise self._failure(error, f"cannot be linked to {target}", source) from error

    def touch(self, path: str) -> None:
        try:
            os.utime(self._checked(path))
        except OSError as error:
            raise self._failure(error, "cannot be touched", path) from error

    def stat(self, path: str) -> Entry | None:
        try:
            info = os.stat(self._checked(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._failure(error, "cannot be read", path) from error
        return entry_of(path, info, time.time_ns()) if stat.S_ISREG(info.st_mode) else None

    def delete(self, path: str) -> None:
        try:
            os.unlink(self._checked(path))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise self._failure(error, "cannot be deleted", path) from error

    def delete_many(self, sizes: Mapping[str, int]) -> int:
        freed = 0
        for path in sizes:
            top = self._path(path.partition("/")[0])  # the table's own folders stay
            try:
                freed += remove(self._checked(path), top)
            except OSError as error:
                raise self._failure(error, "cannot be deleted", path) from error
        return freed

    def temporaries(self) -> Iterator[Entry]:
        now = time.time_ns()
        for path in temporaries(self.address):
            try:
                yield entry_of(path[len(self._root) :], os.stat(path), now)
            except FileNotFoundError:
                continue

    def sync(self, folder: str) -> None:
        try:
            sync_folder(self._path(folder))
        except OSError as error:
            raise self._failure(error, "cannot be synced", folder) from error

    def _path(self, path: str) -> str:
        return self._root + path

    def _checked(self, path: str) -> str:
        check_path(path, self.address)
        return self._root + path

    def _failure(self, error: OSError, what: str, path: str | None = None, *, missing: bool = True) -> Exception:
        address = str(error.filename or self.address) if path is None else self.child(path)
        if missing and path is not None and isinstance(error, FileNotFoundError | NotADirectoryError):
            return FileNotFoundError(errno.ENOENT, "no such object", printable(address))
        return StorageError(f"{what}: {error.strerror or error}", address=printable(address))


def _ignore(path: str, reason: str) -> None:
    """Nobody wants to know."""

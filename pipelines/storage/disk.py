"""Files that appear at once or not at all, and stay: the few steps a disk needs for it."""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from typing import Any

TEMPORARY_START = ".tmp-rechunk-"
TEMPORARY = re.compile(re.escape(TEMPORARY_START) + "[0-9a-f]{16}")
"""Names of temporary files. Nothing else may be named so."""

NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOTSUP}
"""Errors that say: no hard link here."""


def whole(path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a file, and what it was when they began to be read.

    File objects cost more than the file when it is small (benchmarks/job.py). One that shrinks meanwhile is an OSError,
    never a shorter file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # or a pipe that took the file's place would never open
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        size = info.st_size
        data = os.read(descriptor, size + 1)
        if len(data) == size:
            return data, info
        parts = [data]  # more than one read gives, or a file that is being written
        while data:
            data = os.read(descriptor, 1 << 20)
            parts.append(data)
        found = b"".join(parts)
        if len(found) < size:
            raise OSError(errno.EIO, f"ended after {len(found)} of {size} bytes: it was cut while it was read", path)
        return found, info
    finally:
        os.close(descriptor)


class Whole(io.FileIO):
    """A file that must not end before the size it had when it was opened: that it was cut meanwhile is an OSError.

    Whoever reads records from it would take those that were cut off for removed ones.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.info = os.fstat(self.fileno())

    def readinto(self, buffer: Any, /) -> int | None:
        found = super().readinto(buffer)
        if found == 0 and len(buffer) and self.tell() < self.info.st_size:
            what = f"ended after {self.tell()} of {self.info.st_size} bytes: it was cut while it was read"
            raise OSError(errno.EIO, what, self.name)
        return found


def write_temporary(target: str, data: bytes | memoryview) -> str:
    """A durable temporary file next to `target`, with the permissions an ordinary new file gets."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f"{TEMPORARY_START}{secrets.token_hex(8)}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    try:
        descriptor = os.open(temporary, flags, 0o666)
    except FileNotFoundError:
        _make_folders(folder)
        descriptor = os.open(temporary, flags, 0o666)
    try:
        with open(descriptor, "wb", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            os.fsync(descriptor)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def link_new(temporary: str, target: str) -> bool:
    """Give a temporary file its name unless that is taken; whether it got it."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        # Over NFS a repeated request may report its own success as a conflict: the link count tells.
        return os.stat(temporary).st_nlink == 2
    return True


def share(old: str, new: str) -> None:
    """Hard-link `old` to `new`, or copy it where links cannot be made. FileExistsError when `new` is taken."""
    try:
        os.link(old, new)
        return
    except FileNotFoundError:
        os.stat(old)  # raises when it is the source that is missing
        _make_folders(os.path.dirname(new))
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
    try:
        os.link(old, new)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _copy(old, new)


def _copy(old: str, new: str) -> None:
    if os.path.lexists(new):
        raise FileExistsError(errno.EEXIST, "exists", new)
    temporary = write_temporary(new, b"")
    try:
        shutil.copyfile(old, temporary)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.rename(temporary, new)
    except BaseException:
        os.unlink(temporary)
        raise


def _make_folders(folder: str) -> None:
    """Create a folder and its parents, each one's name durable in the one above."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.makedirs(path, exist_ok=True)
        sync_folder(os.path.dirname(path))


def remove(path: str, root: str) -> int:
    """Unlink a file, and the folders below `root` that this leaves empty. Returns the bytes it freed.

    A file that has other names frees nothing, and one that is not there neither.
    """
    try:
        info = os.stat(path)
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    folder = os.path.dirname(path)
    while len(folder) > len(root):
        try:
            os.rmdir(folder)
        except OSError:  # something is in it
            break
        folder = os.path.dirname(folder)
    return info.st_size if info.st_nlink == 1 else 0


def temporaries(root: str) -> Iterator[str]:
    """Paths of temporary files below `root`, at any depth."""
    for folder, _, names in os.walk(root):
        yield from (os.path.join(folder, name) for name in names if TEMPORARY.fullmatch(name))


def sync_folder(folder: str) -> None:
    """Force the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # filesystems that cannot sync a folder
            raise
    finally:
        os.close(descriptor)

"""Folders for what nobody needs any more once the process is done, however it ends.

A process that is killed leaves its folder behind. It held a lock on it, which the system took back: so whoever makes a
folder of this kind next removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

START = "rechunk-scratch-"
_YOUNG_SECONDS = 60.0
"""A folder younger than this may be one whose maker has not locked it yet."""


@contextmanager
def scratch_folder() -> Iterator[str]:
    """The path of a new folder, which is gone afterwards."""
    sweep()
    folder = tempfile.mkdtemp(prefix=START)
    lock = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def sweep() -> None:
    """Remove the folders of this user's processes that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(START + "*"):
        with suppress(OSError):
            info = folder.lstat()
            if info.st_uid != os.getuid() or folder.is_symlink() or time.time() - info.st_ctime < _YOUNG_SECONDS:
                continue
            lock = _locked(str(folder))
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(folder: str) -> int | None:
    """A lock on a folder, as the descriptor that holds it; None if somebody else has it, or locks are not to be had.

    No other program gets the descriptor, so that the lock ends with this process.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor

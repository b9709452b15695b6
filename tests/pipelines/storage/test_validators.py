"""What says that a file on a disk is the one it was: size, times and inode, once no clock can hide a write any more."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.storage.base import Page
from pipelines.storage.local import LocalStore
from pipelines.storage.plainfiles import add_plain, entry_of

NOW = 1_700_000_000_123_456_789
SECOND = 1_000_000_000
MS = 1_000_000
LONG_AGO = NOW - 3600 * SECOND + 1


def validator(modified: int, changed: int) -> str | None:
    """That of a file with these times (UTC ns), by either way of listing it."""
    info: Any = SimpleNamespace(st_size=7, st_mtime_ns=modified, st_ctime_ns=changed, st_ino=5)
    item: Any = SimpleNamespace(name="a", stat=lambda follow_symlinks: info)
    page = Page.new()
    assert add_plain("", [item], NOW, page)
    found = entry_of("a", info, NOW).validator
    assert page.validators == [found]
    return found


@pytest.mark.parametrize(
    ("modified", "changed", "is_trusted"),
    [
        (LONG_AGO, LONG_AGO, True),
        (NOW - 21 * MS, NOW - 21 * MS, True),
        (NOW - 19 * MS, NOW - 19 * MS, False),  # a write in the same tick would not show
        (LONG_AGO, NOW - 19 * MS, False),  # as cp -p, rsync -t and backups leave a file: written just now
        (LONG_AGO, NOW - 21 * MS, True),
        (NOW // SECOND * SECOND, NOW // SECOND * SECOND, False),  # whole seconds: the clock may tick every 2 s only
        (LONG_AGO, NOW // SECOND * SECOND, False),
        (NOW // SECOND * SECOND - 3 * SECOND, NOW // SECOND * SECOND - 3 * SECOND, True),
        (NOW + 3600 * SECOND, LONG_AGO, True),  # set into the future, a while ago
        (NOW + 3600 * SECOND, NOW - 19 * MS, False),
        (NOW + 1 * SECOND, LONG_AGO, False),  # its time will be now
        (NOW + 3600 * SECOND, NOW + 3600 * SECOND, False),  # a file server whose clock is ahead
        (NOW - 3600 * SECOND, NOW - 3600 * SECOND + 5, True),  # one whose clock is behind looks like this
    ],
)
def test_a_file_is_trusted_once_a_later_write_must_show(modified: int, changed: int, is_trusted: bool) -> None:
    assert validator(modified, changed) == (f"7-{modified}-{changed}-5" if is_trusted else None)


def in_place(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def replaced(file: Path, content: bytes) -> None:
    other = file.with_name("other")
    other.write_bytes(content)
    os.replace(other, file)


def copied_with_its_times(file: Path, content: bytes) -> None:
    """`cp -p`, and how a backup is restored."""
    other = file.parent.parent / "backup"
    other.write_bytes(content)
    shutil.copystat(file, other)
    shutil.copy2(other, file)


def synchronised(file: Path, content: bytes) -> None:
    """`rsync -t`: a temporary file with the time of the source, renamed."""
    times = file.stat()
    replaced(file, content)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def linked(file: Path, content: bytes) -> None:
    other = file.parent.parent / "elsewhere"
    other.write_bytes(content)
    shutil.copystat(file, other)
    file.unlink()
    file.symlink_to(other)


def swapped_link(file: Path, content: bytes) -> None:
    first, second = (file.parent.parent / name for name in ("first", "second"))
    for target, data in ((first, file.read_bytes()), (second, content)):
        target.write_bytes(data)
        shutil.copystat(file, target)
    file.unlink()
    file.symlink_to(second)


@pytest.mark.parametrize(
    "write",
    [in_place, replaced, copied_with_its_times, synchronised, linked, swapped_link],
    ids=lambda write: write.__name__,
)
def test_other_bytes_of_the_same_size_and_time_have_another_validator(
    tmp_path: Path, write: Callable[[Path, bytes], None]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    file = docs / "a.txt"
    file.write_bytes(b"old bytes")
    os.utime(file, ns=(LONG_AGO, LONG_AGO))
    time.sleep(0.03)
    store = LocalStore(str(docs))
    listed, read = next(iter(store.list())).validators, store.fetch("a.txt")
    assert listed == [read.validator] != [None]
    write(file, b"new bytes")
    os.utime(file, ns=(LONG_AGO, LONG_AGO))
    time.sleep(0.03)
    again = next(iter(store.list()))
    assert (again.sizes, again.modified) == ([9], [LONG_AGO])
    assert None not in again.validators
    assert again.validators != listed
    assert store.fetch("a.txt").data == b"new bytes"
    assert [store.fetch("a.txt").validator] == again.validators

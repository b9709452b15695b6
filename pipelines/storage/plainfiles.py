"""What a listing says of files on a disk: one at a time, or all that an ordinary folder holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import attrgetter

from pipelines.storage.base import LONGEST_TICK, Entry, Page, settled
from pipelines.storage.disk import TEMPORARY_START

_SIZE, _MODIFIED, _CHANGED, _INODE = map(attrgetter, ("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino"))
_VALIDATOR = "%d-%d-%d-%d"


def add_plain(folder: str, files: Sequence[os.DirEntry[str]], now: int, page: Page) -> bool:
    """Add the files of a folder if none needs a closer look; whether they were added.

    That is so in nearly all folders, and most of a quiet night's CPU is spent here: so nothing is done file by file
    but asking the system (benchmarks/job.py nights).
    """
    names = [item.name for item in files]
    joined = "/".join(names)
    if not joined.isascii() or TEMPORARY_START in joined:
        return False
    try:
        infos = [item.stat(follow_symlinks=False) for item in files]
    except FileNotFoundError:  # deleted while we were listing
        return False
    sizes, times, changes = [*map(_SIZE, infos)], [*map(_MODIFIED, infos)], [*map(_CHANGED, infos)]
    validators: list[str | None] = [
        *map(_VALIDATOR.__mod__, zip(sizes, times, changes, map(_INODE, infos), strict=True))
    ]
    fresh = now - LONGEST_TICK
    if times and max(max(times), max(changes)) >= fresh:
        validators = [
            validator if (modified < fresh and changed < fresh) or _trusted(modified, changed, now) else None
            for validator, modified, changed in zip(validators, times, changes, strict=True)
        ]
    page.paths.extend([folder + name for name in names])
    page.sizes.extend(sizes)
    page.modified.extend(times)
    page.validators.extend(validators)
    return True


def entry_of(path: str, info: os.stat_result, now: int) -> Entry:
    """The entry of one file, listed at `now` (UTC ns)."""
    return Entry(path, info.st_size, info.st_mtime_ns, validator_of(info, now))


def validator_of(info: os.stat_result, now: int) -> str | None:
    """The validator of one file, as it was at `now` (UTC ns)."""
    modified, changed = info.st_mtime_ns, info.st_ctime_ns
    if max(modified, changed) >= now - LONGEST_TICK and not _trusted(modified, changed, now):
        return None
    return _VALIDATOR % (info.st_size, modified, changed, info.st_ino)


def _trusted(modified: int, changed: int, now: int) -> bool:
    """Whether a later write must have changed one of these times (UTC ns).

    Whoever writes can set `modified` to what it was, or to the future, but not `changed`: that is the time of the write
    or of the setting, by the clock of the filesystem. Some filesystems only have the first, and show it as both. A file
    server whose clock is ahead gives times of the future: then nothing is known.
    """
    return settled(changed, now) and (settled(modified, now) or modified > now + LONGEST_TICK)

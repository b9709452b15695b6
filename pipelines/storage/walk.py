"""Listing a folder of this machine's disk with all that is below it."""

from __future__ import annotations

import errno
import heapq
import os
import stat
import time
from bisect import bisect_left
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from pipelines.storage.base import PAGE, Page, Skipped, is_text, printable
from pipelines.storage.disk import TEMPORARY
from pipelines.storage.plainfiles import add_plain, entry_of

_NAME = attrgetter("name")


class Walk:
    """One listing below `root`, which ends in a slash; where links to folders are not followed, they are `skipped`.

    Entries come in the order of their paths, which is that of object stores and spares whoever wants it sorting, but
    for what links to folders lead to: that comes last, and no folder twice, whatever leads to it.
    """

    def __init__(self, root: str, *, follow_links: bool, skipped: Skipped) -> None:
        self._root = root
        self._follow = follow_links
        self._skipped = skipped
        self._now = time.time_ns()
        self._seen: set[tuple[int, int]] = set()
        self._page = Page.new()
        self._failed: OSError | None = None

    def pages(self, folder: str, stem: str) -> Iterator[Page]:
        """What is below `folder` (empty, or with its slash), of its own only names that start with `stem`.

        A folder that cannot be listed, or something in one that cannot be seen, is an OSError after all the rest, which
        is worth knowing although it is not all.
        """
        try:
            info = os.stat(self._root + folder)
        except FileNotFoundError:
            if folder or stem:
                return
            raise
        self._seen.add((info.st_dev, info.st_ino))
        pending: list[str | Page] = [folder]
        links: list[str] = []
        while pending or links:
            is_link = not pending
            parent = heapq.heappop(links) if is_link else pending.pop()
            if isinstance(parent, Page):
                self._page.extend(parent)
            else:
                try:
                    if is_link:
                        if not self._first_visit(parent):
                            self._skipped(parent, "links to a folder that is listed under another name")
                            continue
                        parent += "/"
                    found = self._scan(parent, stem if parent == folder else "")
                except FileNotFoundError:  # deleted while we were listing
                    if not parent:
                        raise
                    continue
                except OSError as error:
                    self._failed = self._failed or error
                    continue
                pending += reversed(found.parts())
                for link in found.links:
                    heapq.heappush(links, link)
            if len(self._page.paths) >= PAGE:
                yield self._page
                self._page = Page.new()
        if self._page.paths:
            yield self._page
        if self._failed is not None:
            raise self._failed

    def _first_visit(self, folder: str) -> bool:
        return self._is_new(os.stat(self._root + folder))

    def _is_new(self, info: os.stat_result) -> bool:
        key = (info.st_dev, info.st_ino)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _scan(self, folder: str, stem: str) -> _Found:
        """What one folder holds. Of one that holds plain files only they are in the page when this returns."""
        found = _Found(Page.new(), [], [])
        # Of an open folder the system looks names up by themselves, not along the whole path: a sixth of listing.
        descriptor = os.open(self._root + folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(descriptor) as scan:
                items = [item for item in scan if item.name.startswith(stem)] if stem else [*scan]
            items.sort(key=_NAME)
            files = [item for item in items if item.is_file(follow_symlinks=False)]
            alone = len(files) == len(items)
            if add_plain(folder, files, self._now, self._page if alone else found.files):
                if alone:
                    return found
                items = [item for item in items if not item.is_file(follow_symlinks=False)]
            for item in items:
                try:
                    self._add(item, folder, found)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    self._failed = self._failed or self._located(error, folder)
        except OSError as error:
            self._located(error, folder)
            raise
        finally:
            os.close(descriptor)
        return found

    def _located(self, error: OSError, folder: str) -> OSError:
        error.filename = self._root + folder + (error.filename if isinstance(error.filename, str) else "")
        return error

    def _add(self, item: os.DirEntry[str], folder: str, found: _Found) -> None:
        """Add one thing that a folder holds, whatever it is."""
        name = item.name
        if not is_text(name):
            self._skipped(printable(folder + name), "the name is not valid UTF-8")
        elif item.is_file(follow_symlinks=False):
            if not TEMPORARY.fullmatch(name):
                found.files.add(entry_of(folder + name, item.stat(follow_symlinks=False), self._now))
        elif item.is_dir(follow_symlinks=False):
            if self._is_new(item.stat(follow_symlinks=False)):
                found.folders.append(folder + name + "/")
        elif item.is_symlink():
            self._follow_link(item, folder + name, found)
        else:
            self._skipped(folder + name, "not a regular file")

    def _follow_link(self, item: os.DirEntry[str], path: str, found: _Found) -> None:
        if not self._follow:
            self._skipped(path, "a symbolic link")
            return
        try:
            info = item.stat()
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise  # something is there and cannot be seen: not the same as gone
            self._skipped(path, "a broken symbolic link")
            return
        if stat.S_ISREG(info.st_mode):
            found.files.add(entry_of(path, info, self._now))
        elif stat.S_ISDIR(info.st_mode):
            found.links.append(path)
        else:
            self._skipped(path, "not a regular file")


class _Found(NamedTuple):
    """What one folder holds: files, its own folders (with `/`), and links to folders."""

    files: Page
    folders: list[str]
    links: list[str]

    def parts(self) -> list[str | Page]:
        """Folders, and the files between them, in the order of their paths; every file is in one of them."""
        parts: list[str | Page] = []
        start = 0
        for folder in sorted(self.folders):
            stop = bisect_left(self.files.paths, folder, start)  # (links to files stand behind the others)
            if start < stop:
                parts.append(self.files.part(start, stop))
            parts.append(folder)
            start = stop
        if start < len(self.files.paths):
            parts.append(self.files.part(start, len(self.files.paths)))
        return parts

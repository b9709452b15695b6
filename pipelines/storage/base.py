"""What every store can do: `Store`, and `Entry`, one object as a listing sees it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, NamedTuple

from pipelines.errors import StorageError

_DELETES = 16
"""Deletions in flight at once."""

PAGE = 5_000
"""Entries in one page of a listing."""

LONGEST_TICK = 2_000_000_000
"""Nanoseconds between two times that the coarsest filesystem can tell apart."""

Skipped = Callable[[str, str], None]
"""Told of everything a listing leaves out on purpose: printable path below the root, reason."""


class Entry(NamedTuple):
    """One object of a listing.

    `path` is relative to the store's root, joined by `/`, always valid text. `size` is in bytes, `modified` in UTC
    nanoseconds (None where the store does not say). `validator` changes whenever the bytes may have changed; None when
    the store offers nothing that strong, or the object is too young to tell (see `settled`).
    """

    path: str
    size: int
    modified: int | None
    validator: str | None


class Fetched(NamedTuple):
    """The bytes of one object, and what the store said of just these bytes.

    `modified` and `validator` are as in `Entry`. An object may have been another one when it was listed: what belongs
    to the bytes is what must be remembered with them.
    """

    data: bytes
    modified: int | None
    validator: str | None


class Opened(NamedTuple):
    """An object as a seekable binary file, which the caller closes, and what the store said of the bytes in it."""

    file: BinaryIO
    entry: Entry


class Upload(NamedTuple):
    """A write in parts that has not come to an end: to `path`, begun at UTC ns, `number` is the store's name of it."""

    path: str
    begun: int | None
    number: str


class Page(NamedTuple):
    """Some of the entries of a listing, as columns: an object for each of 100,000 files is half of listing them.

    Each list is one field of `Entry` (benchmarks/job.py nights).
    """

    paths: list[str]
    sizes: list[int]
    modified: list[int | None]
    validators: list[str | None]

    @classmethod
    def new(cls) -> Page:
        """A page without entries."""
        return cls([], [], [], [])

    def add(self, entry: Entry) -> None:
        """One more entry."""
        self.paths.append(entry.path)
        self.sizes.append(entry.size)
        self.modified.append(entry.modified)
        self.validators.append(entry.validator)

    def extend(self, other: Page) -> None:
        """The entries of another page behind these."""
        self.paths.extend(other.paths)
        self.sizes.extend(other.sizes)
        self.modified.extend(other.modified)
        self.validators.extend(other.validators)

    def part(self, start: int, stop: int) -> Page:
        """The entries from number `start` to `stop`."""
        return Page(
            self.paths[start:stop], self.sizes[start:stop], self.modified[start:stop], self.validators[start:stop]
        )

    def entries(self) -> Iterator[Entry]:
        """The entries, one by one."""
        return map(Entry, *self)


class Store(ABC):
    """One folder of one storage system, and all the job ever does to storage.

    Cheap to build and picklable: it holds an address and options, and connects at the first use in each process.
    Paths are relative to the folder and taken literally (`[`, `#`, `%`, spaces, any Unicode). A missing object is
    FileNotFoundError; anything else that goes wrong is `StorageError` with the full address.
    """

    address: str
    in_flight: int = 16
    """Reads worth having under way at once; 1 where a thread costs more than waiting."""
    must_prove: bool = False
    """Whether it takes a test (probe.py) to know that `create` is exclusive: others decide that than this code."""

    def child(self, path: str) -> str:
        """Full address of an object."""
        return f"{self.address.rstrip('/')}/{path}"

    @abstractmethod
    def list(self, prefix: str = "", skipped: Skipped | None = None) -> Iterator[Page]:
        """Pages of every object whose path starts with `prefix`, at any depth, in any order.

        Files only. Objects whose name is no valid text, or that are no regular files, are left out and told to
        `skipped`. A listing that cannot be completed raises; it never just ends early.
        """

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The whole object."""

    def fetch(self, path: str) -> Fetched:
        """The whole object and its validator, None unless it is certain to be that of these bytes."""
        before = self.stat(path)
        data = self.read(path)
        after = self.stat(path)
        if before is None or after is None or before != after or after.size != len(data):
            return Fetched(data, None, None)
        return Fetched(data, after.modified, after.validator)

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """The object as a seekable binary file; the caller closes it."""

    def opened(self, path: str) -> Opened:
        """The object as a file, and the validator of what it will give; None where that is not certain.

        What changes later may show through, but then the next listing has another validator than this one.
        """
        before = self.stat(path)
        file = self.open(path)
        after = self.stat(path)
        if before is None or after is None:  # it came or went meanwhile
            return Opened(file, Entry(path, 0, None, None))
        return Opened(file, before if before == after else after._replace(validator=None))

    @abstractmethod
    def write(self, path: str, data: bytes | memoryview) -> None:
        """Store the whole object, replacing an older one; a reader sees the old bytes or the new ones."""

    @abstractmethod
    def create(self, path: str, data: bytes) -> bool:
        """Store the whole object if there is none of that name. False when there is; among racers one gets True."""

    @abstractmethod
    def link(self, source: str, target: str) -> None:
        """Make `target` the same bytes as `source`, sharing them where the store can.

        Nothing happens when `target` already holds them; a `target` with other bytes is an error, never replaced.
        Durable only after `sync` of its folder.
        """

    @abstractmethod
    def touch(self, path: str) -> None:
        """Make the object look freshly written to tools that go by modification time."""

    @abstractmethod
    def stat(self, path: str) -> Entry | None:
        """The object's entry, or None when it is missing."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Remove the object; nothing happens when it is missing."""

    def delete_many(self, sizes: Mapping[str, int]) -> int:
        """Remove objects, given with their sizes; returns how many bytes that freed."""
        with ThreadPoolExecutor(_DELETES) as pool:
            deque(pool.map(self.delete, sizes), maxlen=0)
        return sum(sizes.values())

    def temporaries(self) -> Iterator[Entry]:
        """What interrupted writes left behind, which no listing shows. Most stores leave nothing."""
        return iter(())

    def uploads(self) -> Sequence[Upload]:
        """Writes in parts that are under way or broke off, of stores that keep their parts until somebody says."""
        return ()

    def abort(self, upload: Upload) -> None:  # noqa: B027 - where there are no uploads there is nothing to do
        """Let go of the parts of an upload; nothing happens when it has ended."""

    def exists(self, path: str) -> bool:
        """Whether the object is there."""
        return self.stat(path) is not None

    def sync(self, folder: str) -> None:  # noqa: B027 - most stores have nothing to do
        """Make the names linked into `folder` survive a power cut."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r})"


def settled(modified: int, now: int | None = None) -> bool:
    """Whether a modification time (UTC ns) is old enough that a later write must have changed it.

    A write in the same tick of the filesystem's clock leaves the time as it is. The tick is taken as 20 ms, or as 2 s
    where times come in whole seconds.
    """
    tick = 20_000_000 if modified % 1_000_000_000 else LONGEST_TICK
    return modified < (time.time_ns() if now is None else now) - tick


def check_path(path: str, address: str) -> None:
    """Refuse a path that would leave the store's root or is no name at all."""
    if not path or path.startswith("/") or "\0" in path or (".." in path and ".." in path.split("/")):
        raise StorageError(f"{path!r} is no object name; it must be a relative path without '..'", address=address)


def is_text(name: str) -> bool:
    """Whether a name has a UTF-8 form (names from a disk may hold undecodable bytes)."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(name: str) -> str:
    r"""The name with what is no text written as `\xNN`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

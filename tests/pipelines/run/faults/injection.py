"""One fault at one storage call of everything that a piece of work makes."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, BinaryIO, Literal

import pytest

from pipelines.errors import StorageError
from pipelines.storage.base import Fetched, Opened, Store
from pipelines.storage.bucket import BucketStore
from pipelines.storage.local import LocalStore
from pipelines.storage.remote import FsspecStore, MemoryStore

Kind = Literal["raises", "reply lost", "crashes before", "crashes after", "short", "slow"]
KINDS: tuple[Kind, ...] = ("raises", "reply lost", "crashes before", "crashes after", "short", "slow")

CALLS = ("read", "fetch", "open", "opened", "write", "create", "link", "touch", "stat", "delete", "sync")
"""The methods of a store that are one call each; `list`, `temporaries` and `delete_many` are looked after too."""

READS = ("read", "fetch", "range")


class Killed(BaseException):
    """Ends the work as a lost process does: nothing it does on its way out reaches a store any more."""


@dataclass(slots=True)
class Call:
    """A call that was made: `operation` of the store at `address`, with `path`."""

    operation: str
    address: str
    path: str

    def __str__(self) -> str:
        return f"{self.operation} {self.address}/{self.path}"


@dataclass
class Fault:
    """`kind` at call number `at` (from 1) of those that it can meet; with `at` 0 none, and all are only counted.

    Or at the first call that `at_first` picks. `kill` does what a crash does, `meanwhile` what happens during a slow call; `cut` takes the second half of an object
    away for good, and says whether it was one that it can do that to. `met` and `code` are the call that met the fault, and how the work ended.
    """

    kind: Kind
    at: int = 0
    at_first: Callable[[Call], bool] = lambda call: False
    kill: Callable[[], None] | None = None
    meanwhile: Callable[[], None] = lambda: None
    cut: Callable[[Call], bool] = lambda call: False
    met: Call | None = None
    code: int | None = None
    calls: list[Call] = field(default_factory=list)
    _dead: bool = False
    _active: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _inside: threading.local = field(default_factory=threading.local)

    def call(self, call: Call, deed: Callable[[], Any], shortened: Callable[[Any], Any] | None = None) -> Any:
        """The deed of a store, or what becomes of it."""
        if getattr(self._inside, "yes", False) or not self._active:
            return deed()
        self._inside.yes = True
        try:
            if self._is_met(call, readable=shortened is not None):
                return self._commit(call, deed, shortened)
            result = deed()
        finally:
            self._inside.yes = False
        return result

    def _is_met(self, call: Call, *, readable: bool) -> bool:
        if self.kind == "short" and not readable:
            return False
        with self._lock:
            if self._dead:
                raise Killed
            self.calls.append(call)
            if len(self.calls) != self.at and (self.met is not None or not self.at_first(call)):
                return False
            self.met = call
            return True

    def _commit(self, call: Call, deed: Callable[[], Any], shortened: Callable[[Any], Any] | None) -> Any:
        if self.kind == "short":
            assert shortened is not None
            return deed() if self.cut(call) else shortened(deed())
        if self.kind == "slow":
            self._others_work()
            return deed()
        if self.kind in ("reply lost", "crashes after"):
            with suppress(Exception):  # an answer may be that there is no such object
                deed()
        if self.kind in ("crashes before", "crashes after"):
            self._die()
        raise StorageError("out of reach: injected", address=f"{call.address}/{call.path}")

    def _others_work(self) -> None:
        self._active = self._inside.yes = False
        try:
            self.meanwhile()
        finally:
            self._active = self._inside.yes = True

    def _die(self) -> None:
        self._dead = True
        if self.kill is not None:
            self.kill()
        raise Killed


@contextmanager
def injected(fault: Fault) -> Iterator[Fault]:
    """While this lasts, every store of this process commits `fault`."""
    with pytest.MonkeyPatch.context() as patch:
        for store in (LocalStore, FsspecStore, MemoryStore, BucketStore):
            for name in {*CALLS, "list", "temporaries", "delete_many"} & vars(store).keys():
                patch.setattr(store, name, _wrapped(fault, name, vars(store)[name]))
        for name in ("fetch", "opened", "sync", "temporaries", "delete_many"):
            patch.setattr(Store, name, _wrapped(fault, name, vars(Store)[name]))
        yield fault


def _wrapped(fault: Fault, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    if name in ("list", "temporaries"):
        return _listing(fault, name, original)
    if name == "delete_many":
        return _deletions(fault, original)

    @wraps(original)
    def call(store: Store, path: str, *arguments: Any) -> Any:
        said = Call("open" if name == "opened" else name, store.address, path)
        shortened = _short_read if name in ("read", "fetch") else None
        result = fault.call(said, lambda: original(store, path, *arguments), shortened)
        if name == "open":
            return _file(fault, said, result)
        return Opened(_file(fault, said, result.file), result.entry) if name == "opened" else result

    return call


def _short_read(result: bytes | Fetched) -> bytes | Fetched:
    if isinstance(result, Fetched):
        return result._replace(data=result.data[: len(result.data) // 2], validator=None)
    return result[: len(result) // 2]


def _listing(fault: Fault, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(store: Store, *arguments: Any, **named: Any) -> Iterator[Any]:
        said = Call(name, store.address, str(arguments[0]) if arguments else "")
        yield from fault.call(said, lambda: list(original(store, *arguments, **named)))

    return call


def _deletions(fault: Fault, original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(store: Store, sizes: dict[str, int]) -> int:
        freed = 0
        for path, size in sizes.items():
            said = Call("delete", store.address, path)
            freed += fault.call(said, lambda one={path: size}: original(store, one))
        return freed

    return call


def _file(fault: Fault, opened: Call, file: BinaryIO) -> BinaryIO:
    """The file, whose reads are calls too. Of a file inside of another call they are part of that."""
    if isinstance(file, _Ranges):
        return file
    return _Ranges(fault, opened, file)  # type: ignore[return-value]


class _Ranges(io.RawIOBase):
    """A file of a store; each read is a call."""

    def __init__(self, fault: Fault, opened: Call, file: BinaryIO) -> None:
        self._fault = fault
        self._call = Call("range", opened.address, opened.path)
        self._file = file
        self._end: int | None = None

    def read(self, size: int = -1, /) -> bytes:  # type: ignore[override]
        found: bytes = self._fault.call(self._call, lambda: self._file.read(size), self._ended)
        return found if self._end is None else found[: max(0, self._end - (self._file.tell() - len(found)))]

    def _ended(self, data: bytes) -> bytes:
        """Half of what there is, and from there on nothing: the file was cut while it was read."""
        self._end = self._file.tell() - len(data) + len(data) // 2
        return data

    def readinto(self, buffer: Any, /) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def fileno(self) -> int:
        return self._file.fileno()

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()

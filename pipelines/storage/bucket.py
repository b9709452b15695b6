"""A folder of an object store: what every one of them does alike, over the few requests that its `Client` makes."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, TypeVar

from pipelines.errors import StorageError
from pipelines.storage.answered import reason_of
from pipelines.storage.base import Entry, Fetched, Opened, Page, Skipped, Store, Upload
from pipelines.storage.client import Client, Listed
from pipelines.storage.ranges import RangeFile
from pipelines.storage.retry import Retry, is_transient

WHOLE = 2 * 1024 * 1024
"""Bytes that opening an object asks for: all of most state files, little of a container that is read in parts."""

_Out = TypeVar("_Out")
_Answer = tuple[list[Listed], str | None]


class BucketStore(Store):
    """`protocol://bucket/folder`. `connect` makes the client of a bucket; `options` are its, and are never shown.

    Paths are taken literally: `a//b`, `/a` and `a%20b` are names like any other. Requests that fail for a moment are
    made again (`Retry`).
    """

    must_prove = True

    @property
    def in_flight(self) -> int:  # type: ignore[override]
        """As the client likes it."""
        return self._client().in_flight

    def __init__(
        self,
        address: str,
        connect: Callable[[str, Mapping[str, Any]], Client],
        options: Mapping[str, Any] | None = None,
        retry: Retry | None = None,
    ) -> None:
        self.address = address.rstrip("/")
        protocol, _, rest = self.address.partition("://")
        self._bucket, _, root = rest.partition("/")
        self._root = f"{root}/" if root else ""
        self._protocol = protocol
        self._connect = connect
        self._options = dict(options or {})
        self.retry = retry or Retry()
        self._connection: tuple[int, Client] | None = None

    def list(self, prefix: str = "", skipped: Skipped | None = None) -> Iterator[Page]:
        start = self._root + prefix
        token: str | None = None
        while True:
            asked = partial(self._page_after, start, token)
            listed, token = self._asked("cannot be listed", None, asked)
            page = self._page(listed, skipped)
            if page.paths:
                yield page
            if token is None:
                return

    def _page_after(self, prefix: str, token: str | None) -> _Answer:
        return self._client().page(prefix, token)

    def _page(self, listed: Sequence[Listed], skipped: Skipped | None) -> Page:
        page, cut = Page.new(), len(self._root)
        for key, size, modified, validator in listed:
            path = key[cut:]
            folder = not path or path.endswith("/")
            if folder and not size:  # a "directory marker"
                continue
            if problem := "its name is that of a folder" if folder else _problem(path):
                if skipped is not None:
                    skipped(path.replace("\0", r"\x00"), problem)
                continue
            page.add(Entry(path, size, modified, validator))
        return page

    def read(self, path: str) -> bytes:
        return self.fetch(path).data

    def fetch(self, path: str) -> Fetched:
        key = self._key(path)
        return self._asked("cannot be read", path, lambda: self._client().fetch(key))

    def open(self, path: str) -> BinaryIO:
        return self.opened(path).file

    def opened(self, path: str) -> Opened:
        key = self._key(path)
        fetched, size = self._asked("cannot be read", path, lambda: self._client().fetch_start(key, WHOLE))
        entry = Entry(path, size, fetched.modified, fetched.validator)
        if size <= len(fetched.data):
            return Opened(io.BytesIO(fetched.data), entry)

        def part(start: int, stop: int) -> bytes:
            if stop <= len(fetched.data):
                return fetched.data[start:stop]
            return self._asked(
                "cannot be read", path, lambda: self._client().fetch_range(key, start, stop, entry.validator)
            )

        return Opened(io.BufferedReader(RangeFile(size, part), RangeFile.BLOCK), entry)

    def write(self, path: str, data: bytes | memoryview) -> None:
        key, content = self._key(path), bytes(data)
        try:
            self._asked("cannot be written", path, lambda: self._client().put(key, content))
        except FileNotFoundError:
            raise StorageError("cannot be written: its upload in parts was aborted", address=self.child(path)) from None

    def create(self, path: str, data: bytes) -> bool:
        key, token = self._key(path), uuid.uuid4().hex

        def attempt() -> bool:
            try:
                if self._client().create(key, data, token):
                    return True
            except Exception as error:
                if not is_transient(error):
                    raise
                # It may have been done all the same, and then the next attempt would find its own object in the way.
                if self._holds(key, data, token):
                    return True
                raise
            held = self._holds(key, data, token)
            if held is None:  # taken a moment ago and gone now, or another put is still under way
                raise ConnectionError("the store has neither created the object nor has one of that name")
            return held

        return self._asked("cannot be created", path, attempt)

    def _holds(self, key: str, data: bytes, token: str) -> bool | None:
        """Whether the object is the one that the call with this token created; None when there is none."""
        try:
            creator = self._client().creator(key)
            return creator == token if creator else self._client().fetch(key).data == data
        except FileNotFoundError:
            return None

    def link(self, source: str, target: str) -> None:
        old = self.stat(source)
        if old is None:
            raise FileNotFoundError(self.child(source))
        new = self.stat(target)
        if new is None:
            keys = self._key(source), self._key(target)
            self._asked(f"cannot be copied to {target}", source, lambda: self._client().copy(*keys, old.size))
            new = self.stat(target)
            if new is None or new.size != old.size:
                got = "nothing" if new is None else f"{new.size} bytes"
                raise StorageError(f"is {got} after a copy of {old.size} bytes", address=self.child(target))
        elif new.size != old.size or self._differ(old, new):
            raise StorageError(f"already holds other bytes than {source}", address=self.child(target))

    def _differ(self, old: Entry, new: Entry) -> bool:
        """Whether two objects of one size differ: their bytes are compared unless the store's checksums agree."""
        same = old.validator is not None and old.validator == new.validator
        return not same and self.read(old.path) != self.read(new.path)

    def touch(self, path: str) -> None:
        """Nothing to do: a copy is new, and an object's modification time cannot be set."""

    def stat(self, path: str) -> Entry | None:
        key = self._key(path)
        try:
            found = self._asked("cannot be read", path, lambda: self._client().head(key))
        except FileNotFoundError:
            return None
        return Entry(path, found.size, found.modified, found.validator)

    def delete(self, path: str) -> None:
        key = self._key(path)
        try:
            self._asked("cannot be deleted", path, lambda: self._client().delete(key))
        except FileNotFoundError:
            return

    def uploads(self) -> Sequence[Upload]:
        found = self._asked("unfinished uploads cannot be listed", None, lambda: self._client().uploads(self._root))
        return [Upload(key[len(self._root) :], begun, number) for key, begun, number in found]

    def abort(self, upload: Upload) -> None:
        key = self._key(upload.path)
        try:
            self._asked("its upload cannot be aborted", upload.path, lambda: self._client().abort(key, upload.number))
        except FileNotFoundError:
            return

    def _key(self, path: str) -> str:
        if problem := _problem(path):
            raise StorageError(f"{path!r} is no object name: {problem}", address=self.address)
        return self._root + path

    def _client(self) -> Client:
        """The client of this process: a forked child makes its own."""
        if self._connection is None or self._connection[0] != os.getpid():
            self._connection = (os.getpid(), self._connect(self._bucket, self._options))
        return self._connection[1]

    def _asked(self, what: str, path: str | None, request: Callable[[], _Out]) -> _Out:
        """The answer to a request, made again while that may help. Errors say what, where and why, but no secret."""
        address = self.address if path is None else self.child(path)
        try:
            return self.retry.call(request)
        except StorageError:
            raise
        except FileNotFoundError:
            if path is None:
                raise StorageError(f"{what}: it does not exist", address=self.address) from None
            raise FileNotFoundError(f"{address}: no such object") from None
        except Exception as error:  # every SDK has its own tree of errors
            reason = without_secrets(reason_of(error), self._options)
        # (outside of the handler: a chained error would be printed with whatever its text and its request hold)
        raise StorageError(f"{what}: {reason}", address=address)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": None}


_OPEN = ("endpoint", "region", "project", "account_name", "accountname", "profile", "protocol")


def without_secrets(message: str, options: Mapping[str, Any]) -> str:
    """`message` with every value of the options that may be a secret replaced by `***`."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            message = without_secrets(message, value)
        elif isinstance(value, str) and not any(each in name.lower() for each in _OPEN):
            # A connection string holds secrets in its parts: any of them may be quoted alone.
            parts = [pair.partition("=") for pair in value.split(";")]
            secrets = [part for key, _, part in parts if part and not any(each in key.lower() for each in _OPEN)]
            for secret in (value, *secrets):
                message = message.replace(secret, "***") if len(secret) >= 3 else message
    return message


def _problem(path: str) -> str | None:
    """Why a path is no name of an object here; None when it is one."""
    if not path:
        return "it is empty"
    if "\0" in path:
        return "it holds a NUL character"
    if not path.isascii():
        try:
            path.encode()
        except UnicodeEncodeError:
            return "it is not valid UTF-8"
    if any(part in (".", "..") for part in path.split("/")):
        return "it has a segment '.' or '..', which addresses cannot carry"
    return None

"""Where a world can be: a disk, memory, or S3. Each can be put back to how it was, down to times and validators."""

from __future__ import annotations

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsspec.implementations.memory import MemoryFileSystem

from tests.servers.s3 import S3Server

LONG_AGO = 1_600_000_000


class Place(ABC):
    """The documents at the address `docs`, the table at `table`, both reached with `options`."""

    docs: str
    table: str
    options: dict[str, dict[str, Any]]

    def target(self) -> str:
        """What commands that take a table are given: its address, or a configuration where that needs options."""
        return self.table

    @abstractmethod
    def put(self, name: str, content: bytes) -> None:
        """Write a document, long ago."""

    @abstractmethod
    def take(self, name: str) -> None:
        """Remove a document."""

    @abstractmethod
    def cut(self, address: str) -> Callable[[], None] | None:
        """Take the second half of a document away; what puts it back. None when `address` is that of no document."""

    @abstractmethod
    def keep(self) -> object:
        """All there is now, for `restore`."""

    @abstractmethod
    def restore(self, kept: Any) -> None:
        """Put everything back to how it was kept. Documents that are as they were have the validators they had."""

    @abstractmethod
    def left_over(self) -> set[str]:
        """The paths below the table of everything there is, also of what no listing shows."""


class Disk(Place):
    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept = 0
        self._clock = 0
        self._contents: dict[str, tuple[str, bytes]] = {}
        self.docs, self.table, self.options = str(root / "docs"), str(root / "table"), {}
        (root / "docs").mkdir(parents=True)
        (root / "versions").mkdir()

    def put(self, name: str, content: bytes) -> None:
        # Each content is one file and a document a link to it: a document that gets its old content back is as it was.
        self._clock += 1
        version = self._root / "versions" / f"{self._clock}"
        version.write_bytes(content)
        os.utime(version, (LONG_AGO + self._clock,) * 2)
        self._link(name, str(version))

    def _link(self, name: str, version: str) -> None:
        file = self._root / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.symlink_to(version)

    def take(self, name: str) -> None:
        (self._root / "docs" / name).unlink()

    def cut(self, address: str) -> Callable[[], None] | None:
        if not address.startswith(f"{self.docs}/") or not os.path.isfile(address):
            return None
        version = os.path.realpath(address)
        content, times = Path(version).read_bytes(), os.stat(version)
        os.truncate(version, len(content) // 2)

        def heal() -> None:
            Path(version).write_bytes(content)
            os.utime(version, ns=(times.st_mtime_ns, times.st_mtime_ns))

        return heal

    def keep(self) -> object:
        self._kept += 1
        copy = self._root / f"kept-{self._kept}"
        if os.path.isdir(self.table):
            shutil.copytree(self.table, copy, copy_function=os.link)
        return copy, self._documents()

    def _documents(self) -> dict[str, str]:
        docs = self._root / "docs"
        return {str(file.relative_to(docs)): os.readlink(file) for file in docs.rglob("*") if file.is_symlink()}

    def restore(self, kept: Any) -> None:
        copy, documents = kept
        shutil.rmtree(self.table, ignore_errors=True)
        if copy.is_dir():
            shutil.copytree(copy, self.table, copy_function=os.link)
        now = self._documents()
        for name in now.keys() - documents.keys():
            self.take(name)
        for name, version in documents.items():
            if now.get(name) != version:
                self._link(name, version)

    def left_over(self) -> set[str]:
        return {str(file.relative_to(self.table)) for file in Path(self.table).rglob("*") if file.is_file()}


class Memory(Place):
    def __init__(self, name: str) -> None:
        self._root = f"/{name}/"
        self._clock = 0
        self.docs, self.table, self.options = f"memory://{name}/docs", f"memory://{name}/table", {}

    def put(self, name: str, content: bytes) -> None:
        self._clock += 1
        files = MemoryFileSystem()
        files.pipe_file(f"{self._root}docs/{name}", content)
        files.store[f"{self._root}docs/{name}"].modified = datetime.fromtimestamp(LONG_AGO + self._clock, tz=UTC)

    def take(self, name: str) -> None:
        MemoryFileSystem().rm_file(f"{self._root}docs/{name}")

    def cut(self, address: str) -> Callable[[], None] | None:
        path = address.removeprefix("memory:/")
        whole = MemoryFileSystem.store.get(path)
        if whole is None or not path.startswith(f"{self._root}docs/"):
            return None
        content = whole.getvalue()
        MemoryFileSystem().pipe_file(path, content[: len(content) // 2])
        return lambda: MemoryFileSystem.store.update({path: whole})

    def keep(self) -> object:
        return {path: file for path, file in MemoryFileSystem.store.items() if path.startswith(self._root)}

    def restore(self, kept: Any) -> None:
        for path in [path for path in MemoryFileSystem.store if path.startswith(self._root)]:
            del MemoryFileSystem.store[path]
        MemoryFileSystem.store.update(kept)  # objects are replaced, never written into

    def left_over(self) -> set[str]:
        start = f"{self._root}table/"
        return {path.removeprefix(start) for path in MemoryFileSystem.store if path.startswith(start)}


class S3(Place):
    def __init__(self, server: S3Server, options: dict[str, dict[str, Any]], folder: Path) -> None:
        bucket = "faults"
        self._bucket = server.make(bucket)
        self._file = folder / "rechunk.yaml"
        self.server = server
        self.docs, self.table, self.options = f"s3://{bucket}/docs", f"s3://{bucket}/table", options

    def put(self, name: str, content: bytes) -> None:
        self._bucket.put(f"docs/{name}", content)

    def take(self, name: str) -> None:
        self._bucket.delete(f"docs/{name}")

    def cut(self, address: str) -> Callable[[], None] | None:
        key = address.removeprefix(self.docs.removesuffix("docs"))
        whole = self._bucket.objects.get(key)
        if whole is None or not key.startswith("docs/"):
            return None
        self._bucket.put(key, whole.data[: len(whole.data) // 2])
        return lambda: self._bucket.objects.update({key: whole})

    def keep(self) -> object:
        return dict(self._bucket.objects)

    def restore(self, kept: Any) -> None:
        self._bucket.objects = dict(kept)
        self._bucket.order = None

    def target(self) -> str:
        settings = {
            "name": "test",
            "source": [{"path": self.docs}],
            "chunking": {"default": {"strategy": "recursive", "max_size": 300}},
            "output": {"path": self.table},
            "storage": self.options,
        }
        self._file.write_text(json.dumps(settings))
        return str(self._file)

    def left_over(self) -> set[str]:
        return {key.removeprefix("table/") for key in self._bucket.objects if key.startswith("table/")}

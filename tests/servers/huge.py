"""A store of millions of objects that holds none of them: `huge://`, an fsspec filesystem that is all arithmetic.

What an object is called, how large it is and what it says follow from its number alone, so that a terabyte takes no
disk and a listing no memory. `register()` makes it known to fsspec, in every process that is to use it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import fsspec
from fsspec.spec import AbstractFileSystem

FOLDER = 1_000
"""Objects in a folder."""

AREA = 100
"""Folders in a folder of folders."""

MODIFIED = 1_600_000_000
"""Seconds since 1970 of every object that was not edited."""

_SENTENCE = "The harbour froze early that year, and nobody had paid the lamplighter for the winter.\n\n"


class HugeFileSystem(AbstractFileSystem):
    """`objects` objects of `size` bytes on average, below any root.

    `edited` objects, every `every`th from the first on, are other ones than they would be without it; `missing` are
    left out at the end.
    """

    protocol = "huge"
    cachable = False

    def __init__(
        self, objects: int, size: int = 200_000, edited: int = 0, every: int = 1, missing: int = 0, **more: Any
    ) -> None:
        super().__init__(**more)
        self.objects, self.size, self.edited, self.every = objects - missing, size, edited, every
        self.listed = 0
        self.read: list[str] = []

    def ls(self, path: str, detail: bool = True, **more: Any) -> list[Any]:
        """One folder, as fsspec has it."""
        root, place = self._place(path)
        self.listed += 1
        if len(place) == 2:
            first = (place[0] * AREA + place[1]) * FOLDER
            found = [self._entry(root, number) for number in range(first, min(first + FOLDER, self.objects))]
        elif len(place) == 1:
            count = -(-self.objects // FOLDER)
            folders = range(place[0] * AREA, min((place[0] + 1) * AREA, count))
            found = [_folder(f"{root}/area-{place[0]:04d}/topic-{folder % AREA:02d}") for folder in folders]
        else:
            found = [_folder(f"{root}/area-{area:04d}") for area in range(-(-self.objects // (FOLDER * AREA)))]
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **more: Any) -> dict[str, Any]:
        """One object, or a folder."""
        path = self._strip_protocol(path)
        if path.endswith(".txt"):
            number = int(path[-12:-4])
            root = path[: -len(name_of(number)) - 1]
            if f"{root}/{name_of(number)}" == path and number < self.objects:
                return self._entry(root, number)
        elif "." not in path:
            return _folder(path)
        raise FileNotFoundError(path)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        """What an object says."""
        entry = self.info(path)
        self.read.append(path)
        version = "again" if entry["mtime"] != MODIFIED else "once"
        text = f"Document {path[-12:-4]}, written {version}.\n\n".encode()
        whole = (text + _SENTENCE.encode() * (entry["size"] // len(_SENTENCE) + 1))[: entry["size"]]
        return whole[start:end]

    def _entry(self, root: str, number: int) -> dict[str, Any]:
        edited = number % self.every == 0 and number // self.every < self.edited
        size = self.size // 2 + number * 7919 % self.size
        return {
            "name": f"{root}/{name_of(number)}",
            "size": size,
            "type": "file",
            "mtime": MODIFIED + edited,
            "ETag": hashlib.md5(b"%d %d" % (number, edited)).hexdigest(),
        }

    def _place(self, path: str) -> tuple[str, list[int]]:
        """The root that a folder is below, and the numbers in its name."""
        parts = self._strip_protocol(path).rstrip("/").split("/")
        numbers = [int(part.rpartition("-")[2]) for part in parts if part.startswith(("area-", "topic-"))]
        return "/".join(parts[: len(parts) - len(numbers)]), numbers


def name_of(number: int) -> str:
    """The path of an object below the root. Names are in the order of the numbers."""
    folder = number // FOLDER
    return f"area-{folder // AREA:04d}/topic-{folder % AREA:02d}/document-{number:08d}.txt"


def register() -> None:
    """Make `huge://` known in this process."""
    fsspec.register_implementation("huge", HugeFileSystem, clobber=True)


def _folder(name: str) -> dict[str, Any]:
    return {"name": name, "size": 0, "type": "directory"}

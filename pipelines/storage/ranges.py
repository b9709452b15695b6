"""A seekable file over an object that is read piece by piece."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any


class RangeFile(io.RawIOBase):
    """An object of `size` bytes; `part(start, stop)` gives some of them, 0-based, stop exclusive."""

    BLOCK = 4 * 1024 * 1024
    """Bytes worth one request."""

    def __init__(self, size: int, part: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._part = part
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"cannot seek to {base + offset}")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        stop = min(self._at + len(buffer), self._size)
        if stop <= self._at:
            return 0
        data = self._part(self._at, stop)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

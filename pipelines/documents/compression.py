"""Compressed objects, known by their first bytes and never by their names: gzip, bzip2, xz and zstd.

Members may follow one another, as `cat a.gz b.gz` leaves them. What comes out is capped in size and in ratio while it
comes out, so a small object cannot fill the memory. One level only: compressed data in compressed data is no text.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol, cast

import pyarrow as pa

from pipelines.documents.failures import DocumentFailure

HEAD = 10
"""Bytes that tell."""

RATIO_FROM = 16 * 1024 * 1024
"""Up to this many bytes the ratio is nobody's concern: a log of zeros is a log."""

BLOCK = 256 * 1024
_XZ_MEMORY = 192 * 1024 * 1024
"""What `xz -9` needs is a third of it."""

_MAGIC = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08)|(?P<bz2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstd>\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)",
    re.DOTALL,
)
_FIRST = frozenset([0x1F, 0x42, 0xFD, 0x28, *range(0x50, 0x60)])


def sniff(head: bytes) -> str | None:
    """`gzip`, `bz2`, `xz` or `zstd` by the first HEAD bytes of an object; None for everything else."""
    if not head or head[0] not in _FIRST:
        return None
    found = _MAGIC.match(head)
    return None if found is None else found.lastgroup


def expand(data: bytes, *, max_bytes: int, max_ratio: int) -> tuple[bytes, str | None]:
    """`data` decompressed, and the name of its compression; `data` itself and None if it is not compressed.

    Raises DocumentFailure: `truncated` when the data ends early, `damaged` when it is not what its first bytes say,
    `expansion` for more than `max_ratio` times its size (judged above 16 MiB), `too-large` for more than `max_bytes`.
    """
    name = sniff(data[:HEAD])
    if name is None:
        return data, None
    stream = _Expanded(io.BytesIO(data), name, len(data), max_bytes, max_ratio)
    blocks = []
    while block := stream.take(BLOCK):
        blocks.append(block)
    return b"".join(blocks), name


def open_expanded(file: BinaryIO, *, max_bytes: int, max_ratio: int) -> tuple[BinaryIO, str | None]:
    """`file`, which is seekable, read from its start through its compression, and the name of that; see `expand`."""
    file.seek(0)
    name = sniff(file.read(HEAD))
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if name is None:
        return file, None
    return cast(BinaryIO, io.BufferedReader(_Expanded(file, name, size, max_bytes, max_ratio), BLOCK)), name


class _Decompressor(Protocol):
    """What bz2 and lzma offer."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Up to `max_length` bytes of what `data`, and what came before, holds."""


class _Gzip:
    """zlib's object with the interface of bz2's."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        out = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self.needs_input = not self._zlib.unconsumed_tail and len(out) < max_length
        return out


_MAKERS: dict[str, Callable[[], Any]] = {
    "gzip": _Gzip,
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY),
}


class _Expanded(io.RawIOBase):
    """What a compressed file holds, as a stream."""

    def __init__(self, file: BinaryIO, name: str, size: int, max_bytes: int, max_ratio: int) -> None:
        self._file = Noting(file)
        self._name = name
        self._size = size
        self._max_bytes = max_bytes
        self._cap = min(max_bytes, max(RATIO_FROM, max_ratio * size))
        self._ratio = max_ratio
        self._begin()

    def _begin(self) -> None:
        self._given = 0
        self._rest = b""
        self._zstd: Any = None
        self._member: _Decompressor | None = None
        if self._name == "zstd":
            self._zstd = pa.CompressedInputStream(pa.PythonFile(self._file, "r"), "zstd")
        else:
            self._member = _MAKERS[self._name]()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True  # but only to its start

    def tell(self) -> int:
        return self._given

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_CUR:
            offset += self._given
        if offset == self._given and whence != os.SEEK_END:
            return offset
        if offset or whence == os.SEEK_END:
            raise io.UnsupportedOperation("a compressed object is read from its start")
        self._file.seek(0)
        self._begin()
        return 0

    def readinto(self, buffer: Any) -> int:
        block = self.take(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def take(self, size: int) -> bytes:
        """Up to `size` bytes more, none at the end."""
        try:
            block = self._next_zstd(min(size, BLOCK)) if self._zstd is not None else self._next(min(size, BLOCK))
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            if self._file.error is not None:
                raise self._file.error from None
            raise self._damage(error) from None
        self._given += len(block)
        if self._given > self._cap:
            raise self._too_much()
        return block

    def _next_zstd(self, size: int) -> bytes:
        block = bytearray(size)  # Arrow's read() would leak what it allocated when it raises
        return bytes(memoryview(block)[: self._zstd.readinto(block)])

    def _next(self, size: int) -> bytes:
        while self._member is not None:
            if self._member.eof:
                self._next_member()
                continue
            data = b""
            if self._member.needs_input:
                data, self._rest = self._rest or self._file.read(BLOCK), b""
                if not data:
                    raise EOFError("it ends in the middle")
            if block := self._member.decompress(data, size):
                return block
        return b""

    def _next_member(self) -> None:
        """The member after the one that ended, which there need not be. Zeros may fill up the object's end."""
        assert self._member is not None
        rest = self._member.unused_data or self._file.read(BLOCK)
        if self._name != "bz2":
            while rest and not rest.strip(b"\0"):
                rest = self._file.read(BLOCK)
            rest = rest.lstrip(b"\0")
        if not rest:
            self._member = None
            return
        while len(rest) < HEAD and (more := self._file.read(HEAD)):
            rest += more
        if sniff(rest[:HEAD]) != self._name:
            raise ValueError("something else follows its end")
        self._rest = rest
        self._member = _MAKERS[self._name]()

    def _damage(self, error: Exception) -> DocumentFailure:
        if isinstance(error, EOFError) or "runcated" in str(error):
            return DocumentFailure("truncated", f"{self._name} data that ends in the middle; copy the object again")
        if self._given == 0 and isinstance(error, zlib.error | lzma.LZMAError | OSError):
            return DocumentFailure("damaged", f"not readable as the {self._name} data it begins as: {error}")
        return DocumentFailure("damaged", f"damaged {self._name} data: {error}")

    def _too_much(self) -> DocumentFailure:
        if self._cap == self._max_bytes:
            return DocumentFailure(
                "too-large", f"more than {self._max_bytes} bytes (limits.max_bytes) when decompressed; split it"
            )
        return DocumentFailure(
            "expansion",
            f"{self._size} bytes of {self._name} data hold more than {self._ratio} times as much (limits.max_ratio)",
        )


class Noting:
    """A file for Arrow that remembers what went wrong in reading it: storage that fails is not data that is damaged."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes."""
        try:
            return self._file.read(size)
        except Exception as error:
            self.error = error
            raise

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """As the file does."""
        try:
            return self._file.seek(offset, whence)
        except Exception as error:
            self.error = error
            raise

    def tell(self) -> int:
        """As the file does."""
        return self._file.tell()

    def close(self) -> None:
        """Nothing: who opened it closes it."""

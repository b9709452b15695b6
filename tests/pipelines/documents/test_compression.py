"""Compressed data: read by its first bytes, capped, and never half."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from collections.abc import Callable

import pyarrow as pa
import pytest

from pipelines.documents.compression import expand, open_expanded, sniff
from pipelines.documents.failures import DocumentFailure

Compress = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


KINDS: dict[str, Compress] = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zstd": zstd}
TEXT = "".join(f"{number} 日本\n" for number in range(5000)).encode()
LIMITS = {"max_bytes": 512 * 1024 * 1024, "max_ratio": 200}

each_kind = pytest.mark.parametrize(("name", "compress"), KINDS.items(), ids=KINDS)


def failure(data: bytes, **limits: int) -> str:
    with pytest.raises(DocumentFailure) as caught:
        expand(data, **{**LIMITS, **limits})
    return caught.value.error


@each_kind
def test_one_member_several_and_an_empty_one(name: str, compress: Compress) -> None:
    data = compress(TEXT)
    assert sniff(data[:10]) == name
    assert expand(data, **LIMITS) == (TEXT, name)
    assert expand(data + compress(b"") + data, **LIMITS) == (TEXT + TEXT, name)
    assert expand(compress(b""), **LIMITS) == (b"", name)


@each_kind
def test_a_file_is_read_as_a_stream_and_again_from_its_start(name: str, compress: Compress) -> None:
    stream, found = open_expanded(io.BytesIO(compress(TEXT) * 2), **LIMITS)
    assert (found, stream.read(7), stream.read()) == (name, TEXT[:7], TEXT[7:] + TEXT)
    stream.seek(0)
    assert stream.read() == TEXT * 2


def test_what_is_not_compressed_is_given_as_it_is() -> None:
    for data in (b"", b"B", b"BZh", b"BZh9 is a magic", b"plain", b"PACK", b"\x1f\x8b\x00", b"(\xb5/"):
        assert expand(data, **LIMITS) == (data, None)
    file = io.BytesIO(b"plain")
    assert open_expanded(file, **LIMITS) == (file, None)


@each_kind
def test_an_early_end_is_truncated_wherever_it_is(name: str, compress: Compress) -> None:
    data = compress(TEXT)
    for end in (12, len(data) // 2, len(data) - 1):
        assert failure(data[:end]) == "truncated"
        assert failure(data + data[:end]) == "truncated"


@each_kind
def test_what_follows_the_end_is_damage(name: str, compress: Compress) -> None:
    assert failure(compress(TEXT) + b"something else") == "damaged"
    other = KINDS["bz2" if name == "gzip" else "gzip"]
    assert failure(compress(TEXT) + other(TEXT)) == "damaged"


@pytest.mark.parametrize("name", ["gzip", "xz"])
def test_zeros_may_fill_up_the_end(name: str) -> None:
    assert expand(KINDS[name](TEXT) + bytes(1024), **LIMITS) == (TEXT, name)


@pytest.mark.parametrize("name", ["gzip", "bz2", "xz"])
def test_flipped_bits_are_damage(name: str) -> None:
    data = bytearray(KINDS[name](TEXT))
    data[len(data) // 2] ^= 0x10
    assert failure(bytes(data)) == "damaged"


@each_kind
def test_size_and_ratio_are_capped(name: str, compress: Compress) -> None:
    zeros = compress(bytes(17 * 1024 * 1024))
    assert failure(zeros, max_ratio=20) == "expansion"
    assert failure(zeros, max_bytes=1024 * 1024) == "too-large"
    assert len(expand(compress(bytes(15 * 1024 * 1024)), max_bytes=LIMITS["max_bytes"], max_ratio=1)[0]) == 15 * 1024**2


def test_storage_that_fails_is_not_damage() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() >= 10:
                raise OSError("connection reset")
            return super().read(size)

    for compress in KINDS.values():
        stream, _ = open_expanded(Broken(compress(TEXT)), **LIMITS)
        with pytest.raises(OSError, match="connection reset"):
            stream.read()


def test_a_bomb_takes_no_memory() -> None:
    program = """
import bz2, gzip, lzma, resource
from pipelines.documents.compression import expand
from pipelines.documents.failures import DocumentFailure
bombs = [bz2.compress(bytes(1 << 20)) * 2000, gzip.compress(bytes(1 << 20)) * 2000]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for bomb in bombs:
    try:
        expand(bomb, max_bytes=64 << 20, max_ratio=200)
    except DocumentFailure as failure:
        print(failure.error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 << 10)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["expansion", "too-large", "True"]

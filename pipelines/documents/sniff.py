"""Refuses what is no text, before anything tries to decode it."""

from __future__ import annotations

import re

from pipelines.documents.failures import DocumentFailure

SAMPLE = 1024
"""Bytes looked at, from the start."""

UTF8_CONTROLS = 0.10
OTHER_CONTROLS = 0.02
"""Largest share of control bytes in text that is valid UTF-8, and in text that is not. A stray NUL is text; random
bytes hold 10 % controls and are not valid UTF-8; half of UTF-16 without its mark is NUL."""

_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip data; decompress it first"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image; extract its text first"),
    (b"\xff\xd8\xff", "a JPEG image; extract its text first"),
    (b"PK\x03\x04", "a ZIP archive (DOCX, XLSX, EPUB and JAR are ZIP too); extract its text first"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (DOC, XLS, PPT); extract its text first"),
    (b"\xfd7zXZ\x00", "xz data; decompress it first"),
    (b"\x28\xb5\x2f\xfd", "zstd data; decompress it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; extract its text first"),
    (b"Rar!\x1a\x07", "a RAR archive; extract its text first"),
    (b"\x7fELF", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "an SQLite database; export its text first"),
    (b"II*\x00", "a TIFF image; extract its text first"),
    (b"MM\x00*", "a TIFF image; extract its text first"),
    (b"OggS\x00", "an Ogg recording; transcribe it first"),
)

_FIRST_BYTES = tuple(magic for magic, _ in _MAGIC)

_PRINTABLE_MAGIC = re.compile(
    rb"(?P<pdf>%PDF-\d\.\d)|(?P<gif>GIF8[79]a)|(?P<bzip2>BZh[1-9]1AY&SY)|(?P<parquet>PAR1[\x00-\x1f])"
    rb"|(?P<mp3>ID3[\x02-\x04]\x00)|(?P<riff>RIFF....(?:WEBP|WAVE|AVI ))|(?P<mp4>....ftyp)",
    re.DOTALL,
)

_PRINTABLE = {
    "pdf": "a PDF; extract its text first",
    "gif": "a GIF image; extract its text first",
    "bzip2": "bzip2 data; decompress it first",
    "parquet": "a Parquet file; a source of records names its columns in the configuration",
    "mp3": "an MP3 recording; transcribe it first",
    "riff": "an image, recording or film; extract its text first",
    "mp4": "a film or recording; transcribe it first",
}


def refuse_known_format(data: bytes) -> None:
    """Raises a `binary` failure if `data` begins as a format that holds no plain text."""
    head = data[:16]
    if head.startswith(_FIRST_BYTES):
        for magic, what in _MAGIC:
            if head.startswith(magic):
                raise DocumentFailure("binary", f"not text: {what}")
    if (found := _PRINTABLE_MAGIC.match(head)) is not None and found.lastgroup is not None:
        raise DocumentFailure("binary", f"not text: {_PRINTABLE[found.lastgroup]}")


def refuse_controls(data: bytes, *, utf8: bool) -> None:
    """Raises a `binary` failure if too many of the first bytes are control characters."""
    sample = data[:SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > len(sample) * (UTF8_CONTROLS if utf8 else OTHER_CONTROLS):
        raise DocumentFailure(
            "binary",
            f"not text: {controls} of its first {len(sample)} bytes are control characters; extract text first "
            "(UTF-16 without a byte order mark needs `encoding: utf-16-le` or `utf-16-be`)",
        )

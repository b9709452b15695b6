"""Refuses what is no text, before anything tries to decode it."""

from __future__ import annotations

import re
import unicodedata

from pipelines.documents.failures import DocumentFailure

SAMPLE = 1024
"""Bytes looked at, from the start."""

UTF8_CONTROLS = 0.10
OTHER_CONTROLS = 0.02
"""Largest share of control bytes in text that is valid UTF-8, and in text that is not. A stray NUL is text; random
bytes hold 10 % controls and are not valid UTF-8; half of UTF-16 without its mark is NUL."""

WIDE_SAMPLE = 64 * 1024
"""Bytes that UTF-16 without a mark is looked for in."""

WIDE_NULS = 0.4
STRAY_NULS = 0.01
"""Shares of the bytes on one side of Latin text in UTF-16, and on the other, that are NUL."""

_ASCII = re.compile(r"[\n -~]")
_NO_TEXT = frozenset(["Cc", "Cn", "Co", "Cs"])

_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])

_EXTRACT = "extract its text first, or name an `extractor` for its source"

_UNPACK = "decompress it first (a run does, but not twice)"

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip data; decompress it first (a run does, but not twice, nor what is damaged)"),
    (b"\x89PNG\r\n\x1a\n", f"a PNG image; {_EXTRACT}"),
    (b"\xff\xd8\xff", f"a JPEG image; {_EXTRACT}"),
    (b"PK\x03\x04", f"a ZIP archive (DOCX, XLSX, EPUB and JAR are ZIP too); {_EXTRACT}"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"an old Office file (DOC, XLS, PPT); {_EXTRACT}"),
    (b"\xfd7zXZ\x00", f"xz data; {_UNPACK}"),
    (b"\x28\xb5\x2f\xfd", f"zstd data; {_UNPACK}"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (b"\x7fELF", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "an SQLite database; export its text first"),
    (b"II*\x00", f"a TIFF image; {_EXTRACT}"),
    (b"MM\x00*", f"a TIFF image; {_EXTRACT}"),
    (b"OggS\x00", "an Ogg recording; transcribe it first"),
)

_FIRST_BYTES = tuple(magic for magic, _ in _MAGIC)

_PRINTABLE_MAGIC = re.compile(
    rb"(?P<pdf>%PDF-\d\.\d)|(?P<gif>GIF8[79]a)|(?P<bzip2>BZh[1-9]1AY&SY)|(?P<parquet>PAR1[\x00-\x1f])"
    rb"|(?P<mp3>ID3[\x02-\x04]\x00)|(?P<riff>RIFF....(?:WEBP|WAVE|AVI ))|(?P<mp4>....ftyp)",
    re.DOTALL,
)

_PRINTABLE = {
    "pdf": f"a PDF; {_EXTRACT}",
    "gif": f"a GIF image; {_EXTRACT}",
    "bzip2": f"bzip2 data; {_UNPACK}",
    "parquet": "a Parquet file; `format: parquet` reads its rows as records",
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


def has_controls(data: bytes, *, utf8: bool) -> int:
    """How many of the first bytes are control characters, if too many are; else 0."""
    sample = data[:SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls if controls > len(sample) * (UTF8_CONTROLS if utf8 else OTHER_CONTROLS) else 0


def refuse_controls(data: bytes, *, utf8: bool) -> None:
    """Raises a `binary` failure if too many of the first bytes are control characters."""
    if controls := has_controls(data, utf8=utf8):
        raise DocumentFailure(
            "binary",
            f"not text: {controls} of its first {min(len(data), SAMPLE)} bytes are control characters; {_EXTRACT} "
            "(text in an encoding without ASCII needs `decoding.encoding`)",
        )


def unmarked_utf16(data: bytes, *, utf8: bool) -> str | None:
    """`utf-16-le` or `utf-16-be` for data without a mark that is nothing else; None for all other.

    In mostly Latin text nearly every second byte is NUL. Other text has few, of spaces and line ends: then nothing in
    it may be a control character or one that Unicode does not know.
    """
    if utf8 and not data.isascii():
        return None  # no UTF-16 happens to be that
    sample = data[:WIDE_SAMPLE]
    half = max(len(sample) // 2, 1)
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    few, many, name = (even, odd, "utf-16-le") if odd >= even else (odd, even, "utf-16-be")
    if many >= WIDE_NULS and few <= STRAY_NULS:
        return name if _implausible(sample, name) <= OTHER_CONTROLS else None
    if not many or len(data) % 2 or (utf8 and few):
        return None
    found = [name for name in ("utf-16-le", "utf-16-be") if not _implausible(sample, name)]
    return max(found, key=lambda name: len(_ASCII.findall(sample.decode(name, "replace"))), default=None)


def _implausible(sample: bytes, encoding: str) -> float:
    """The share of characters that no text has."""
    text = sample[: len(sample) // 2 * 2].decode(encoding, "replace")
    if len(sample) == WIDE_SAMPLE:
        text = text[:-1]  # it may be half a character
    wrong = {each for each in set(text) if unicodedata.category(each) in _NO_TEXT and each not in "\t\n\r\f\0"}
    return sum(map(text.count, wrong)) / len(text) if text else 1.0

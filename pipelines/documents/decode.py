"""Bytes to text, deterministic, and nothing but the byte order mark is ever removed.

Byte order mark, strict UTF-8, the encoding that the source declares, the one that the document itself names (HTML and
XML), detection: in this order, and the first that reads the whole document wins. UTF-16 without its mark is known by
where its NUL bytes are. A declared encoding in which ASCII is not ASCII (UTF-16, ISO-2022, EBCDIC) goes before UTF-8,
because its bytes may be valid UTF-8 that means something else.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
from typing import Any, NamedTuple

from pipelines.documents.charset import encoding_in_markup
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.sniff import has_controls, refuse_controls, refuse_known_format, unmarked_utf16

SAMPLE = 64 * 1024
"""Bytes that detection looks at."""

UNMARKED_CONFIDENCE = 0.95
"""In UTF-16 without its mark: the NUL bytes are where they are in no other encoding."""

CORRUPT_UTF8 = 10
"""A document with this many good multi-byte characters for each bad byte is damaged UTF-8, not another encoding."""

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as UTF-16-LE does: asked first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FIRST_OF_MARKS = frozenset(mark[0] for mark, _ in _MARKS)

_HIGH = bytes(range(0x80, 0x100))

_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
"""A detected encoding is read as the superset that browsers read it as."""

_CANDIDATES: tuple[str, ...] = (
    *("cp1252", "gb18030", "cp932", "euc_jp", "big5", "cp949", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255"),
    *("cp1256", "cp1257", "cp1258", "cp874", "koi8_r", "koi8_u", "iso8859_2", "iso8859_15", "iso2022_jp", "gb2312"),
    *("gbk", "shift_jis", "euc_kr", "big5hkscs", "cp866", "cp850", "cp437", "mac_roman", "latin_1"),
)
"""What detection chooses from, the commonest first."""


REPLACED = "+replaced"
"""What follows the name of an encoding when characters were replaced."""


class Decoded(NamedTuple):
    """A document's text. `confidence` is 1.0 unless the encoding was detected or characters were replaced.

    `encoding` says so when they were: `utf-8+replaced`; the confidence is then the share of what was read.
    """

    text: str
    encoding: str
    confidence: float


def decode(data: bytes, *, encoding: str | None = None, errors: str = "strict") -> Decoded:
    """The text of `data`; `encoding` is what the source declares, `errors` is `strict` or `replace`.

    Raises DocumentFailure: `binary` for what is no text, `decode` for text in no encoding that reads it whole (never
    with `replace`, which puts U+FFFD where a byte cannot be read).
    """
    if not data:
        return Decoded("", "utf-8", 1.0)
    if data[0] in _FIRST_OF_MARKS:
        for mark, name in _MARKS:
            if data.startswith(mark):
                return _whole(data[len(mark) :], name, errors, "its byte order mark says so")
    refuse_known_format(data)
    if encoding is not None and not keeps_ascii(encoding):
        return _whole(data, encoding, errors, "the source declares it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as bad:
        if encoding is None and (wide := unmarked_utf16(data, utf8=False)) is not None:
            return _unmarked(data, wide, errors)
        refuse_controls(data, utf8=False)
        if encoding is not None and codecs.lookup(encoding).name != "utf-8":
            return _whole(data, encoding, errors, "the source declares it")
        if encoding is None and (label := encoding_in_markup(data)) is not None:
            with contextlib.suppress(UnicodeError):
                return Decoded(data.decode(label), label, 1.0)
        return _detected(data, bad, errors, declared=encoding is not None)
    if has_controls(data, utf8=True):
        if encoding is None and (wide := unmarked_utf16(data, utf8=True)) is not None:
            return _unmarked(data, wide, errors)
        refuse_controls(data, utf8=True)
    return Decoded(text, "utf-8", 1.0)


def _unmarked(data: bytes, encoding: str, errors: str) -> Decoded:
    text, name, confidence = _whole(data, encoding, errors, "its NUL bytes look so")
    return Decoded(text, name, min(confidence, UNMARKED_CONFIDENCE))


def _whole(data: bytes, encoding: str, errors: str, why: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding, 1.0)
    except UnicodeError as bad:
        if errors == "replace":
            return _replaced(data, encoding)
        at = getattr(bad, "start", None)
        where = "" if at is None else f" at byte {at}"
        raise DocumentFailure(
            "decode",
            f"not {encoding}{where} ({why}); correct the file or the source's "
            "`decoding.encoding`, or set `decoding: {errors: replace}`",
            position=None if at is None else str(at),
        ) from None


def _detected(data: bytes, bad: UnicodeDecodeError, errors: str, *, declared: bool) -> Decoded:
    """The text of what is no UTF-8 and of no other declared encoding."""
    repaired = _replaced(data, "utf-8")
    wrong = repaired.text.count("\ufffd")
    good = len(repaired.text) - wrong - len(data.translate(None, _HIGH))  # characters less ASCII ones
    if declared or good >= CORRUPT_UTF8 * wrong:
        if errors == "replace":
            return repaired
        raise DocumentFailure(
            "decode",
            f"damaged UTF-8: byte {bad.start} cannot be read; correct the file or set `decoding: {{errors: replace}}`",
            position=str(bad.start),
        )
    guess = _guess(_sample(data, bad.start))
    if guess is None:
        if errors == "replace":
            return repaired
        raise DocumentFailure(
            "decode",
            f"in no encoding that could be recognised (no UTF-8 at byte {bad.start}); "
            "set the source's `decoding.encoding`",
            position=str(bad.start),
        )
    name, confidence = guess
    try:
        return Decoded(data.decode(name), name, confidence)
    except UnicodeDecodeError as worse:
        if errors == "replace":
            return _replaced(data, name)
        raise DocumentFailure(
            "decode",
            f"looks like {name} but is not at byte {worse.start}; set the source's "
            "`decoding.encoding` or `decoding: {errors: replace}`",
            position=str(worse.start),
        ) from None


def _replaced(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding + REPLACED, round(1 - text.count("\ufffd") / max(len(text), 1), 4))


def _sample(data: bytes, at: int) -> bytes:
    """64 KiB around the first byte that is not UTF-8, whole lines where there are any: LF is never a trail byte."""
    start = 0
    if at > SAMPLE // 2:
        start = max(data.rfind(b"\n", 0, at - SAMPLE // 8) + 1, at - SAMPLE // 4)
    sample = data[start : start + SAMPLE]
    if start + SAMPLE < len(data) and (end := sample.rfind(b"\n")) > 0:
        sample = sample[: end + 1]
    return sample


def _guess(sample: bytes) -> tuple[str, float] | None:
    import charset_normalizer  # 30 ms that a corpus in UTF-8 never pays

    matches = list(charset_normalizer.from_bytes(sample, cp_isolation=list(_CANDIDATES), enable_fallback=False))
    if not matches:
        return None
    best = matches[0]
    for match in matches[1:]:
        # Short texts fit several code pages equally well; the one most files are in is then the best guess.
        tied = match.chaos <= best.chaos and match.coherence >= best.coherence
        if tied and _rank(match) < _rank(best):
            best = match
    name = min(best.could_be_from_charset, key=_CANDIDATES.index)
    return _SUPERSETS.get(name, name), round(1 - best.chaos, 4)


def _rank(match: Any) -> int:
    return min(_CANDIDATES.index(name) for name in match.could_be_from_charset)


@functools.lru_cache(maxsize=64)
def keeps_ascii(encoding: str) -> bool:
    """Whether ASCII bytes are ASCII in `encoding`, and nothing else."""
    if codecs.lookup(encoding).name.startswith(("iso2022", "hz", "utf-7")):
        return False  # bytes below 128 stand for other characters after an escape
    ascii_bytes = bytes(range(128))
    try:
        return ascii_bytes.decode(encoding) == ascii_bytes.decode("ascii")
    except UnicodeError:
        return False

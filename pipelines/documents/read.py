"""An object's bytes to one document's text: decompressed, extracted or decoded."""

from __future__ import annotations

from typing import NamedTuple

from pipelines.config.model import Budget, Source
from pipelines.documents.compression import expand
from pipelines.documents.decode import decode
from pipelines.documents.extract import extract
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.names import plain_name


class Text(NamedTuple):
    """A document's text. `utf8` are the bytes it was decoded from, if they are UTF-8.

    `path` and `media_type` are what the strategy `auto` may go by: the path without an ending such as `.gz`, or
    `text/markdown` and no path for what an extractor gave. `encoding` names compression too: `gzip+cp1252`.
    """

    text: str
    encoding: str
    confidence: float
    path: str | None
    media_type: str | None
    utf8: bytes | None


def read_document(data: bytes, source: Source, path: str, limits: Budget) -> Text:
    """The text of the object at `path` of `source`. Raises DocumentFailure for what cannot be read."""
    data, compression = expand(data, max_bytes=limits.max_bytes, max_ratio=limits.max_ratio)
    if len(data) > limits.max_bytes:
        raise DocumentFailure("too-large", f"{len(data)} bytes of {limits.max_bytes} (limits.max_bytes); split it")
    prefix = "" if compression is None else f"{compression}+"
    if source.extractor is not None:
        text = extract(source.extractor.function, data)
        return Text(text, prefix + "extractor", 1.0, None, "text/markdown", None)
    text, encoding, confidence = decode(data, encoding=source.decoding.encoding, errors=source.decoding.errors)
    hint = path if compression is None else plain_name(path)
    return Text(text, prefix + encoding, confidence, hint, None, data if encoding == "utf-8" else None)

"""An object's bytes to one document's text: decompressed, extracted or decoded."""

from __future__ import annotations

from typing import NamedTuple

from pipelines.config.model import Budget, Source
from pipelines.documents.decode import decode
from pipelines.documents.extract import extract


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
    if source.extractor is not None:
        return Text(extract(source.extractor.function, data), "extractor", 1.0, None, "text/markdown", None)
    text, encoding, confidence = decode(data, encoding=source.decoding.encoding, errors=source.decoding.errors)
    return Text(text, encoding, confidence, path, None, data if encoding == "utf-8" else None)

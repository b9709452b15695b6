"""One document at a time, for pipelines that are not the job: text or bytes to chunks or rows, as a task makes them.

Within the same limits, and with the same names for what goes wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import chunkers
from chunkers import Chunk, Split
from pipelines.config.model import Budget
from pipelines.documents.decode import decode
from pipelines.documents.failures import DocumentFailure, failure_of
from pipelines.work.chunk_document import Document, chunk_document
from pipelines.work.chunking import Metered
from pipelines.work.rows import ChunkRows
from pipelines.work.single_rows import single_rows
from pipelines.work.token_counter import token_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """How documents are chunked: a strategy with its options, what one document may cost, what counts its tokens.

    Raises OptionError for options that do not make sense, and for an unknown encoding.
    """

    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Budget = field(default_factory=Budget)
    tokens: str | None = None

    def __post_init__(self) -> None:
        chunkers.build(self.strategy, **self.options)
        if self.tokens is not None:
            token_counter(self.tokens)


class Failed(NamedTuple):
    """What the row of a document that failed says; `document` is what was given, in UTF-8 if it was text.

    The other columns are those of the job's failure rows. `id` is None for a record that has none.
    """

    id: str | None
    uri: str | None
    position: str | None
    stage: str
    error: str
    message: str
    document: bytes | None


class OneDocument:
    """Chunks documents one after the other. Not for several threads at a time.

    `stage` is where the last one was when something was raised: decode or chunk.
    """

    def __init__(self, chunking: Chunking) -> None:
        self.stage = "decode"
        self._max_bytes = chunking.limits.max_bytes
        self._splitter = Metered(chunkers.build(chunking.strategy, **chunking.options), chunking.limits)
        self._count_tokens = None if chunking.tokens is None else token_counter(chunking.tokens)

    def chunks(self, path: str, document: str | bytes) -> list[Chunk]:
        """The chunks of a document. Raises DocumentFailure for what is no text, and what the strategy raises.

        UnicodeEncodeError for half of a surrogate pair, which could not be sent to another step.
        """
        text = self.text(document)
        self.stage = "chunk"
        split = self._splitter.split(text, path=path)
        if isinstance(document, str) and not text.isascii():
            text.encode()
        _check_storable(split)
        return chunkers.chunks_of(text, split)

    def rows(self, path: str, document: str | bytes) -> list[dict[str, Any]]:
        """The rows of a document whose id and address are `path`. Raises as `chunks`, UnicodeEncodeError too."""
        text = self.text(document)
        self.stage = "chunk"
        encoded = text.encode() if isinstance(document, str) else document
        about = Document(path, path, path, sha256(encoded).hexdigest())
        return self.rows_of(text, about, ChunkRows(), encoded=encoded)

    def rows_of(self, text: str, document: Document, rows: ChunkRows, **given: Any) -> list[dict[str, Any]]:
        """The rows that `chunk_document` makes, which takes `given` too."""
        self.stage = "chunk"
        chunk_document(text, document, self._splitter, rows, count_tokens=self._count_tokens, **given)
        return list(single_rows(rows))

    def text(self, document: str | bytes) -> str:
        """The text of a document. Raises DocumentFailure for what is none, or too large."""
        self.stage = "decode"
        if not isinstance(document, str | bytes):
            raise DocumentFailure("malformed", f"a document is str or bytes, not {type(document).__name__}")
        if len(document) * 4 > self._max_bytes and (size := len(_encoded(document))) > self._max_bytes:
            raise DocumentFailure("too-large", f"{size} bytes of {self._max_bytes} that limits.max_bytes allows")
        return document if isinstance(document, str) else decode(document).text


def failed(id_: object, uri: object, stage: str, error: Exception, document: object) -> Failed:
    """What became of a document at which `stage` raised `error`."""
    failure = failure_of(error, stage)
    given = _encoded(document) if isinstance(document, str | bytes) else None
    about = (failure.position, failure.stage, failure.error, failure.message)
    return Failed(_storable(id_), _storable(uri), *about, given)


def _check_storable(split: Split) -> None:
    """UnicodeEncodeError if what was not in the document as it stands is not UTF-8: escapes may stand for anything."""
    _encode_all((split.title, split.metadata))
    last: tuple[str, ...] = ()
    for _, _, _, headings, context, rendered, _, metadata, _ in split.spans:
        if rendered is not None:
            rendered.encode()
        if context:
            context.encode()
        if headings is not last:
            last = headings
            "".join(headings).encode()
        for value in metadata.values():
            _encode_all(value)


def _encode_all(value: object) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, Mapping):
        _encode_all([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            _encode_all(each)


def _storable(name: object) -> str | None:
    return None if name is None else str(name).encode("utf-8", "backslashreplace").decode()


def _encoded(document: str | bytes) -> bytes:
    return document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document

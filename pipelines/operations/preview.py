"""One document, chunked as a run would, for somebody who wants to look at the chunks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkers import ChunkersError, Drop, Span
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.formats.names import is_container
from pipelines.documents.read import read_document
from pipelines.errors import StorageError, UsageError
from pipelines.operations.preview_choice import chosen, configured
from pipelines.work.token_counter import token_counter

_RECORDS = "shown as one text; a run reads its records as documents, unless `format` is text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A document and its chunks. `lengths` and `tokens` count what is embedded: context and text.

    `id` and `rule` (its `match`) are what a run would take, where a configuration was given.
    """

    file: str
    id: str | None
    rule: str | None
    text: str
    encoding: str
    strategy: str
    title: str | None
    metadata: Mapping[str, Any]
    notes: Sequence[str]
    spans: Sequence[Span]
    drops: Sequence[Drop]
    lengths: Sequence[int]
    tokens: Sequence[int]
    encoding_name: str

    def as_json(self) -> dict[str, Any]:
        """Everything but the document itself."""
        return {
            "file": self.file,
            "id": self.id,
            "rule": self.rule,
            "encoding": self.encoding,
            "characters": len(self.text),
            "strategy": self.strategy,
            "title": self.title,
            "metadata": dict(self.metadata),
            "notes": list(self.notes),
            "encoding_name": self.encoding_name,
            "drops": [drop._asdict() for drop in self.drops],
            "chunks": [
                {
                    "index": index,
                    "start": span.start,
                    "end": span.end,
                    "length": self.lengths[index],
                    "tokens": self.tokens[index],
                    "cut": span.cut,
                    "overlap": span.overlap,
                    "headings": list(span.headings),
                    "context": span.context,
                    "text": span.text(self.text),
                    "metadata": {**self.metadata, **span.metadata},
                }
                for index, span in enumerate(self.spans)
            ],
        }


def preview_file(
    file: str,
    *,
    strategy: str = "auto",
    settings: Sequence[str] = (),
    encoding_name: str | None = None,
    config_file: str | None = None,
) -> Preview:
    """Read `file`, cut it with `strategy` and the `settings` (`option=value`, the value in YAML), and count.

    With `config_file` it is read and cut as a run with that configuration would, instead. Raises ConfigError,
    UsageError for options that make no sense, a file that is none, and documents that cannot be chunked; StorageError
    for a file that cannot be read.
    """
    if config_file is None:
        choice = chosen(file, strategy, settings, encoding_name)
    else:
        choice = configured(file, config_file, encoding_name)
    data = _read(file)
    try:
        document = read_document(data, choice.source, choice.path, choice.limits)
        split = choice.strategy.split(document.text, path=document.path, media_type=document.media_type)
    except (DocumentFailure, ChunkersError) as error:
        raise UsageError(f"{file}: {error}") from error
    counted = token_counter(choice.encoding_name)(document.text)
    return Preview(
        file=file,
        id=choice.id,
        rule=choice.rule,
        text=document.text,
        encoding=document.encoding,
        strategy=split.strategy,
        title=split.title,
        metadata=split.metadata,
        notes=(*split.notes, *([_RECORDS] if is_container(choice.source, choice.path) else [])),
        spans=split.spans,
        drops=split.drops,
        lengths=[len(span.context) + len(span.text(document.text)) for span in split.spans],
        tokens=[counted(span.start, span.end, span.context, span.rendered) for span in split.spans],
        encoding_name=choice.encoding_name,
    )


def _read(file: str) -> bytes:
    if "://" in file and not Path(file).exists():
        raise UsageError(f"{file}: preview reads a file on this machine; copy it here first")
    try:
        return Path(file).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    except OSError as error:
        raise StorageError(error.strerror or str(error), address=file) from error


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the document: the chunk that is new there and the one it is repeated in, or what was dropped."""

    start: int
    end: int
    chunk: int | None
    repeated_in: int | None
    drop: str | None


def pieces(preview: Preview) -> list[Piece]:
    """The whole document, stretch by stretch, in order."""
    spans, drops = preview.spans, preview.drops
    edges = {0, len(preview.text)}
    edges |= {offset for span in spans for offset in span[:2]}
    edges |= {offset for drop in drops for offset in drop[:2]}
    found: list[Piece] = []
    ordered = sorted(edges)
    chunk = dropped = -1
    for start, end in itertools.pairwise(ordered):
        while chunk + 1 < len(spans) and spans[chunk + 1].start <= start:
            chunk += 1
        while dropped + 1 < len(drops) and drops[dropped + 1].start <= start:
            dropped += 1
        holders = [n for n in range(max(0, chunk - 1), chunk + 1) if spans[n].start <= start < spans[n].end]
        drop = drops[dropped].kind if dropped >= 0 and not holders and start < drops[dropped].end else None
        first = holders[0] if holders else None
        found.append(Piece(start, end, first, holders[1] if len(holders) > 1 else None, drop))
    return found


def fields_of(preview: Preview) -> dict[str, Any]:
    """What stands above the chunks, by name."""
    shown = {
        "file": preview.file,
        "id": preview.id,
        "rule": preview.rule,
        "encoding": preview.encoding,
        "strategy": preview.strategy,
        "title": preview.title,
        "characters": len(preview.text),
        "chunks": len(preview.spans),
        "notes": "; ".join(preview.notes) or None,
    }
    dropped: dict[str, int] = {}
    for drop in preview.drops:
        dropped[drop.kind] = dropped.get(drop.kind, 0) + 1
    shown["dropped"] = ", ".join(f"{count} {kind}" for kind, count in dropped.items()) or None
    return {name: value for name, value in shown.items() if value is not None}

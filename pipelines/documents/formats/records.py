"""Records of containers: what readers yield, the one place with the rules for a record, and a record's digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pipelines.config.model import Columns, Decoding
from pipelines.documents.failures import Failure

Scalar = str | int | float | bool


class Record(NamedTuple):
    """A document in a container. `position` is its ordinal from 0: of lines (JSON Lines), elements or data rows.

    `id` has the source's prefix. `payload` is in the order of `Config.payload`, None where this record has none.
    """

    position: int
    id: str
    text: str
    title: str | None
    media_type: str | None
    metadata: Mapping[str, Scalar]
    payload: tuple[Any, ...]


class BadRecord(NamedTuple):
    """A record that cannot be read. With an id it is a document that failed; without, only a place that did."""

    position: int
    place: str
    id: str | None
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContext:
    """What readers must know of the configuration. `payload` are the columns of the table, of all sources.

    `max_bytes` is the most that a record, or a container that is read whole, may have.
    """

    columns: Columns = field(default_factory=Columns)
    payload: tuple[tuple[str, str], ...] = ()
    id_prefix: str = ""
    decoding: Decoding = field(default_factory=Decoding)
    max_bytes: int = 512 * 1024 * 1024
    max_ratio: int = 200

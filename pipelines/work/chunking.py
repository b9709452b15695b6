"""Where the documents of a task are decoded and chunked: right here, or in a process of their own (`isolated.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from chunkers.budget import Meter
from chunkers.composing.context import split_with
from chunkers.records import Split
from pipelines.config.model import Budget, Config
from pipelines.routing import Router
from pipelines.work.alarm import Alarm
from pipelines.work.chunk_document import Chunked, Document, Splitter, TokenCounter, chunk_document
from pipelines.work.rows import ChunkRows
from pipelines.work.token_counter import token_counter

T = TypeVar("T")


class Chunking(Protocol):
    """What a task does with one document at a time."""

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """`function(*arguments)`. The function is one of a module, and what goes in and comes out can be pickled.

        Raises what it raises; TookTooLong after `limits.seconds`, where that can be ended (`alarm.py`); DocumentFailure
        `killed` if the process that it ran in is gone.
        """

    def probe(self, function: Callable[..., None], *arguments: Any) -> None:
        """Where it may be dangerous: `call`, to see whether the process lives; elsewhere nothing."""

    def chunk(self, rule: int, text: str, document: Document, rows: ChunkRows, **given: Any) -> Chunked:
        """`chunk_document` by the strategy of `rule` and within the configured limits; `given` are its keywords."""

    def close(self) -> None:
        """Let go of what was started."""


class InProcess:
    """Right here."""

    def __init__(self, config: Config, router: Router) -> None:
        self._router = router
        self._limits = config.limits
        self._metered: dict[int, Metered] = {}
        self._alarm = Alarm(config.limits.seconds)
        self._count_tokens: TokenCounter | None = token_counter(config.tokens.encoding_name) if config.tokens else None
        self._as_strings = config.metadata_values == "strings"

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """See Chunking."""
        return self._alarm.call(function, *arguments)

    def probe(self, function: Callable[..., None], *arguments: Any) -> None:
        """See Chunking."""

    def chunk(self, rule: int, text: str, document: Document, rows: ChunkRows, **given: Any) -> Chunked:
        """See Chunking."""
        return chunk_document(
            text,
            document,
            self._metered.get(rule) or self._under_limits(rule),
            rows,
            count_tokens=self._count_tokens,
            metadata_as_strings=self._as_strings,
            **given,
        )

    def close(self) -> None:
        """See Chunking."""
        self._alarm.close()

    def _under_limits(self, rule: int) -> Metered:
        metered = self._metered[rule] = Metered(self._router.strategy(rule), self._limits, self._alarm)
        return metered


class Metered:
    """A strategy under the configured limits; without an `alarm` only of what it does in steps."""

    __slots__ = ("_call", "_meter", "_splitter", "reads_metadata")

    def __init__(self, splitter: Splitter, limits: Budget, alarm: Alarm | None = None) -> None:
        self._meter = Meter(work=limits.work, seconds=limits.seconds, chunks=limits.max_chunks)
        self._splitter = splitter
        self._call = _call if alarm is None else alarm.call
        self.reads_metadata = getattr(splitter, "reads_metadata", False)

    def split(
        self,
        text: str,
        *,
        path: str | None = None,
        media_type: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        title: str | None = None,
    ) -> Split:
        """See Splitter; what else is known of the document is for contexts.

        Raises BudgetExceeded where a limit is, TookTooLong where an alarm had to end it.
        """
        with self._meter.over(len(text)) as meter:
            split = self._call(
                split_with, self._splitter, text, path=path, media_type=media_type, metadata=metadata, title=title
            )
        meter.check_chunks(len(split.spans))
        return split


def _call(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    return function(*arguments, **named)

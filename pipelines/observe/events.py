"""What operations tell whoever started them, as it happens. `str(event)` is a line for a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events."""

    @property
    def kind(self) -> str:
        """The event's name, for filters and logs."""
        return type(self).__name__

    @property
    def text(self) -> str:
        """One line for a person."""
        return self.kind

    def __str__(self) -> str:
        return self.text


Sink = Callable[[Event], None]
"""Where events go. It must not raise."""


def ignore(event: Event) -> None:
    """A sink that drops everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A run began."""

    run_id: str
    table: str

    @property
    def text(self) -> str:
        return f"run {self.run_id} into {self.table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRun(Event):
    """Another run is at work on the same table."""

    claim: str

    @property
    def text(self) -> str:
        return f"run {self.claim} is at work on this table too: whoever commits second publishes nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Event):
    """A source is being listed; so many documents up to now."""

    source: str
    documents: int

    @property
    def text(self) -> str:
        return f"listing {self.source}: {self.documents} documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceListed(Event):
    """A source was listed whole."""

    source: str
    documents: int
    bytes: int

    @property
    def text(self) -> str:
        return f"{self.source}: {self.documents} documents, {self.bytes} bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnreachable(Event):
    """A source could not be listed whole: what it had stays."""

    source: str
    message: str

    @property
    def text(self) -> str:
        return f"{self.source} could not be listed whole; what it does not show stays as it is: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSkipped(Event):
    """An object that cannot be a document because of its name or kind."""

    source: str
    path: str
    reason: str

    @property
    def text(self) -> str:
        return f"{self.source}: left out {self.path}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinIds(Event):
    """Some documents have ids that are easily taken for one another."""

    message: str

    @property
    def text(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Event):
    """What the run will do, in documents."""

    read: int
    keep: int
    vanish: int
    tasks: int

    @property
    def text(self) -> str:
        return f"{self.read} documents to read, {self.keep} to keep, {self.vanish} gone, in {self.tasks} tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Working(Event):
    """How far a run is. `stage`: chunking, deciding, publishing.

    `documents`, `bytes` and `failures` are those of the tasks that are done, so they move a task at a time; `rate` is
    in bytes a second, `eta` in seconds, None where nothing can be said yet.
    """

    stage: str
    tasks_done: int
    tasks: int
    documents: int
    documents_to_read: int
    bytes: int
    bytes_to_read: int
    rate: float
    eta: float | None
    failures: int

    @property
    def text(self) -> str:
        parts = [
            f"{self.stage}: {_share(self.documents, self.documents_to_read)} documents",
            f"{size_text(self.bytes)} of {size_text(self.bytes_to_read)}",
            f"{size_text(self.rate)}/s",
        ]
        if self.eta is not None:
            parts.append(f"{duration_text(self.eta)} left")
        if self.failures:
            parts.append(f"{self.failures} failed")
        return " · ".join(parts)


def _share(done: int, whole: int) -> str:
    # Records of a container are documents, but it is not known beforehand how many there are.
    return f"{done} of {whole}" if done <= whole else str(done)


def size_text(size: float) -> str:
    """Bytes for a person: `812 B`, `3.4 MB`."""
    if size < 1000:
        return f"{size:.0f} B"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def duration_text(seconds: float) -> str:
    """Seconds for a person: `42 s`, `3 min 5 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying(Event):
    """How far a verification is, in shards read row by row."""

    done: int
    shards: int

    @property
    def text(self) -> str:
        return f"verifying: {self.done} of {self.shards} shards"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld(Event):
    """Deletions of one source that the guard holds back: its message."""

    message: str

    @property
    def text(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFailed(Event):
    """A quality gate tripped."""

    message: str

    @property
    def text(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Event):
    """The run is over."""

    message: str

    @property
    def text(self) -> str:
        return self.message

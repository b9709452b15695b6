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

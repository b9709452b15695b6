"""What can go wrong with one document: a failure row, never an exception that leaves its task.

Every class has a kebab-case name (the `error` column) and a stage. Transient ones are tried again in every run; the
others only when the document or the configuration that applies to it changes, because nothing else can heal them.
"""

from __future__ import annotations

from dataclasses import dataclass

from chunkers.errors import (
    BudgetExceeded,
    ChunkersError,
    DocumentError,
    InvalidResult,
    MalformedDocument,
    SpecialTokenFound,
)

TRANSIENT: frozenset[str] = frozenset({"missing", "read", "memory", "interrupted"})
"""Failure classes that may heal by themselves: planned again in every run."""

MESSAGE_LENGTH = 500
"""Messages are cut to this many characters: a failure row is a pointer, not a log."""


class DocumentFailure(Exception):
    """This document fails as `error` (kebab-case class); the message says what to do."""

    def __init__(self, error: str, message: str, *, position: str | None = None) -> None:
        super().__init__(message)
        self.error = error
        self.position = position


class TookTooLong(BaseException):
    """Working on a document took longer than it may. No Exception: what it gets somebody out of may catch those."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took more than {seconds:g} s; limits.seconds allows more")


OF_A_DOCUMENT = (Exception, SystemExit, TookTooLong)
"""What working on a document may raise and is its failure: somebody's function may call `sys.exit`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure row without the document's own columns. `position` is where in the document, as text."""

    stage: str
    error: str
    message: str
    position: str | None = None


def failure_of(error: BaseException, stage: str) -> Failure:
    """The failure row of whatever `stage` (read, decode, chunk, record, id) raised."""
    name, position = _class_of(error, stage)
    message = str(error) or type(error).__name__
    if name == "surrogate":
        message = f"holds half of a surrogate pair, which is no character and cannot be stored; remove it ({message})"
    if name == "exception" and not isinstance(error, DocumentFailure):
        message = f"{type(error).__name__}: {message}"
    return Failure(stage=stage, error=name, message=_storable(message), position=position)


def _class_of(error: BaseException, stage: str) -> tuple[str, str | None]:
    if isinstance(error, DocumentFailure):
        return error.error, error.position
    if isinstance(error, DocumentError):
        position = None if error.position is None else str(error.position)
        return _LIBRARY.get(type(error), "malformed"), position
    if isinstance(error, MemoryError):
        return "memory", None
    if isinstance(error, TookTooLong):
        return "budget", None
    if isinstance(error, RecursionError):
        return "recursion", None
    if isinstance(error, UnicodeEncodeError) and stage == "chunk":
        return "surrogate", None  # it is known where in a chunk, a title or a value, not where in the document
    if stage == "read":
        return ("missing" if isinstance(error, FileNotFoundError) else "read"), None
    return "exception", None


_LIBRARY: dict[type[ChunkersError], str] = {
    MalformedDocument: "malformed",
    SpecialTokenFound: "special-token",
    InvalidResult: "invalid-result",
    BudgetExceeded: "budget",
}


def _storable(message: str) -> str:
    """`message` short enough and in UTF-8: it may quote a document that is not."""
    short = message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…"
    return short.encode("utf-8", "backslashreplace").decode("utf-8")

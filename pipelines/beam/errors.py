"""Gets the job's own errors through Beam as what they are: their class decides the exit code. Imports no Beam."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pipelines import errors
from pipelines.errors import EngineFailed, RechunkError

_LAST_LINE = re.compile(r"^pipelines\.errors\.(\w+): (.*)$", re.MULTILINE)
_OUR_FRAME = re.compile(r'File "[^"]*\b(?:pipelines|chunkers)/[^"]*", line \d+, in ')
_MISSING = re.compile(r"ModuleNotFoundError|No module named")
_RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit): .")
_TWICE = re.compile(r"((?:[\w$]+\.)+[\w$]+: )\1")
_LONGEST = 500
_STEP = re.compile(r""" \[while running '[^']*'\](?=["')]*$)""")


@contextmanager
def own_errors() -> Iterator[None]:
    """Around the work of a DoFn: Beam would rebuild the error, or replace it by a RuntimeError."""
    try:
        yield
    except RechunkError as error:
        error._tagged_with_step = True  # type: ignore[attr-defined]
        raise


@contextmanager
def revived_errors() -> Iterator[None]:
    """Around a pipeline's run: what a worker process raised comes back as text, and is raised as what it was."""
    try:
        yield
    except RechunkError:
        raise
    except Exception as error:
        own = error_in(str(error))
        if own is None:
            raise
        raise own from error


def error_in(text: str) -> RechunkError | None:
    """The last of the job's own errors in a traceback that has become text."""
    found = list(_LAST_LINE.finditer(text))
    if not found:
        return None
    name, message = found[-1].groups()
    cls = getattr(errors, name, RechunkError)
    error: RechunkError = cls.__new__(cls)
    Exception.__init__(error, _STEP.sub("", message))
    return error


def engine_failed(what: str, said: str) -> Exception:
    """What to raise for an engine that failed and said this: one line of it, or the job's own error if it is in there.

    An exception of any other class that a step raised is a bug, and no EngineFailed.
    """
    own = error_in(said)
    if own is not None:
        return own
    words = last_words(said)
    if _OUR_FRAME.search(said) and not _MISSING.search(said):
        return RuntimeError(f"{what}: {words}")
    hint = ""
    if _MISSING.search(said):
        hint = ". Workers need this version of rechunk, and every module that the configuration names"
    return EngineFailed(f"{what}: {words}{hint}. Nothing was published by it; `rechunk resume` goes on with its plan")


def last_words(said: str) -> str:
    """The line of a message, or of a long trace of Python and Java, that says what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if not lines:
        return "it says nothing"
    python = said.rpartition("Traceback")[2] if "Traceback" in said else ""
    raised = [line for line in python.splitlines() if _RAISED.match(line)]
    words = raised[-1] if raised else _first_cause(lines) or lines[0]
    words = _TWICE.sub(r"\1", _STEP.sub("", words.strip()).rstrip("."))
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"


def _first_cause(lines: Sequence[str]) -> str:
    """The innermost cause of a Java trace, or the one around it where that says the same and more."""
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    if len(causes) > 1 and causes[-1].rpartition(": ")[2] in causes[-2]:
        return causes[-2]
    return causes[-1] if causes else ""

"""Gets the job's own errors through Beam as what they are: their class decides the exit code. Imports no Beam."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pipelines import errors
from pipelines.errors import RechunkError

_LAST_LINE = re.compile(r"^pipelines\.errors\.(\w+): (.*)$", re.MULTILINE)
_STEP = re.compile(r" \[while running '[^']*'\]$")


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

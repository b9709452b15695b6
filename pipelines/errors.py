"""The errors of the job, each with the exit code it ends the command with.

RechunkError              70  a bug, if nothing narrower fits
├── UsageError             2  command line
├── ConfigError            2  configuration: file, line and key
├── WorkersDied            5  worker processes die again and again
├── EngineFailed           5  the engine ended without doing the run
├── StillAtWork          124  the time to wait for a run is over
├── StorageError           5  an address cannot be read or written
│   └── SourcesUnreachable 5  no source could be listed
└── TableStateError        6  the table is missing, foreign, of another format, or moved under us
    └── RaceLost           6  another run committed first
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class RechunkError(Exception):
    """Base of everything the job raises on purpose."""

    exit_code = 70

    def __reduce__(self) -> tuple[Any, ...]:
        return (_revive, (type(self), self.args, self.__dict__))


def _revive(cls: type[RechunkError], args: tuple[Any, ...], state: dict[str, Any]) -> RechunkError:
    error = cls.__new__(cls)
    Exception.__init__(error, *args)
    error.__dict__.update(state)
    return error


class UsageError(RechunkError):
    """The command line asks for something that does not exist or does not go together."""

    exit_code = 2


class ConfigError(RechunkError):
    """A configuration that cannot be used. Reads `file:line: key is got; allowed`, on a line for each of `problems`."""

    exit_code = 2
    _problems: tuple[ConfigError, ...] = ()

    def __init__(self, message: str, *, file: str, line: int | None = None, key: str | None = None) -> None:
        where = f"{file}:{line}" if line is not None else file
        super().__init__(f"{where}: {message}")
        self.file = file
        self.line = line
        self.key = key

    @property
    def problems(self) -> tuple[ConfigError, ...]:
        """Everything that is wrong, each with its own place."""
        return self._problems or (self,)

    @classmethod
    def of(cls, problems: Sequence[ConfigError]) -> ConfigError:
        """One error for one or more `problems`; file, line and key are those of the first."""
        first = problems[0]
        if len(problems) == 1:
            return first
        error = cls.__new__(cls)
        Exception.__init__(error, "\n".join(map(str, problems)))
        error.file, error.line, error.key = first.file, first.line, first.key
        error._problems = tuple(problems)
        return error


class StorageError(RechunkError):
    """An address could not be read or written. `address` says which."""

    exit_code = 5

    def __init__(self, message: str, *, address: str) -> None:
        super().__init__(f"{address}: {message}")
        self.address = address


class SourcesUnreachable(StorageError):
    """No source could be listed; nothing was published."""


class WorkersDied(RechunkError):
    """Worker processes died as often as the run was taken up again; nothing was published."""

    exit_code = 5


class EngineFailed(RechunkError):
    """The engine could not be given the run, or ended without having done it; nothing was published."""

    exit_code = 5


class StillAtWork(RechunkError):
    """The time to wait for a run is over, and the run is not, as far as is known. 124 is what `timeout` exits with."""

    exit_code = 124


class TableStateError(RechunkError):
    """The table cannot be used as it is: missing, of another format, or changed by another writer."""

    exit_code = 6


class RaceLost(TableStateError):
    """Another run committed first; this run published nothing."""

"""The errors of the library.

ChunkersError
├── OptionError            wrong use: raised when a strategy is built, before any document is read
│   ├── UnknownStrategy
│   ├── UnknownOption      not an option of any strategy
│   ├── InertOption        an option this strategy never reads
│   ├── InvalidOption      right name, wrong value
│   │   ├── MissingOption  one that has to be given
│   │   └── NotAChunker    what `custom` is to call cannot be called; a TypeError too
│   └── MissingEngine      the option selects a library that is not installed
└── DocumentError          one document cannot be chunked: it fails as a whole, others go on
    ├── MalformedDocument  not what it claims to be; `position` says where
    ├── SpecialTokenFound  text holds a special token that `disallowed_special` forbids
    ├── InvalidResult      a custom chunker or length function returned something that breaks a law
    └── BudgetExceeded     work units, seconds or chunk count ran out

OptionWarning is the warning for a documented precedence (`model_name` over `encoding_name`).
All of them pickle, and carry their data as attributes so that a caller can add where (file:line).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class ChunkersError(Exception):
    """Base of everything this package raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_revive, (type(self), self.args, self.__dict__))


def _revive(cls: type[ChunkersError], args: tuple[Any, ...], state: dict[str, Any]) -> ChunkersError:
    error = cls.__new__(cls)
    Exception.__init__(error, *args)
    error.__dict__.update(state)
    return error


class OptionError(ChunkersError):
    """A strategy cannot be built from these options.

    `name` is the option (None: the strategy itself), `value` what was given, `allowed` what would have been fine.
    """

    def __init__(self, message: str, *, name: str | None = None, value: Any = None, allowed: Any = None) -> None:
        super().__init__(message)
        self.name = name
        self.value = value
        self.allowed = allowed


class UnknownStrategy(OptionError):
    """No strategy of that name."""

    def __init__(self, value: Any, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(
            f"unknown strategy {value!r}{nearest(str(value), names)}; strategies: {', '.join(names)}",
            name="strategy",
            value=value,
            allowed=names,
        )


class UnknownOption(OptionError):
    """No strategy has an option of that name."""

    def __init__(self, name: str, strategy: str, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(
            f"unknown option {name!r} for strategy {strategy!r}{nearest(name, names)}; options: {', '.join(names)}",
            name=name,
            allowed=names,
        )


class InertOption(OptionError):
    """The option exists, but this strategy never reads it: giving it would do nothing."""

    def __init__(self, name: str, strategy: str, why: str = "") -> None:
        reason = f": {why}" if why else ""
        super().__init__(f"option {name!r} does nothing in strategy {strategy!r}{reason}; remove it", name=name)
        self.why = why


class InvalidOption(OptionError):
    """The value of an option is out of range or of the wrong type."""

    def __init__(self, name: str, value: Any, allowed: str) -> None:
        super().__init__(f"{name} is {value!r}; {name} must be {allowed}", name=name, value=value, allowed=allowed)


class MissingOption(InvalidOption):
    """The strategy has no default for the option, and it was not given."""

    def __init__(self, name: str, strategy: str) -> None:
        OptionError.__init__(
            self, f"option {name!r} is missing: strategy {strategy!r} has no default for it", name=name
        )


class NotAChunker(InvalidOption, TypeError):
    """What the strategy `custom` is to call is no function that it can call."""

    def __init__(self, value: Any, allowed: str) -> None:
        super().__init__("chunker", value, allowed)


class MissingEngine(OptionError):
    """An option selects a library that is not installed."""


class DocumentError(ChunkersError):
    """This document cannot be chunked. `position` is a code point offset where one is known."""

    def __init__(self, message: str, *, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class MalformedDocument(DocumentError):
    """The document is not what it claims to be."""


class SpecialTokenFound(DocumentError):
    """The text holds a special token that the options forbid."""


class InvalidResult(DocumentError):
    """A callable named by the user returned something that cannot be used."""


class BudgetExceeded(DocumentError):
    """The document cost more than its budget allows."""


class OptionWarning(UserWarning):
    """Two options were given and, as documented, one of them wins."""


def nearest(name: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the closest known name, or nothing."""
    close = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.55)
    return f" (did you mean {close[0]!r}?)" if close else ""

"""How much one document may cost: work in units that are the same on every machine, and seconds as a backstop.

A unit is about a character looked at, 64 of them a chunk. Ordinary documents take a few for each of their characters;
what takes hundreds repeats itself (an overlap nearly as large as the limit, a length function that is asked again and
again), and fails as a whole instead of taking the machine with it. Code that may repeat itself asks `current()` once a
document; without a meter nothing is counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextvars import ContextVar, Token
from itertools import repeat

from chunkers.errors import BudgetExceeded

WORK = 1_000_000
WORK_PER_CHARACTER = 200
"""The work a document may take unless it is set: WORK, and this for each of its characters."""

PER_CHUNK = 64
PER_MEASUREMENT = 16
"""Units on top of the characters of a chunk, or of a text that is measured."""

_LOOK = 100_000
"""Units between two looks at the clock."""

_METER: ContextVar[Meter | None] = ContextVar("chunkers meter", default=None)


def current() -> Meter | None:
    """The meter of the document that is being chunked, if it has one."""
    return _METER.get()


class Meter:
    """What documents may take, one after the other, each by itself: `with meter.over(len(text)): split(text)`.

    `work` is in units (None: by the length of the text), `seconds` of wall time, `chunks` how many there may be. Raises
    BudgetExceeded from inside of the call. Not for several threads at a time.
    """

    __slots__ = ("_chunks", "_deadline", "_left", "_next_look", "_seconds", "_token", "_work", "work")

    def __init__(self, *, work: int | None = None, seconds: float = 60.0, chunks: int = 100_000) -> None:
        self.work = work
        self._seconds = seconds
        self._chunks = chunks
        self._work = self._left = self._next_look = 0
        self._deadline = 0.0
        self._token: Token[Meter | None] | None = None

    def over(self, characters: int) -> Meter:
        """This meter, started afresh for a text of so many characters."""
        self._work = work = WORK + WORK_PER_CHARACTER * characters if self.work is None else self.work
        self._left = work - characters
        self._next_look = max(0, self._left - _LOOK)
        self._deadline = time.monotonic() + self._seconds
        return self

    def __enter__(self) -> Meter:
        self._token = _METER.set(self)
        if self._left < 0:
            self.__exit__()
            raise self.exceeded()
        return self

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            _METER.reset(self._token)
            self._token = None

    @property
    def allowed(self) -> int:
        """Units that this text may take."""
        return self._work

    @property
    def spent(self) -> int:
        """Units that are used up."""
        return self._work - self._left

    def spend(self, units: int) -> None:
        """Take so many units. Looks at the clock now and then."""
        self._left = left = self._left - units
        if left < self._next_look:
            self.look()

    def look(self) -> None:
        """Raise BudgetExceeded if the work or the time is used up."""
        if self._left < 0:
            raise self.exceeded()
        if time.monotonic() > self._deadline:
            raise BudgetExceeded(f"took more than {self._seconds:g} s; limits.seconds allows more")
        self._next_look = max(0, self._left - _LOOK)

    def seconds_left(self, most: float) -> float:
        """The time that one step may take which cannot be asked in between, at most `most` seconds."""
        return max(0.001, min(most, self._deadline - time.monotonic()))

    def turns(self, most: int) -> Iterator[None]:
        """As many turns as a loop may take that makes chunks of at most `most` characters; after them `exceeded`.

        Counting like this costs the loop next to nothing. Tell `made` what came of it.
        """
        return repeat(None, min(4 * self._chunks + 16, self._left // (PER_CHUNK + most) + 1))

    def allows(self, turns: int, most: int) -> bool:
        """Whether `turns(most)` are at least so many."""
        return turns <= 4 * self._chunks + 16 and turns * (PER_CHUNK + most) <= self._left

    def made(self, chunks: int, characters: int) -> None:
        """So many chunks, of so many characters together at most, were made in `turns`."""
        self.spend(PER_CHUNK * chunks + characters)

    def check_chunks(self, chunks: int) -> None:
        """Raise BudgetExceeded if there are more chunks than there may be."""
        if chunks > self._chunks:
            raise BudgetExceeded(
                f"more than {self._chunks} chunks; raise limits.max_chunks or max_size, or split the document"
            )

    def exceeded(self) -> BudgetExceeded:
        """The error for work or chunks that are used up."""
        return BudgetExceeded(
            f"took more than {self._work} units of work, or made more than {self._chunks} chunks; "
            "a smaller overlap takes less, limits.work and limits.max_chunks allow more"
        )


def suffices(characters: int, most: int, overlap: int) -> bool:
    """Whether the current meter, if there is one, surely allows a text to be packed into chunks of `most` characters.

    A loop that asks this once need not count: it takes a few turns for each `most - overlap` characters.
    """
    meter = _METER.get()
    return meter is None or meter.allows(4 * (characters // (most - overlap)) + 16, most)


def turns(most: int | None) -> Iterator[None]:
    """`Meter.turns` of the current meter; without end if there is none, or no limit to a chunk's characters."""
    meter = _METER.get()
    return repeat(None) if meter is None or most is None else meter.turns(most)


def made(chunks: int, characters: int) -> None:
    """`Meter.made` of the current meter."""
    if (meter := _METER.get()) is not None:
        meter.made(chunks, characters)


def exceeded() -> BudgetExceeded:
    """The error for a loop over `turns` that came to its end."""
    meter = _METER.get()
    return BudgetExceeded("took more turns than it had") if meter is None else meter.exceeded()

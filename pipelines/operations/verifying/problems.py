"""What is wrong with a table, said of one object each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

SHOWN = 10
"""Problems of one object that are named; all are counted."""


class Problem(NamedTuple):
    """`where` is a path below the table, `what` a sentence about it."""

    where: str
    what: str


class Problems:
    """Collects them in the order they are found."""

    def __init__(self) -> None:
        self.shown: list[Problem] = []
        self.total = 0
        self._by_object: Counter[str] = Counter()

    def take(self, found: Iterable[Problem]) -> None:
        """Add some. Of one object only the first SHOWN are kept: a damaged file may have one a row."""
        for problem in found:
            self.total += 1
            self._by_object[problem.where] += 1
            if self._by_object[problem.where] <= SHOWN:
                self.shown.append(problem)

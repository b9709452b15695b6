"""Ends a call that does not come to its end, where no step of it can be asked (`chunkers/budget.py` asks those).

A function of somebody else's may wait for an answer that never comes. In the main thread a signal gets it out of that,
as it does out of a loop. In another thread nothing can: a worker process that others replace ends itself then, so that
the document is tried alone (`isolated.py`); in a thread of an engine's own process the call goes on.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pipelines.documents.failures import TookTooLong
from pipelines.processes import Repeating, is_replaced

T = TypeVar("T")

LOOK_SECONDS = 0.5
"""Between two looks at the clock."""

GRACE_SECONDS = 1.0
"""So much more than its limit a call may take: what counts its own steps ends by itself before."""

NEVER_ENDS = 76
"""Exit code of a worker process in which a call does not come to its end."""


class Alarm:
    """Watches over calls, one at a time, until it is closed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: float | None = None
        self._thread = threading.get_ident()
        self._before: Any = None
        self._watch: Repeating | None = None
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
            self._before = signal.signal(signal.SIGALRM, self._ring)
        if self._before is not None or is_replaced():
            self._watch = Repeating(LOOK_SECONDS, self._look, name="alarm")

    def call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """`function` of these arguments. Raises TookTooLong, and what it raises."""
        self._due = time.monotonic() + self._seconds + GRACE_SECONDS
        try:
            return function(*arguments, **named)
        finally:
            self._due = None

    def close(self) -> None:
        """Watch no more."""
        if self._watch is not None:
            self._watch.stop()
        if self._before is not None:
            signal.signal(signal.SIGALRM, self._before)

    def _is_late(self) -> bool:
        due = self._due
        return due is not None and time.monotonic() > due

    def _look(self) -> None:
        if not self._is_late():
            return
        if self._before is None:
            os._exit(NEVER_ENDS)
        if signal.getsignal(signal.SIGALRM) == self._ring:  # the function may have a use for it itself
            signal.pthread_kill(self._thread, signal.SIGALRM)

    def _ring(self, number: int, frame: object) -> None:
        """In the main thread, in which no other call can have begun while this looks."""
        if self._is_late():
            self._due = None
            raise TookTooLong(self._seconds)

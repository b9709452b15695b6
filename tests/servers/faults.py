"""Faults that a loopback server can be told to commit: by whom they are met, how often, and what happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["status", "drop", "lost", "short", "flip", "slow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a server knows of a request: `operation` in the server's own words, `name` of the object or ""."""

    method: str
    operation: str
    bucket: str
    name: str
    query: dict[str, str]


@dataclass(slots=True, kw_only=True)
class Fault:
    """What happens to the requests that `meets` picks.

    `status` answers with that code and does nothing; `drop` closes the connection and does nothing; `lost` does what was
    asked and closes the connection before the answer; `short` sends half the body and closes the connection, `short`
    with `honest` false claims that the half is the whole; `flip` sends as many other bytes (not every server can);
    `slow` waits `seconds` and goes on.
    """

    kind: Kind
    times: int = 1
    skip: int = 0
    status: int = 503
    seconds: float = 0.0
    honest: bool = True
    retry_after: str | None = None
    meets: Callable[[Request], bool] = lambda request: True


@dataclass(slots=True)
class Faults:
    """The faults still to be committed, in the order in which they were added. Safe to use from several threads."""

    latency: float = 0.0
    met: list[tuple[Kind, Request]] = field(default_factory=list)
    _pending: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> None:
        """Commit `fault` to the next requests that it meets."""
        with self._lock:
            self._pending.append(fault)

    def clear(self) -> None:
        """Be well again."""
        with self._lock:
            self._pending.clear()
            self.met.clear()
            self.latency = 0.0

    def of(self, request: Request) -> Fault | None:
        """The fault that this request meets, used up by it; the server's latency is waited for here."""
        if self.latency:
            time.sleep(self.latency)
        with self._lock:
            fault = self._taken(request)
        if fault is not None and fault.kind == "slow":
            time.sleep(fault.seconds)
            return None
        return fault

    def _taken(self, request: Request) -> Fault | None:
        for fault in self._pending:
            if not fault.meets(request):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times == 0:
                self._pending.remove(fault)
            self.met.append((fault.kind, request))
            return fault
        return None

"""Documents of ranges in which there was nothing before, as on a first run: there is little to ask of each task's."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from pipelines.reconcile import Changes, reconcile
from pipelines.work.deciding.ledger import EMPTY_STATES

COLUMNS = ["id", "chunk_hashes", "source", "kind"]
"""What is asked."""

AT_ONCE = 4 << 20
"""Bytes of states that are compared with nothing at a time: for a task's alone that would take longer than reading."""

_HASHES = ["id", "chunk_hashes"]


class Arrivals:
    """Hands the changes of many tasks to `tell`, in the order of the tasks."""

    def __init__(self, tell: Callable[[Changes], None]) -> None:
        self._tell = tell
        self._waiting: list[pa.Table] = []
        self._bytes = 0

    def add(self, states: pa.Table) -> None:
        """The states (COLUMNS) of another task."""
        hashes = states.select(_HASHES)
        self._waiting.append(hashes)
        self._bytes += hashes.nbytes
        if self._bytes >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Hand over what is still waiting."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if waiting:
            self._tell(reconcile(EMPTY_STATES.select(_HASHES), pa.concat_tables(waiting), {}))

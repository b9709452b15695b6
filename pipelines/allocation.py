"""How a process of ours holds memory."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""glibc's malloc.h."""

_LARGEST_MMAP_THRESHOLD = 32 << 20
_NEVER_TRIM = 1 << 30

_YOUNG_OBJECTS = 50_000
"""New objects between two looks for garbage: a few megabytes at most."""


def keep_freed_memory() -> None:
    """Keep what one task frees for the next one. For entry points, before anything else is imported.

    Both glibc and Arrow's own allocator give large blocks back to the system at once, and every task has them faulted
    in again: a tenth of a run's CPU, a third of that of a night on which little changed (benchmarks/job.py). What is
    kept is bounded by what one task takes. Where the C library is another one, only Arrow is told.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # read when pyarrow is imported
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # not glibc
        return
    mallopt(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
    mallopt(_M_TRIM_THRESHOLD, _NEVER_TRIM)
    mallopt(_M_ARENA_MAX, 1)  # tasks run in one thread of many: what it frees, the others should find


def give_back() -> None:
    """Give freed memory back to the system after all, for a process that will only wait for others."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):  # not glibc
        return


def become_worker() -> None:
    """Hold memory like a process of ours, in one that an engine has started and that has imported everything."""
    import pyarrow as pa

    keep_freed_memory()
    pa.set_memory_pool(pa.system_memory_pool())
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage less often in here: rows are many and no garbage, and what is garbage is small.

    Looking through a task's rows again and again is a fiftieth of a run's CPU (benchmarks/job.py).
    """
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)

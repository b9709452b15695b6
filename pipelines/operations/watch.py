"""`watch`: the same run again and again, one at a time, until somebody stops it."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

import pyarrow as pa

from pipelines.config.model import Config
from pipelines.errors import RaceLost, RechunkError, StorageError, WorkersDied
from pipelines.observe.events import Sink
from pipelines.operations.run import run
from pipelines.records import Outcome, RunOptions

MAY_PASS = (StorageError, RaceLost, WorkersDied)
"""What the next round may not meet again; anything else ends the watch."""


def watch(
    config: Config,
    options: RunOptions,
    emit: Sink,
    *,
    every: float,
    stop: threading.Event,
    rounds: int | None = None,
    ended: Callable[[Outcome | RechunkError], None],
) -> None:
    """Run every so many seconds, from start to start; a round that takes longer is followed by the next at once.

    The configuration stays the one it was started with. `ended` is told how each round went: its outcome, or the error
    (of MAY_PASS) that kept it from happening. `stop` set ends it after the round that is going on, `rounds` after so
    many. Raises what no further round would mend: a configuration or a table that cannot be used.
    """
    number = 0
    while not stop.is_set():
        began = time.monotonic()
        try:
            ended(run(config, options, emit))
        except MAY_PASS as error:
            ended(error)
        gc.collect()  # Beam leaves cycles; looked for only as their number grows, they would be held for many rounds
        pa.default_memory_pool().release_unused()
        number += 1
        if number == rounds:
            return
        stop.wait(max(0.0, began + every - time.monotonic()))

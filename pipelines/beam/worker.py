"""A worker process of a local run: Beam's own, without its log on the terminal."""

from __future__ import annotations

import ctypes
import logging
import signal
import sys
from contextlib import suppress

from pipelines.allocation import keep_freed_memory, rare_collections

_PR_SET_PDEATHSIG = 1
"""linux/prctl.h."""


def die_with_parent() -> None:
    """Leave interrupts to the parent, and end with it.

    On Linux at once; elsewhere when its connection is found closed, not without a word on the terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    die_with_parent()
    keep_freed_memory()
    # Importing Beam logs, and the first log gives the root logger a handler on stderr unless it has one.
    logging.getLogger().addHandler(logging.NullHandler())
    from apache_beam.runners.worker import sdk_worker_main

    with rare_collections():
        sdk_worker_main.main(sys.argv)

"""A worker process of a local run: Beam's own, without its log on the terminal."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.allocation import keep_freed_memory, rare_collections
from pipelines.processes import WORKERS, die_with_parent, import_no_clouds, leave_pandas_out


@contextmanager
def signed_in() -> Iterator[None]:
    """Around a worker's life. The file stays where the process is killed: then somebody notices (`driver.py`)."""
    folder = os.environ.get(WORKERS)
    file = Path(folder) / str(os.getpid()) if folder else None
    if file is not None:
        file.touch()
    try:
        yield
    finally:
        if file is not None:
            file.unlink(missing_ok=True)


if __name__ == "__main__":
    die_with_parent()
    keep_freed_memory()
    import_no_clouds()
    leave_pandas_out()
    # Importing Beam logs, and the first log gives the root logger a handler on stderr unless it has one.
    logging.getLogger().addHandler(logging.NullHandler())
    with signed_in():
        gc.disable()  # nothing that an import makes is garbage
        from apache_beam.runners.worker import sdk_worker_main

        gc.enable()
        with rare_collections():
            sdk_worker_main.main(sys.argv)

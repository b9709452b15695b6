"""A worker process of a local run: Beam's own, without its log on the terminal."""

from __future__ import annotations

import logging
import sys

from pipelines.allocation import keep_freed_memory, rare_collections

if __name__ == "__main__":
    keep_freed_memory()
    # Importing Beam logs, and the first log gives the root logger a handler on stderr unless it has one.
    logging.getLogger().addHandler(logging.NullHandler())
    from apache_beam.runners.worker import sdk_worker_main

    with rare_collections():
        sdk_worker_main.main(sys.argv)

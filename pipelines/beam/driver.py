"""The process that drives the worker processes of a local run. Whoever starts it watches it (`watched.py`).

Beam waits for ever for a worker that is gone. So this process ends itself with WORKER_DIED when one of its workers
does, and is started again: finished tasks have their markers, only the others are done again.

Takes a pickled `Driven` on stdin (addresses and credentials never reach a disk or a command line) and prints one JSON
object on stdout: {} or {"error": class, "message": …}.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import pickle
import shutil
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TextIO

from pipelines.allocation import keep_freed_memory
from pipelines.beam.quiet import quiet_beam
from pipelines.beam.watched import WORKER_DIED, Driven
from pipelines.errors import RechunkError
from pipelines.processes import WORKERS, die_with_parent, import_no_clouds, leave_pandas_out
from pipelines.scratch import scratch_folder

_POLL_SECONDS = 0.25
_SETTLE_SECONDS = 4 * _POLL_SECONDS


def main() -> None:
    """This module as a program."""
    die_with_parent()
    keep_freed_memory()
    import_no_clouds()
    leave_pandas_out()
    driven: Driven = pickle.load(sys.stdin.buffer)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    logging.basicConfig(level=logging.CRITICAL, force=True)
    with scratch_folder() as folder:
        os.environ[WORKERS] = folder
        watch(Path(folder))
        ended = drive(driven)
        if ended.get("error") == "":
            time.sleep(_SETTLE_SECONDS)  # what Beam raises when a worker is lost may come before the loss is noticed
        say(answer, ended)
    os._exit(0)  # a thread of Beam or Arrow that is not quite done could only spoil it now


def drive(driven: Driven) -> dict[str, str]:
    """The run; what it raised as plain text."""
    try:
        with quiet_beam():
            gc.disable()
            from pipelines.beam.run_graph import run_graph

            gc.enable()
            run_graph(driven.job, driven.engine, publish=driven.publish)
    except RechunkError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except BaseException:
        return {"error": "", "message": traceback.format_exc()}
    return {}


def say(answer: TextIO, value: dict[str, str]) -> None:
    """Print the answer."""
    answer.write(json.dumps(value))
    answer.close()


def watch(folder: Path) -> None:
    """End this process as soon as a worker is gone that has not signed out, or whoever started this process."""
    parent = os.getppid()

    def end() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(WORKER_DIED)

    def failed(arguments: threading.ExceptHookArgs) -> None:
        # Beam's thread of a worker raises when that ends with an error, to nobody.
        if "Worker subprocess exited" in str(arguments.exc_value):
            end()

    def poll() -> None:
        while True:
            time.sleep(_POLL_SECONDS)
            if os.getppid() != parent:  # where the system does not see to it
                end()
            try:
                alive = [int(name) for name in os.listdir(folder)]
            except OSError:
                return
            for process in alive:
                try:
                    os.kill(process, 0)
                except ProcessLookupError:
                    if (folder / str(process)).exists():
                        end()

    threading.excepthook = failed
    threading.Thread(target=poll, name="watch workers", daemon=True).start()


if __name__ == "__main__":
    main()

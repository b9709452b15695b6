"""`python -m pipelines`, which is also the command `rechunk`."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from pipelines.allocation import keep_freed_memory
from pipelines.processes import import_no_clouds, leave_pandas_out
from pipelines.signals import end_on_signals


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process's own) and return its exit code."""
    keep_freed_memory()
    try:
        leave_pandas_out()
        from pipelines.cli.main import main as run_command  # half a second of imports: Ctrl-C may well fall into it
    except KeyboardInterrupt:
        return 130
    return run_command(argv)


def leave() -> NoReturn:
    """`main` as a process of its own: runs it, and ends.

    What is left is thrown away at once. When the interpreter takes it apart piece by piece, a thread of Arrow that is
    not quite done aborts one process in two hundred, after everything was written.
    """
    end_on_signals()
    import_no_clouds()
    code = main()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or never there
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    leave()

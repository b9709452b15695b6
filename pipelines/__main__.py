"""`python -m pipelines`, which is also the command `rechunk`."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

from pipelines.allocation import keep_freed_memory
from pipelines.processes import do_duties, import_no_clouds, leave_pandas_out

DUTIES_SECONDS = 3.0
"""How long a process that is told to end may take to tell others, as that its run is no longer at work."""


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
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else whoever started us wants it ignored
        signal.signal(signal.SIGINT, partial(_out, "interrupted", 130))
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, partial(_out, "terminated", 143))
    import_no_clouds()
    code = main()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or never there
            stream.flush()
    os._exit(code)


def _out(how: str, code: int, number: int, frame: object) -> NoReturn:
    """Ctrl-C or `kill`: out at once, which leaves the table whole at any moment.

    As an exception it would come up inside of Beam, which takes it for the error of a step, and with worker processes
    waits for them without end.
    """
    clear = "\r\x1b[2K" if os.isatty(2) else ""
    with suppress(OSError):
        os.write(2, f"{clear}{how}; the table is as the last commit left it\n".encode())
    do_duties(DUTIES_SECONDS)
    os._exit(code)


if __name__ == "__main__":
    leave()

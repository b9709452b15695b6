"""Processes of our own: how one is started, what it does not import, and how it ends with whoever started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

_PR_SET_PDEATHSIG = 1
"""linux/prctl.h."""

_CLOUDS = (
    "apache_beam.io.aws.s3filesystem",
    "apache_beam.io.azure.blobstoragefilesystem",
    "apache_beam.io.gcp.gcsfilesystem",
    "apache_beam.io.hadoopfilesystem",
)


def import_no_clouds() -> None:
    """Keep Beam's own file systems out of this process, for good. For entry points.

    Nothing here reads or writes through Beam. Yet importing it imports the libraries of every cloud that happen to be
    installed: a third of what importing it takes, in each process of a run.
    """
    for name in _CLOUDS:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # which is how an import is switched off


def import_clouds() -> None:
    """Take `import_no_clouds` back, before Beam stages files for a runner that is elsewhere."""
    for name in _CLOUDS:
        if name in sys.modules and sys.modules[name] is None:
            del sys.modules[name]
        with suppress(ImportError):
            import_module(name)


def command_of(module: str) -> list[str]:
    """The command line of `module` as a process."""
    return [sys.executable, "-m", module]


def environment() -> dict[str, str]:
    """This process's environment, with which another one can import whatever this one can.

    Custom chunkers are named by import path. The folder of a script comes first in this process, and so it does there.
    """
    return {**os.environ, "PYTHONPATH": python_path()}


def python_path() -> str:
    """Where this process looks for modules, as `PYTHONPATH`."""
    return os.pathsep.join(entry or os.getcwd() for entry in sys.path)


def die_with_parent() -> None:
    """Leave interrupts to the parent, and end with it.

    On Linux at once; elsewhere when a connection to it is found closed, not without a word on the terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def how_it_ended(code: int) -> str:
    """A return code in words: `exit code 7`, `signal 9 (SIGKILL)`."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {-code} ({signal.Signals(-code).name})"
    return f"signal {-code}"

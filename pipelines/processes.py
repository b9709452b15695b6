"""Processes of our own: how one is started, what it does not import, and what it does when it is to end."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import ModuleType

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


def leave_pandas_out() -> None:
    """Let Arrow look for pandas now, and not find it. For entry points, after the memory pool is chosen.

    Arrow imports it to see whether a list is one of its series, where it is installed: a sixth of a short command.
    Custom functions can import it all the same, and Arrow finds it as soon as something is made from or for pandas by
    name (`from_pandas`, `to_pandas`); until then it takes a series for a list like any other.
    """
    finder = _Absent("pandas")
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(finder)


class _Absent(MetaPathFinder):
    """Finds that a package is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == self._name:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


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


WORKERS = "RECHUNK_WORKERS"
"""Environment variable: the folder where worker processes that are alive have a file named by their process id."""


def is_replaced() -> bool:
    """Whether this is a worker process that another one takes the place of when it ends (`beam/driver.py`)."""
    folder = os.environ.get(WORKERS)
    return folder is not None and os.path.exists(os.path.join(folder, str(os.getpid())))


def die_with_parent() -> None:
    """Leave interrupts to the parent, and end with it.

    On Linux at once; elsewhere when a connection to it is found closed, not without a word on the terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Repeating:
    """Does `work` every so many seconds, in a thread, until it is stopped; `at_once`: for the first time right now."""

    def __init__(self, seconds: float, work: Callable[[], None], *, name: str, at_once: bool = False) -> None:
        self._done = threading.Event()
        self._worked = threading.Event()
        self._thread = threading.Thread(target=self._repeat, args=(seconds, work, at_once), name=name, daemon=True)
        self._thread.start()

    def _repeat(self, seconds: float, work: Callable[[], None], at_once: bool) -> None:
        try:
            while at_once or not self._done.wait(seconds):
                at_once = False
                work()
                self._worked.set()
        finally:
            self._worked.set()

    def wait(self) -> None:
        """Wait until it has worked once."""
        self._worked.wait()

    def stop(self) -> None:
        """End it, and wait until what it is doing is done. It may be stopped already."""
        self._done.set()
        self._thread.join()


_duties: list[Callable[[], None]] = []


@contextmanager
def duty(deed: Callable[[], None]) -> Iterator[None]:
    """While this lasts, `do_duties` does `deed`. It may come a second time, or beside what else the process does."""
    _duties.append(deed)
    try:
        yield
    finally:
        _duties.remove(deed)


def do_duties(seconds: float) -> None:
    """Do what is to be done before a signal ends this process, for no longer than that; newest first.

    In a thread: the one that a signal stopped may hold any lock.
    """

    def do_all() -> None:
        for deed in reversed(_duties):
            with suppress(Exception):
                deed()

    if _duties:
        thread = threading.Thread(target=do_all, name="duties", daemon=True)
        thread.start()
        thread.join(seconds)


def how_it_ended(code: int) -> str:
    """A return code in words: `exit code 7`, `signal 9 (SIGKILL)`."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {-code} ({signal.Signals(-code).name})"
    return f"signal {-code}"

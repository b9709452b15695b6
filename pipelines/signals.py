"""Ctrl-C and `kill`: a command ends at once, whatever it is in the middle of.

Python calls handlers in the main thread only, and only between two of its own steps. There the work of a run in one
process goes on, which may be a minute inside of somebody's C code. So a thread of its own listens for signals.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from typing import NoReturn

from pipelines.processes import do_duties

DUTIES_SECONDS = 3.0
"""How long a process that is told to end may take to tell others, as that its run is no longer at work."""

_ENDS = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}
"""How a process ended, and its exit code."""


def end_on_signals() -> None:
    """Let Ctrl-C and `kill` end this process, at any moment: the table is whole. For entry points.

    Not as an exception: that would come up inside of Beam, which takes it for the error of a step, and with worker
    processes waits for them without end. A signal that whoever started us wants ignored stays ignored. Who sets another
    handler later on has the signal to himself, until this one is back.
    """
    ending = _Ending()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, ending)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, ending)


class _Ending:
    """The handler of both signals, and the thread that acts on them."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)  # written to as soon as a signal is there
        self._mask = threading.local()
        os.register_at_fork(before=self._hold, after_in_parent=self._release, after_in_child=self._forget)
        threading.Thread(target=self._listen, name="signals", daemon=True).start()

    def __call__(self, number: int, frame: object) -> None:
        """What the main thread does when it gets to it: it waits for the end.

        No longer than that, as it may hold a lock that the end needs. And it tells the thread once more, since an event
        loop may have taken the wake-up away.
        """
        with suppress(OSError):
            os.write(self._writer, bytes([number]))
        threading.Event().wait(DUTIES_SECONDS)

    def _listen(self) -> None:
        while True:
            for number in os.read(self._reader, 64):
                if number in _ENDS and signal.getsignal(number) is self:
                    _out(*_ENDS[signal.Signals(number)])

    # A fork of this process, as a custom function may make, is somebody else. What is sent to it waits until it has
    # forgotten all this: else it would wake up the thread of this process.

    def _hold(self) -> None:
        self._mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)

    def _release(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask.before)

    def _forget(self) -> None:
        signal.set_wakeup_fd(-1)
        for number, default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            if signal.getsignal(number) is self:
                signal.signal(number, default)
        self._release()


def _out(how: str, code: int) -> NoReturn:
    clear = "\r\x1b[2K" if os.isatty(2) else ""
    with suppress(OSError):
        os.write(2, f"{clear}{how}; the table is as the last commit left it\n".encode())
    do_duties(DUTIES_SECONDS)
    os._exit(code)

"""Processes that belong to an engine. Each ends with the test run, whatever happens to that."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.engines.fetching import ROOT

_PR_SET_PDEATHSIG = 1


class Servers:
    """Processes started here, with a log each below `folder`. `stop` ends them all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
        """Start a process in `folder`; its id."""
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **(environment or {})},
                preexec_fn=_end_with_parent,
            )
        self._running.append((name, process))
        return process.pid

    def processes(self) -> list[tuple[str, int]]:
        """Name and id of each."""
        return [(name, process.pid) for name, process in self._running]

    def wait_for(self, port: int, seconds: float = 120) -> None:
        """Wait until somebody listens at `port`. AssertionError, with what it said, when one of the processes ends."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for name, process in self._running:
                assert process.poll() is None, f"{name} ended: {self.said(name)}"
            with suppress(OSError), socket.create_connection(("localhost", port), timeout=1):
                return
            time.sleep(0.1)
        raise AssertionError(f"nobody listens at port {port} after {seconds} s")

    def said(self, name: str) -> str:
        """The end of a process's log."""
        return (self.folder / f"{name}.log").read_text("utf-8", "replace")[-3000:]

    def stop(self) -> None:
        """End them all, those they started too, the last one first."""
        for _, process in reversed(self._running):
            ids = [process.pid, *descendants(process.pid)]
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for each in ids[1:]:
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
        self._running.clear()


def worker_pool(servers: Servers, name: str = "pool") -> int:
    """A pool of Python workers, each a process of its own, that can import the package. The port it listens at."""
    port = free_port()
    command = [sys.executable, "-m", "tests.engines.pool", str(port)]
    folder = os.path.dirname(sys.executable)  # it starts `python`, whichever that is
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    servers.start(name, command, {"PATH": path, "PYTHONPATH": str(ROOT)})
    servers.wait_for(port)
    return port


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port: int = found.getsockname()[1]
        return port


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    found = [child for child, parent in _parents() if parent == process]
    return [*found, *(each for child in found for each in descendants(child))]


def command_line(process: int) -> str:
    """What a process was started with; empty when it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def _parents() -> Iterator[tuple[int, int]]:
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with suppress(OSError, IndexError, ValueError):
                status = Path(f"/proc/{entry}/stat").read_text()
                yield int(entry), int(status.rpartition(")")[2].split()[1])


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

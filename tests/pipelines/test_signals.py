"""Ctrl-C and `kill` end a command at once, wherever its main thread is."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

START = "import os, signal, sys, threading, time; from pipelines import signals; signals.end_on_signals(); "
READY = "print('ready', flush=True); "
IN_C = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'a', b'b', 400_000_000)"
"""Minutes in which Python is not asked for signals."""


def ended(program: str, number: int, seconds: float = 30) -> tuple[int, str]:
    """Exit code and last words of a program that gets a signal once it is ready."""
    running = subprocess.Popen(
        [sys.executable, "-c", START + program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    try:
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        _, err = running.communicate(timeout=seconds)
    finally:
        running.kill()
    return running.returncode, err


@pytest.mark.parametrize(
    ("number", "code", "how"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_a_process_that_is_in_c_code(number: int, code: int, how: str) -> None:
    assert ended(READY + IN_C, number) == (code, f"{how}; the table is as the last commit left it\n")


def test_a_signal_ends_a_process_that_is_starting_a_thread() -> None:
    """Python's list of threads is locked then, and what is to be done before the end needs a thread."""
    program = (
        "from pipelines.processes import duty; signals.DUTIES_SECONDS = 0.2; "
        "told = duty(lambda: print('told', file=sys.stderr)); told.__enter__(); "
        "lock = threading._active_limbo_lock; lock.acquire(); print('ready', flush=True); "
        "time.sleep(0.1); lock.release(); time.sleep(60)"
    )
    code, err = ended(program, signal.SIGTERM)
    assert (code, err.splitlines()[1:]) == (143, ["told"])


def test_a_signal_is_heard_when_an_event_loop_has_taken_the_wake_up_away() -> None:
    assert ended(f"signal.set_wakeup_fd(-1); {READY} time.sleep(60)", signal.SIGTERM)[0] == 143


def test_another_handler_has_the_signal_to_itself() -> None:
    mine = "signal.signal(signal.SIGTERM, lambda number, frame: (print('mine', file=sys.stderr), os._exit(5))); "
    assert ended(f"{mine} {READY} time.sleep(60)", signal.SIGTERM) == (5, "mine\n")


def test_a_fork_is_ended_alone() -> None:
    """As multiprocessing does with its workers."""
    program = (
        "child = os.fork(); child or (time.sleep(60), os._exit(0)); "
        "os.kill(child, signal.SIGTERM); _, how = os.waitpid(child, 0); "
        f"time.sleep(0.3); print(os.WTERMSIG(how), file=sys.stderr); {READY} time.sleep(60)"
    )
    code, err = ended(program, signal.SIGINT)
    assert (code, err.splitlines()) == (130, ["15", "interrupted; the table is as the last commit left it"])


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    program = f"{START} os.kill(os.getpid(), signal.SIGINT); time.sleep(0.3); print('still here')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stdout) == (0, "still here\n")

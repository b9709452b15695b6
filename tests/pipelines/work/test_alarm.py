"""What does not come to its end is ended, and nothing else is."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from pipelines.documents.failures import TookTooLong
from pipelines.work.alarm import Alarm

SECONDS = 0.05


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.work.alarm.GRACE_SECONDS", 0.0)
    monkeypatch.setattr("pipelines.work.alarm.LOOK_SECONDS", 0.01)


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    alarm = Alarm(SECONDS)
    yield alarm
    alarm.close()


def spin() -> None:
    while True:
        try:
            pass
        except Exception:
            continue


def nap() -> None:
    time.sleep(60)


def lock() -> None:
    held = threading.Lock()
    held.acquire()
    held.acquire()


@pytest.mark.parametrize("endless", [spin, nap, lock])
def test_what_never_ends_is_ended(alarm: Alarm, endless: Callable[[], None]) -> None:
    with pytest.raises(TookTooLong, match=r"^took more than 0.05 s; limits.seconds allows more$"):
        alarm.call(endless)


def test_the_next_call_has_its_time_again_and_what_is_between_calls_all_of_it(alarm: Alarm) -> None:
    for _ in range(3):
        with pytest.raises(TookTooLong):
            alarm.call(spin)
        assert alarm.call(sorted, [2, 1], reverse=True) == [2, 1]
        time.sleep(2 * SECONDS)


def test_a_function_that_has_its_own_use_for_the_signal_is_left_alone(alarm: Alarm) -> None:
    def own() -> int:
        heard: list[int] = []
        before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
        time.sleep(3 * SECONDS)
        signal.signal(signal.SIGALRM, before)
        return len(heard)

    assert alarm.call(own) == 0


def test_in_another_thread_of_a_process_that_nobody_replaces_a_call_goes_on() -> None:
    took: list[int] = []

    def work() -> None:
        alarm = Alarm(SECONDS)
        alarm.call(time.sleep, 4 * SECONDS)
        alarm.close()
        took.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert took == [1]


def test_the_signal_is_as_before_afterwards() -> None:
    Alarm(SECONDS).close()
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL

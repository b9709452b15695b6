"""What reaches the terminal: nothing that controls it, colour only on one, and no complaint when it goes away."""

from __future__ import annotations

import io
import os
import pty
from datetime import UTC, date, datetime

import pytest

from pipelines.errors import StorageError
from pipelines.observe.console import Console, columns, preview, printable, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – 漢字 é", "plain – 漢字 é"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202edef", "abc\\u202edef"),
        ("\u2028\ufeff", "\\u2028\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\x7f\x00", "\\x7f\\x00"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_keep_their_ends_and_tabs_only() -> None:
    assert printable_lines("a\r\n\tb\rc\x1b") == "a\n\tb\\rc\\x1b"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 10, "short"),
        ("a\n\n  b", 10, "a b"),
        ("exactly ten", 10, "exactly t…"),
        ("漢字漢字漢字", 7, "漢字漢…"),
        ("x" * 100_000, 5, "xxxx…"),
        ("\x1b" * 10, 9, "\\x1b\\x1b…"),
    ],
)
def test_preview_fits_its_columns(text: str, width: int, shown: str) -> None:
    assert preview(text, width) == shown
    assert columns(shown) <= width


def console(**options: bool) -> tuple[Console, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Console(out=out, err=err, **options), out, err


def test_table_aligns_numbers_to_the_right_and_counts_wide_characters() -> None:
    screen, out, _ = console()
    screen.table(("name", "n"), [("漢字", 5), ("a", 1234), ("b\n", None)])
    assert out.getvalue() == "name     n\n漢字     5\na     1234\nb\\n      –\n"


def test_no_colour_and_no_progress_off_a_terminal() -> None:
    screen, out, err = console()
    screen.progress("working")
    screen.table(("a",), [("b",)])
    screen.error("bad \x1b[2J")
    screen.warning("careful")
    assert out.getvalue() == "a\nb\n"
    assert err.getvalue() == "error: bad \\x1b[2J\nwarning: careful\n"


def test_json_is_ascii() -> None:
    screen, out, _ = console(as_json=True)
    screen.json_line({"text": "\x9b漢"})
    assert out.getvalue() == '{"text": "\\u009b\\u6f22"}\n'


def test_times_and_bytes_in_json() -> None:
    screen, out, _ = console(as_json=True)
    screen.json_line(
        {"at": datetime(2026, 1, 31, 23, 59, 59, 5, tzinfo=UTC), "on": date(2026, 1, 31), "bytes": b"\xff"}
    )
    assert out.getvalue() == '{"at": "2026-01-31T23:59:59.000005+00:00", "on": "2026-01-31", "bytes": "/w=="}\n'


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        screen = Console(out=terminal, err=terminal)
        screen.progress("working")
        screen.error("bad")
        screen.finish()
        shown = os.read(master, 1000)
        while not shown.endswith(b"bad\r\n"):
            shown += os.read(master, 1000)
    os.close(master)
    return shown.decode()


def test_colour_and_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_a_terminal(monkeypatch) == "working\r\x1b[2K\x1b[31merror:\x1b[0m bad\r\n"


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_when_asked(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    assert on_a_terminal(monkeypatch, **environment) == "working\r\x1b[2Kerror: bad\r\n"


def test_a_reader_that_goes_away_closes_the_console_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stream = os.fdopen(writer, "w", encoding="utf-8", buffering=1)
    screen = Console(out=stream, err=io.StringIO())
    screen.line("one")
    screen.line("two")
    screen.finish()
    assert screen.closed is True
    with pytest.raises(
        BrokenPipeError
    ):  # what was buffered has nowhere to go: the test closes it, not the garbage collector
        stream.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is always full")
def test_a_full_disk_under_stdout_is_an_error_and_under_stderr_none() -> None:
    with open("/dev/full", "w", encoding="utf-8", buffering=1) as full:
        screen = Console(out=full, err=full)
        screen.message("nobody can be told")
        with pytest.raises(StorageError, match="stdout: cannot be written: No space left on device"):
            screen.line("data")
        assert screen.closed is True
        screen.finish()
        with pytest.raises(OSError, match="No space left on device"):
            full.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())  # what was buffered can go there


def test_values_are_written_as_people_write_them() -> None:
    out = io.StringIO()
    moment = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
    values = {"a": None, "b": True, "c": ["x", "y"], "d": [], "e": moment, "f": b"\x00\x01", "g": {"k": [1]}, "h": 1.5}
    Console(out=out, err=out).pairs(values)
    shown = ["–", "yes", "x, y", "–", "2026-01-31T12:30:00Z", "AAE=", '{"k": [1]}', "1.5"]
    assert out.getvalue().splitlines() == [f"{name}  {cell}" for name, cell in zip(values, shown, strict=True)]

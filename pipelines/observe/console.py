"""The terminal: data on stdout, messages on stderr, colour and progress only where a person is looking.

Text of documents and names from storage pass `printable()`: control characters in them could move the cursor, retitle
the window or forge a line of output.
"""

from __future__ import annotations

import base64
import datetime
import io
import json
import os
import re
import sys
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from pipelines.errors import StorageError

# C0 and C1 controls, the line and paragraph separators, and the marks that reorder what follows them.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_COLOURS = {"bold": "1", "red": "31", "yellow": "33", "cyan": "36", "dim": "2"}
_PROGRESS_SECONDS = 0.2
_WIDTH = 80


def printable(text: str) -> str:
    """`text` on one line, with every control character written as an escape."""
    return _UNSAFE.sub(lambda found: _NAMED.get(found[0]) or _escape(found[0]), text)


def printable_lines(text: str) -> str:
    """As `printable`, but line ends and tabs stay."""
    kept = text.replace("\r\n", "\n")
    return _UNSAFE.sub(lambda found: found[0] if found[0] in "\n\t" else printable(found[0]), kept)


def preview(text: str, width: int) -> str:
    """The start of `text` on one line of at most `width` terminal columns."""
    line = printable(" ".join(text[: width * 4].split()))
    if columns(line) <= width and len(text) <= width * 4:
        return line
    while columns(line) > width - 1:
        line = line[:-1]
    return line.rstrip() + "…"


def columns(text: str) -> int:
    """How many terminal columns `text` takes: East Asian wide characters two, combining marks none."""
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else 0 if unicodedata.combining(character) else 1
        for character in text
    )


@dataclass(slots=True, kw_only=True)
class Console:
    """Where a command prints. `closed` turns true when the reader of stdout went away (`| head`): stop then."""

    out: TextIO
    err: TextIO
    as_json: bool = False
    debug: bool = False
    closed: bool = False
    _progress: str = ""
    _progress_at: float = 0.0

    @classmethod
    def standard(cls, *, as_json: bool = False, debug: bool = False) -> Console:
        """The process's own streams. Text that the terminal cannot encode is escaped, never an error.

        A stream that the process was started without (`>&-`) takes everything and keeps nothing.
        """
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        nowhere = io.StringIO()
        return cls(out=sys.stdout or nowhere, err=sys.stderr or nowhere, as_json=as_json, debug=debug)

    def line(self, text: str = "") -> None:
        """One line of data. The caller made it printable."""
        self._write(text + "\n")

    def json_line(self, value: Any) -> None:
        """One JSON value: on one line, ASCII only, so that no text in it can control a terminal."""
        self._write(json.dumps(value, default=_as_json, allow_nan=False) + "\n")

    def table(self, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Rows below a header; numbers to the right."""
        cells = [[printable(_cell(value)) for value in row] for row in rows]
        widths = [max(columns(line[n]) for line in [list(header), *cells]) for n in range(len(header))]
        right = [bool(rows) and all(isinstance(row[n], int | float | None) for row in rows) for n in range(len(header))]
        self.line(self.style("bold", _aligned(list(header), widths, right)))
        for line in cells:
            self.line(_aligned(line, widths, right))

    def pairs(self, values: Mapping[str, object]) -> None:
        """Names and values, one pair a line."""
        shown = {printable(name): value for name, value in values.items()}
        width = max((columns(name) for name in shown), default=0)
        for name, value in shown.items():
            self.line(f"{name}{' ' * (width - columns(name))}  {printable(_cell(value))}".rstrip())

    def message(self, text: str) -> None:
        """A line for the person at the terminal."""
        self._clear_progress()
        self._say(printable(text) + "\n")

    def warning(self, text: str) -> None:
        self._clear_progress()
        self._say(self.style("yellow", "warning:", self.err) + f" {printable(text)}\n")

    def error(self, text: str) -> None:
        self._clear_progress()
        self._say(self.style("red", "error:", self.err) + f" {printable(text)}\n")

    def fault(self, value: Mapping[str, Any]) -> None:
        """An error as one JSON object on stderr."""
        self._clear_progress()
        self._say(json.dumps(value) + "\n")

    def trace(self, text: str) -> None:
        """A traceback, its line ends kept."""
        self._clear_progress()
        self._say(printable_lines(text))

    @property
    def shows_progress(self) -> bool:
        """Whether a person is looking at stderr, and not at JSON."""
        return self.err.isatty() and not self.as_json

    def progress(self, text: str) -> None:
        """Replace the progress line. Only on a terminal, and not more often than five times a second."""
        now = time.monotonic()
        if not self.shows_progress or now - self._progress_at < _PROGRESS_SECONDS:
            return
        self._clear_progress()
        self._progress, self._progress_at = preview(text, self._width() - 1), now
        self._say(self._progress)

    def _width(self) -> int:
        """Columns of the terminal: a longer line could not be taken back."""
        try:
            return os.get_terminal_size(self.err.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH

    def finish(self) -> None:
        """End the progress line and flush; a closed stdout is no error, a full disk is a StorageError."""
        self.flush()

    def flush(self) -> None:
        """Have everything shown that was said up to now."""
        self._clear_progress()
        if not self.closed:
            try:
                self.out.flush()
            except OSError as error:
                self._failed(error)

    def style(self, name: str, text: str, stream: TextIO | None = None) -> str:
        """`text` in a colour, where the stream is a terminal and NO_COLOR is unset or empty."""
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not (stream or self.out).isatty():
            return text
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m"

    def _write(self, text: str) -> None:
        if self.closed:
            return
        self._clear_progress()
        try:
            self.out.write(text)
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        """A reader that went away is no error; a full disk is. Raises StorageError."""
        self._close()
        if not isinstance(error, BrokenPipeError):
            raise StorageError(f"cannot be written: {error.strerror or error}", address="stdout") from error

    def _close(self) -> None:
        self.closed = True
        # The interpreter flushes stdout when it exits; on the closed pipe that would print an error of its own.
        if self.out is sys.stdout:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _say(self, text: str) -> None:
        try:
            self.err.write(text)
            self.err.flush()
        except OSError:
            pass  # nobody can be told

    def _clear_progress(self) -> None:
        if self._progress:
            self._progress = ""
            self._say("\r\x1b[2K")


def _as_json(value: object) -> str:
    """Times as ISO 8601, bytes as base64: what a table's columns hold besides JSON's own types."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _cell(value: object) -> str:
    """A value as people write it: a list as its items, times in ISO 8601, bytes in base64."""
    if value is None or value == [] or value == {}:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, dict):
        return json.dumps(value, default=_as_json, ensure_ascii=False)
    if isinstance(value, datetime.datetime) and value.utcoffset() == datetime.timedelta(0):
        return value.isoformat().removesuffix("+00:00") + "Z"
    return _as_json(value) if isinstance(value, bytes | datetime.date) else str(value)


def _aligned(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        space = " " * (width - columns(cell))
        parts.append(space + cell if to_right else cell + space)
    return "  ".join(parts).rstrip()

"""Documents of a task in a process of their own, one at a time: what kills that process fails one document only.

The slow way, taken where a task has killed its process before (`starts.py`). The other process is this module run as a
program; requests and answers are pickles, each behind its length.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, TypeVar

from pipelines.allocation import keep_freed_memory
from pipelines.config.model import Config
from pipelines.documents.failures import DocumentFailure, TookTooLong, failure_of
from pipelines.processes import command_of, die_with_parent, environment, how_it_ended, leave_pandas_out
from pipelines.work.chunk_document import Chunked, Document
from pipelines.work.rows import ChunkRows

T = TypeVar("T")
_LENGTH = 8
BACKSTOP_SECONDS = 30.0
"""So much more than its limit a document may take: the other process has an alarm, and imports much to begin with."""


class Isolated:
    """`Chunking` in another process, which is started when it is needed, and again when it died."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._child: subprocess.Popen[bytes] | None = None

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """See Chunking."""
        result: T = self._ask(("call", function, arguments))
        return result

    def probe(self, function: Callable[..., None], *arguments: Any) -> None:
        """See Chunking."""
        self._ask(("probe", function, arguments))

    def chunk(self, rule: int, text: str, document: Document, rows: ChunkRows, **given: Any) -> Chunked:
        """See Chunking."""
        chunked: Chunked
        chunked, made = self._ask(("chunk", rule, text, document, given))
        rows.extend(made)
        return chunked

    def close(self) -> None:
        """See Chunking."""
        if self._child is not None:
            self._child.kill()
            self._ended()

    def _ask(self, request: Any) -> Any:
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        backstop = _Backstop(child, self._config.limits.seconds)
        if request[0] != "probe":
            backstop.start()
        try:
            _send(child.stdin, request)
            outcome, value = _receive(child.stdout)
        except (EOFError, OSError):
            how = how_it_ended(self._ended())
            if backstop.has_ended_it:
                raise TookTooLong(self._config.limits.seconds) from None
            raise DocumentFailure(
                "killed", f"the process that worked on it ended by {how}; something in it, or its size, is too much"
            ) from None
        finally:
            backstop.cancel()
        if outcome == "failure":
            error, message, position = value
            raise DocumentFailure(error, message, position=position)
        if outcome == "error":
            raise value
        return value

    def _start(self) -> subprocess.Popen[bytes]:
        self._child = child = subprocess.Popen(
            command_of("pipelines.work.isolated"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        )
        assert child.stdin is not None
        try:
            _send(child.stdin, self._config)
        except OSError as error:
            raise RuntimeError(f"no process for single documents: it ended by {how_it_ended(self._ended())}") from error
        return child

    def _ended(self) -> int:
        child, self._child = self._child, None
        assert child is not None
        for pipe in (child.stdin, child.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass  # what it had still to say was for a process that is gone
        return child.wait()


class _Backstop(threading.Timer):
    """Ends a process that has not answered long after it should have."""

    def __init__(self, child: subprocess.Popen[bytes], seconds: float) -> None:
        super().__init__(seconds + BACKSTOP_SECONDS, self._end)
        self._child = child
        self.daemon = True
        self.has_ended_it = False

    def _end(self) -> None:
        self.has_ended_it = True
        self._child.kill()


def _send(pipe: BinaryIO | Any, value: Any) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_LENGTH, "big"))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: BinaryIO | Any) -> Any:
    """The next value; EOFError if the other end is gone."""
    head = pipe.read(_LENGTH)
    if len(head) < _LENGTH:
        raise EOFError
    data = pipe.read(int.from_bytes(head, "big"))
    if len(data) < int.from_bytes(head, "big"):
        raise EOFError
    return pickle.loads(data)  # from a process of our own


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    from pipelines.routing import Router
    from pipelines.work.chunking import InProcess

    config = _receive(requests)
    chunking = InProcess(config, Router(config))
    while True:
        try:
            request = _receive(requests)
        except EOFError:
            return
        _send(answers, _answer(chunking, config.payload, request))


def _answer(chunking: Any, payload: Sequence[tuple[str, str]], request: Any) -> tuple[str, Any]:
    try:
        if request[0] == "call":
            return "value", chunking.call(request[1], *request[2])
        if request[0] == "probe":
            return "value", request[1](*request[2])
        _, rule, text, document, given = request
        rows = ChunkRows(payload)
        return "value", (chunking.chunk(rule, text, document, rows, **given), rows)
    except DocumentFailure as failure:
        return "failure", (failure.error, str(failure), failure.position)
    except (SystemExit, TookTooLong) as error:
        failed = failure_of(error, "chunk")
        return "failure", (failed.error, failed.message, failed.position)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return "failure", ("exception", traceback.format_exception_only(error)[-1].strip(), None)
        return "error", error


def main() -> None:
    """This module as a program."""
    die_with_parent()
    keep_freed_memory()
    leave_pandas_out()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a custom function prints is no answer, and is to be seen even if this process is killed
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()

"""Documents in a process of their own: what it makes is the same, and what kills it is a failure."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chunkers.errors import BudgetExceeded
from pipelines.config.model import Budget, Config, Output, Rule, Source, Tokens
from pipelines.documents.failures import DocumentFailure, TookTooLong, failure_of
from pipelines.routing import Router
from pipelines.storage.store import open_store
from pipelines.work.chunk_document import Document
from pipelines.work.chunking import InProcess
from pipelines.work.containers import read_through
from pipelines.work.isolated import Isolated
from pipelines.work.rows import ChunkRows

TEXT = "# Tides\n\n" + "Twice a day, nearly. " * 40 + "\n\n# Gulls\n\nAll day.\n"
CONFIG = Config(
    name="test",
    sources=(Source(path="/nowhere"),),
    output=Output(path="/nowhere either"),
    default=Rule(strategy="markdown", options={"max_size": 200}),
    tokens=Tokens(encoding_name="cl100k_base"),
)


@pytest.fixture
def isolated() -> Iterator[Isolated]:
    isolated = Isolated(CONFIG)
    yield isolated
    isolated.close()


def document(name: str = "a.md") -> Document:
    return Document(name, name, f"/nowhere/{name}", "0" * 64)


def die(number: int) -> None:
    os.kill(os.getpid(), number)


def process(_: object) -> int:
    return os.getpid()


def refuse(how: str) -> None:
    if how == "budget":
        raise BudgetExceeded("too much", position=7)
    if how == "failure":
        raise DocumentFailure("binary", "no text", position="line 3")
    if how == "leave":
        sys.exit(3)

    class Local(Exception):
        """Cannot be pickled."""

    raise Local("odd")


def test_makes_the_same_rows(isolated: Isolated) -> None:
    here, there = ChunkRows(), ChunkRows()
    in_process = InProcess(CONFIG, Router(CONFIG))
    for rows, chunking in ((here, in_process), (there, isolated)):
        chunking.chunk(0, TEXT, document(), rows)
        chunking.chunk(0, "One line.\n", document("b.md"), rows)
    in_process.close()
    assert vars(there) == vars(here)
    assert len(there) == 7


def test_what_kills_the_process_is_a_failure_and_the_next_one_lives(isolated: Isolated) -> None:
    first = isolated.call(process, None)
    with pytest.raises(
        DocumentFailure, match=r"^the process that worked on it ended by signal 11 \(SIGSEGV\);"
    ) as caught:
        isolated.call(die, signal.SIGSEGV)
    assert caught.value.error == "killed"
    with pytest.raises(DocumentFailure, match="exit code 0;"):
        isolated.call(os._exit, 0)
    assert isolated.call(process, None) not in (first, os.getpid())


def test_what_is_raised_comes_back(isolated: Isolated) -> None:
    with pytest.raises(BudgetExceeded, match="too much") as budget:
        isolated.call(refuse, "budget")
    assert budget.value.position == 7
    with pytest.raises(DocumentFailure, match="no text") as binary:
        isolated.call(refuse, "failure")
    assert (binary.value.error, binary.value.position) == ("binary", "line 3")
    for how, said in (("odd", "Local: odd"), ("leave", "SystemExit: 3")):
        with pytest.raises(DocumentFailure) as odd:
            isolated.call(refuse, how)
        failure = failure_of(odd.value, "chunk")
        assert (failure.error, failure.message.rpartition(".")[2]) == ("exception", said)


def test_limits_hold_there_too() -> None:
    limited = Isolated(Config(name="t", sources=CONFIG.sources, output=CONFIG.output, limits=Budget(max_chunks=1)))
    with pytest.raises(BudgetExceeded, match="more than 1 chunks"):
        limited.chunk(0, "word " * 5000, document("a.txt"), ChunkRows())
    limited.close()


def test_what_never_ends_there_is_ended() -> None:
    limited = Isolated(Config(name="t", sources=CONFIG.sources, output=CONFIG.output, limits=Budget(seconds=0.1)))
    first = limited.call(process, None)
    with pytest.raises(DocumentFailure, match=r"took more than 0.1 s") as late:
        limited.call(time.sleep, 60)
    assert late.value.error == "budget"
    assert limited.call(process, None) == first
    limited.close()


def test_what_cannot_be_told_to_end_there_is_ended_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = Isolated(Config(name="t", sources=CONFIG.sources, output=CONFIG.output, limits=Budget(seconds=0.1)))
    first = limited.call(process, None)
    monkeypatch.setattr("pipelines.work.isolated.BACKSTOP_SECONDS", 0.3)
    with pytest.raises(TookTooLong, match=r"took more than 0.1 s"):
        limited.call(hashlib.pbkdf2_hmac, "sha256", b"a", b"b", 400_000_000)
    monkeypatch.undo()
    assert limited.call(process, None) != first
    limited.close()


def test_what_is_printed_there_is_no_answer(isolated: Isolated, capfd: pytest.CaptureFixture[str]) -> None:
    isolated.call(print, "hello")
    assert isolated.call(len, "four") == 4
    assert capfd.readouterr() == ("", "hello\n")


def test_container_is_read_through_for_its_danger_only(isolated: Isolated, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "x"}\nnot JSON\n')
    store = open_store(str(tmp_path))
    for path in ("a.jsonl", "gone.jsonl"):
        isolated.probe(read_through, CONFIG, store, 0, path, None, None, 0)
    with pytest.raises(DocumentFailure, match="SIGKILL"):
        isolated.probe(die, signal.SIGKILL)
    in_process = InProcess(CONFIG, Router(CONFIG))
    in_process.probe(die, signal.SIGKILL)
    in_process.close()

"""Whatever a document raises becomes a class, a place and a storable message."""

from __future__ import annotations

import pytest

from chunkers.errors import BudgetExceeded, DocumentError, InvalidResult, MalformedDocument, SpecialTokenFound
from pipelines.documents.failures import MESSAGE_LENGTH, TRANSIENT, DocumentFailure, Failure, failure_of
from pipelines.errors import StorageError


@pytest.mark.parametrize(
    ("error", "stage", "expected"),
    [
        (DocumentFailure("binary", "no", position="3"), "decode", ("binary", "no", "3")),
        (MalformedDocument("bad", position=7), "chunk", ("malformed", "bad", "7")),
        (SpecialTokenFound("s"), "chunk", ("special-token", "s", None)),
        (InvalidResult("r"), "chunk", ("invalid-result", "r", None)),
        (BudgetExceeded("b"), "chunk", ("budget", "b", None)),
        (DocumentError("d"), "chunk", ("malformed", "d", None)),
        (MemoryError(), "chunk", ("memory", "MemoryError", None)),
        (RecursionError("deep"), "chunk", ("recursion", "deep", None)),
        (FileNotFoundError("gone"), "read", ("missing", "gone", None)),
        (StorageError("reset", address="s3://b/a"), "read", ("read", "s3://b/a: reset", None)),
        (ZeroDivisionError("division"), "chunk", ("exception", "ZeroDivisionError: division", None)),
    ],
)
def test_classes(error: Exception, stage: str, expected: tuple[str, str, str | None]) -> None:
    name, message, position = expected
    assert failure_of(error, stage) == Failure(stage=stage, error=name, message=message, position=position)


def test_lone_surrogate_is_its_own_class_and_its_message_can_be_stored() -> None:
    try:
        "a\ud800".encode()
    except UnicodeEncodeError as error:
        failure = failure_of(error, "chunk")
    assert (failure.error, failure.position) == ("surrogate", None)  # 1 is not where it is in the document
    assert failure.message == (
        "holds half of a surrogate pair, which is no character and cannot be stored; remove it "
        "('utf-8' codec can't encode character '\\ud800' in position 1: surrogates not allowed)"
    )
    assert failure_of(ValueError("\ud800"), "chunk").message == "ValueError: \\ud800"


def test_long_messages_are_cut() -> None:
    assert len(failure_of(ValueError("x" * 10_000), "chunk").message) == MESSAGE_LENGTH


def test_only_what_may_heal_by_itself_is_transient() -> None:
    assert sorted(TRANSIENT) == ["interrupted", "memory", "missing", "read"]

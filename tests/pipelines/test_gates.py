"""Quality gates trip above their limit, exactly."""

from __future__ import annotations

import pytest

from pipelines.config.model import Gates, Limits
from pipelines.gates import verdict


@pytest.mark.parametrize(
    ("soft", "hard", "failed", "documents", "level"),
    [
        (1.0, 20.0, 0, 100, "pass"),
        (1.0, 20.0, 1, 100, "pass"),
        (1.0, 20.0, 2, 100, "soft"),
        (1.0, 20.0, 20, 100, "soft"),
        (1.0, 20.0, 21, 100, "hard"),
        (0.1, None, 1, 1000, "pass"),
        (0.1, None, 2, 1000, "soft"),
        (0.0, None, 1, 1_000_000, "soft"),
        (None, 0.0, 1, 1, "hard"),
        (None, 100.0, 5, 5, "pass"),
        (1.0, 20.0, 0, 0, "pass"),
    ],
)
def test_gate(soft: float | None, hard: float | None, failed: int, documents: int, level: str) -> None:
    gates = Gates(failed_documents=Limits(soft=soft, hard=hard))
    assert verdict(gates, failed=failed, documents=documents).level == level


def test_no_gates_pass_everything() -> None:
    assert verdict(None, failed=5, documents=5).level == "pass"


def test_message_names_the_gate_and_the_figures() -> None:
    gates = Gates(failed_documents=Limits(soft=1.0, hard=20.0))
    assert verdict(gates, failed=3, documents=200).message == (
        "gates.failed_documents.soft: 3 of 200 documents failed (1.5 %), more than 1 %"
    )
    assert verdict(gates, failed=0, documents=200).message == ""

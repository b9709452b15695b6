"""Quality gates: whether a run may publish, and whether it may call itself good. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pipelines.config.model import Gates


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """`hard`: publish nothing (exit 5). `soft`: publish, then fail (exit 1). `message` is "" when all passed."""

    level: Literal["pass", "soft", "hard"]
    message: str = ""


PASSED = GateVerdict(level="pass")


def verdict(gates: Gates | None, *, failed: int, documents: int) -> GateVerdict:
    """Judge `failed` of `documents` listed documents. A gate trips above its limit, not at it."""
    if gates is None:
        return PASSED
    limits = gates.failed_documents
    if limits.hard is not None and _above(failed, documents, limits.hard):
        return GateVerdict(level="hard", message=_message("hard", limits.hard, failed, documents))
    if limits.soft is not None and _above(failed, documents, limits.soft):
        return GateVerdict(level="soft", message=_message("soft", limits.soft, failed, documents))
    return PASSED


def _above(failed: int, documents: int, percent: float) -> bool:
    # Exact: in floating point 0.1 % of 1000 documents is a hair more than 1. repr() is the number as written.
    return failed * 100 > Fraction(repr(percent)) * documents


def _message(level: str, percent: float, failed: int, documents: int) -> str:
    share = failed * 100 / documents if documents else 100.0
    return (
        f"gates.failed_documents.{level}: {failed} of {documents} documents failed ({share:.1f} %), "
        f"more than {percent:g} %"
    )

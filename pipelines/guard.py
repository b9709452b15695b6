"""The guard: documents are deleted only when it is plausible that they are gone. Pure.

It looks at whole documents that would lose all their chunks (removed, emptied, rekeyed, or out of scope and pruned),
per source. The shorter tail of a document that is still there is none of its business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pipelines.config.model import Guard


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVerdict:
    """What happens to one source's deletions. All counts are of documents with chunks.

    `after` counts what would be left. `why` they are withheld: `share`, more than the guard's limits; `emptied-source`,
    nothing would be left.
    """

    source: str
    before: int
    after: int
    vanishing: int
    reasons: Mapping[str, int]
    withheld: bool
    why: Literal["", "share", "emptied-source"]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdicts of the sources that would lose documents, by source, and the documents in all of them."""

    sources: tuple[SourceVerdict, ...]
    total: int

    @property
    def withheld(self) -> bool:
        """Whether any source's deletions are withheld."""
        return any(source.withheld for source in self.sources)

    @property
    def withheld_sources(self) -> frozenset[str]:
        """The sources whose deletions are withheld."""
        return frozenset(source.source for source in self.sources if source.withheld)


def judge(
    *,
    vanishing: Mapping[tuple[str, str], int],
    before: Mapping[str, int],
    after: Mapping[str, int],
    limits: Guard,
    approved: int | None = None,
) -> Verdict:
    """Decide per source whether its deletions go ahead.

    They are withheld when more than `limits.documents` *and* more than `limits.percent` of the documents it had would
    vanish, or when a source that had documents would have none. `vanishing` counts by (source, reason) the documents
    that had chunks and would have none; `before` and `after` count by source those with chunks, of the last commit and
    of this run if nothing is withheld. `approved` is a ceiling on the total: up to that many vanish
    whatever their share; with more, the limits hold as if nothing had been approved.
    """
    reasons: dict[str, Counter[str]] = {}
    for (source, reason), number in vanishing.items():
        if number:
            reasons.setdefault(source, Counter())[reason] += number
    total = sum(vanishing.values())
    is_approved = approved is not None and total <= approved
    verdicts = []
    for source in sorted(reasons):
        gone = reasons[source].total()
        had, left = before.get(source, 0), after.get(source, 0)
        why = "" if is_approved else _why(gone, had, left, limits)
        counted = dict(sorted(reasons[source].items()))
        verdicts.append(
            SourceVerdict(
                source=source,
                before=had,
                after=left,
                vanishing=gone,
                reasons=counted,
                withheld=why != "",
                why=why,
                message=_message(source, gone, had, counted, why, limits, total),
            )
        )
    return Verdict(sources=tuple(verdicts), total=total)


def _why(gone: int, had: int, left: int, limits: Guard) -> Literal["", "share", "emptied-source"]:
    if left == 0:
        return "emptied-source"
    # Exact: in floating point 0.1 % of 1000 documents is a hair more than 1. repr() is the number as written.
    if gone > limits.documents and gone * 100 > Fraction(repr(limits.percent)) * had:
        return "share"
    return ""


def _message(source: str, gone: int, had: int, reasons: Mapping[str, int], why: str, limits: Guard, total: int) -> str:
    parts = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in reasons.items())
    documents = "document" if had == 1 else "documents"
    if not why:
        return f"{source}: {gone} of {had} {documents} deleted ({parts})"
    because = (
        "nothing would be left of this source"
        if why == "emptied-source"
        else f"more than {limits.documents} documents and {limits.percent:g} %"
    )
    return (
        f"{source}: {gone} of {had} {documents} would be deleted ({parts}), {because}; they stay. "
        f"If they are really gone, pass --approve-deletions {total}"
    )

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

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.config.model import Guard

VANISHING = pa.schema([("id", pa.string()), ("source", pa.string()), ("reason", pa.string())])


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

    def withheld_ids(self, vanishing: pa.Table) -> frozenset[str]:
        """The ids in `vanishing` (VANISHING) that stay."""
        sources = pa.array([source.source for source in self.sources if source.withheld], pa.string())
        return frozenset(vanishing.filter(pc.is_in(vanishing["source"], value_set=sources))["id"].to_pylist())


def documents_by_source(states: pa.Table) -> dict[str, int]:
    """How many documents have chunks, by source. Adds up over shards."""
    chunked = states.filter(pc.greater(states["chunk_count"], 0))
    return dict(sorted(Counter(chunked["source"].to_pylist()).items()))


def would_vanish(old_states: pa.Table, new_states: pa.Table, vanished: Mapping[str, str]) -> pa.Table:
    """The documents that had chunks and would have none (VANISHING), in the order of `old_states`.

    `new_states` lacks the documents that the plan lets vanish; `vanished` says why, by id. The source is the one a
    document came from. Rekeyed documents whose new id has nothing to show (see `unreplaced`) are not among them.
    """
    old = old_states.filter(pc.greater(old_states["chunk_count"], 0))
    counts = pc.index_in(old["id"], value_set=new_states["id"].combine_chunks())
    now = new_states["chunk_count"].combine_chunks().take(counts.combine_chunks())
    lost = old.filter(pc.equal(pc.fill_null(now, 0), 0))
    still_listed = pc.is_in(lost["id"], value_set=new_states["id"].combine_chunks()).to_pylist()
    kept = unreplaced(old_states, new_states, vanished)
    rows = [
        (id_, source, "emptied" if listed else vanished.get(id_, "removed"))
        for id_, source, listed in zip(lost["id"].to_pylist(), lost["source"].to_pylist(), still_listed, strict=True)
        if id_ not in kept
    ]
    return pa.table([list(column) for column in zip(*rows, strict=True)] or [[], [], []], schema=VANISHING)


def unreplaced(old_states: pa.Table, new_states: pa.Table, vanished: Mapping[str, str]) -> frozenset[str]:
    """Rekeyed documents with chunks whose object failed under its new id: their old rows are all there is, keep them.

    `new_states` must hold whatever was read in this run, all regions together.
    """
    rekeyed = pa.array(sorted(id_ for id_, reason in vanished.items() if reason == "rekeyed"), pa.string())
    if not len(rekeyed):
        return frozenset()
    empty_failure = pc.and_(pc.equal(new_states["status"], "failed"), pc.equal(new_states["chunk_count"], 0))
    shown = new_states.filter(pc.invert(empty_failure))["uri"].combine_chunks()
    failed = new_states.filter(empty_failure)["uri"].combine_chunks()
    old = old_states.filter(pc.is_in(old_states["id"], value_set=rekeyed))
    old = old.filter(pc.greater(old["chunk_count"], 0))
    lost = pc.and_not(pc.is_in(old["uri"], value_set=failed), pc.is_in(old["uri"], value_set=shown))
    return frozenset(old.filter(lost)["id"].to_pylist())


def judge(
    *,
    vanishing: pa.Table,
    before: Mapping[str, int],
    after: Mapping[str, int],
    limits: Guard,
    approved: int | None = None,
) -> Verdict:
    """Decide per source whether its deletions go ahead.

    They are withheld when more than `limits.documents` *and* more than `limits.percent` of the documents it had would
    vanish, or when a source that had documents would have none. `before` and `after` are `documents_by_source` of the
    last commit and of this run if nothing is withheld. `approved` is a ceiling on the total: up to that many vanish
    whatever their share; with more, the limits hold as if nothing had been approved.
    """
    reasons: dict[str, Counter[str]] = {}
    for source, reason in zip(vanishing["source"].to_pylist(), vanishing["reason"].to_pylist(), strict=True):
        reasons.setdefault(source, Counter())[reason] += 1
    total = vanishing.num_rows
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

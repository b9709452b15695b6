"""How things are timed here: CPU time of one process, warmed up, in alternating pairs, medians of ratios."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(os.environ.get("RECHUNK_CORPUS", Path(__file__).parents[1].parent / "shared" / "corpus"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Our and a peer's CPU seconds for the same work, and the median of `theirs / ours` over the rounds."""

    ours: float
    theirs: float
    ratio: float


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call, the garbage collector off."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def alternate(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 5) -> Pair:
    """Time both in turn `rounds` times after one warm-up each; the medians of the times and of the ratios."""
    ours()
    theirs()
    times = [(cpu(ours), cpu(theirs)) if number % 2 else (cpu(theirs), cpu(ours))[::-1] for number in range(rounds)]
    return Pair(
        ours=statistics.median(mine for mine, _ in times),
        theirs=statistics.median(other for _, other in times),
        ratio=statistics.median(other / mine for mine, other in times),
    )


def texts(kind: str) -> list[str]:
    """The decoded documents of one kind of the corpus."""
    folder = CORPUS / kind
    return [path.read_bytes().decode("utf-8-sig", "replace") for path in sorted(folder.iterdir())]


def table(rows: list[list[str]]) -> str:
    """Rows as aligned columns, the first row a heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])

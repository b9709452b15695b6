"""What of a page is in no chunk, by name and in order."""

from __future__ import annotations

from collections.abc import Sequence

from chunkers.records import Drop, Span
from chunkers.text.lines import skip_space


def without_inner(drops: Sequence[Drop]) -> list[Drop]:
    """The drops in order, without those inside of another."""
    found: list[Drop] = []
    for drop in sorted(drops):
        if not found or drop.end > found[-1].end:
            found.append(drop)
    return found


def with_markup(text: str, spans: Sequence[Span], drops: Sequence[Drop]) -> list[Drop]:
    """`drops`, and the markup that lies between them and the chunks."""
    found: list[Drop] = list(drops)
    taken = sorted([*((span.start, span.end) for span in spans), *((drop.start, drop.end) for drop in drops)])
    at = 0
    for start, end in [*taken, (len(text), len(text))]:
        if at < start and (low := skip_space(text, at, start)) < start:
            found.append(Drop(low, low + len(text[low:start].rstrip()), "markup"))
        at = max(at, end)
    return sorted(found)

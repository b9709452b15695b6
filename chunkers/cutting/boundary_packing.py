"""The merge along boundaries that a parser found, again for the commonest case: a limit in characters, stripped ends.

The cuts are those of `packing`, which decides whatever is not plain, one chunk at a time; a test holds both against
each other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chunkers.budget import made
from chunkers.cutting.packing import Packer
from chunkers.cutting.separators import Positions
from chunkers.records import NOTHING, Cut, Span
from chunkers.text.lines import SPACED, skip_space

_new = tuple.__new__  # a third of the time of Span(…)


def pack_along(packer: Packer, levels: Sequence[Positions], floors: Sequence[int], *, by_lines: bool) -> list[Span]:
    """Run `packer` over its text. `levels` are the first of its ladder; `by_lines`: blank lines and lines
    are the next two.

    Overlap never reaches back over one of the offsets `floors`, which is what its `overlap_floor` says too.
    """
    most = packer.limit.characters
    if most is None or not (packer.trim.strip and packer.trim.keep_indent) or packer.context_at:
        return packer.run(0)[0]
    text, spans, avoid, repeats = packer.text, packer.spans, packer.avoid, packer.overlap is not None
    end = packer.end
    by_lines = by_lines and "\r" not in text
    cuts: list[Cut] = [*(level.cut for level in levels), "blank-line", "line"]
    offsets = [level.offsets for level in levels]
    position = packer.inner_start(0, 0)
    counted = 0
    while position < end:
        begin = position
        if repeats and spans:
            at = bisect_right(floors, skip_space(text, position, end))
            if not at or floors[at - 1] < spans[-1][1]:
                begin = packer.overlap_start(position)
        high = position + most
        if high >= end:
            if begin < position:
                position = packer.next(position)
                continue
            spans.append(_new(Span, (position, end, "document-end", (), "", None, 0, NOTHING, None)))
            break
        reach = skip_space(text, high, end) if text[high].isspace() else high
        rung, start = _last(offsets, position, reach)
        if begin < position and start > position:
            finest, high = max(rung, packer.rung), begin + most
            rung, start = _last(offsets, position, skip_space(text, high, end) if text[high].isspace() else high)
            if rung > finest:  # the overlap has to be shorter
                start = position
        elif start == position and begin == position and by_lines:
            rung, start = _last_line(
                text, position, skip_space(text, high, end) if text[high].isspace() else high, rung
            )
        stop = position + len(text[position:start].rstrip())
        if (
            not position < stop <= high
            or not "!" <= text[stop - 1] <= "~"
            or text[start] > "~"
            or text[start - 1] == "\r"  # it may be inside of a line end
            or (avoid is not None and avoid(stop))
        ):
            position = packer.next(position)
            continue
        counted += 1
        if begin < position:
            packer._emit(begin, position, stop, cuts[rung], "")
        else:
            spans.append(_new(Span, (position, stop, cuts[rung], (), "", None, 0, NOTHING, None)))
        packer.rung = rung
        position = start if "!" <= text[start] <= "~" else packer.inner_start(start, stop)
    made(counted, len(text))
    return spans


def _last(levels: Sequence[Sequence[int]], position: int, reach: int) -> tuple[int, int]:
    """The first of `levels` with an offset in `position < offset <= reach`, and the last one there, or `position`."""
    for rung, offsets in enumerate(levels):
        at = bisect_right(offsets, reach) - 1
        if at >= 0 and offsets[at] > position:
            return rung, offsets[at]
    return len(levels), position


def _last_line(text: str, position: int, reach: int, rung: int) -> tuple[int, int]:
    """The last blank line that starts in `position < start <= reach`, which is of level `rung`, or else the last line
    end, of the next level; and where it ends. `position` if there is neither."""
    at = text.rfind("\n\n", position + 1, reach + 2)
    if SPACED.search(text, at if at > 0 else position + 1, reach + 1):
        return rung, position  # a blank line of spaces may be nearer
    if at > 0:
        return rung, at + 2
    at = text.rfind("\n", position + 1, reach + 1)
    return rung + 1, at + 1 if at > 0 else position

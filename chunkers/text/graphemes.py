"""Edges of grapheme clusters (UAX #29), looked at only around the places where a cut may fall.

A cluster of more than `CAP` code points counts as several atoms of `CAP` code points, so that a wall of combining
marks cannot make a chunk of any size.
"""

from __future__ import annotations

import re

import regex

from chunkers.text.lines import trim_space

CAP = 64
CLUSTER = regex.compile(r"\X")

# Characters that never join a neighbour of this same class into one cluster, CRLF apart: letters and marks of
# punctuation, no combining marks, no conjoining Hangul, no emoji.
_SIMPLE = (
    "\x00-\u02ff\u0370-\u0482\u048a-\u0559\u0560-\u058a\u05d0-\u05ea\u0620-\u064a\u0671-\u06d3\u0904-\u0939\u0e01-\u0e30"
    "\u0e40-\u0e46\u0e50-\u0e5b\u1e00-\u1fff\u2010-\u2027\u2030-\u203b\u2190-\u2193\u2200-\u22ff\u3000-\u3029\u3031-\u303c"
    "\u3041-\u3096\u309b-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d"
)
_SIMPLE_PAIR = re.compile(f"[{_SIMPLE}]{{2}}")
# A cluster surely starts at one of these unless what stands before it reaches over (`_JOINS_NEXT`).
_STARTER = re.compile(
    "[\n\x20-\xa8\xaa-\xac\xaf-\u02ff\u0370-\u0482\u048a-\u0559\u05d0-\u05ea\u0620-\u064a\u0671-\u06d3\u0e01-\u0e30"
    "\u0e40-\u0e46\u3000-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\U0001f300-\U0001f3fa"
    "\U0001f400-\U0001faff]"
)
_JOINS_NEXT = re.compile(
    "[\r\u200d\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u1100-\u115f\ua960-\ua97c\U000110bd\U000110cd\U000111c2"
    "\U000111c3\U000113d1\U0001193f\U00011941\U00011a3a\U00011a84-\U00011a89\U00011d46\U00011f02]"
)
_STARTER_BACK = regex.compile(f"(?r)(?<!{_JOINS_NEXT.pattern}){_STARTER.pattern}")
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))
# What stands between the two letters or emoji that a linker or joiner ties together (GB9c, GB11).
_BETWEEN = regex.compile(r"[\p{GCB=Extend}\u200d]*+")
_BETWEEN_BACK = regex.compile(r"(?r)[\p{GCB=Extend}\u200d]*")


def floor_edge(text: str, position: int, floor: int) -> int:
    """The greatest cluster edge at or before `position`; `floor` must be an edge and is the least answer."""
    if position <= floor:
        return floor
    if position >= len(text):
        return len(text)
    if _SIMPLE_PAIR.match(text, position - 1):
        return position - 1 if text[position] == "\n" and text[position - 1] == "\r" else position
    if text[position] in _REGIONAL and text[position - 1] in _REGIONAL:
        run = floor + len(text[floor:position].rstrip(_REGIONAL))  # flags pair up from where their run starts
        if position - run > 1 and not _splits_flag(text, run):
            return position - (position - run) % 2
    start = _safe_edge(text, position, floor)
    around = min(len(text), position + CAP + 1)  # a slice: \X looks back over all regional indicators before it
    end = _cluster_end(text, start, around)
    if end <= position:
        for cluster in CLUSTER.finditer(text[end:around]):
            start, last = end + cluster.start(), end + cluster.end()
            if last > position:
                end = last
                break
        else:
            return position
    return start + (position - start) // CAP * CAP if end - start > CAP else start


def next_edge(text: str, position: int, ceiling: int) -> int:
    """The first edge after `position`, which must be an edge itself; at most `ceiling`."""
    return min(_cluster_end(text, position, min(ceiling, position + CAP + 1)), position + CAP)


def ceil_edge(text: str, position: int, floor: int, ceiling: int) -> int:
    """The least edge at or after `position`, at most `ceiling`; `floor` must be an edge at or before `position`."""
    edge = floor_edge(text, position, floor)
    return edge if edge >= position else next_edge(text, edge, ceiling)


def is_edge(text: str, position: int, floor: int) -> bool:
    """Whether a cut at `position` keeps clusters whole; `floor` must be an edge at or before it."""
    return floor_edge(text, position, floor) == position


def trimmed_end(text: str, start: int, end: int) -> int:
    """The end of `text[start:end]` without trailing white space, but for white space that a cluster holds."""
    stop = trim_space(text, start, end)
    if stop in (start, end) or text[stop - 1] < "\u0600":
        return stop
    return ceil_edge(text, stop, start, end)


def _safe_edge(text: str, position: int, floor: int) -> int:
    """An edge at or before `position` that needs no context: next to a plain character, or `floor`."""
    near = max(floor, position - 8)
    for at in range(position, near, -1):
        if _STARTER.match(text, at) and not _JOINS_NEXT.match(text, at - 1):
            return at
    found = _STARTER_BACK.search(text, floor + 1, near + 1) if near > floor else None
    return found.start() if found else floor


def _cluster_end(text: str, edge: int, stop: int) -> int:
    """Where the cluster that holds `edge` ends, at most `stop`.

    `edge` may be one of the edges inside a long cluster. What follows it then may depend on what comes before: on the
    letter that a linker ties to the next one, the emoji in front of a joiner, the first half of a flag.
    """
    end: int = edge + CLUSTER.match(text[edge:stop]).end()
    if not 0 < edge < end < stop:
        return end
    if _splits_flag(text, edge):
        return _past(text, edge - 1, edge, stop)
    if _BETWEEN.match(text, edge, end).end() < end or text[end] < "\xa9":
        return end
    return _past(text, max(0, _BETWEEN_BACK.match(text, 0, edge).start() - 1), edge, stop)


def _past(text: str, start: int, edge: int, stop: int) -> int:
    """The end of the cluster that holds `edge`, read from `start`, where reading may begin."""
    ends = (start + int(found.end()) for found in CLUSTER.finditer(text[start:stop]))
    return next(end for end in ends if end > edge)


def _splits_flag(text: str, edge: int) -> bool:
    """Whether an edge lies inside a flag, as it may in a long cluster: that flag is the first of its row."""
    return (
        edge > 0
        and text[edge] in _REGIONAL
        and text[edge - 1] in _REGIONAL
        and (edge == 1 or text[edge - 2] not in _REGIONAL)
    )

"""Shards: which old ones stay, which tasks replace the others. The only place that splits and merges ranges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.planning.pieces import Span
from pipelines.planning.records import Region, ShardRange, Strings, Task

SPLIT_ABOVE = 2
"""A touched shard splits above this many times `task_bytes`, by weight: growth does not reshuffle every night."""

MOST_DOCUMENTS = 8_192
"""A shard takes this many documents at most: each weighs at least this part of `task_bytes`.

A night rewrites whole shards, and what that costs is rows and states as much as bytes (benchmarks/job.py nights).
With half as many, nights on which every shard is touched pay more than half of a first run.
"""

SMALL = 4
"""A touched shard below 1/SMALL of `task_bytes` merges with a touched neighbour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The shards of the next commit. `order` names tasks and untouched old shards by key."""

    tasks: tuple[Task, ...]
    untouched: tuple[int, ...]
    regions: tuple[Region, ...]
    order: tuple[tuple[Literal["task", "shard"], int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A range of keys with the pieces `start:stop` in it."""

    low: str
    high: str | None
    start: int
    stop: int
    old_shards: tuple[int, ...] = ()


def lay_out(
    keys: pa.Array | pa.ChunkedArray,
    *,
    sizes: npt.NDArray[np.int64],
    reads: npt.NDArray[np.bool_],
    touched: npt.NDArray[np.bool_],
    shards: Sequence[ShardRange],
    task_bytes: int,
    spans: Sequence[Span] = (),
    rewrite: bool = False,
) -> Layout:
    """Lay pieces with sorted `keys` out in shards of about `task_bytes`, and of MOST_DOCUMENTS at most.

    Old shards without a `touched` piece, and in no span of a container, stay as they are unless `rewrite` is set; those
    of a container that is read are filled anew together. A first run (no `shards`) fills shards in key order; an empty
    corpus is one shard without documents.
    """
    size, read, touch = (_running(values) for values in (sizes, reads, touched))
    vanishes = touched & ~reads
    total = _running(np.where(vanishes, 0, np.maximum(sizes, task_bytes // MOST_DOCUMENTS)))
    tasks: list[Task] = []
    untouched: list[int] = []
    regions: list[Region] = []
    order: list[tuple[Literal["task", "shard"], int]] = []

    def add_region(pieces: Sequence[_Piece], old_shards: tuple[int, ...]) -> None:
        members = range(len(tasks), len(tasks) + len(pieces))
        for index, piece in zip(members, pieces, strict=True):
            order.append(("task", index))
            tasks.append(
                Task(
                    index=index,
                    region=len(regions),
                    low=piece.low,
                    high=piece.high,
                    start=piece.start,
                    stop=piece.stop,
                    old_shards=tuple(each for each in old_shards if _overlap(piece, shards[each])),
                    input_bytes=int(size[piece.stop] - size[piece.start]),
                    reads=int(read[piece.stop] - read[piece.start]),
                )
            )
        low, high = pieces[0].low, pieces[-1].high
        regions.append(Region(index=len(regions), low=low, high=high, old_shards=old_shards, tasks=tuple(members)))

    if not shards:
        for piece in _fill(_Piece(low="", high=None, start=0, stop=len(keys)), keys, total, task_bytes):
            add_region([piece], ())
    ranges = _ranges(keys, shards)
    is_changed = [rewrite or bool(touch[piece.stop] > touch[piece.start]) for piece in ranges]
    is_joined = [False] * len(ranges)
    for span in spans:
        is_changed[span.first : span.last + 1] = [True] * (span.last + 1 - span.first)
        if span.joined:
            is_joined[span.first + 1 : span.last + 1] = [True] * (span.last - span.first)
    for group, is_touched in _groups(ranges, total, is_changed, is_joined, task_bytes):
        if not is_touched:
            untouched.append(group.old_shards[0])
            order.append(("shard", group.old_shards[0]))
        elif total[group.stop] - total[group.start] > SPLIT_ABOVE * task_bytes:
            add_region(_fill(group, keys, total, task_bytes), group.old_shards)
        else:
            add_region([group], group.old_shards)
    return Layout(tasks=tuple(tasks), untouched=tuple(untouched), regions=tuple(regions), order=tuple(order))


def _running(values: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Running totals with a leading 0: the sum of `values[a:b]` is `running[b] - running[a]`."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])


def _overlap(piece: _Piece, shard: ShardRange) -> bool:
    return (piece.high is None or shard.low < piece.high) and (shard.high is None or piece.low < shard.high)


def _ranges(keys: pa.Array | pa.ChunkedArray, shards: Sequence[ShardRange]) -> list[_Piece]:
    """The old shards' ranges and the pieces in them. ValueError unless they own every key once."""
    if not shards:
        return []
    bounds: list[str | None] = [shard.low for shard in shards]
    for number, (shard, after) in enumerate(zip(shards, (*bounds[1:], None), strict=True)):
        if shard.high != after or (number == 0 and shard.low != "") or (after is not None and after <= shard.low):
            raise ValueError(f"shard {number} owns {shard.low!r} to {shard.high!r}, the next one starts at {after!r}")
    strings = Strings(keys)
    starts = [bisect_left(strings, shard.low) for shard in shards]
    return [
        _Piece(low=shard.low, high=shard.high, start=start, stop=stop, old_shards=(number,))
        for number, (shard, start, stop) in enumerate(zip(shards, starts, [*starts[1:], len(keys)], strict=True))
    ]


def _groups(
    ranges: Sequence[_Piece],
    total: npt.NDArray[np.int64],
    is_changed: Sequence[bool],
    is_joined: Sequence[bool],
    task_bytes: int,
) -> list[tuple[_Piece, bool]]:
    """The ranges, left to right, and whether each is touched.

    Small touched neighbours are merged, and those that have to be are joined to the one before.
    """
    groups: list[tuple[_Piece, bool]] = []
    for piece, is_touched, must_join in zip(ranges, is_changed, is_joined, strict=True):
        if must_join:
            groups[-1] = (_joined(groups[-1][0], piece), True)
            continue
        if groups and is_touched and groups[-1][1]:
            before = groups[-1][0]
            sizes = [int(total[each.stop] - total[each.start]) for each in (before, piece)]
            if min(sizes) * SMALL < task_bytes and sum(sizes) <= task_bytes:
                groups[-1] = (_joined(before, piece), True)
                continue
        groups.append((piece, is_touched))
    return groups


def _joined(left: _Piece, right: _Piece) -> _Piece:
    return _Piece(
        low=left.low,
        high=right.high,
        start=left.start,
        stop=right.stop,
        old_shards=left.old_shards + right.old_shards,
    )


def _fill(
    piece: _Piece, keys: pa.Array | pa.ChunkedArray, total: npt.NDArray[np.int64], task_bytes: int
) -> list[_Piece]:
    """Cut `piece` where the next piece would exceed `task_bytes`; a larger one has a shard of its own."""
    cuts = [piece.start]
    while cuts[-1] < piece.stop:
        reach = int(np.searchsorted(total, total[cuts[-1]] + task_bytes, side="right")) - 1
        cuts.append(min(max(reach, cuts[-1] + 1), piece.stop))
    if len(cuts) == 1:
        cuts.append(piece.stop)
    lows = [piece.low, *(keys[cut].as_py() for cut in cuts[1:-1])]
    highs: list[str | None] = [*lows[1:], piece.high]
    return [
        _Piece(low=low, high=high, start=start, stop=stop, old_shards=piece.old_shards)
        for low, high, start, stop in zip(lows, highs, cuts[:-1], cuts[1:], strict=True)
    ]

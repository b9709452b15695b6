"""From objects to what is laid out: files, parts of containers to read, what shards hold of containers that stay."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.planning.records import PLAN_DOCUMENTS, Part, ShardRange
from pipelines.table.keys import FILE, end_of, sort_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The old shards `first` up to and including `last`, which hold something of one container.

    `joined`: the container is read, and its new parts need not end where these shards do.
    """

    first: int
    last: int
    joined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """PLAN_DOCUMENTS rows in the order of their sort `keys`, and what laying them out needs of each."""

    documents: pa.Table
    keys: pa.Array | pa.ChunkedArray
    sizes: npt.NDArray[np.int64]
    reads: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.bool_]
    spans: tuple[Span, ...]


def pieces_of(
    documents: pa.Table, parts: Mapping[str, Sequence[Part]], held: pa.Table, shards: Sequence[ShardRange]
) -> Pieces:
    """The pieces of `documents` (PLAN_DOCUMENTS with a row an object, by id)."""
    is_container = _flags(pc.not_equal(documents["kind"], FILE))
    containers = np.flatnonzero(is_container)
    if not len(containers):
        return _pieces(documents, documents["id"], _sizes(documents), ())
    rows = documents.select(["id", "action", "size"]).take(pa.array(containers)).to_pylist()
    cutting = _Cutting(parts, held, shards)
    for index, row in zip(containers.tolist(), rows, strict=True):
        cutting.add(index, **row)
    return cutting.pieces(documents)


class _Cutting:
    """Containers to pieces, one container at a time. The first piece of each is its own row of the plan."""

    def __init__(self, parts: Mapping[str, Sequence[Part]], held: pa.Table, shards: Sequence[ShardRange]) -> None:
        self._parts = parts
        self._lows = [shard.low for shard in shards]
        self._held: dict[str, dict[int, int]] = {}
        for row in held.select(["key", "shard", "records"]).to_pylist():
            self._held.setdefault(row["key"], {})[row["shard"]] = row["records"]
        self._spans: list[Span] = []
        self._changed: dict[int, tuple[int, Part | None, int]] = {}  # own row: size, part, parts
        self._more: list[tuple[int, str, int, int, Part | None, int]] = []  # row, key, size, number, part, parts

    def add(self, index: int, *, id: str, action: str, size: int | None) -> None:
        """The container `id` of plan row `index`."""
        if self._lows:
            owner = bisect_right(self._lows, id) - 1
            last = bisect_left(self._lows, end_of(id)) - 1
            if action == "keep":
                self._keep(index, id, size or 0, owner, last)
                return
            self._spans.append(Span(first=owner, last=last, joined=action == "read"))
        parts = self._parts.get(id, ())
        if action != "read" or len(parts) < 2:
            if action == "read" and parts:
                self._changed[index] = (parts[0].bytes, None, 1)
            return
        self._changed[index] = (parts[0].bytes, parts[0], len(parts))
        for number, part in enumerate(parts[1:], 1):
            self._more.append((index, sort_key(id, part.first), part.bytes, number, part, len(parts)))

    def _keep(self, index: int, key: str, size: int, owner: int, last: int) -> None:
        records = self._held.get(key, {})
        total = sum(records.values())
        if not total:
            return
        self._changed[index] = (size * records.get(owner, 0) // total, None, 1)
        for shard in range(owner + 1, last + 1):
            if shard in records:
                self._more.append((index, self._lows[shard], size * records[shard] // total, 0, None, 1))

    def pieces(self, documents: pa.Table) -> Pieces:
        """Everything in order."""
        rows = np.concatenate([np.arange(documents.num_rows), np.array([each[0] for each in self._more], np.int64)])
        keys = pa.concat_arrays(
            [documents["id"].combine_chunks(), pa.array([each[1] for each in self._more], pa.string())]
        )
        own = _sizes(documents)
        sizes = np.concatenate([own, np.array([each[2] for each in self._more], np.int64)])
        columns: dict[str, list[Any]] = {name: [] for name in ("part", "parts", "start", "stop", "first")}
        where: list[int] = []

        def describe(row: int, number: int, part: Part | None, parts: int) -> None:
            where.append(row)
            values = (None, None, None) if part is None else (part.start, part.stop, part.first)
            for name, value in zip(columns, (number, parts, *values), strict=True):
                columns[name].append(value)

        for row, (size, part, count) in self._changed.items():
            sizes[row] = size
            describe(row, 0, part, count)
        for offset, (_, _, _, number, part, count) in enumerate(self._more):
            describe(documents.num_rows + offset, number, part, count)
        table = documents.unify_dictionaries().take(pa.array(rows)).combine_chunks()
        mask = np.zeros(len(rows), bool)
        mask[where] = True
        order = np.argsort(np.array(where), kind="stable")
        for name, values in columns.items():
            field = PLAN_DOCUMENTS.field(name)
            found = pa.array([values[each] for each in order.tolist()], field.type)
            column = pc.replace_with_mask(table[name].combine_chunks(), pa.array(mask), found)
            table = table.set_column(table.schema.get_field_index(name), field, column)
        sorting = pc.sort_indices(keys)
        table, keys, sizes = table.take(sorting).combine_chunks(), keys.take(sorting), sizes[sorting.to_numpy()]
        return _pieces(table, keys, sizes, tuple(self._spans))


def _pieces(
    documents: pa.Table, keys: pa.Array | pa.ChunkedArray, sizes: npt.NDArray[np.int64], spans: tuple[Span, ...]
) -> Pieces:
    actions = documents["action"]
    return Pieces(
        documents=documents,
        keys=keys,
        sizes=sizes,
        reads=_flags(pc.equal(actions, "read")),
        touched=_flags(pc.not_equal(actions, "keep")),
        spans=spans,
    )


def _sizes(documents: pa.Table) -> npt.NDArray[np.int64]:
    """What every object brings to its shard: nothing if it vanishes."""
    vanishes = pc.equal(documents["action"], "vanish")
    sizes = pc.if_else(vanishes, 0, pc.fill_null(documents["size"], 0))
    result: npt.NDArray[np.int64] = sizes.to_numpy().astype(np.int64)
    return result


def _flags(values: Any) -> npt.NDArray[np.bool_]:
    flags: npt.NDArray[np.bool_] = values.to_numpy()
    return flags

"""`min_size`: pieces of a JSON document that are too small go together with a neighbour, where one takes them in."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chunkers.strategies.json_packing import Piece
from chunkers.strategies.json_paths import Node


def merged(
    text: str, pieces: Iterable[Piece], is_small: Callable[[str], bool], fits: Callable[[str], bool]
) -> list[Piece]:
    """The pieces of `text`, small ones joined to the one before, or to the one behind."""
    found: list[Piece] = []
    smallness: list[bool] = []
    for piece in pieces:
        small = is_small(piece.text(text))
        joined = _joined(found[-1], piece) if found and (small or smallness[-1]) else None
        if joined is not None and fits(whole := joined.text(text)):
            found[-1], smallness[-1] = joined, is_small(whole)
        else:
            found.append(piece)
            smallness.append(small)
    return found


def _joined(left: Piece, right: Piece) -> Piece | None:
    """Both as one piece; None where that is no JSON: an item of a list would be continued, or a string."""
    if left.alone or right.alone or left.first is None or right.first is None or right.last is None:
        return None
    if left.first.top() is not right.first.top():
        return None
    holder = _common(left.first, right.first)
    if left.first.is_list and left.item and holder is not left.first:
        return None  # which items they are could not be told any more
    node = left.first
    while node is not holder:
        if node.parent is None or node.parent.is_list:
            return None
        node = node.parent
    last = right.last_item
    below = right.first
    while below is not holder and below.parent is not None:
        if below.parent is holder and holder.is_list:
            last = int(below.label[1:-2])
        below = below.parent
    return left._replace(
        end=right.end, suffix=right.last.suffix(holder), cut=right.cut, last=right.last, last_item=last, holder=holder
    )


def _common(left: Node, right: Node) -> Node:
    """The innermost container that holds both."""
    while left is not right:
        deeper = left if left.depth >= right.depth else right
        if deeper.parent is None:
            return deeper
        if deeper is left:
            left = deeper.parent
        else:
            right = deeper.parent
    return left

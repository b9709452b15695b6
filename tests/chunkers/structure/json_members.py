"""The members of a JSON container, for tests that take it apart."""

from __future__ import annotations

from collections.abc import Iterator

from chunkers.structure.json_grammar import member_ends, value_start


def members(text: str, ends: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    """Of each member of the container `text`, without white space, where it starts, its value starts, and it ends."""
    start = 1
    for end in member_ends(text, 0, len(text), ends):
        yield start, value_start(text, 0, start), end
        start = end + 1

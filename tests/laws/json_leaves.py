"""What a JSON document says, leaf by leaf, read by the standard library: the oracle of `json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from chunkers.records import Split
from tests.laws import measuring


class Leaf(NamedTuple):
    """A scalar, or an empty container, by its pointer. Numbers are their text, strings are marked."""

    pointer: str
    value: Any


class Pairs(list[tuple[str, Any]]):
    """An object, with its order and its repeated keys."""


PAIR = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})")
SURROGATE = re.compile("[\ud800-\udfff]")


class Number(str):
    """A number as it is written."""


def parsed(text: str) -> Any:
    return json.loads(
        text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, parse_constant=refuse, strict=True
    )


def refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def step(key: str) -> str:
    """A key in a pointer; half a surrogate pair is written as its escape."""
    whole = re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", key)
    return whole.replace("~", "~0").replace("/", "~1")


def leaves(value: Any, pointer: str = "", shifts: dict[str, int] | None = None) -> Iterator[Leaf]:
    """The leaves in order. `shifts` are the indexes that lists start at, by pointer."""
    stack = [(pointer, value)]
    while stack:
        at, this = stack.pop()
        if isinstance(this, Pairs) and this:
            stack += [(f"{at}/{step(key)}", item) for key, item in reversed(this)]
        elif isinstance(this, list) and not isinstance(this, Pairs) and this:
            first = (shifts or {}).get(at, 0)
            stack += [(f"{at}/{index}", item) for index, item in reversed(list(enumerate(this, first)))]
        elif isinstance(this, str) and not isinstance(this, Number):
            yield Leaf(at, ("string", this))
        else:
            yield Leaf(at, ("empty", isinstance(this, Pairs)) if isinstance(this, list) else this)


def rebuilt(document: str, split: Split) -> list[Leaf]:
    """The leaves of all chunks in a row, parts of strings put together."""
    found: list[Leaf] = []
    for span in split.spans:
        metadata = span.metadata
        shifts = {metadata["pointer"]: metadata["first_item"]} if "first_item" in metadata else {}
        here = list(leaves(parsed(whole(span.text(document))), metadata.get("base", ""), shifts))
        if metadata.get("part", 0) > 0:
            (leaf,) = here
            before = found.pop()
            assert before.pointer == leaf.pointer
            here = [Leaf(leaf.pointer, ("string", before.value[1] + leaf.value[1]))]
        found += here
    return found


def differences(document: str, split: Split, *, converted: bool = False) -> Sequence[str]:
    """What the chunks together say otherwise than the document; [] if they rebuild it."""
    wanted, got = list(leaves(parsed(whole(document.removeprefix("\ufeff"))))), rebuilt(document, split)
    torn = [f"{span.text(document)[:40]!r} has half a character" for span in split.spans if halves(span.text(document))]
    if torn and not SURROGATE.search(document) and not any(lone(leaf.value) for leaf in wanted):
        return torn[:3]
    has_halves = SURROGATE.search(document) is not None  # as characters, which no bytes decode to
    got = [Leaf(joined(leaf.pointer) if has_halves else leaf.pointer, said(leaf.value)) for leaf in got]
    if converted:
        wanted = [Leaf(at, ("empty", True) if value == ("empty", False) else value) for at, value in wanted]
    return [f"{one} is {other}" for one, other in zip(wanted, got, strict=False) if one != other][:3] + (
        [] if len(wanted) == len(got) else [f"{len(got)} leaves instead of {len(wanted)}"]
    )


def halves(text: str) -> bool:
    """Whether a string of a sub-document has half of a surrogate pair."""
    return any(lone(leaf.value) for leaf in leaves(parsed(whole(text))))


def lone(value: Any) -> bool:
    return isinstance(value, tuple) and value[0] == "string" and SURROGATE.search(value[1]) is not None


def whole(text: str) -> str:
    """Halves of a surrogate pair in a row are one character once they are escapes, and cannot be told apart there."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def joined(pointer: str) -> str:
    """A pointer whose halves of surrogate pairs in a row, written as escapes, are one character."""
    return PAIR.sub(lambda found: whole(chr(int(found[1], 16)) + chr(int(found[2], 16))), pointer)


def said(value: Any) -> Any:
    return ("string", whole(value[1])) if isinstance(value, tuple) and value[0] == "string" else value


def is_refused(document: str) -> bool:
    """Whether a document is no JSON, or nested so deeply that the standard library does not say."""
    try:
        parsed(document.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return True
    return False


def is_atom(text: str) -> bool:
    """Whether a sub-document holds one thing that cannot be cut: a token, or one cluster of a string."""
    value = parsed(text)
    while isinstance(value, list) and len(value) == 1:
        value = value[0][1] if isinstance(value, Pairs) else value[0]
    if isinstance(value, str) and not isinstance(value, Number):
        return not any(measuring.cut_edges(value)[1:-1])
    return value == [] or not isinstance(value, list)

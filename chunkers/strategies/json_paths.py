"""The containers above a piece of a JSON document, as what is put around it and as a pointer."""

from __future__ import annotations

import re

from chunkers.structure.json_strings import unescaped

_SURROGATE = re.compile("[\ud800-\udfff]")


class Node:
    """A container that is too large to be one chunk, at `start` to `end` of the emitted text.

    `label` is the key in front of it, with its colon (of an item of a list: its index as a key). `depth` counts the
    containers that are put around its members, and `opening` the characters of that in front of them. A `base` is put
    into nothing: its path took too much room.
    """

    __slots__ = ("base", "depth", "end", "is_list", "label", "opening", "parent", "start")

    def __init__(self, text: str, start: int, end: int, parent: Node | None, label: str, *, base: bool = False) -> None:
        self.start, self.end, self.label = start, end, label
        self.parent: Node | None = parent
        self.is_list = text[start] == "["
        self.base = base or parent is None
        self.depth: int = 1 if self.base or parent is None else parent.depth + 1
        self.opening: int = 1 if self.base or parent is None else parent.opening + len(label) + 1

    def prefix(self) -> str:
        """What stands in front of the members: in each container above only the way down."""
        parts = ["[" if self.is_list else "{"]
        node = self
        while not node.base and node.parent is not None:
            parts += (node.label, "{")
            node = node.parent
        return "".join(reversed(parts))

    def suffix(self, first: Node) -> str:
        """What stands behind the members of this one, in a chunk that starts among those of `first`, at or above it."""
        parts: list[str] = []
        node: Node = self
        while node is not first and node.parent is not None:
            parts.append("]" if node.is_list else "}")
            node = node.parent
        parts.append("]" if first.is_list else "}")
        return "".join(parts) + "}" * (first.depth - 1)

    def top(self) -> Node:
        """The container that the text of a chunk among these members stands for."""
        node = self
        while not node.base and node.parent is not None:
            node = node.parent
        return node

    def pointer(self) -> str:
        """Where this is in the document (RFC 6901)."""
        return pointer_to(self.parent, self.label)


def pointer_to(parent: Node | None, label: str) -> str:
    """Where the member `label` of `parent` is in the document; "" of the document itself."""
    parts: list[str] = []
    above = parent
    while above is not None:
        key = unescaped(label[:-1]) if "\\" in label else label[1:-2]
        if not key.isascii():
            key = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", key)  # half a character cannot be stored
        if "~" in key or "/" in key:
            key = key.replace("~", "~0").replace("/", "~1")
        parts += (key, "/")
        label, above = above.label, above.parent
    return "".join(reversed(parts))

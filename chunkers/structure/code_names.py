"""What a definition in source code is called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function", "class", "function"})
_SPECIFIERS = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
_FIELDS = frozenset({"field_definition", "public_field_definition"})
_ODD = _SPECIFIERS | _FIELDS  # which may have a name and define nothing
_GENERIC = re.compile(r"[<\[].*\Z", re.DOTALL)
_MOST = 200
_LONGEST_CHAIN = 16


class Names:
    """Finds the names of one document's definitions; a name that one inside of another shares is given once."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = kinds
        self._given: set[int] = set()

    def of(self, node: Any, kind: str, data: bytes) -> str | None:
        """The name of what `node` (which is of that kind) defines, the type that a method belongs to in front.

        None if it defines nothing.
        """
        how = self.kinds[kind]
        found = node.child_by_field_name("name") if how == "name" and kind not in _ODD else self._name_node(node)
        if found is None:
            return None
        start, end = found.byte_range
        if start in self._given:
            return None
        self._given.add(start)
        name = data[start : min(end, start + _MOST)].decode("utf-8", "ignore")
        if how == "receiver" and (owner := _receiver(node)) is not None:
            name = f"{_GENERIC.sub('', _text(owner, data)).lstrip('*')}.{name}"
        return name

    def _name_node(self, node: Any) -> Any:
        for _ in range(_LONGEST_CHAIN):
            how = self.kinds.get(node.type)
            if how is None:
                return None
            if how == "declarator":
                return _declared(node)
            if how == "value":
                return _variable(node)
            if how.startswith("in "):
                inner = node.child_by_field_name(how[3:]) if how != "in *" else self._inner(node)
                if inner is None:
                    return None
                node = inner
                continue
            if node.type in _SPECIFIERS:
                return node.child_by_field_name("name") if node.child_by_field_name("body") is not None else None
            if node.type in _FIELDS:
                value = node.child_by_field_name("value")
                if value is None or value.type not in _FUNCTIONS:
                    return None
            return node.child_by_field_name("name" if how == "receiver" else how)
        return None

    def _inner(self, node: Any) -> Any:
        return next((child for child in node.named_children if child.type in self.kinds), None)


def clean_name(name: str) -> tuple[str, ...]:
    """A name as a path, without type parameters: `T.M` is two titles."""
    if name.isidentifier():
        return (name,)
    plain = " ".join(_GENERIC.sub("", name).split()) or " ".join(name.split())
    return tuple(part for part in re.split(r"\.|::", plain) if part) or (plain,)


def _text(node: Any, data: bytes) -> str:
    return data[node.start_byte : min(node.end_byte, node.start_byte + _MOST)].decode("utf-8", "ignore")


def _declared(node: Any) -> Any:
    """The name at the end of a chain of declarators, as in `int *(*f)(void)`."""
    for _ in range(_LONGEST_CHAIN):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in node.named_children if child.type.endswith("declarator")), None)
        if inner is None:
            return node
        node = inner
    return None


def _variable(node: Any) -> Any:
    for child in node.named_children:
        if child.type == "variable_declarator":
            value = child.child_by_field_name("value")
            if value is not None and value.type in _FUNCTIONS:
                return child.child_by_field_name("name")
    return None


def _receiver(node: Any) -> Any:
    parameters = node.child_by_field_name("receiver")
    for child in parameters.named_children if parameters is not None else ():
        if child.type == "parameter_declaration":
            return child.child_by_field_name("type")
    return None

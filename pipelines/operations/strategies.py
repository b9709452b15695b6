"""The strategies and their options, as the library declares them."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import chunkers
from chunkers.errors import UnknownStrategy
from pipelines.errors import UsageError

_SIZES = ("max_size", "min_size", "target_size", "overlap", "chunk_size", "chunk_overlap")
_TOKENS = ("max_tokens", "join_threshold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option. `unit` is what a number counts: "unit" is the strategy's option of that name."""

    name: str
    type: str
    required: bool
    default: Any
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One strategy. `help` explains its options, as the library documents them."""

    name: str
    version: int
    summary: str
    options: tuple[Option, ...]
    help: str


def describe_all() -> list[Description]:
    """Every strategy, by name."""
    return [_describe(kind) for _, kind in sorted(chunkers.strategy_kinds().items())]


def describe(name: str) -> Description:
    """One strategy. UsageError, with the nearest name, when there is none."""
    kinds = chunkers.strategy_kinds()
    if name not in kinds:
        raise UsageError(str(UnknownStrategy(name, kinds)))
    return _describe(kinds[name])


def _describe(kind: type[Any]) -> Description:
    hints = typing.get_type_hints(kind.Options)
    options = tuple(_option(field, hints[field.name], hints) for field in dataclasses.fields(kind.Options))
    docs = [_help(each.__doc__ or "") for each in kind.Options.__mro__ if dataclasses.is_dataclass(each)]
    summary = inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return Description(
        name=kind.name,
        version=kind.version,
        summary=_sentence(summary.removeprefix(f"`{kind.name}`: ")),
        options=options,
        help="\n\n".join(docs),
    )


def _help(docstring: str) -> str:
    """What a class says of its options, in the words of a configuration and without its own name."""
    text = re.sub(r"^Options of `[\w-]+`\.\s+", "", inspect.cleandoc(docstring))
    return re.sub(r"\bNone\b", "null", text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _option(field: dataclasses.Field[Any], hint: Any, options: Mapping[str, Any]) -> Option:
    made = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
    required = made is dataclasses.MISSING
    unit = ("unit" if "unit" in options else "tokens") if field.name in _SIZES else None
    if field.name in _TOKENS:
        unit = "tokens"
    return Option(
        name=field.name, type=type_name(hint), required=required, default=None if required else made, unit=unit
    )


def type_name(hint: Any) -> str:
    """A type in the words of a configuration: `whole number or null`, `list of text`, `start | end`."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " | ".join(str(value) for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_name(each) for each in arguments)
    plain = {int: "whole number", float: "number", bool: "true or false", str: "text", type(None): "null"}
    if hint in plain:
        return plain[hint]
    kind = origin or hint
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "mapping"
    if kind is Callable or (isinstance(kind, type) and issubclass(kind, types.FunctionType)):
        return "function"
    if isinstance(kind, type) and issubclass(kind, Collection):
        inner = [each for each in arguments if each is not ...]
        return f"list of {' and '.join(dict.fromkeys(type_name(each) for each in inner))}" if inner else "list"
    return "function" if "Callable" in str(hint) else getattr(kind, "__name__", str(kind))

"""Taking typed values out of a parsed mapping, with errors that say where, what was given and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial, wraps
from typing import Any, TypeVar, cast

from chunkers.errors import nearest
from pipelines.config.tree import KeyPath, Tree, show
from pipelines.errors import ConfigError
from pipelines.globs import GlobError, compile_globs

F = TypeVar("F", bound=Callable[..., Any])
REQUIRED: Any = object()
"""As a default: the key must be there."""

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


def keys_of(record: type) -> tuple[str, ...]:
    """The keys of a section are the fields of its record."""
    return tuple(field.name for field in fields(record) if field.init)


def _noted(fallback: Callable[..., Any]) -> Callable[[F], F]:
    """A getter that does not raise what is wrong with a value, but adds it to the tree's problems.

    It then returns what `fallback` makes of the getter's own arguments. That a key is missing is raised.
    """

    def decorate(getter: F) -> F:
        @wraps(getter)
        def get(self: Section, key: str, *arguments: Any, **named: Any) -> Any:
            try:
                return getter(self, key, *arguments, **named)
            except ConfigError as error:
                if key not in self.values:
                    raise
                self.tree.note(error)
                return fallback(*arguments, **named)

        return cast(F, get)

    return decorate


class Section:
    """One mapping of the file. Construct it with the keys it may have; take each once.

    What is wrong with single values is noted in the tree (`Tree.refuse` raises it), and a value that would do returned.
    """

    def __init__(
        self, tree: Tree, path: KeyPath, value: Any, known: Sequence[str], *, open_ended: bool = False
    ) -> None:
        self.tree = tree
        self.path = path
        if not isinstance(value, dict):
            raise tree.error(path, f"is {show(value)}; it must be a mapping with the keys {', '.join(known)}")
        self.values: Mapping[str, Any] = value
        for key in value:
            if key not in known and not open_ended:
                known_list = ", ".join(known)
                tree.note(
                    tree.error(
                        (*path, key),
                        f"is not a key of the configuration{nearest(key, known)}; "
                        f"{'keys here' if path else 'keys'}: {known_list}",
                    )
                )

    def has(self, key: str) -> bool:
        return key in self.values

    def section(self, key: str, known: Sequence[str]) -> Section:
        """The mapping at `key`, which is there."""
        return Section(self.tree, (*self.path, key), self.get(key), known)

    def error(self, key: str, message: str) -> ConfigError:
        return self.tree.error((*self.path, key), message)

    @_noted(lambda default=REQUIRED: "" if default is REQUIRED else default)
    def text(self, key: str, default: Any = REQUIRED) -> Any:
        """One line of text."""
        value = self.get(key, default)
        if value is default and default is not REQUIRED:
            return value
        if not isinstance(value, str) or not value:
            raise self.error(key, f"is {show(value)}; it must be text{_quote_hint(value)}")
        return self.printable(key, value)

    @_noted(lambda allowed, default=REQUIRED: allowed[0] if default is REQUIRED else default)
    def choice(self, key: str, allowed: Sequence[str], default: Any = REQUIRED) -> Any:
        """One of `allowed`."""
        value = self.get(key, default)
        if not isinstance(value, str):
            raise self.error(key, f"is {show(value)}; it must be {_either(allowed)}")
        if value not in allowed:
            raise self.error(key, f"is {show(value)}; it must be {_either(allowed)}{nearest(value, allowed)}")
        return value

    @_noted(lambda default: default)
    def globs(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """A list of globs."""
        if not self.has(key):
            return default
        value = self.values[key]
        if not isinstance(value, list):
            raise self.error(key, f'is {show(value)}; it must be a list of globs, like ["**/*.md"]')
        checked = [
            self.tree.attempt(partial(check_glob, self.tree, (*self.path, key, number), item), "**")
            for number, item in enumerate(value)
        ]
        return tuple(checked)

    @_noted(lambda default: default)
    def flag(self, key: str, *, default: bool) -> bool:
        """true or false."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"is {show(value)}; it must be true or false")
        return value

    @_noted(lambda default, at_least: default)
    def whole(self, key: str, default: int, *, at_least: int) -> int:
        """A whole number."""
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
            raise self.error(key, f"is {show(value)}; it must be a whole number, {at_least} or more")
        return value

    @_noted(lambda default: default)
    def positive(self, key: str, default: float) -> float:
        """A number above 0."""
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise self.error(key, f"is {show(value)}; it must be a number above 0")
        return float(value)

    @_noted(lambda default: default)
    def percent(self, key: str, default: float) -> float:
        """A plain number from 0 to 100."""
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
            raise self.error(key, f"is {show(value)}; it must be a number from 0 to 100, without a % sign")
        return float(value)

    @_noted(lambda: None)
    def share(self, key: str) -> float | None:
        """A percentage with its sign (`1%`), as a number from 0 to 100; None when absent."""
        if not self.has(key):
            return None
        value = self.values[key]
        found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%", value) if isinstance(value, str) else None
        if found is None or float(found[1]) > 100:
            raise self.error(key, f"is {show(value)}; it must be a percentage from 0% to 100%, with the % sign")
        return float(found[1])

    @_noted(lambda default, at_least, at_most: default)
    def size(self, key: str, default: int, *, at_least: int, at_most: int) -> int:
        """A number of bytes: `16MiB`, `500 KB` or a plain number."""
        if not self.has(key):
            return default
        value = self.values[key]
        size = parse_size(value)
        if size is None:
            raise self.error(
                key,
                f"is {show(value)}; it must be a size: a whole number of bytes, "
                f"or one with a unit ({', '.join(unit for unit in _UNITS if unit)}), like 16MiB",
            )
        if not at_least <= size <= at_most:
            raise self.error(key, f"is {show(value)}; it must be from {show_size(at_least)} to {show_size(at_most)}")
        return size

    def get(self, key: str, default: Any = REQUIRED) -> Any:
        """Whatever is at `key`."""
        if key in self.values:
            return self.values[key]
        if default is REQUIRED:
            raise self.tree.error(self.path, f"has no {key!r}" if self.path else f"the key {key!r} is missing")
        return default

    def printable(self, key: str, value: str) -> str:
        """`value` unless it has control characters, line ends or lone surrogates."""
        bad = _CONTROL.search(value)
        if bad:
            raise self.error(key, f"is {show(value)}; the character U+{ord(bad[0]):04X} may not be in it")
        return value


def check_glob(tree: Tree, path: KeyPath, value: Any) -> str:
    """`value` if it is a usable glob."""
    if not isinstance(value, str):
        raise tree.error(path, f'is {show(value)}; it must be a glob in quotes, like "**/*.md"')
    try:
        compile_globs((value,))
    except GlobError as error:
        raise tree.error(path, f"is {show(value)}, which {error}") from None
    return value


def parse_size(value: Any) -> int | None:
    """Bytes of `16MiB`, `1.5 GB`, `300`; None when it is no size."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value >= 0 else None
    found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([KMG]i?B|B|)", value) if isinstance(value, str) else None
    return None if found is None else round(float(found[1]) * _UNITS[found[2]])


def show_size(size: int) -> str:
    """`16MiB`: the largest binary unit that divides `size`."""
    for unit in ("GiB", "MiB", "KiB"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)


def _either(allowed: Sequence[str]) -> str:
    if len(allowed) == 1:
        return allowed[0]
    return f"{', '.join(allowed[:-1])} or {allowed[-1]}"


def _quote_hint(value: Any) -> str:
    return " (put it in quotes)" if isinstance(value, bool | int | float) else ""

"""`auto`: the strategy that fits the document, by its path or media type."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from chunkers.errors import InertOption, InvalidOption
from chunkers.records import Split
from chunkers.registry import STRATEGIES, make, option_names
from chunkers.strategies.base import Sizes, Strategy

FALLBACK = "recursive"
BY_SUFFIX: Mapping[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".tex": "latex",
}
BY_MEDIA_TYPE: Mapping[str, str] = {
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/mdx": "markdown",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/json": "json",
    "application/x-tex": "latex",
    "text/x-tex": "latex",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoOptions(Sizes):
    """Options of `auto`: the shared sizes, and `per_type`, the options of one strategy (`{"markdown": {…}}`).

    What `per_type` names replaces the shared value for documents that the strategy is chosen for.
    """

    per_type: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super(AutoOptions, self).__post_init__()
        choices = reachable()
        if not isinstance(self.per_type, Mapping):
            raise InvalidOption("per_type", self.per_type, "a mapping from strategy to options")
        for name, options in self.per_type.items():
            if name not in choices:
                raise InvalidOption(f"per_type.{name}", options, f"one of {', '.join(choices)}")
            if not isinstance(options, Mapping):
                raise InvalidOption(f"per_type.{name}", options, "a mapping of options")


@dataclass(frozen=True)
class Auto:
    """Chooses by suffix, else by media type, else `recursive`. The name of the choice is in `Split.strategy`."""

    options: AutoOptions = field(default_factory=AutoOptions)
    choices: Mapping[str, Strategy] = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "auto"
    version: ClassVar[int] = 1
    Options: ClassVar[type[AutoOptions]] = AutoOptions

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", {name: self._make(name) for name in reachable()})

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` with the strategy that `resolve` names."""
        return self.resolve(path, media_type).split(text, path=path, media_type=media_type)

    def resolve(self, path: str | None, media_type: str | None) -> Strategy:
        """The strategy for a document of this path and media type."""
        return self.choices[kind_of(path, media_type)]

    def _make(self, name: str) -> Strategy:
        own = self.options.per_type.get(name, {})
        try:
            return make(name, {**self._shared(name, own), **own})
        except InertOption as error:
            raise InertOption(f"per_type.{name}.{error.name}", "auto", error.why) from error

    def _shared(self, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """The shared options for the strategy `name`, without those that its `own` options take the place of."""
        options = self.options
        known = option_names(STRATEGIES[name])
        found = {
            each.name: getattr(options, each.name)
            for each in dataclasses.fields(Sizes)
            if each.name in known and each.name not in own and getattr(options, each.name) != each.default
        }
        if "unit" in own:
            found.pop("length_function", None)
        if own.get("length_function") is not None:
            found.pop("unit", None)
        if "model_name" in found or "model_name" in own:
            found.pop("encoding_name", None)  # `options` has warned
        merged = {**found, **own}
        if merged.get("unit") != "tokens" and merged.get("max_tokens") is None:
            found.pop("encoding_name", None)
            found.pop("model_name", None)
        return found


def reachable() -> list[str]:
    """The strategies that `auto` may choose."""
    return sorted({FALLBACK, *BY_SUFFIX.values()} & set(STRATEGIES))


def kind_of(path: str | None, media_type: str | None) -> str:
    """The name of the strategy for a path and media type; a suffix tells more than a media type."""
    name = BY_SUFFIX.get(PurePosixPath(path).suffix.lower()) if path else None
    if name is None and media_type:
        name = BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())
    return name if name is not None and name in STRATEGIES else FALLBACK

"""`auto`: the strategy that fits the document, by its path or media type."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from chunkers.composing.context import make_with_context, split_with
from chunkers.composing.detecting import DETECTED, LOOKED_AT, detected
from chunkers.cutting.languages import LANGUAGES, language_of
from chunkers.errors import InertOption, InvalidOption
from chunkers.records import NOTHING, Split
from chunkers.registry import STRATEGIES, option_names
from chunkers.strategies.base import Sizes, Strategy, check_flag

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
LANGUAGE_BY_MEDIA_TYPE: Mapping[str, str] = {
    "text/x-c": "c",
    "text/x-c++": "cpp",
    "text/x-go": "go",
    "text/x-java": "java",
    "text/x-java-source": "java",
    "text/x-kotlin": "kotlin",
    "text/javascript": "js",
    "application/javascript": "js",
    "text/typescript": "ts",
    "application/typescript": "ts",
    "text/x-php": "php",
    "application/x-httpd-php": "php",
    "text/x-python": "python",
    "text/x-rst": "rst",
    "text/x-ruby": "ruby",
    "text/x-rust": "rust",
    "text/x-scala": "scala",
    "text/x-swift": "swift",
    "text/x-csharp": "csharp",
    "text/x-cobol": "cobol",
    "text/x-lua": "lua",
    "text/x-perl": "perl",
    "text/x-haskell": "haskell",
    "text/x-elixir": "elixir",
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

    What `per_type` names replaces the shared value for documents that the strategy is chosen for. With `detect`, a
    plain or Markdown text that certainly is a law or a list of questions goes to `legal` or `faq`.
    """

    per_type: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    detect: bool = False

    def __post_init__(self) -> None:
        super(AutoOptions, self).__post_init__()
        check_flag("detect", self.detect)
        choices = reachable(self.detect)
        if not isinstance(self.per_type, Mapping):
            raise InvalidOption("per_type", self.per_type, "a mapping from strategy to options")
        for name, options in self.per_type.items():
            if name not in choices:
                raise InvalidOption(f"per_type.{name}", options, f"one of {', '.join(choices)}")
            if not isinstance(options, Mapping):
                raise InvalidOption(f"per_type.{name}", options, "a mapping of options")


@dataclass(frozen=True)
class Auto:
    """Chooses by suffix, else by media type, else `recursive`; source files with their `language`.

    The name of the choice is in `Split.strategy`.
    """

    options: AutoOptions = field(default_factory=AutoOptions)
    choices: Mapping[str, Strategy] = field(init=False, repr=False, compare=False)
    languages: Mapping[str, Strategy] = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "auto"
    version: ClassVar[int] = 1
    Options: ClassVar[type[AutoOptions]] = AutoOptions
    reads_metadata: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", {name: self._make(name) for name in reachable(self.options.detect)})
        own = self.options.per_type.get(FALLBACK, {})
        is_own = "language" in own or "separators" in own
        languages = {} if is_own else {name: self._make(FALLBACK, language=name) for name in LANGUAGES}
        object.__setattr__(self, "languages", languages)

    def split(
        self,
        text: str,
        *,
        path: str | None = None,
        media_type: str | None = None,
        metadata: Mapping[str, Any] = NOTHING,
        title: str | None = None,
    ) -> Split:
        """Cut `text` with the strategy that `resolve` names, or the one that the text itself asks for."""
        strategy = self.resolve(path, media_type)
        if self.options.detect and strategy in (self.choices[name] for name in LOOKED_AT):
            strategy = self.choices[detected(text) or strategy.name]
        return split_with(strategy, text, path=path, media_type=media_type, metadata=metadata, title=title)

    def resolve(self, path: str | None, media_type: str | None) -> Strategy:
        """The strategy for a document of this path and media type."""
        name = kind_of(path, media_type)
        if name == FALLBACK and (language := language_for(path, media_type)) in self.languages:
            return self.languages[language]
        return self.choices[name]

    def _make(self, name: str, **given: Any) -> Strategy:
        own = {**self.options.per_type.get(name, {}), **given}
        try:
            return make_with_context(name, {**self._shared(name, own), **own})
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


def reachable(detect: bool = False) -> list[str]:
    """The strategies that `auto` may choose."""
    return sorted({FALLBACK, *BY_SUFFIX.values(), *(DETECTED if detect else ())} & set(STRATEGIES))


def kind_of(path: str | None, media_type: str | None) -> str:
    """The name of the strategy for a path and media type; a suffix tells more than a media type."""
    name = BY_SUFFIX.get(PurePosixPath(path).suffix.lower()) if path else None
    if name is None and media_type:
        name = BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())
    return name if name is not None and name in STRATEGIES else FALLBACK


def language_for(path: str | None, media_type: str | None) -> str:
    """The language of a source file, or ""; a suffix tells more than a media type."""
    found = language_of(PurePosixPath(path).suffix.lower()[1:]) if path else None
    if found is None and media_type:
        found = LANGUAGE_BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())
    return found or ""

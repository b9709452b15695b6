"""The strategies by name, and how one is built from its options."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from chunkers.errors import (
    InertOption,
    InvalidOption,
    MissingOption,
    OptionError,
    UnknownOption,
    UnknownStrategy,
    nearest,
)
from chunkers.strategies.base import Strategy
from chunkers.strategies.character import Character
from chunkers.strategies.code import Code
from chunkers.strategies.custom import Custom
from chunkers.strategies.faq import FaqStrategy
from chunkers.strategies.fixed import Fixed
from chunkers.strategies.html import Html
from chunkers.strategies.json import Json
from chunkers.strategies.latex import LatexStrategy
from chunkers.strategies.legal import LegalStrategy
from chunkers.strategies.markdown import Markdown
from chunkers.strategies.pages import Pages
from chunkers.strategies.recursive import Recursive
from chunkers.strategies.semantic_markdown import SemanticMarkdown
from chunkers.strategies.sentence import SentenceStrategy
from chunkers.strategies.token import Token

STRATEGIES: Mapping[str, type[Any]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Recursive,
            Character,
            Fixed,
            Token,
            SentenceStrategy,
            Markdown,
            SemanticMarkdown,
            Pages,
            LatexStrategy,
            Html,
            Json,
            LegalStrategy,
            FaqStrategy,
            Code,
            Custom,
        )
    }
)
"""Every strategy that cuts by itself; `auto` picks among them."""


def option_names(kind: type[Any]) -> list[str]:
    """The options that a strategy class reads."""
    return [field.name for field in dataclasses.fields(kind.Options)]


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def make(name: str, options: Mapping[str, Any], others: Iterable[type[Any]] = ()) -> Strategy:
    """Build the strategy `name`. Raises UnknownStrategy, UnknownOption, InertOption or InvalidOption.

    `others` are strategy classes beyond `STRATEGIES`.
    """
    kinds = {**STRATEGIES, **{kind.name: kind for kind in others}}
    if not isinstance(name, str) or name not in kinds:
        raise UnknownStrategy(name, kinds)
    kind = kinds[name]
    known = option_names(kind)
    for option in options:
        if option in known:
            continue
        if any(option in option_names(other) for other in kinds.values()):
            raise InertOption(option, name, f"{name} reads {', '.join(known)}{nearest(option, known)}")
        raise UnknownOption(option, name, known)
    for field in dataclasses.fields(kind.Options):
        if field.name not in options and _is_required(field):
            raise MissingOption(field.name, name)
    try:
        strategy: Strategy = kind(kind.Options(**options))
    except InertOption as error:
        raise InertOption(error.name or "", name, error.why) from None
    except OptionError:
        raise
    except TypeError as error:
        raise InvalidOption("options", dict(options), f"what {name} takes ({error})") from error
    return strategy

"""The library's front door: `chunk()` one text, or `build()` a strategy for many."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from chunkers.composing.auto import Auto
from chunkers.composing.context import make_with_context, split_with
from chunkers.errors import InvalidOption
from chunkers.records import NOTHING, NOWHERE, Chunk, Split
from chunkers.registry import STRATEGIES
from chunkers.strategies.base import Strategy

_new = tuple.__new__  # a third of the time of Chunk(…)

KERNEL_VERSION = 3
"""Raised whenever the kernel (boundaries, packing, overlap) cuts the same text differently."""


def strategy_kinds() -> dict[str, type[Any]]:
    """Every strategy class by name, `auto` included."""
    return {**STRATEGIES, Auto.name: Auto}


def build(strategy: str = "auto", **options: Any) -> Strategy:
    """A strategy, ready for any number of documents. Raises OptionError when the options do not make sense.

    >>> build("recursive", max_size=10, overlap=0).split("one two three").spans[0][:3]
    (0, 7, 'word')
    """
    return make_with_context(strategy, options, others=(Auto,))


def chunk(
    text: str,
    strategy: str = "auto",
    *,
    path: str | None = None,
    media_type: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[Chunk]:
    """The chunks of `text`, in document order.

    `path` and `media_type` tell `auto` (and strategies with dialects) what the text is. `metadata` goes onto every
    chunk, and a `context` may name it; front matter takes precedence over it, and what the strategy found over both.
    Raises OptionError for options, DocumentError for a text that cannot be chunked.

    >>> [c.text for c in chunk("早上下雨了。中午放晴。晚上颳風。", "recursive", max_size=12)]
    ['早上下雨了。中午放晴。', '晚上颳風。']
    """
    if not isinstance(text, str):
        raise InvalidOption("text", type(text).__name__, "a str (decode bytes first)")
    built = _strategy(strategy, options)
    split = split_with(built, text, path=path, media_type=media_type, metadata=metadata)
    return chunks_of(text, split, metadata)


def _strategy(strategy: str, options: dict[str, Any]) -> Strategy:
    """`build`, once for many calls with the same options. Those with a `model_name` may have to warn each time."""
    if "model_name" in options:
        return build(strategy, **options)
    try:
        return _built(strategy, **options)
    except TypeError:  # options that cannot be a key, lists for one
        return _built_from(strategy, options)


@lru_cache(maxsize=64, typed=True)
def _built(strategy: str, /, **options: Any) -> Strategy:
    return build(strategy, **options)


def _built_from(strategy: str, options: dict[str, Any]) -> Strategy:
    """The same for options with lists and mappings in them, which is how a configuration has them.

    Their key is what they are made of, and so are they themselves: whoever changes a list later changes neither.
    """
    try:
        key = marshal.dumps((strategy, options), 0)  # tells 1 from True and [] from (), and knows plain values only
    except ValueError:
        return build(strategy, **options)
    return build(strategy, **options) if b"model_name" in key else _built_of(key)


@lru_cache(maxsize=64)
def _built_of(key: bytes) -> Strategy:
    strategy, options = marshal.loads(key)
    return build(strategy, **options)


def chunks_of(text: str, split: Split, metadata: Mapping[str, Any] | None = None) -> list[Chunk]:
    """The chunks that `split` describes in `text`."""
    shared = {**(metadata or {}), **split.metadata}
    strategy, title, bare = split.strategy, split.title, not shared
    chunks: list[Chunk] = [
        _new(
            Chunk,
            (
                text[start:end] if rendered is None else rendered,
                start,
                end,
                index,
                strategy,
                cut,
                context,
                headings,
                title,
                overlap,
                None if own is NOTHING else own.get("token_count"),
                {**own} if bare else {**shared, **own},
                parent,
            ),
        )
        for index, (start, end, cut, headings, context, rendered, overlap, own, parent) in enumerate(split.spans)
    ]
    if strategy == "custom":
        return [each._replace(start=None, end=None) if each.start == NOWHERE else each for each in chunks]
    return chunks

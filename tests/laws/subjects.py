"""Strategies under the laws: building them, the documents of the corpus, and one call that judges a document."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chunkers import MalformedDocument, Split, build, strategy_kinds
from tests.laws.laws import violations
from tests.laws.table import LISTED, Listed, Options

CORPUS = Path(os.environ.get("RECHUNK_CORPUS", Path(__file__).parents[3] / "shared" / "corpus"))
REGISTERED = [listed for listed in LISTED if listed.strategy in strategy_kinds()]
SUBJECTS = [(listed, options) for listed in REGISTERED for options in listed.options]


def named(value: Any) -> str:
    """The id of a test: the strategy, or its options as they would be written."""
    if isinstance(value, Listed):
        return value.strategy
    if isinstance(value, dict):
        return ",".join(f"{key}={getattr(item, '__name__', item)}" for key, item in value.items()) or "defaults"
    return str(value)


def split(listed: Listed, options: Options, document: str, path: str | None = None) -> Split:
    return built(listed.strategy, tuple(options.items())).split(document, path=path or listed.path)


def judge(listed: Listed, options: Options, document: str, path: str | None = None) -> list[str]:
    """What is wrong with what the strategy makes of the document; determinism of two calls included."""
    refused = listed.refuses is not None and listed.refuses(document)
    try:
        made = split(listed, options, document, path)
    except MalformedDocument as error:
        return [] if refused else [f"refused: {error}"]
    if refused:
        return ["refused: this document has to fail"]
    found = violations(document, made, listed.promise(options, made, path, document), listed.exempt)
    if listed.says is not None:
        found += listed.says(document, made, options)
    if split(listed, options, document, path) != made:
        found.append("determinism: two calls differ")
    return found


def built(strategy: str, options: tuple[tuple[str, Any], ...]) -> Any:
    return build(strategy, **dict(options))


def documents(kind: str, step: int = 1) -> Iterator[tuple[str, str]]:
    """(path, decoded text) of the corpus files of a kind, every `step`-th of them."""
    for path in sorted((CORPUS / kind).iterdir())[::step]:
        yield path.name, read(path)


@functools.lru_cache(maxsize=2048)
def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig", "replace")

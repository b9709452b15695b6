"""What the chunks of a document depend on besides its bytes, as one digest.

A document is unchanged while its bytes and its fingerprint are. So everything that decides output is in it, and nothing
else: not the addresses, the storage options, the guard, the shard size, nor rules that do not apply to the document.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib import metadata, resources
from typing import Any

import chunkers
from chunkers.strategies.base import Strategy
from pipelines.config.model import Config, Source

LIBRARIES = ("beautifulsoup4", "charset-normalizer", "PyYAML", "regex", "tiktoken")
"""Libraries whose version may change what a strategy, the decoder or a parser gives."""


def fingerprint(config: Config, strategy: Strategy, source: Source) -> str:
    """SHA-256, in hexadecimal, of what decides the chunks of a document of `source` cut by `strategy`."""
    parts = {
        "format": source.format,
        "decoding": describe(source.decoding),
        **_records(config, source),
        "id_prefix": source.id_prefix,
        "strategy": describe(strategy),
        "tokens": describe(config.tokens),
        "tokenizers": _tokenizers(),
        "metadata_values": config.metadata_values,
        "kernel": chunkers.KERNEL_VERSION,
        "libraries": library_versions(),
    }
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _records(config: Config, source: Source) -> dict[str, Any]:
    """What only sources of records, sources with an extractor, and tables with payload columns depend on."""
    parts: dict[str, Any] = {}
    if source.format != "text" and source.extractor is None:
        parts["columns"] = describe(source.columns)
    if config.payload:  # every row of the table has these columns
        parts["payload"] = describe(config.payload)
    if source.extractor is not None:
        parts["extractor"] = describe(source.extractor)
    return parts


def describe(value: Any) -> Any:
    """`value` as JSON, equal exactly when it means the same. A strategy is its version and resolved options."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(json.dumps(describe(item), sort_keys=True) for item in value)
    if hasattr(value, "version") and hasattr(value, "name") and hasattr(value, "options"):
        choices = getattr(value, "choices", {})  # what `auto` may hand a document to
        described = {"name": value.name, "version": value.version, "options": describe(value.options)}
        if outside := getattr(value, "depends_on", {}):  # a function of the user's, a parser
            described["depends_on"] = describe(outside)
        return described | {"choices": describe(choices)} if choices else described
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: describe(getattr(value, field.name)) for field in fields(value)}
    if callable(value):
        return f"{value.__module__}:{value.__qualname__}"
    raise TypeError(f"an option has a value of type {type(value).__name__}, which has no fingerprint")


@lru_cache(maxsize=1)
def library_versions() -> dict[str, str]:
    """The versions of Python and of `LIBRARIES` that are installed."""
    # Python is in it for its Unicode tables, which decide what is a space, a letter or a digit.
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{n: metadata.version(n) for n in LIBRARIES},
    }


@lru_cache(maxsize=1)
def _tokenizers() -> str:
    """The digest of every tokenizer: the list of the rank files' own digests, which the library checks them against."""
    listed = resources.files("chunkers.measure.encodings") / "SHA256SUMS"
    return hashlib.sha256(listed.read_bytes()).hexdigest()

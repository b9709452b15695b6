"""Extractors: a function of yours that makes Markdown of bytes that are no text (PDF, DOCX, scans)."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable

from pipelines.documents.failures import DocumentFailure

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class ExtractorError(ValueError):
    """An extractor that cannot be used. The message is a predicate: `cannot be imported: …`."""


@functools.lru_cache(maxsize=64)
def load_extractor(function: str) -> Callable[[bytes], str]:
    """The function at `package.module:name`, imported once a process. Raises ExtractorError."""
    if not _PATH.fullmatch(function):
        raise ExtractorError("is not of the form package.module:function")
    module, _, name = function.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except AttributeError:
        raise ExtractorError(f"cannot be imported: {module} has no {name!r}") from None
    except ModuleNotFoundError as error:
        raise ExtractorError(f"cannot be imported: {error}; is its folder on PYTHONPATH?") from None
    except Exception as error:  # importing runs the module: anything may come out
        raise ExtractorError(f"cannot be imported: {type(error).__name__}: {error}") from None
    if not callable(found):
        raise ExtractorError(f"is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def extract(function: str, data: bytes) -> str:
    """The Markdown that the extractor makes of `data`.

    Raises DocumentFailure: `extractor` for all that goes wrong in it, `read` (tried again) if it is not installed here.
    """
    try:
        extractor = load_extractor(function)
    except ExtractorError as error:  # it could be imported where the configuration was read
        raise DocumentFailure("read", f"the extractor {function} {error}; install it on every worker") from None
    try:
        text = extractor(data)
    except (MemoryError, DocumentFailure):
        raise
    except (Exception, SystemExit) as error:
        raise DocumentFailure("extractor", f"{function} raised {type(error).__name__}: {error}") from error
    if not isinstance(text, str):
        raise DocumentFailure("extractor", f"{function} returned a {type(text).__name__}, not text")
    return text

"""`custom`: a function of your own, named by its import path."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from chunkers.errors import DocumentError, InvalidResult, NotAChunker
from chunkers.records import CUTS, NOTHING, NOWHERE, Cut, Span, Split
from chunkers.strategies.base import check_flag, with_start_index

MOST = 2000
"""Characters that a chunk may have which is returned as a string."""

_INK = re.compile(r"\S")

Chunker = Callable[[str], Sequence[str] | Sequence[Span]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomOptions:
    """Options of `custom`.

    `chunker` names a function as `package.module:function` (in Python it may be the function itself): it takes a text
    and returns a list or tuple of strings of at most 2,000 characters each, or one of `Span`. It must not be async.
    `add_start_index` puts the chunk's offset into its metadata as `start_index` too.
    """

    chunker: str | Chunker
    add_start_index: bool = False

    def __post_init__(self) -> None:
        check_flag("add_start_index", self.add_start_index)
        _check(self.chunker, _imported(self.chunker) if isinstance(self.chunker, str) else self.chunker)


def _imported(path: str) -> Any:
    """What an import path leads to. Raises NotAChunker."""
    module, colon, name = path.partition(":")
    if not colon:
        module, _, name = path.rpartition(".")
    if not module or not name:
        raise NotAChunker(path, "the import path of a function, such as package.module:function")
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, SyntaxError) as error:
        hint = "; is its folder on PYTHONPATH?" if isinstance(error, ModuleNotFoundError) else ""
        raise NotAChunker(path, f"the import path of a function ({error}{hint})") from error
    return found


def _check(named: Any, found: Any) -> None:
    """Refuse what cannot be called with one text, or would not answer at once."""
    if not callable(found):
        raise NotAChunker(named, "a function from text to a list of strings or spans, by its import path")
    for each in (found, getattr(found, "__call__", None)):  # noqa: B004  # an object may have an async __call__
        if inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each):
            raise NotAChunker(named, "a function that is not async")
    try:
        inspect.signature(found).bind("")
    except TypeError as error:
        raise NotAChunker(named, f"a function that can be called with one text ({error})") from error
    except ValueError:  # one of those written in C that have no signature
        return


@dataclass(frozen=True)
class Custom:
    """The strategy; see the module."""

    options: CustomOptions
    name: ClassVar[str] = "custom"
    version: ClassVar[int] = 1
    Options: ClassVar[type[CustomOptions]] = CustomOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """The chunks that the function makes of `text`. InvalidResult if it fails or returns anything else."""
        try:
            result: Any = self._chunker(text)
        except DocumentError:
            raise
        except Exception as error:
            raise InvalidResult(f"chunker raised {type(error).__name__}: {error}") from error
        if inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                result.close()
            raise InvalidResult("chunker returned something to await; it must return a list")
        if not isinstance(result, list | tuple):
            raise InvalidResult(f"chunker returned {type(result).__name__}; it must return a list of strings or spans")
        if all(isinstance(each, str) for each in result):
            spans = list(_located(text, result))
        elif all(isinstance(each, Span) for each in result):
            spans = list(_checked(text, result))
        else:
            other = next(type(each).__name__ for each in result if not isinstance(each, str | Span))
            raise InvalidResult(f"chunker returned a list with {other}; it must be one of strings or one of spans")
        split = Split(spans, self.name)
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _chunker(self) -> Chunker:
        chunker = self.options.chunker
        found: Chunker = _imported(chunker) if isinstance(chunker, str) else chunker
        return found

    @property
    def depends_on(self) -> Mapping[str, str]:
        """A digest of the source file that the function is in: its chunks change when that does."""
        try:
            source = inspect.getsource(inspect.getmodule(self._chunker) or self._chunker)
        except (OSError, TypeError):
            return {}
        return {"chunker": hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()}


def _located(text: str, pieces: Sequence[str]) -> Iterator[Span]:
    """Each string where `_place` finds it behind the one before; those that are nowhere have no offsets."""
    start = -1
    end = 0
    size = len(text.rstrip())
    for number, piece in enumerate(pieces):
        if len(piece) > MOST:
            raise InvalidResult(f"chunk {number} of chunker has {len(piece)} characters; at most {MOST} are allowed")
        if not piece.strip():
            continue
        at = _place(text, piece, start, end)
        if at < 0:
            yield Span(NOWHERE, NOWHERE, "record", rendered=piece)
            continue
        start, before, end = at, end, at + len(piece)
        cut: Cut = "document-end" if end >= size and number == len(pieces) - 1 else "record"
        yield Span(start, end, cut, overlap=max(0, min(before, end) - start))


def _place(text: str, piece: str, start: int, end: int) -> int:
    """Where `piece` is, after a string at `start`-`end`; -1 if it is nowhere behind `start`.

    Right behind that one, white space aside; else the first place that is not inside of it; else the first.
    """
    letter = _INK.search(text, end)
    goes_on = (letter.start() if letter else len(text)) - len(piece) + len(piece.lstrip())
    if goes_on > start and text.startswith(piece, goes_on):
        return goes_on
    at = text.find(piece, max(start + 1, end - len(piece) + 1))
    return at if at >= 0 else text.find(piece, max(start, 0))


def _checked(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Spans as they were returned, once it is sure that they keep the order. Blank ones are left out."""
    previous: Span | None = None
    for number, span in enumerate(spans):
        start, end, cut = span[:3]
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)):
            raise InvalidResult(f"span {number} of chunker is {start}-{end} in a text of {len(text)}")
        if cut not in CUTS:
            allowed = ", ".join(sorted(CUTS))
            raise InvalidResult(f"span {number} of chunker has the cut {cut!r}; it must be one of {allowed}")
        headings: Any = span.headings
        if isinstance(headings, str) or not all(isinstance(title, str) for title in headings):
            raise InvalidResult(f"span {number} of chunker has headings that are no list of strings")
        if not span.text(text).strip():
            continue
        if previous is not None and (start <= previous.start or end <= previous.end):
            raise InvalidResult(
                f"span {number} of chunker, {start}-{end}, does not lie behind the one before, "
                f"{previous.start}-{previous.end}"
            )
        repeated = max(0, previous.end - start) if previous is not None else 0
        metadata = NOTHING if not span.metadata else span.metadata
        previous = span._replace(headings=tuple(headings), overlap=repeated, metadata=metadata)
        yield previous

"""A strategy whose chunks have a context: what its template says, in front of what they have anyway.

The strategy that cuts does not know of it. Where a chunk and its context are over a limit, the document is cut again
with limits that are smaller by what is missing. So whatever holds for its chunks (headings stay with their text, tables
repeat their header, sub-documents are valid) goes on holding.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from chunkers.cutting.limits import Bounds
from chunkers.records import NOTHING, Cut, Span, Split
from chunkers.registry import make
from chunkers.strategies.base import Strategy
from chunkers.strategies.contexts import Template, read_template
from chunkers.text.lines import line_start

_FINAL = 3
"""The run that leaves half of each limit to the context, which is the most that it may take."""


def make_with_context(name: str, options: Mapping[str, Any], others: Iterable[type[Any]] = ()) -> Strategy:
    """`registry.make`, and the template that the options may hold. Raises what `make` does."""
    strategy: Any = make(name, options, others)
    has_context = getattr(strategy.options, "context", None) is not None
    return WithContext(strategy) if has_context else strategy


class Splitter(Protocol):
    """The part of a strategy that is asked here."""

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """The spans of `text`."""


def split_with(
    strategy: Splitter,
    text: str,
    *,
    path: str | None = None,
    media_type: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Split:
    """What `strategy` makes of a document of which `metadata` is known besides: templates for contexts may name it.

    So may they `title`, which wins over one that is found.
    """
    if (metadata or title is not None) and getattr(strategy, "reads_metadata", False):
        splitter: Any = strategy
        found: Split = splitter.split(text, path=path, media_type=media_type, metadata=metadata or NOTHING, title=title)
        return found
    return strategy.split(text, path=path, media_type=media_type)


@dataclass(frozen=True)
class WithContext:
    """`base` with the template of its own option `context`. To the outside it is `base`."""

    base: Any
    reads_metadata: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The strategy's name."""
        return str(self.base.name)

    @property
    def version(self) -> int:
        """The strategy's version."""
        return int(self.base.version)

    @property
    def options(self) -> Any:
        """The strategy's options, `context` among them."""
        return self.base.options

    @property
    def depends_on(self) -> Mapping[str, str]:
        """What the strategy depends on outside of this package."""
        return getattr(self.base, "depends_on", {})

    def split(
        self,
        text: str,
        *,
        path: str | None = None,
        media_type: str | None = None,
        metadata: Mapping[str, Any] = NOTHING,
        title: str | None = None,
    ) -> Split:
        """Cut `text`, with smaller limits until contexts have room: first by what is missing, then by the longest
        context, then by half. The last does for every context, if not for every tokenizer: one that is over all the
        same loses headings. `metadata` is what is known of the document besides; it is only for the template, and so is
        `title`, which wins over one that is found.
        """
        bounds = self.options.bounds()
        reserved = [0] * len(bounds)
        halves = [most // 2 for _, most in bounds]
        for run in range(_FINAL + 1):
            split = self._smaller(reserved).split(text, path=path, media_type=media_type)
            placing = _Placing(text, split, self._template, path or "", {**metadata, **split.metadata}, bounds)
            placing.title = placing.title if title is None else title
            missing, longest = placing.needs()
            if run == _FINAL or not any(missing):
                break
            more = halves
            if run < _FINAL - 1:
                least = longest if run else [0] * len(bounds)
                more = [
                    min(half, max(kept + lack, needed))
                    for half, kept, lack, needed in zip(halves, reserved, missing, least, strict=True)
                ]
            if more == reserved:
                break
            reserved = more
        return split._replace(spans=self._placed(placing, any(reserved)))

    def _placed(self, placing: _Placing, is_smaller: bool) -> list[Span]:
        """The spans with their contexts, and everything about them that depends on a limit put right."""
        options = self.options
        spans = placing.split.spans
        keeps_indent = is_smaller and getattr(options, "strip_whitespace", False)
        overlap = options.measure().measure if keeps_indent and options.resolved_overlap else None
        found: list[Span] = []
        for span in spans:
            if is_smaller and span.cut == "oversize" and placing.fits(span, span.context):
                span = span._replace(cut=_finest(span, is_last=span is spans[-1]))
            context = placing.context(span)
            if context != span.context:
                span = span._replace(context=context)
                if "token_count" in span.metadata:
                    count = self.base.count_tokens(context + span.text(placing.text))
                    span = span._replace(metadata={**span.metadata, "token_count": count})
            if keeps_indent and (overlap is not None or not span.overlap):
                before = found[-1] if found else None
                span = placing.indented(span, before, overlap, options.resolved_overlap, options.add_start_index)
            found.append(span)
        return found

    def _smaller(self, reserved: Sequence[int]) -> Strategy:
        """The strategy with limits that are so much smaller, in the order of `bounds`."""
        if not any(reserved):
            return self.base  # type: ignore[no-any-return]
        old = self.options
        # No second check of options that passed the first: what warns has warned.
        options = copy.copy(old)
        left = list(reserved)
        if old.max_size is not None:
            max_size = old.max_size - left.pop(0)
            object.__setattr__(options, "max_size", max_size)
            if hasattr(old, "overlap"):
                object.__setattr__(options, "overlap", min(old.resolved_overlap, max_size - 1))
            if hasattr(old, "min_size"):
                object.__setattr__(options, "min_size", min(old.min_size, max_size))
        if old.max_tokens is not None:
            object.__setattr__(options, "max_tokens", old.max_tokens - left.pop(0))
        smaller: Strategy = type(self.base)(options)
        return smaller

    @cached_property
    def _template(self) -> Template:
        return read_template(self.options.context)


class _Known(NamedTuple):
    """The last context that was made, and of what."""

    headings: tuple[str, ...]
    metadata: Mapping[str, Any]
    own: str
    context: str


class _Placing:
    """The contexts of one split of one document."""

    def __init__(
        self, text: str, split: Split, template: Template, path: str, metadata: Mapping[str, Any], bounds: Bounds
    ) -> None:
        self.text, self.split, self.template, self.path, self.bounds = text, split, template, path, bounds
        self.metadata = metadata
        self.title = split.title or ""
        self.known: _Known | None = None

    def needs(self) -> tuple[list[int], list[int]]:
        """For each limit: by how much a chunk with its context is over it at most, and the size of the longest one.

        Chunks of one atom that is too long by itself ask for nothing.
        """
        missing, longest = [0] * len(self.bounds), [0] * len(self.bounds)
        for span in self.split.spans:
            context = self.wanted(span)
            if context == span.context or span.cut == "oversize":
                continue
            added = context[: len(context) - len(span.context)]
            whole = context + span.text(self.text)
            for number, (unit, most) in enumerate(self.bounds):
                missing[number] = max(missing[number], unit.measure(whole) - most)
                longest[number] = max(longest[number], unit.measure(added))
        return missing, longest

    def wanted(self, span: Span) -> str:
        """The context that `span` is to have: at most half of every limit."""
        metadata = {**self.metadata, **span.metadata} if span.metadata else self.metadata
        known = self.known
        if known is None or (span.headings, metadata, span.context) != known[:3]:
            context = self._longest(span, metadata, self._is_admitted)
            known = self.known = _Known(span.headings, metadata, span.context, context)
        return known.context

    def context(self, span: Span) -> str:
        """The context that `span` gets: one with which it keeps every limit."""
        wanted = self.wanted(span)
        if wanted == span.context or self.fits(span, wanted):
            return wanted
        metadata = {**self.metadata, **span.metadata}
        return self._longest(span, metadata, lambda made: self._is_admitted(made) and self.fits(span, made))

    def fits(self, span: Span, context: str) -> bool:
        """Whether a span keeps every limit behind `context`."""
        whole = context + span.text(self.text)
        return all(unit.measure(whole) <= most for unit, most in self.bounds)

    def indented(
        self, span: Span, before: Span | None, measure: Callable[[str], int] | None, most: int, has_start_index: bool
    ) -> Span:
        """`span` with the indentation of the line that it starts in, which smaller limits had no room for."""
        text = self.text
        if span.rendered is not None:
            return span
        start = line_start(text, span.start, 0)
        lost = text[start : span.start]
        if not lost or lost.strip(" \t") or (before is not None and start <= before.start):
            return span
        wider = span._replace(start=start)
        if before is not None and start < before.end:
            if measure is None or span.start >= before.end:
                return span
            wider = wider._replace(overlap=measure(text[start : before.end]))
        if wider.overlap > most or not self.fits(wider, span.context):
            return span
        if span.cut == "oversize":  # tokens may be fewer together with what stands in front
            wider = wider._replace(cut=_finest(span, is_last=span.end == self.split.spans[-1].end))
        return wider._replace(metadata={**span.metadata, "start_index": start}) if has_start_index else wider

    def _is_admitted(self, context: str) -> bool:
        return all(unit.measure(context) * 2 <= most for unit, most in self.bounds)

    def _longest(self, span: Span, metadata: Mapping[str, Any], is_fine: Callable[[str], bool]) -> str:
        """The context with the most headings that `is_fine`, outermost ones dropped first; else the span's own."""
        headings = span.headings or _keys(span)

        def made(dropped: int) -> str:
            return self.template.render(self.title, headings[dropped:], self.path, metadata) + span.context

        whole = made(0)
        if whole == span.context or is_fine(whole):
            return whole
        low, high = 1, len(headings) if self.template.has_headings else 0
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_fine(made(middle)) else (middle + 1, high)
        if low > high:
            return span.context
        shorter = made(low)
        return shorter if is_fine(shorter) else span.context


def _keys(span: Span) -> Sequence[str]:
    """The keys above a sub-document of JSON, which has no other headings."""
    pointer = span.metadata.get("pointer")
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]] if pointer else ()


def _finest(span: Span, *, is_last: bool) -> Cut:
    """The name of a cut behind an atom that is over a smaller limit only."""
    if is_last:
        return "document-end"
    return "item" if "pointer" in span.metadata and "part" not in span.metadata else "grapheme"

"""`token`: windows of so many tokens, moved to the edge of a grapheme cluster where a token ends inside one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from chunkers.budget import PER_CHUNK, current
from chunkers.measure.tokens import Encoding, TokenMap, encoding
from chunkers.records import Span, Split
from chunkers.strategies.base import (
    check_count,
    check_encoding,
    check_flag,
    check_overlap,
    overlap_in_use,
    resolve_encoding,
    with_start_index,
)
from chunkers.strategies.special_tokens import (
    allowed_tokens,
    check_special,
    disallowed_tokens,
    refuse_special,
    token_pattern,
)
from chunkers.text.graphemes import ceil_edge, floor_edge, next_edge, trimmed_end
from chunkers.text.lines import skip_space, trim_space


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenOptions:
    """Options of `token`.

    `max_size` and `overlap` are in tokens of `encoding_name` (cl100k_base unless set) or of `model_name`'s encoding,
    which wins. `overlap` unset is 50 where `max_size` is 100 or more, else 0; `max_size` None is unbounded.

    The text of a special token is ordinary text, unless these are set (to a list of special tokens, or "all" of the
    encoding's): each of `allowed_special` counts as one token and is never cut; one of `disallowed_special` ("all": the
    ones not allowed) fails the document. As in tiktoken, one that is in both lists fails the document.
    """

    max_size: int | None = 4000
    overlap: int | None = None
    encoding_name: str | None = None
    model_name: str | None = None
    allowed_special: Collection[str] | Literal["all"] | None = None
    disallowed_special: Collection[str] | Literal["all"] | None = None
    strip_whitespace: bool = True
    add_start_index: bool = False

    def __post_init__(self) -> None:
        check_count("max_size", self.max_size, least=1, optional=True)
        check_overlap(self.max_size, self.overlap)
        check_flag("strip_whitespace", self.strip_whitespace)
        check_flag("add_start_index", self.add_start_index)
        check_encoding(self.encoding_name, self.model_name)
        known = self.tokenizer.special
        check_special("allowed_special", self.allowed_special, known)
        check_special("disallowed_special", self.disallowed_special, known)

    @property
    def tokenizer(self) -> Encoding:
        """The encoding in use."""
        return encoding(resolve_encoding(self.encoding_name, self.model_name))

    @property
    def resolved_overlap(self) -> int:
        """The overlap in use, in tokens."""
        return overlap_in_use(self.max_size, self.overlap)

    @property
    def allowed(self) -> frozenset[str]:
        """The special tokens that count as one token each."""
        return allowed_tokens(self.allowed_special, self.tokenizer)

    @property
    def disallowed(self) -> frozenset[str]:
        """The special tokens that no document may hold."""
        return disallowed_tokens(self.allowed_special, self.disallowed_special, self.tokenizer)


@dataclass(frozen=True)
class Token:
    """The strategy; see the module."""

    options: TokenOptions = field(default_factory=TokenOptions)
    name: ClassVar[str] = "token"
    version: ClassVar[int] = 1
    Options: ClassVar[type[TokenOptions]] = TokenOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` into windows. Raises SpecialTokenFound where it holds a disallowed special token."""
        options = self.options
        refuse_special(text, options.disallowed)
        split = Split(spans=_Windows(text, options).run(), strategy=self.name)
        return with_start_index(split) if options.add_start_index else split


class _Window(NamedTuple):
    """`begin..stop` is the chunk, without the white space that is stripped; the next new text starts at `end`."""

    begin: int
    stop: int
    end: int
    oversize: bool = False


class _Windows:
    def __init__(self, text: str, options: TokenOptions) -> None:
        self.text = text
        self.map = TokenMap(text, options.tokenizer, options.allowed)
        self.cuts = _Cuts(text, self.map.special)
        self.strip = options.strip_whitespace
        self.most = len(self.map.edges) if options.max_size is None else options.max_size
        self.overlap = options.resolved_overlap
        self.end = trimmed_end(text, 0, len(text))
        if not self.strip and self.end:
            self.end = len(text)
        self.spans: list[Span] = []

    def run(self) -> list[Span]:
        start, touching, meter = 0, False, current()
        while start < self.end:
            overlapped = self._overlapped(start) if touching and self.overlap else None
            window, overlap = overlapped or (self._window(start), 0)
            touching = not self._is_blank(start, window.end)
            if touching:
                cut = "oversize" if window.oversize else "token" if window.end < self.end else "document-end"
                self.spans.append(Span(window.begin, window.stop, cut, overlap=overlap))  # type: ignore[arg-type]
            start = window.end
            if meter is not None:
                meter.spend(PER_CHUNK + window.stop - window.begin)
        return self.spans

    def _overlapped(self, start: int) -> tuple[_Window, int] | None:
        """A window whose new text starts at `start`, with as much of the text before as it may repeat, and how much.

        The overlap shrinks until, encoded on its own, it is what was asked for, and leaves room for something new. None
        where nothing is left of it.
        """
        previous = self.spans[-1]
        index = int(self.map.edges.searchsorted(start))
        wanted = self.overlap
        while wanted > 0:
            begin = self.cuts.ceil(self.map.edge(max(0, index - wanted)), start, previous.start)
            if begin <= previous.start:
                wanted -= 1
                continue
            if begin < start:
                begin = self._begin(begin, start)
            if begin >= previous.end:
                return None
            repeated = self.map.count(begin, previous.end)
            if repeated > self.overlap:
                wanted -= repeated - self.overlap
                continue
            window = self._window(begin)
            if window.end > start and not self._is_blank(start, window.end):
                return window, repeated
            wanted //= 2
        return None

    def _window(self, start: int) -> _Window:
        """The window from `start`: as many tokens as fit, encoded on their own, or a single cluster."""
        start = self._begin(start, self.end)
        end = min(self.end, self.map.reach(start, self.most))
        while True:
            end = self.cuts.floor(end, start)
            if end <= start:
                break
            stop = self._stop(start, end)
            excess = self.map.count(start, stop) - self.most
            if excess <= 0:
                return _Window(start, stop, end)
            index = int(self.map.edges.searchsorted(end)) - 1 - excess // 2
            end = int(self.map.edges[max(0, index)])
        end = self.cuts.next(start, self.end)
        return _Window(start, self._stop(start, end), end, self.map.count(start, end) > self.most)

    def _begin(self, start: int, end: int) -> int:
        if not self.strip or not self.text[start].isspace():
            return start
        return max(start, self.cuts.floor(skip_space(self.text, start, end), start))

    def _stop(self, start: int, end: int) -> int:
        if not self.strip or not self.text[end - 1].isspace():
            return end
        return self.cuts.ceil(trim_space(self.text, start, end), end, start)

    def _is_blank(self, start: int, end: int) -> bool:
        return skip_space(self.text, start, end) == end


class _Cuts:
    """Where a chunk may start or end: at edges of grapheme clusters that are not inside an allowed special token."""

    def __init__(self, text: str, special: frozenset[str]) -> None:
        self.text = text
        self.special = [match.span() for match in token_pattern(special).finditer(text)] if special else []
        self.starts = [start for start, _ in self.special]

    def floor(self, position: int, floor: int) -> int:
        """The last such place at or before `position`, which `floor` is one of."""
        while True:
            edge = floor_edge(self.text, position, floor)
            outside = self._special_at(edge)[0] if self.special else edge
            if outside == edge:
                return edge
            position = outside

    def ceil(self, position: int, ceiling: int, floor: int) -> int:
        """The first such place at or after `position`; `ceiling` and `floor`, which is before it, are such places."""
        while position < ceiling:
            edge = ceil_edge(self.text, position, floor, ceiling)
            position = self._special_at(edge)[1] if self.special else edge
            if position == edge:
                return edge
        return ceiling

    def next(self, position: int, ceiling: int) -> int:
        """The first such place after `position`, which is one."""
        return self.ceil(next_edge(self.text, position, ceiling), ceiling, position)

    def _special_at(self, position: int) -> tuple[int, int]:
        """The special token that `position` lies inside, or (`position`, `position`)."""
        index = bisect_right(self.starts, position) - 1
        if index >= 0:
            start, end = self.special[index]
            if start < position < end:
                return start, end
        return position, position

"""`json`: sub-documents that are valid JSON, each with the pointer of what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from chunkers.cutting.limits import Bounds
from chunkers.errors import InertOption, InvalidOption
from chunkers.measure.lengths import UNITS, Unit, tokens, unit_for
from chunkers.records import Drop, Span, Split
from chunkers.strategies.base import (
    LengthFunction,
    UnitName,
    check_count,
    check_encoding,
    check_flag,
    resolve_encoding,
    with_start_index,
)
from chunkers.strategies.contexts import check_context
from chunkers.strategies.json_merging import merged
from chunkers.strategies.json_packing import JsonPacker, Piece
from chunkers.strategies.json_paths import Node, pointer_to
from chunkers.structure.json_emitted import Emitted
from chunkers.structure.json_grammar import container_ends

_INK = re.compile(r"[^ \t\n\r]")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOptions:
    """Options of `json`.

    `max_size` and `min_size` are in `unit` and measured on what is emitted. A chunk below `min_size` is joined to a
    neighbour where both fit into one; nothing is left out. `ensure_ascii` writes other characters as escapes;
    `convert_lists` writes a list as an object whose keys are the indexes. `context` is as in every strategy that knows
    structure, without `{headings}` to fill. The others are as in every strategy.
    """

    max_size: int | None = 4000
    min_size: int = 0
    ensure_ascii: bool = False
    convert_lists: bool = False
    unit: UnitName = "characters"
    length_function: LengthFunction | None = None
    max_tokens: int | None = None
    encoding_name: str | None = None
    model_name: str | None = None
    add_start_index: bool = False
    context: str | None = None

    def __post_init__(self) -> None:
        check_count("max_size", self.max_size, least=1, optional=True)
        check_count("min_size", self.min_size, least=0)
        check_count("max_tokens", self.max_tokens, least=1, optional=True)
        if self.max_size is not None and self.min_size > self.max_size:
            raise InvalidOption("min_size", self.min_size, f"at most max_size, which is {self.max_size}")
        for name in ("ensure_ascii", "convert_lists", "add_start_index"):
            check_flag(name, getattr(self, name))
        if self.unit not in UNITS:
            raise InvalidOption("unit", self.unit, f"one of {', '.join(UNITS)}")
        if self.length_function is not None and self.unit != "characters":
            raise InertOption("unit", "json", "length_function takes its place")
        check_context(self.context)
        counts_tokens = self.max_tokens is not None or self.unit == "tokens"
        for name in ("encoding_name", "model_name"):
            if getattr(self, name) is not None and not counts_tokens:
                raise InertOption(name, "json", "nothing is measured in tokens without `unit: tokens` or max_tokens")
        if self.min_size and not self.bounds():
            raise InertOption("min_size", "json", "there is no limit, so that every document is one chunk")
        if counts_tokens:
            check_encoding(self.encoding_name, self.model_name)

    def measure(self) -> Unit:
        """The unit of `max_size` and `min_size`."""
        encoding_name = resolve_encoding(self.encoding_name, self.model_name) if self.unit == "tokens" else None
        return unit_for(self.unit, self.length_function, encoding_name)

    def bounds(self) -> list[tuple[Unit, int]]:
        """Every limit as (unit, most)."""
        found = [] if self.max_size is None else [(self.measure(), self.max_size)]
        if self.max_tokens is not None:
            found.append((tokens(resolve_encoding(self.encoding_name, self.model_name)), self.max_tokens))
        return found


@dataclass(frozen=True)
class Json:
    """The strategy; see the module."""

    options: JsonOptions = field(default_factory=JsonOptions)
    name: ClassVar[str] = "json"
    version: ClassVar[int] = 1
    Options: ClassVar[type[JsonOptions]] = JsonOptions

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text` to size. Raises MalformedDocument, with the position, unless it is one JSON value."""
        start = 1 if text[:1] == "\ufeff" else 0
        bounds = self.options.bounds()
        spans = self._whole(text, start, bounds) or self._pieces(text, start, bounds)
        split = Split(spans, self.name, _structure(text, spans))
        return with_start_index(split) if self.options.add_start_index else split

    def _whole(self, text: str, start: int, bounds: Bounds) -> list[Span]:
        """The document as one chunk, if it fits as it is and nothing has to be rewritten."""
        options = self.options
        if (options.ensure_ascii and not text.isascii()) or (options.convert_lists and "[" in text):
            return []
        end = len(text)
        while end > start and text[end - 1] in " \t\n\r":
            end -= 1
        most = min((most for unit, most in bounds if unit.name in ("characters", "bytes")), default=end)
        ink = _INK.search(text, start, end)
        begin = ink.start() if ink else start
        if end - begin > most or not _fits(text[begin:end], bounds):
            return []
        container_ends(text, start)
        return [Span(begin, end, "document-end", metadata={"pointer": ""})]

    def _pieces(self, text: str, start: int, bounds: Bounds) -> list[Span]:
        options = self.options
        emitted = Emitted(text, start, ensure_ascii=options.ensure_ascii, convert_lists=options.convert_lists)
        if _fits(emitted.text, bounds):
            begin, end = emitted.source(0), emitted.source(len(emitted.text), is_end=True)
            rendered = None if text[begin:end] == emitted.text else emitted.text
            return [Span(begin, end, "document-end", rendered=rendered, metadata={"pointer": ""})]
        packer = JsonPacker(emitted, bounds)
        pieces: Iterable[Piece] = packer.run()
        if options.min_size:
            unit, least = options.measure(), options.min_size
            pieces = merged(emitted.text, pieces, lambda whole: unit.measure(whole) < least, packer.fits)
        spans = _Spans(text, emitted, bounds).of(pieces)
        if spans[-1].cut != "oversize":
            spans[-1] = spans[-1]._replace(cut="document-end")
        return spans


def _fits(text: str, bounds: Bounds) -> bool:
    return all(unit.measure(text) <= most for unit, most in bounds)


class _Spans:
    """The pieces of one document as spans of its source."""

    def __init__(self, text: str, emitted: Emitted, bounds: Bounds) -> None:
        self.text, self.emitted, self.bounds = text, emitted, bounds
        self.known: tuple[Node | None, str] = (None, "")

    def of(self, pieces: Iterable[Piece]) -> list[Span]:
        pieces = list(pieces)
        starts = self.emitted.sources([piece.start for piece in pieces])
        ends = self.emitted.sources([piece.end for piece in pieces], is_end=True)
        return list(map(self._span, pieces, starts, ends))

    def _span(self, piece: Piece, start: int, end: int) -> Span:
        text = self.text
        rendered: str | None = piece.text(self.emitted.text)
        if piece.part >= 0:
            # The first and the last part of a string take its quotes along.
            if self.emitted.text[piece.start - 1] == '"' and piece.part == 0:
                start -= 1
        elif piece.alone and (text[start:end] == rendered or self._may_be_slice(text[start:end])):
            rendered = None
        return Span(start, end, piece.cut, rendered=rendered, metadata=self._metadata(piece))

    def _may_be_slice(self, slice_: str) -> bool:
        """Whether a value can be given as it stands in the document, white space and all."""
        return not self.emitted.rewritten and _fits(slice_, self.bounds)

    def _metadata(self, piece: Piece) -> dict[str, Any]:
        first = piece.first
        if piece.alone:
            pointer = pointer_to(first, piece.label) if first is not None else ""
            found: dict[str, Any] = {"pointer": pointer}
            base = pointer if piece.bare or first is None else self._pointer(first.top())
            if piece.part >= 0:
                found["part"] = piece.part
        else:
            assert first is not None
            holder = piece.holder or first
            found = {"pointer": self._pointer(holder)}
            base = self._pointer(first.top()) if first.top().parent is not None else ""
            if holder.is_list:
                found["first_item"], found["last_item"] = piece.item, piece.last_item
        if base:
            found["base"] = base
        return found

    def _pointer(self, node: Node) -> str:
        """`node.pointer()`, which many pieces in a row may have in common."""
        if self.known[0] is not node:
            self.known = (node, node.pointer())
        return self.known[1]


def _structure(text: str, spans: Iterable[Span]) -> list[Drop]:
    """What lies between chunks: brackets, commas, and the keys of the way down, which the chunks repeat."""
    found = []
    at = 0
    for begin, end in [*((span.start, span.end) for span in spans), (len(text), len(text))]:
        between = text[at:begin].strip(" \t\n\r") if at < begin else ""
        if between:
            low = text.index(between[0], at)
            found.append(Drop(low, low + len(between), "structure"))
        at = max(at, end)
    return found

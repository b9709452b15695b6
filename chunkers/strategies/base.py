"""What every strategy is: options that are checked when it is built, and `split`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chunkers.cutting.levels import Ladder, SeparatorPosition
from chunkers.cutting.packing import Overlap, Trim
from chunkers.errors import InertOption, InvalidOption, OptionWarning
from chunkers.measure.lengths import UNITS, Unit, tokens, unit_for
from chunkers.measure.tokens import DEFAULT_ENCODING, encoding, encoding_for_model
from chunkers.records import Split

DEFAULT_OVERLAP = 50
ROOM_FOR_OVERLAP = 100

UnitName = Literal["characters", "tokens", "words", "bytes"]
LengthFunction = Callable[[str], int]


class Strategy(Protocol):
    """Cuts documents. Built once, used for any number of them; keeps no state between documents; pickles."""

    @property
    def name(self) -> str:
        """The strategy's name, kebab-case."""

    @property
    def version(self) -> int:
        """Raised whenever the same text and options give other spans."""

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut one document. `path` and `media_type` only decide how the text is to be understood.

        Raises DocumentError when the document cannot be chunked.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Options that every strategy shares which cuts by size.

    `max_size` and `overlap` are in `unit` (or what `length_function` counts); None is unbounded. `overlap` unset is 50
    where `max_size` is 100 or more, else 0. `max_tokens` is a second limit, in tokens of `encoding_name` (or of
    `model_name`'s encoding). `add_start_index` puts the chunk's offset into its metadata as `start_index` too.
    """

    max_size: int | None = 4000
    overlap: int | None = None
    unit: UnitName = "characters"
    length_function: LengthFunction | None = None
    max_tokens: int | None = None
    encoding_name: str | None = None
    model_name: str | None = None
    strip_whitespace: bool = True
    add_start_index: bool = False

    def __post_init__(self) -> None:
        check_count("max_size", self.max_size, least=1, optional=True)
        check_overlap(self.max_size, self.overlap)
        check_count("max_tokens", self.max_tokens, least=1, optional=True)
        if self.unit not in UNITS:
            raise InvalidOption("unit", self.unit, f"one of {', '.join(UNITS)}")
        check_flag("strip_whitespace", self.strip_whitespace)
        check_flag("add_start_index", self.add_start_index)
        if self.length_function is not None and self.unit != "characters":
            raise InertOption("unit", "this", "length_function takes its place")
        unread = not self.counts_tokens
        for name in ("encoding_name", "model_name"):
            if getattr(self, name) is not None and unread:
                raise InertOption(name, "this", "nothing is measured in tokens without `unit: tokens` or max_tokens")
        self.measure()
        if self.counts_tokens:
            check_encoding(self.encoding_name, self.model_name)

    @property
    def counts_tokens(self) -> bool:
        """Whether any limit is in tokens."""
        return self.max_tokens is not None or self.unit == "tokens"

    @property
    def resolved_overlap(self) -> int:
        """The overlap in use, in `unit`."""
        return overlap_in_use(self.max_size, self.overlap)

    def measure(self) -> Unit:
        """The unit of `max_size` and `overlap`."""
        encoding_name = resolve_encoding(self.encoding_name, self.model_name) if self.unit == "tokens" else None
        return unit_for(self.unit, self.length_function, encoding_name)

    def bounds(self) -> list[tuple[Unit, int]]:
        """Every limit as (unit, most)."""
        found = [] if self.max_size is None else [(self.measure(), self.max_size)]
        if self.max_tokens is not None:
            found.append((tokens(resolve_encoding(self.encoding_name, self.model_name)), self.max_tokens))
        return found

    def overlap_of(self, atoms: Ladder, inside_words: Ladder = ()) -> Overlap | None:
        """This overlap, made of `atoms`; None where there is none."""
        most = self.resolved_overlap
        if most == 0 or not self.bounds():
            return None
        return Overlap(most=most, unit=self.measure(), atoms=atoms, inside_words=inside_words)

    def trim(self, *, position: SeparatorPosition | None = None, keep_indent: bool = False) -> Trim:
        """What happens to white space at the ends of a chunk."""
        return Trim(strip=self.strip_whitespace, keep_indent=keep_indent, position=position)


def check_encoding(encoding_name: str | None, model_name: str | None) -> None:
    """Refuse unknown names; warn where both are given, since `model_name` wins, as documented."""
    resolve_encoding(encoding_name, model_name)
    if model_name is not None and encoding_name is not None:
        message = f"model_name {model_name!r} takes precedence over encoding_name {encoding_name!r}"
        warnings.warn(message, OptionWarning, stacklevel=4)


def resolve_encoding(encoding_name: str | None, model_name: str | None) -> str:
    """The encoding in use: that of `model_name`, else `encoding_name`, else cl100k_base."""
    if encoding_name is not None:
        check_text("encoding_name", encoding_name)
    if model_name is not None:
        check_text("model_name", model_name)
    name = encoding_for_model(model_name) if model_name is not None else encoding_name
    return encoding(DEFAULT_ENCODING if name is None else name).name


def check_count(name: str, value: Any, *, least: int, optional: bool = False) -> None:
    """Refuse anything but an integer of at least `least` (or None)."""
    if value is None and optional:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InvalidOption(name, value, f"an integer of at least {least}" + (", or null" if optional else ""))


def check_overlap(max_size: int | None, overlap: int | None) -> None:
    """Refuse an overlap that is no count, or leaves no room for new text."""
    check_count("overlap", overlap, least=0, optional=True)
    if max_size is not None and overlap is not None and overlap >= max_size:
        raise InvalidOption("overlap", overlap, f"smaller than max_size, which is {max_size}")


def overlap_in_use(max_size: int | None, overlap: int | None) -> int:
    """`overlap`; unset it is 50 where that leaves room, else 0."""
    if overlap is not None:
        return overlap
    return DEFAULT_OVERLAP if max_size is not None and max_size >= ROOM_FOR_OVERLAP else 0


def check_flag(name: str, value: Any) -> None:
    """Refuse anything but true or false."""
    if not isinstance(value, bool):
        raise InvalidOption(name, value, "true or false")


def check_text(name: str, value: Any) -> None:
    """Refuse anything but a string."""
    if not isinstance(value, str):
        raise InvalidOption(name, value, "a string")


def with_start_index(split: Split) -> Split:
    """`split` with each span's offset in its metadata as `start_index`."""
    return split._replace(
        spans=[span._replace(metadata={**span.metadata, "start_index": span.start}) for span in split.spans]
    )

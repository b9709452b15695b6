"""The option `context`: a template of what stands in front of each chunk, for strategies that know structure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal, NamedTuple

from chunkers.errors import InvalidOption
from chunkers.strategies.base import Sizes

JOINT = " > "
"""What stands between two titles of a path."""

_METADATA = re.compile(r"metadata\[([^\[\]]+)\]")
_ALLOWED = (
    'a template such as "{headings}\\n\\n", whose fields are {title}, {headings}, {path} and {metadata[key]} '
    "(a brace that is none is written twice)"
)

Kind = Literal["text", "title", "headings", "path", "metadata"]


class Piece(NamedTuple):
    """A part of a template: text as it is, or a field; `value` is the text, or the key of a `metadata` field."""

    kind: Kind
    value: str = ""


class Template(NamedTuple):
    """A template that was read by `read_template`."""

    pieces: tuple[Piece, ...]

    @property
    def has_headings(self) -> bool:
        """Whether titles that are dropped make what is rendered shorter."""
        return any(piece.kind == "headings" for piece in self.pieces)

    def render(self, title: str, headings: Sequence[str], path: str, metadata: Mapping[str, Any]) -> str:
        """The context of one chunk; "" if the template has fields and all of them are empty."""
        made: list[str] = []
        is_empty = any(piece.kind != "text" for piece in self.pieces)
        for kind, value in self.pieces:
            if kind == "text":
                made.append(value)
                continue
            if kind == "metadata":
                filled = written(metadata.get(value))
            else:
                filled = title if kind == "title" else path if kind == "path" else JOINT.join(headings)
            is_empty = is_empty and not filled.strip()
            made.append(filled)
        return "" if is_empty else "".join(made)


def written(value: Any) -> str:
    """A value of metadata as text: `true` and `false`, numbers in digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False, default=str)


def read_template(value: Any) -> Template:
    """The template that `value` is. Raises InvalidOption if it is none, or has a field that there is not."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidOption("context", value, f"{_ALLOWED}, or null")
    pieces: list[Piece] = []
    try:
        parts = list(Formatter().parse(value))
    except ValueError as error:
        raise InvalidOption("context", value, f"{_ALLOWED}: {error}") from None
    for text, name, form, conversion in parts:
        if text:
            pieces.append(Piece("text", text))
        if name is None:
            continue
        key = _METADATA.fullmatch(name)
        if form or conversion or not (key or name in ("title", "headings", "path")):
            raise InvalidOption("context", value, _ALLOWED)
        pieces.append(Piece("metadata", key[1]) if key else Piece(name))  # type: ignore[arg-type]
    return Template(tuple(pieces))


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredSizes(Sizes):
    """Options that every strategy shares which cuts by size and knows the structure of a document.

    `context` is a template of what is put in front of each chunk: `{title}`, `{headings}` (joined by ` > `), `{path}`
    and `{metadata[key]}`. It holds its own separator, counts against the limits and takes at most half of each:
    outermost headings go first.
    """

    context: str | None = None

    def __post_init__(self) -> None:
        super(StructuredSizes, self).__post_init__()
        check_context(self.context)


def check_context(value: Any) -> None:
    """Refuse anything but a template or None."""
    if value is not None:
        read_template(value)

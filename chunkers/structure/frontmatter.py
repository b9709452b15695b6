"""Front matter: the YAML or TOML block that a Markdown document may open with."""

from __future__ import annotations

import base64
import datetime
import json
import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import yaml

from chunkers.records import NOTHING
from chunkers.structure.plainyaml import PLAIN_LINES, load_plain, read_plain
from chunkers.text.patterns import compile_pattern

_new = tuple.__new__  # a third of the time of FrontMatter(…)

MOST_CHARACTERS = 64 * 1024
"""Longer front matter is skipped like any other, but not parsed."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_OPENER = compile_pattern(r"(---|\+\+\+)[ \t]*(?:\r\n|\n|\r)(?![ \t]*(?:[\r\n]|\Z))")
_MARKS = compile_pattern(r"[\r\n](?:(---|\.\.\.|\+\+\+)[ \t]*(?=[\r\n]|\Z)|(`{3,}|~{3,})([^\r\n]*))")


class FrontMatter(NamedTuple):
    """The front matter of one document.

    The document goes on at `end`; `text[body:tail]` is what stands between the two marks (code points). `metadata` is
    flat: strings, integers, floats and booleans as they are, dates in ISO 8601, lists and mappings as compact JSON,
    nulls left out. `note` says why there is none although something is written there.
    """

    end: int
    body: int
    tail: int
    metadata: Mapping[str, Any] = NOTHING
    note: str | None = None


@cache
def _plain_front_matter() -> re.Pattern[str]:
    return compile_pattern(rf"---\n({PLAIN_LINES})---(?:\n|\Z)")  # when it is needed: it takes milliseconds


def read_front_matter(text: str) -> FrontMatter | None:
    """The front matter that `text` opens with, or None.

    It is the lines from a first line `---`, with no blank line behind it, to the next line `---` or `...` that is not
    in a code fence, or between two `+++`. Without a closing line there is none. Never raises: what does not parse gives
    no metadata and a note.
    """
    if text[:1] not in ("-", "+"):
        return None
    plain = _plain_front_matter().match(text)  # no line of it can be a mark or a fence
    if plain is not None and plain.end(1) <= MOST_CHARACTERS and (mapping := read_plain(plain[1])) is not None:
        body, tail = plain.span(1)
        return _new(FrontMatter, (plain.end(), body, tail, _flatten(mapping), None))
    opener = _OPENER.match(text)
    if opener is None:
        return None
    mark, body = opener[1], opener.end()
    closer = _find_closer(text, body, mark)
    if closer is None:
        return None
    tail, end = closer
    if tail - body > MOST_CHARACTERS:
        note = f"front matter is longer than {MOST_CHARACTERS} characters and was not parsed"
        return FrontMatter(end=end, body=body, tail=tail, note=note)
    source = text[body:tail].replace("\r\n", "\n").replace("\r", "\n")
    kind = "TOML" if mark == "+++" else "YAML"
    try:
        values: Any = load_plain(source) if kind == "YAML" else None
        if values is None:
            values = tomllib.loads(source) if kind == "TOML" else _load_yaml(source)
    # PyYAML raises more than its own errors for values such as 2024-13-45 or !!timestamp x.
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, RecursionError, OverflowError) as error:
        return FrontMatter(end=end, body=body, tail=tail, note=f"front matter is not valid {kind}: {_brief(error)}")
    if values is None:
        return FrontMatter(end=end, body=body, tail=tail)
    if not isinstance(values, dict):
        return FrontMatter(end=end, body=body, tail=tail, note=f"front matter is not a {kind} mapping")
    try:
        return FrontMatter(end=end, body=body, tail=tail, metadata=_flatten(values))
    except (ValueError, TypeError, RecursionError) as error:
        return FrontMatter(end=end, body=body, tail=tail, note=f"front matter cannot be stored: {_brief(error)}")


def _find_closer(text: str, body: int, mark: str) -> tuple[int, int] | None:
    """The closing line of front matter that was opened with `mark`: the first one that is not in a code fence.

    Where it starts, and the line after it.
    """
    fence = ""
    for match in _MARKS.finditer(text, body - 1):
        run = match[2]
        if run is not None:
            if not fence:
                if run[0] == "~" or "`" not in match[3]:
                    fence = run
            elif run.startswith(fence) and not match[3].strip(" \t"):
                fence = ""
        elif not fence and (match[1] == mark or (match[1] == "..." and mark == "---")):
            end = match.end()
            return match.start(1), end + 2 if text.startswith("\r\n", end) else min(end + 1, len(text))
    return None


class _AliasRefused(yaml.YAMLError):
    def __init__(self) -> None:
        super().__init__("aliases are not allowed")


class _Loader(yaml.SafeLoader):
    """The safe loader without aliases, which can make a short text expand without bound."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise _AliasRefused
        return super().compose_node(parent, index)


def _load_yaml(source: str) -> Any:
    return yaml.load(source, _Loader)


def _flatten(values: Mapping[Any, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if value.__class__ is str and key.__class__ is str:
            flat[key] = value
            continue
        scalar = _scalar(value)
        if scalar is not None:
            flat[_key(key)] = scalar
    return flat


def _scalar(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return _encode(_plain(value))


def _plain(value: Any) -> Any:
    """`value` as JSON has it."""
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    return _scalar(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(_scalar(key))


def _brief(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem or error.context}, line {error.problem_mark.line + 1}"
    return str(error).split("\n")[0][:200] or type(error).__name__

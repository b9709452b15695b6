"""YAML read strictly, with the line of every key.

Stricter than PyYAML: one document, UTF-8, keys are text and come once, no anchors, aliases or tags, and plain scalars
are read as YAML 1.2 does: `no`, `on`, `1:30` and `2024-01-01` are text; `true`, `12`, `1.5` and `null` what they say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

from pipelines.errors import ConfigError

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32

T = TypeVar("T")
KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A parsed file: plain dicts, lists and scalars in `root`, and the 1-based line of every key and list item.

    `problems` collects what is wrong with it, so that everything can be told at once.
    """

    file: str
    root: Any
    lines: Mapping[KeyPath, int] = field(repr=False)
    problems: list[ConfigError] = field(default_factory=list, repr=False)

    def line(self, path: KeyPath) -> int | None:
        """The line of `path`, or of the closest parent that has one."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def error(self, path: KeyPath, message: str) -> ConfigError:
        """A ConfigError at `path`. `message` follows the dotted key: `is 3; it must be …`."""
        key = dotted(path)
        return ConfigError(
            f"{key} {message}" if key else message, file=self.file, line=self.line(path), key=key or None
        )

    def attempt(self, read: Callable[[], T], fallback: T) -> T:
        """What `read` returns; if it raises a ConfigError, that is one of the `problems`, and `fallback` goes on."""
        try:
            return read()
        except ConfigError as error:
            self.note(error)
            return fallback

    def note(self, error: ConfigError) -> None:
        """One more problem, unless its key or something below it has one already: then it follows from that."""
        key = error.key
        inside = () if key is None else (f"{key}.", f"{key}[")
        if not any(
            known.key is not None and (known.key == key or known.key.startswith(inside)) for known in self.problems
        ):
            self.problems.append(error)

    def is_sound(self, *starts: str) -> bool:
        """Whether no problem is known of the keys that start so, or of the whole."""
        return not any(known.key is None or known.key.startswith(starts) for known in self.problems)

    def refuse(self) -> None:
        """Raise the `problems`, in the order of the file, if there are any."""
        if self.problems:
            raise ConfigError.of(sorted(self.problems, key=lambda known: known.line or 0))

    def walk(self) -> Iterator[tuple[KeyPath, Any]]:
        """Every scalar with its path."""
        return _walk((), self.root)


def parse(data: bytes, file: str) -> Tree:
    """Parse `data`; every refusal is a ConfigError with the line in `file`."""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"is {len(data)} bytes long; a configuration may have {MAX_BYTES}", file=file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"byte {error.start} is not valid UTF-8", file=file, line=line) from None
    try:
        node = _compose(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"has the character U+{ord(text[error.position]):04X}, which YAML does not allow", file=file, line=line
        ) from None
    except _Refused as error:
        raise ConfigError(str(error), file=file, line=error.line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ConfigError(
            f"not valid YAML: {error.problem}{_hint(error.problem or '') or _begun(error)}",
            file=file,
            line=mark.line + 1 if mark else None,
        ) from None
    lines: dict[KeyPath, int] = {}
    root = None if node is None else _Converter(file, lines).convert(node, ())
    return Tree(file=file, root=root, lines=lines)


def _begun(error: yaml.MarkedYAMLError) -> str:
    """Where what the end of the file cut off begins, if that is another line."""
    begun, end = error.context_mark, error.problem_mark
    if begun is None or end is None or begun.line == end.line or "stream" not in (error.problem or ""):
        return ""
    return f"; what is not closed begins on line {begun.line + 1}"


def _hint(problem: str) -> str:
    """What to do about YAML's commonest complaints."""
    if "'\\t'" in problem:
        return "; indent with spaces, not tabs"
    if "<block end>" in problem or "<block mapping start>" in problem:
        return "; check the indentation, here and on the lines before"
    if "mapping values are not allowed" in problem:
        return "; put text that has ': ' in quotes"
    return ""


def dotted(path: KeyPath) -> str:
    """`chunking.rules[2].overlap`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def show(value: Any) -> str:
    """A value as an error message quotes it: YAML's words, cut at 60 characters."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…" + text[0]


class _Loader(yaml.SafeLoader):
    """SafeLoader without anchors, aliases and tags, of bounded depth."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  replaces the YAML 1.1 rules

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _Refused("anchors and aliases (&name, *name) are not supported; write the value out", event)
        if getattr(event, "tag", None) is not None:
            raise _Refused(f"tags are not supported: {event.tag!r}", event)
        if self._depth >= MAX_DEPTH:
            raise _Refused(f"nested more than {MAX_DEPTH} levels deep", event)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


for _tag, _expression, _first in (
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+",
        "-+.0123456789",
    ),
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", "~nN\0"),
):
    _Loader.add_implicit_resolver(_tag, re.compile(rf"\A(?:{_expression})\Z"), [c if c != "\0" else "" for c in _first])


def _compose(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        loader.get_event()  # type: ignore[no-untyped-call]  # the start of the stream
        node = None if loader.check_event(yaml.StreamEndEvent) else loader.compose_document()
        if not loader.check_event(yaml.StreamEndEvent):
            second = loader.peek_event()  # type: ignore[no-untyped-call]
            raise _Refused("a second document starts here; a configuration is one document", second)
        return node
    finally:
        loader.dispose()


class _Refused(Exception):
    """Valid YAML that a configuration may not use."""

    def __init__(self, problem: str, event: Any) -> None:
        super().__init__(problem)
        self.line: int = event.start_mark.line + 1


class _Converter:
    """Nodes to plain values, noting lines and refusing doubled keys."""

    def __init__(self, file: str, lines: dict[KeyPath, int]) -> None:
        self._file = file
        self._lines = lines

    def convert(self, node: yaml.Node, path: KeyPath) -> Any:
        self._lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.convert(item, (*path, number)) for number, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            where = dotted(path) or "the configuration"
            if not isinstance(key_node, yaml.ScalarNode) or not key_node.tag.endswith(":str"):
                shown = key_node.value if isinstance(key_node, yaml.ScalarNode) else "a list or mapping"
                raise ConfigError(
                    f"{where} has the key {shown}; keys must be text",
                    file=self._file,
                    line=line,
                    key=dotted(path) or None,
                )
            key = key_node.value
            here = (*path, key)
            if key in values:
                raise ConfigError(
                    f"{dotted(here)} is given twice; the first is on line {self._lines[here]}",
                    file=self._file,
                    line=line,
                    key=dotted(here),
                )
            self._lines[here] = line
            values[key] = self.convert(value_node, here)
        return values

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        text: str = node.value
        kind = node.tag.rpartition(":")[2]
        if kind == "bool":
            return text.lower() == "true"
        if kind == "null":
            return None
        if kind == "float":
            return float(text)
        if kind == "int":
            if len(text) > 20:
                raise ConfigError(
                    f"{dotted(path)} has {len(text)} digits; that is no useful number",
                    file=self._file,
                    line=node.start_mark.line + 1,
                    key=dotted(path),
                )
            return int(text)
        return text


def _walk(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk((*path, key), item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk((*path, number), item)
    else:
        yield path, value

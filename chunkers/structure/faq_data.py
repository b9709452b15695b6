"""FAQPage data (schema.org) in JSON-LD: its questions, and where their objects lie in the source."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from json.decoder import JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_BREAK = re.compile(r"(?i)<(?:br|/p|/li|/div|/h[1-6]|/tr)\b[^<>]*>")
_TAG = re.compile(r"<[^<>]*>")
_DEEPEST = 40


class Asked(NamedTuple):
    """A question with its answer as plain text. `start` and `end` are those of its object in the source."""

    start: int
    end: int
    question: str
    answer: str


class _Located(dict[str, Any]):
    """An object of JSON that knows where it lies."""

    span = (0, 0)


class _Decoder(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__()
        self.parse_object = self._located
        self.scan_once = py_make_scanner(self)

    @staticmethod
    def _located(s_and_end: tuple[str, int], *arguments: Any) -> tuple[_Located, int]:
        value, end = JSONObject(s_and_end, *arguments)
        found = _Located(value)
        found.span = (s_and_end[1] - 1, end)
        return found, end


def asked_in(source: str, start: int, end: int) -> list[Asked]:
    """The questions of the JSON-LD in `source[start:end]`; none if it is no FAQPage, or no JSON."""
    text = source[start:end]
    if "Question" not in text:
        return []
    try:
        value = _Decoder().decode(text)
    except (ValueError, RecursionError):
        return []
    found = []
    last = start
    for question in _questions(value, 0):
        name, answer = _plain(question.get("name") or question.get("text")), _answer(question)
        first, behind = start + question.span[0], start + question.span[1]
        if name and answer and first >= last and len(name) + 1 + len(answer) <= behind - first:
            found.append(Asked(first, behind, name, answer))
            last = behind
    return found


def _questions(value: Any, depth: int) -> Iterator[_Located]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _questions(each, depth + 1)
    elif isinstance(value, _Located):
        if "Question" in _listed(value.get("@type")):
            yield value
            return
        for each in value.values():
            yield from _questions(each, depth + 1)


def _answer(question: _Located) -> str:
    for key in ("acceptedAnswer", "suggestedAnswer"):
        for each in _listed(question.get(key)):
            text = _plain(each.get("text") if isinstance(each, dict) else each)
            if text:
                return text
    return ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _plain(value: Any) -> str:
    """The text of what may be HTML, a line a block."""
    if not isinstance(value, str):
        return ""
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", value)))
    return "\n".join(line for line in (" ".join(each.split()) for each in text.split("\n")) if line)

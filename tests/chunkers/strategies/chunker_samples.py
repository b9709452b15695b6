"""Functions that tests give to the strategy `custom` by import path."""

from __future__ import annotations

from chunkers import Span

NUMBER = 5


def paragraphs(text: str) -> list[str]:
    return text.split("\n\n")


def spans(text: str) -> list[Span]:
    half = len(text) // 2
    return [Span(0, half, "limit"), Span(half - 1, len(text), "document-end", ("A",), metadata={"k": 1})]


async def later(text: str) -> list[str]:
    return [text]


def fails(text: str) -> list[str]:
    raise RuntimeError("no")


def returns_text(text: str) -> str:
    return text


def returns_numbers(text: str) -> list[int]:
    return [1]


def awaits(text: str) -> object:
    return later(text)


def long(text: str) -> list[str]:
    return ["a" * 2000, "b" * 2001] if text == "long" else ["a" * 2000]


def backwards(text: str) -> list[Span]:
    return [Span(2, 4, "limit"), Span(0, 3, "limit")]


def shouted(text: str) -> list[str]:
    return [text.upper(), text]


def takes_two(text: str, more: str) -> list[str]:
    return [text + more]


class Later:
    async def __call__(self, text: str) -> list[str]:
        return [text]


later_object = Later()

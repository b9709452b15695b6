"""HTML and JSON documents for the laws: whole ones, broken ones, and ones that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.laws.visible import UNSEEN

BLOCK_NAMES = ["p", "div", "section", "blockquote", "ul", "li", "dl", "dt", "dd", "article", "pre", "header", "H2"]
INLINE_NAMES = ["b", "i", "span", "a", "code", "em", "B", "o:p"]
TABLE_NAMES = ["table", "tr", "td", "th", "thead", "tbody", "caption"]
HEADING_NAMES = ["h1", "h2", "h3", "h4", "h5", "h6", "H1"]
NAMES = [*BLOCK_NAMES, *INLINE_NAMES, *TABLE_NAMES, *HEADING_NAMES, "body", "html", "head", "form", "svg"]
ATTRIBUTES = [
    "",
    "",
    "",
    ' class="c"',
    " id=x1",
    ' title="a > b"',
    " data-x='\"'",
    " a b=c",
    ' class="c d" id="y"',
    ' colspan="2"',
]
REFERENCES = [
    "&amp;",
    "&lt;b&gt;",
    "&nbsp;",
    "&eacute;",
    "&copy",
    "&#20013;",
    "&#x1F600;",
    "&unknown;",
    "& ",
    "&",
    "&#xD800;",
    "&#0;",
]
QUIRKS = [
    "<!-- c <b>x</b> -->", "<!-->", "<!--->", "<!-- open", "<!doctype html>", "<!x>", "<?php echo 1 ?>", "</>", "</ x>",
    "< b", "<3", "<", "<a href='x", '<a href="', "<p", "</p", "<br/>", "<hr>", "<img alt=x>", "<![CDATA[x]]>", "\0", "\r",
]  # fmt: skip


def unseen(words: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Elements that are not shown, with their own end tags."""
    named = st.tuples(st.sampled_from(sorted(UNSEEN - {"title", "datalist"})), words).map(
        lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0]}>"
    )
    hidden = st.tuples(st.sampled_from(["hidden", 'style="display: none"', "hidden=''"]), words).map(
        lambda pair: f"<span {pair[0]}>{pair[1]}</span>"
    )
    return st.one_of(named, hidden)


def htmls(words: st.SearchStrategy[str], most: int = 40) -> st.SearchStrategy[str]:
    """Tags in any order around `words`: ends without starts, starts without ends, tables without rows."""
    plain = words.map(lambda text: text.replace("<", "").replace("&", ""))
    opened = st.tuples(st.sampled_from(NAMES), st.sampled_from(ATTRIBUTES)).map(lambda pair: f"<{pair[0]}{pair[1]}>")
    closed = st.sampled_from(NAMES).map(lambda name: f"</{name}>")
    element = st.tuples(st.sampled_from(NAMES), plain).map(lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0]}>")
    rows = st.lists(st.lists(plain, min_size=1, max_size=4), min_size=1, max_size=5).map(
        lambda found: (
            "<table>"
            + "".join(
                "<tr>" + "".join(f"<{'td' if number else 'th'}>{cell}" for cell in row)
                for number, row in enumerate(found)
            )
            + "</table>"
        )
    )
    tame = st.one_of(plain, plain, element, element, opened, closed, rows, unseen(st.sampled_from(["no", "n o", ""])))
    wild = st.one_of(tame, tame, st.sampled_from(REFERENCES), st.sampled_from(QUIRKS), words, unseen(words))
    return st.one_of(st.lists(tame, max_size=most), st.lists(wild, max_size=most)).map("".join)


def jsons(words: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """JSON in any layout; now and then with a fault."""
    numbers = st.sampled_from(["0", "-0", "1.0", "1e2", "-12E+3", "0.10000000000000000001", "12345678901234567890123"])
    scalars = st.one_of(
        words.map(_text), numbers.map(_number), st.booleans(), st.none(), st.just({}), st.just([]), words.map(_text)
    )
    values = st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=6),
            st.dictionaries(st.one_of(words, st.sampled_from(["a", "~/", ""])), inner, max_size=6),
        ),
        max_leaves=25,
    )
    whole = st.tuples(values, st.sampled_from(LAYOUTS)).map(lambda pair: pair[1](pair[0]))
    broken = st.tuples(
        whole, st.integers(0, 200), st.sampled_from(["", ",", "]", "}", '"', "x", "NaN", "\\", "\x01", "1 2", "\n"])
    ).map(
        lambda found: found[0][: found[1] % (len(found[0]) + 1)] + found[2] + found[0][found[1] % (len(found[0]) + 1) :]
    )
    return st.one_of(whole, whole, whole, broken)


class _Raw(float):
    """A number that is written as it stands."""

    def __new__(cls, text: str) -> _Raw:
        made = super().__new__(cls, 0.5)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def _number(text: str) -> Any:
    return _Raw(text)


def _text(text: str) -> str:
    return text


def _layout(**options: Any) -> Callable[[Any], str]:
    before, behind = options.pop("before", ""), options.pop("behind", "")
    return lambda value: before + _dumped(value, **options) + behind


def _dumped(value: Any, **options: Any) -> str:
    """`json.dumps`, with numbers as they are written (it prints floats by `float.__repr__`)."""
    marked = json.dumps(_marked(value), **options)
    return marked.replace('"\\u0000#', "").replace('#\\u0000"', "")


def _marked(value: Any) -> Any:
    if isinstance(value, _Raw):
        return f"\0#{value.text}#\0"
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    return [_marked(item) for item in value] if isinstance(value, list) else value


LAYOUTS = [
    _layout(separators=(",", ":"), ensure_ascii=False),
    _layout(indent=2, ensure_ascii=False, behind="\n"),
    _layout(before="\ufeff", ensure_ascii=True),
    _layout(indent="\t", separators=(" ,", " : "), ensure_ascii=False, before=" \r\n"),
]

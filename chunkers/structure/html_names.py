"""What the elements of HTML mean for reading: where they break the text, what they end, what of them is not seen."""

from __future__ import annotations

from typing import Final, Literal

Break = Literal[0, 1, 2, 3, 4, 5, 6]
NONE: Final = 0
SPACE: Final = 1
CELL: Final = 2
LINE: Final = 3
ITEM: Final = 4
ROW: Final = 5
BLOCK: Final = 6

HEADINGS = {f"h{level}": level for level in range(1, 7)}
VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "basefont",
        "bgsound",
        "frame",
    ]
)
RAW = frozenset(["script", "style", "xmp", "iframe", "noembed", "noframes"])
RCDATA = frozenset(("title", "textarea"))
VERBATIM = frozenset(["pre", "listing", "xmp", "textarea", "plaintext"])
UNSEEN = frozenset(["script", "style", "template", "nav", "iframe", "noembed", "noframes", "title", "datalist"])
"""Elements that are in no text; a drop of their name counts each."""

CELLS = frozenset(("td", "th"))
ROWS = frozenset(("tbody", "thead", "tfoot"))
TABLE_PARTS = frozenset(["table", "caption", "colgroup", "col", "tbody", "thead", "tfoot", "tr", "td", "th"])
SCOPES = frozenset(["table", "td", "th", "caption", "template", "svg", "math", "object", "button", "applet", "marquee"])
"""Elements out of which an end tag reaches only if it is the one of a table's part."""

_BLOCKS = """
address article aside blockquote body center details dialog dir div dl fieldset figcaption figure footer form frameset
h1 h2 h3 h4 h5 h6 header hgroup hr html legend listing main menu nav ol optgroup p plaintext pre search section summary
table textarea title ul xmp iframe noframes noembed template
"""
BREAKS: dict[str, int] = {
    **dict.fromkeys(_BLOCKS.split(), BLOCK),
    **dict.fromkeys(("caption", "thead", "tbody", "tfoot", "tr"), ROW),
    **dict.fromkeys(("li", "dt", "dd", "option"), ITEM),
    "br": LINE,
    "td": CELL,
    "th": CELL,
}
"""How strongly an element's edges break the text; others are part of a line."""

CLOSES_P = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "li",
        "dt",
        "dd",
        "listing",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "plaintext",
        "pre",
        "search",
        "section",
        "summary",
        "table",
        "ul",
        "xmp",
    ]
)
ENDS: dict[str, frozenset[str]] = {
    "li": frozenset(("li",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
    "option": frozenset(("option",)),
    "optgroup": frozenset(("option", "optgroup")),
    "rp": frozenset(("rp", "rt")),
    "rt": frozenset(("rp", "rt")),
}
"""Open elements that the start of another one ends, if nothing of `BARRIERS` is between them."""
BARRIERS = frozenset(
    ["ul", "ol", "menu", "dir", "dl", "select", "datalist", "table", "td", "th", "caption", "body", "html", "template"]
)
COMPLEX = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "pre", "listing", "table", "hr", "blockquote"]
)
"""Elements that make a table's cell more than a piece of a row."""
OF_HEAD = frozenset(
    ["base", "basefont", "bgsound", "link", "meta", "noframes", "noscript", "script", "style", "template", "title"]
)

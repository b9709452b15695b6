"""The tokens of HTML text, as the standard's tokenizer sees them, each with its place.

The standard library's parser is not used: its reading of comments, scripts and broken tags differs between patch
releases of Python, and is quadratic on some of them.
"""

from __future__ import annotations

import re
from html import unescape

from chunkers.text.patterns import compile_pattern

SPACE = " \t\n\r\f"
TAG = compile_pattern(r"<(/?)([a-zA-Z][^\t\n\f\r />]*+)((?:[^>=]++|=(?:[\t\n\f\r ]*+(?:\"[^\"]*+\"|'[^']*+'))?+)*+)>")
"""A tag: whether it ends an element, its name, its attributes. A `>` inside of quotes does not end it."""
PLAIN_TAG = compile_pattern(r"<(/?)([a-zA-Z][^\t\n\f\r />]*+)([^>]*+)>")
"""A tag where the quotes of some tag before are open at the end of the text: any `>` ends it."""

PARTS = compile_pattern(r"[ \t\n\r\f]++|&[^\t\n\f <&; \r]*+;?|[^ \t\n\r\f&]++")
"""Text between tags in parts: white space, what may be a character reference, anything else."""

_ATTRIBUTE = compile_pattern(
    r"([^\t\n\f\r />=][^\t\n\f\r />=]*+)(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >]*+)))?+"
)
_COMMENT_END = compile_pattern(r"--!?>")
_NOT_SHOWN = compile_pattern(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)
_SCRIPT_MARK = compile_pattern(r"<!--|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)
MAY_HIDE = compile_pattern(r"hidden|display\s*:|visibility\s*:", re.IGNORECASE)
_REFERENCE = compile_pattern(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")


def attributes(text: str) -> dict[str, str]:
    """The attributes of a tag, the first of each name."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        value = double or single or bare
        found.setdefault(name.lower(), decoded(value) if "&" in value else value)
    return found


def is_hidden(text: str) -> bool:
    """Whether a tag's attributes say that its element is not shown."""
    found = attributes(text)
    return "hidden" in found or ("style" in found and _NOT_SHOWN.search(found["style"]) is not None)


def markup_end(text: str, start: int) -> tuple[int, str]:
    """The end of a comment, declaration or instruction that starts with `<!`, `<?` or `</`, and what to call it."""
    if text.startswith("<!--", start):
        if text.startswith(("<!-->", "<!--->"), start):
            return text.index(">", start) + 1, "comment"
        end = _COMMENT_END.search(text, start + 4)
        return (end.end() if end else len(text)), "comment"
    end_mark = text.find(">", start)
    return (end_mark + 1 if end_mark >= 0 else len(text)), "markup"


def raw_end(text: str, start: int, name: str) -> int:
    """Where the end tag of an element starts whose content is no markup; the text's end if there is none."""
    if name == "script":
        return _script_end(text, start)
    found = compile_pattern(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(text, start)
    return found.start() if found else len(text)


def _script_end(text: str, start: int) -> int:
    """A script in a comment inside of a script does not end it."""
    in_comment = in_script = False
    for mark in _SCRIPT_MARK.finditer(text, start):
        if mark[0] == "<!--":
            in_comment = True
        elif mark[0] == "-->":
            in_comment = in_script = False
        elif not mark[1]:
            in_script = in_comment
        elif in_script:
            in_script = False
        else:
            return mark.start()
    return len(text)


def decoded(text: str) -> str:
    """`text` with its character references replaced; one that stands for no character stays."""
    plain = unescape(text)
    if "\ufffd" in plain:
        return _REFERENCE.sub(lambda found: reference(found[0]), text)
    return plain


def reference(text: str) -> str:
    """What one character reference says; itself if that is no character."""
    plain = unescape(text)
    return text if "\ufffd" in plain else plain


def reference_end(written: str, said: str) -> int:
    """How long the reference is that `written` starts with and that says `said`, which ends with all that follows it.

    Some need no semicolon: of `&reg_mark` the reference is `&reg`.
    """
    most = min(len(written), len(said)) - 1
    same = 0
    while same < most and written[-1 - same] == said[-1 - same]:
        same += 1
    return len(written) - same

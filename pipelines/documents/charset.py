"""The encoding that an HTML or XML document names in its own text, as browsers understand the name."""

from __future__ import annotations

import codecs
import re

LOOKED_AT = 1024
"""Bytes at a document's start in which browsers look for it."""

_META = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"\A\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)")
_AS_BROWSERS_DO = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""By the codec's name in Python: what is meant on the web by labels whose own standard is smaller."""


def encoding_in_markup(data: bytes) -> str | None:
    """The name of Python's codec for the encoding that `data` declares; None if there is none, or none of its kind.

    A label of an encoding in which ASCII is not ASCII is not believed: the label itself was ASCII.
    """
    head = data[:LOOKED_AT]
    found = _META.search(head) or _XML.search(head)
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return None
    name = _AS_BROWSERS_DO.get(name, name)
    try:
        kept = b"<meta>".decode(name) == "<meta>"
    except (UnicodeError, LookupError):
        return None
    return name if kept and name != "utf-8" else None

"""LaTeX titles as a reader sees them."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å",
    "AA": "Å", "i": "ı", "j": "ȷ", "LaTeX": "LaTeX", "TeX": "TeX", "ldots": "…", "dots": "…", "textbackslash": "\\",
    "textasciitilde": "~", "S": "§", "P": "¶", "copyright": "©", "quad": " ", "qquad": " ", "space": " ",
}  # fmt: skip
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?")
_ALTERNATIVES = re.compile(r"\\texorpdfstring\s*\{[^{}]*\}\s*\{([^{}]*)\}")
_LEFT_OUT = re.compile(
    r"\\(?:label|footnote|thanks|index|cite|ref|vspace|hspace|footnotemark)\*?\s*(?:\[[^\[\]]*\])?\s*\{[^{}]*\}"
)
_SYMBOL_ACCENT = re.compile(r"\\(['`^\"~=.])\s*(?:\{\s*\\?([^\W\d_])\s*\}|\\?([^\W\d_]))")
_LETTER_ACCENT = re.compile(r"\\([uvHckrd])\s*\{\s*\\?([^\W\d_])\s*\}")
_COMMAND = re.compile(r"\\([a-zA-Z@]+)\*?(?:\s*\[[^\[\]]*\])?[ \t]*")
_ESCAPED = re.compile(r"\\([#$%&_{} ])")
_KEPT = str.maketrans({"{": "\ue000", "}": "\ue001", "$": "\ue002", " ": "\ue003"})
_BACK = str.maketrans({"\ue000": "{", "\ue001": "}", "\ue002": "$", "\ue003": " "})


def plain_text(source: str) -> str:
    """`source` without markup: commands leave their argument, accents and symbols become letters."""
    if "%" in source:
        source = _COMMENT.sub(r"\1", source)
    if not any(mark in source for mark in "\\{}~$`'-"):
        return " ".join(source.split())
    source = _ALTERNATIVES.sub(r"\1", source)
    source = _LEFT_OUT.sub("", source).replace("\\\\", " ")
    source = _SYMBOL_ACCENT.sub(_accented, source)
    source = _LETTER_ACCENT.sub(_accented, source)
    source = _ESCAPED.sub(lambda found: found[1].translate(_KEPT), source)
    source = _COMMAND.sub(lambda found: _LETTERS.get(found[1], ""), source)
    source = re.sub(r"\\[,;:!/@-]", "", source)
    source = source.replace("~", " ").replace("{", "").replace("}", "").replace("$", "")
    source = source.replace("``", "“").replace("''", "”").replace("---", "—").replace("--", "–")
    return " ".join(source.translate(_BACK).split())


def _accented(found: re.Match[str]) -> str:
    letter = found[2] or found[3]
    return unicodedata.normalize("NFC", letter + _ACCENTS[found[1]])

"""Character classes that cutting text depends on, as the inside of a regular expression's brackets.

Ranges follow the Unicode Character Database (Scripts.txt, GraphemeBreakProperty.txt, Version 16).
"""

from __future__ import annotations

HAN_KANA = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"
    "\U00016fe0-\U00016fff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
"""Han ideographs, Hiragana, Katakana and Bopomofo: written without spaces between words."""

HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"

OPENERS = "([{«‹“‘„‚「『（［｛〔【〈《〖〘〚｢"
CLOSERS = ")]}»›”’」』）］｝〕】〉》〗〙〛｣\"'"

NO_LINE_START = (
    "、。，．：；！？）］｝〕】〉》」』〗〙〛｣”’…‥・ーゝゞ々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.:;!?)]}%％℃"
)
"""Characters that must not begin a line in Chinese and Japanese typesetting (JIS X 4051, CLREQ)."""

NO_LINE_END = "（［｛〔【〈《「『〖〘〚｢“‘([{$￥＄¥#＃"
"""Characters that must not end a line (JIS X 4051, CLREQ)."""


def inside_class(characters: str) -> str:
    """`characters` escaped for use inside `[...]`."""
    return "".join("\\" + c if c in r"\]^-[" else c for c in characters)

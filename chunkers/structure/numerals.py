"""Numbers as laws and contracts write them: digits of any width, Chinese numerals, Roman numerals."""

from __future__ import annotations

import re

CHINESE = "〇零○一二三四五六七八九十百千万廿卅两兩壹贰叁肆伍陆柒捌玖拾"
NUMBER = rf"[{CHINESE}\d０-９]{{1,12}}"
"""A number in digits or Chinese numerals, as a regular expression."""

_DIGITS = {c: n for n, c in enumerate("〇一二三四五六七八九")} | {
    "零": 0, "○": 0, "两": 2, "兩": 2, "壹": 1, "贰": 2, "叁": 3, "肆": 4, "伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9,
}  # fmt: skip
_UNITS = {"十": 10, "拾": 10, "百": 100, "千": 1000, "万": 10000, "廿": 20, "卅": 30}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_IS_ROMAN = re.compile(r"(?i)m{0,4}(?:cm|cd|d?c{0,4})(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})\Z")


def number_of(text: str) -> int | None:
    """The value of digits, Chinese or Roman numerals; None if it is none of them."""
    if text.isdecimal():
        return int(text)
    if text and all(c in _DIGITS or c in _UNITS for c in text):
        return _chinese(text)
    if text and text[0].isascii() and _IS_ROMAN.match(text):
        return _roman(text.lower())
    return None


def _chinese(text: str) -> int:
    if not any(c in _UNITS for c in text):
        return int("".join(str(_DIGITS[c]) for c in text))
    total = digit = 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
            continue
        unit = _UNITS[character]
        if character == "万":
            total, digit = (total + digit) * unit, 0
        elif character in "廿卅":
            total, digit = total + unit, 0
        else:
            total, digit = total + max(digit, 1) * unit, 0
    return total + digit


def _roman(text: str) -> int:
    values = [_ROMAN[c] for c in text]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))

"""Names that trip storage clients over, each next to the decoys that a careless client would take for it."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator

MOST_BYTES = 1024
"""The longest key of every object store."""

_SPECIALS = [
    *"[]#%?;&+=@!$'\"`\\|<>^~,:*{}() \t\n\r\x01\x1f\x7f",
    "%2F",
    "%00",
    "%",
    "%25",
    "//",
    "/",
    ".",
    "..",
    "/./",
    "/../",
]
_LETTERS = [
    *"abcXYZ019",
    "é",
    "e\u0301",
    "ß",
    "ı",
    "İ",
    "中",
    "あ",
    "한",
    "🙂",
    "👩\u200d👩\u200d👧",
    "\u200b",
    "\u202e",
    "שלום",
    "مرحبا",
    "\ufeff",
    "\u2028",
    "\x85",
    "ﬁ",
    "Å",
    "\U00010348",
    "\ufffd",
]

_PAIRS = [
    # a name, and what it becomes when it is parsed, decoded, stripped or folded on the way
    ("x@1", "x"),
    ("x#123", "x"),
    ("x#1#0", "x#1"),
    ("x?versionId=1", "x"),
    ("x?generation=5", "x"),
    ("x?snapshot=2026-01-01T00:00:00Z", "x"),
    ("x;v=1", "x"),
    ("x&list-type=2", "x"),
    ("{a,b}", "a"),
    ("[ab]", "a"),
    ("*", "star"),
    ("a*", "ab"),
    ("**/x", "q/x"),
    ("?", "a"),
    ("p%2Fq", "p/q"),
    ("p%252Fq", "p%2Fq"),
    ("p%20q", "p q"),
    ("p+q", "p q"),
    ("p%2Bq", "p+q"),
    ("a//b", "a/b"),
    ("a///b", "a//b"),
    ("/lead", "lead"),
    ("//lead", "/lead"),
    ("a/./b", "a/b"),
    ("a/../b", "b"),
    ("..", "two"),
    (".", "one"),
    ("../up", "up"),
    ("...", "three"),
    ("a\\b", "a/b"),
    (" lead", "lead"),
    ("trail ", "trail"),
    ("trail.", "trail"),
    ("a\tb", "a b"),
    ("a\nb", "ab"),
    ("a\rb", "ab"),
    ("a\x00b", "ab"),
    ("'quoted'", "quoted"),
    ('"quoted"', "quoted"),
    ("<xml>", "&lt;xml&gt;"),
    ("&amp;", "&"),
    ("Case.txt", "case.txt"),
    ("STRASSE", "straße"),
    ("caf\u00e9", "cafe\u0301"),
    ("\u212b", "\u00c5"),
    ("ﬁle", "file"),
    ("a/", "a"),
    ("marker/", "marker/x"),
    ("http://host/x", "x"),
    ("s3://bucket/x", "x"),
    ("gs:/x", "x"),
    ("~", "home"),
    ("$HOME", "home"),
    ("${HOME}", "home"),
    ("_$folder$", "folder"),
    (".tmp-rechunk-0123456789abcdef", "tmp"),
    ("-rf", "rf"),
    ("con", "CON"),
    ("a:b", "a"),
    ("_delta_log/00000000000000000000.json", "x"),
    ("\u202etxt.exe", "txt.exe"),
    ("\ufeffbom", "bom"),
    ("a\u200bb", "ab"),
]


def hostile(count: int, seed: int = 0, room: int = MOST_BYTES) -> list[str]:
    """`count` different names of at most `room` bytes of UTF-8, the same for the same arguments."""
    chosen: dict[str, None] = {}
    for name in _endless(random.Random(seed), room):
        if 0 < len(name.encode()) <= room:
            chosen[name] = None
        if len(chosen) == count:
            return list(chosen)
    raise AssertionError("unreachable")


def _endless(rng: random.Random, room: int) -> Iterator[str]:
    for pair in rng.sample(_PAIRS, len(_PAIRS)):
        yield from pair
    for letter in ("x", "é", "🙂", "%"):
        yield letter * (room // len(letter.encode()))
    yield ("deep/" * room)[: room - 1] + "x"
    while True:
        parts = [rng.choice(_SPECIALS if rng.random() < 0.5 else _LETTERS) for _ in range(rng.randint(1, 12))]
        name = "".join(parts)
        if rng.random() < 0.03:
            name = (name * room).encode()[:room].decode("utf-8", "ignore")
        yield name
        if rng.random() < 0.2:
            yield rng.choice(
                [
                    unicodedata.normalize("NFC", name),
                    unicodedata.normalize("NFD", name),
                    name.swapcase(),
                    name.strip(),
                    name.replace("//", "/"),
                    name.partition("#")[0],
                    name.partition("?")[0],
                    name.replace("%2F", "/"),
                    name.replace("\\", "/"),
                ]
            )

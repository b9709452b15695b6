"""Damaged inputs, made from seeds: broken files of every kind, each with what may become of it.

`Damaged.classes` are the failure classes that are right for it; `text` and `records` are what has to be read when it is
read, `at_least` so many records. An object that is neither read nor fails in such a class is wrongly treated.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.config.model import Budget, Source

LIMITS = Budget(max_bytes=24 * 1024 * 1024, max_ratio=50)
SOURCE = Source(path="docs")
RECORDS = Source(path="docs", format="records")

_PARAGRAPHS = (
    "C'était très beau là-bas, à la plage. Où êtes-vous allés après l'été ?",
    "Größe und Übermut tun selten gut, sagte der König zu den Brüdern.",
    "Привет, как дела? Сегодня хорошая погода и мы идем гулять в парк.",
    "日本語のテキストです。これは文字コードの判定を試すためのものです。",
    "這是一個繁體中文的文件，我們要看看它能否被識別出來。",
    "한국어 문서입니다. 이것은 인코딩을 시험하기 위한 것입니다.",
    "Plain words, one after the other; nothing else. 😀 e\u0301",
)
_FRAMES = {
    "txt": "{}\n\n{}\n",
    "md": "---\ntitle: {}\n---\n# {}\n\n- {}\n\n```\n{}\n```\n\n| a | b |\n|---|---|\n| {} | 1 |\n",
    "html": "<html><head><title>{}</title></head><body><h1>{}</h1><p>{}<ul><li>{}</ul></body></html>\n",
    "json": '{{"title": "{}", "body": ["{}", {{"deep": "{}"}}], "n": 1}}\n',
    "tex": "\\documentclass{{article}}\\begin{{document}}\\section{{{}}}\n{} $x^2$ {}\\end{{document}}\n",
}
_MAGIC = (
    *(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", b"PK\x03\x04\x14\x00", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\x7fELF\x02"),
    *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"SQLite format 3\x00", b"II*\x00", b"7z\xbc\xaf\x27\x1c"),
)
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: bytes(pa.compress(data, "zstd", asbytes=True)),
}
_CHARSETS = ("cp1252", "cp1250", "cp1251", "koi8-r", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "utf-16-le")

TEXT = frozenset({"decode", "binary"})
CONTAINER = TEXT | {"malformed", "no-id"}
"""What may become of a container, or of a record in one, that is damaged inside. (A damaged id may be anything.)"""

PACKED = CONTAINER | {"truncated", "damaged", "expansion", "too-large"}
CHUNKED = frozenset({"malformed", "budget", "recursion", "metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """One input. `must_fail`: nothing of it may be read as a document."""

    kind: str
    name: str
    data: bytes = field(repr=False)
    classes: frozenset[str] = frozenset()
    text: str | None = field(default=None, repr=False)
    records: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    must_fail: bool = False
    at_least: int = 0
    source: Source = SOURCE


def damaged(count: int, seed: int) -> Iterator[Damaged]:
    """`count` inputs, every kind equally often."""
    makers = list(_MAKERS)
    for number in range(count):
        yield makers[number % len(makers)](random.Random(f"{seed}/{number}"))


def _document(rng: random.Random) -> tuple[str, str]:
    """A name and the text of an undamaged document."""
    ending, frame = rng.choice(list(_FRAMES.items()))
    paragraphs = [rng.choice(_PARAGRAPHS) for _ in range(frame.count("{}"))]
    return f"a.{ending}", frame.format(*paragraphs) * (1 if ending == "json" else rng.randint(1, 20))


def _records(rng: random.Random) -> list[dict[str, Any]]:
    container = rng.randrange(10**12)
    return [
        {"id": f"{container}/{number}", "text": rng.choice(_PARAGRAPHS) * rng.randint(0, 9), "n": number}
        for number in range(rng.randint(1, 60))
    ]


def _container(rng: random.Random) -> tuple[str, bytes, list[dict[str, Any]], Source]:
    rows = _records(rng)
    format_ = rng.choice(["jsonl", "csv", "tsv", "parquet", "records"])
    if format_ == "jsonl":
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    elif format_ == "records":
        return "a.json", json.dumps(rows, ensure_ascii=False, indent=rng.choice([None, 1])).encode(), rows, RECORDS
    elif format_ == "parquet":
        file = io.BytesIO()
        compression = rng.choice(["none", "snappy", "zstd", "gzip"])
        pq.write_table(pa.Table.from_pylist(rows), file, compression=compression, row_group_size=rng.choice([7, 1000]))
        data = file.getvalue()
    else:
        delimiter = "," if format_ == "csv" else "\t"
        lines = [["id", "text", "n"], *([row["id"], row["text"], str(row["n"])] for row in rows)]
        data = "".join(delimiter.join(f'"{field}"' for field in line) + "\r\n" for line in lines).encode()
    return f"a.{format_}", data, rows, SOURCE


def _flip(rng: random.Random, data: bytes) -> bytes:
    flipped = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 20])):
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(1, len(data))]


def _read_as_utf8(data: bytes) -> str | None:
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return None


def cut_text(rng: random.Random) -> Damaged:
    name, text = _document(rng)
    data = _cut(rng, text.encode())
    return Damaged(kind="cut text", name=name, data=data, text=_read_as_utf8(data), classes=TEXT | CHUNKED)


def flipped_text(rng: random.Random) -> Damaged:
    name, text = _document(rng)
    data = _flip(rng, text.encode())
    return Damaged(kind="flipped text", name=name, data=data, text=_read_as_utf8(data), classes=TEXT | CHUNKED)


def other_charset(rng: random.Random) -> Damaged:
    name, text = _document(rng)
    charset = rng.choice(_CHARSETS)
    data = text.encode(charset, "ignore")
    wide = text if charset == "utf-16-le" else None
    return Damaged(kind="charset", name=name, data=data, text=wide, classes=frozenset() if wide else TEXT | CHUNKED)


def mixed_charsets(rng: random.Random) -> Damaged:
    name, text = _document(rng)
    data = text.encode() + text.encode(rng.choice(_CHARSETS), "ignore")
    return Damaged(kind="mixed charsets", name=name, data=data, classes=TEXT | CHUNKED)


def odd_marks(rng: random.Random) -> Damaged:
    name, text = _document(rng)
    mark = rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"])
    data = mark + text.encode()
    good = mark == b"\xef\xbb\xbf"
    return Damaged(
        kind="mark", name=name, data=data, text=text if good else None, classes=CHUNKED if good else TEXT | CHUNKED
    )


def stray_controls(rng: random.Random) -> Damaged:
    name, text = _document(rng)
    at = rng.randrange(len(text))
    text = text[:at] + rng.choice(["\0", "\x01\x02", "\x7f", "\x85", "\u2028", "\ufffd", "\ufeff", "\x0c"]) + text[at:]
    return Damaged(kind="controls", name=name, data=text.encode(), text=text.removeprefix("\ufeff"), classes=CHUNKED)


def noise(rng: random.Random) -> Damaged:
    name, _ = _document(rng)
    data = rng.randbytes(rng.choice([1, 2, 3, 10, 100, 10_000]))
    return Damaged(kind="noise", name=name, data=data, classes=TEXT | CHUNKED, must_fail=len(data) >= 100)


def lying_ending(rng: random.Random) -> Damaged:
    data = rng.choice(_MAGIC) + rng.randbytes(rng.randint(0, 3000))
    name = rng.choice(["a.md", "a.txt", "a.html", "a.json", "a.jsonl", "a.csv", "a.parquet", "a.tsv.gz"])
    source = RECORDS if name == "a.json" and rng.random() < 0.5 else SOURCE
    classes = frozenset({"malformed"} if "parquet" in name else {"binary"})
    return Damaged(kind="lying ending", name=name, data=data, classes=classes, must_fail=True, source=source)


def other_format(rng: random.Random) -> Damaged:
    """A good container under the name of another format."""
    name, data, _, source = _container(rng)
    wrong = rng.choice([each for each in ("a.jsonl", "a.csv", "a.tsv", "a.parquet") if each != name])
    if source is RECORDS and rng.random() < 0.3:
        _, text = _document(rng)
        return Damaged(
            kind="other format", name="a.json", data=text.encode(), classes=CONTAINER, must_fail=True, source=RECORDS
        )
    return Damaged(kind="other format", name=wrong, data=data, classes=CONTAINER, must_fail=True)


def cut_container(rng: random.Random) -> Damaged:
    name, data, rows, source = _container(rng)
    cut = _cut(rng, data)
    kept = tuple((row["id"], row["text"]) for row in rows)
    return Damaged(
        kind="cut container",
        name=name,
        data=cut,
        records=kept,
        classes=CONTAINER,
        source=source,
        must_fail=name == "a.parquet",
        at_least=cut.count(b"\n") if name == "a.jsonl" else 0,
    )


def flipped_container(rng: random.Random) -> Damaged:
    name, data, _, source = _container(rng)
    return Damaged(kind="flipped container", name=name, data=_flip(rng, data), classes=CONTAINER, source=source)


def packed(rng: random.Random) -> tuple[str, bytes, Source]:
    ending, compress = rng.choice(list(_COMPRESS.items()))
    if rng.random() < 0.5:
        name, text = _document(rng)
        return f"{name}.{ending}", compress(text.encode()), SOURCE
    name, data, _, source = _container(rng)
    return f"{name}.{ending}", compress(data), source


def cut_packed(rng: random.Random) -> Damaged:
    name, data, source = packed(rng)
    cut = data[: rng.randrange(10, len(data))]
    return Damaged(
        kind="cut packed", name=name, data=cut, classes=frozenset({"truncated"}), must_fail=True, source=source,
        records=(),
    )  # fmt: skip


def flipped_packed(rng: random.Random) -> Damaged:
    name, data, source = packed(rng)
    return Damaged(kind="flipped packed", name=name, data=_flip(rng, data), classes=PACKED | CHUNKED, source=source)


def packed_with_more(rng: random.Random) -> Damaged:
    name, data, source = packed(rng)
    classes = frozenset({"damaged", "truncated"})
    more = b"more" + rng.randbytes(rng.randint(0, 100))
    return Damaged(
        kind="packed, and more", name=name, data=data + more, classes=classes, must_fail=True, source=source, records=()
    )


def packed_twice(rng: random.Random) -> Damaged:
    name, data, source = packed(rng)
    again = rng.choice(list(_COMPRESS.values()))(data)
    classes = frozenset({"malformed" if ".parquet" in name else "binary"})
    return Damaged(kind="packed twice", name=name, data=again, classes=classes, must_fail=True, source=source)


def bomb(rng: random.Random) -> Damaged:
    compress = _BOMBS[rng.randrange(len(_BOMBS))]
    name = rng.choice(["a.md.gz", "a.txt", "a.jsonl.zst", "a.csv.xz", "a.parquet", "a.json"])
    source = RECORDS if name == "a.json" and rng.random() < 0.5 else SOURCE
    classes = frozenset({"expansion", "too-large"})
    return Damaged(kind="bomb", name=name, data=compress, classes=classes, must_fail=True, source=source)


def nested(rng: random.Random) -> Damaged:
    """Deeper than any parser may follow."""
    deep = rng.choice([10, 1000, 20_000])
    opening, closing, name = rng.choice(
        [
            ("[", "]", "a.json"),
            ('{"a":', "}", "a.json"),
            ("<div>", "</div>", "a.html"),
            ("<b><table><tr><td>", "", "a.html"),
            ("> ", "", "a.md"),
            ("- ", "", "a.md"),
            ("[", "](x)", "a.md"),
            ("\\begin{a}{", "}\\end{a}", "a.tex"),
            ("---\na: ", "\n---\n", "a.md"),
            ("[", "]", "a.jsonl"),
            ('{"id":', "}", "a.jsonl"),
        ]
    )
    text = opening * deep + "x" + (closing * deep if rng.random() < 0.5 else "")
    return Damaged(kind="nested", name=name, data=text.encode(), text=text, classes=CHUNKED, records=())


def odd_records(rng: random.Random) -> Damaged:
    """Objects with values of every wrong kind."""
    values = ["", None, True, 1, 1.5, [], {}, "\ud800", "\0", "x" * 10, 10**400, [[[]]], "é"]
    lines = []
    for _ in range(20):
        row = {key: rng.choice(values) for key in ("id", "text", "n") if rng.random() < 0.9}
        lines.append(json.dumps(row) if rng.random() < 0.9 else rng.choice(["NaN", '{"id": NaN}', "{}{}", "\ufeff{}"]))
    as_array = rng.random() < 0.3
    text = f"[{','.join(lines)}]" if as_array else "\n".join(lines)
    return Damaged(
        kind="odd records", name="a.json" if as_array else "a.jsonl", data=text.encode(),
        classes=frozenset({"malformed", "no-id", "surrogate"}), source=RECORDS if as_array else SOURCE,
    )  # fmt: skip


_BOMBS = (
    bz2.compress(bytes(25 << 20)),
    gzip.compress(bytes(25 << 20)),
    lzma.compress(bytes(25 << 20)),
    bytes(pa.compress(bytes(25 << 20), "zstd", asbytes=True)),
    bz2.compress(b"[" * (17 << 20)),
)
_MAKERS: tuple[Callable[[random.Random], Damaged], ...] = (
    *(cut_text, flipped_text, other_charset, mixed_charsets, odd_marks, stray_controls, noise, lying_ending),
    *(other_format, cut_container, flipped_container, cut_packed, flipped_packed, packed_with_more, packed_twice),
    *(bomb, nested, odd_records),
)

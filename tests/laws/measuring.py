"""Lengths and edges measured the slow, obvious way: the laws must not share code with what they judge."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Iterator
from importlib import resources

import regex
import tiktoken

CLUSTER = regex.compile(r"\X")
CLUSTER_CAP = 64
FLAGS = regex.compile("[\U0001f1e6-\U0001f1ff]{20}")
KANA_OR_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
SURROGATE = regex.compile("[\ud800-\udfff]")
WORD = regex.compile(rf"[{KANA_OR_HAN}]|[^\s\x1c-\x1f{KANA_OR_HAN}]+")

R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
PATTERNS = {
    "cl100k_base": ("cl100k_base", CL100K),
    "o200k_base": ("o200k_base", O200K),
    "p50k_base": ("p50k_base", R50K),
    "r50k_base": ("r50k_base", R50K),
    "gpt2": ("r50k_base", R50K),
}


def characters(text: str) -> int:
    return len(text)


def utf8_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def words(text: str) -> int:
    return sum(1 for _ in WORD.finditer(text))


@functools.lru_cache(maxsize=8)
def encoding(name: str = "cl100k_base") -> tiktoken.Encoding:
    """tiktoken itself, over the ranks that ship with the package; never the network."""
    file, pattern = PATTERNS[name]
    lines = resources.files("chunkers.measure.encodings").joinpath(f"{file}.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    return tiktoken.Encoding(name=f"laws-{name}", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def tokens(name: str = "cl100k_base") -> Callable[[str], int]:
    """Special-token text is ordinary text; a lone surrogate counts as the U+FFFD that would be written for it."""
    encode = encoding(name).encode_ordinary
    return lambda text: len(encode(SURROGATE.sub("\ufffd", text)))


@functools.lru_cache(maxsize=2)
def cut_edges(text: str) -> bytearray:
    """1 at every offset (0 … len) where a cut is allowed: grapheme edges, and every 64th code point of a longer one."""
    if text.isascii():
        edges = bytearray(b"\1") * (len(text) + 1)
        at = text.find("\r\n")
        while at >= 0:
            edges[at + 1] = 0
            at = text.find("\r\n", at + 2)
        return edges
    edges = bytearray(len(text) + 1)
    edges[len(text)] = 1
    for start, end in clusters(text):
        for at in range(start, end, CLUSTER_CAP):
            edges[at] = 1
    return edges


def clusters(text: str) -> Iterator[tuple[int, int]]:
    """The grapheme clusters. `regex` counts all flags before a flag, so long rows of them are matched in slices."""
    if not FLAGS.search(text):
        yield from (cluster.span() for cluster in CLUSTER.finditer(text))
        return
    start = 0
    while start < len(text):
        window = 128
        while (size := CLUSTER.match(text[start : start + window]).end()) == window and start + window < len(text):
            window *= 2
        yield start, start + size
        start += size

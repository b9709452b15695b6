"""What is raced in strategies.py: our configurations, next to each the peers that do the nearest thing."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

AHEAD = 1.0
"""The ratio to reach where nothing more is asked: ours is the faster one."""

HEADERS = [["#", "h1"], ["##", "h2"], ["###", "h3"], ["####", "h4"], ["#####", "h5"], ["######", "h6"]]
LANGUAGES = MappingProxyType({"py": "python", "go": "go", "js": "js", "mjs": "js", "ts": "ts"})
"""The language of the source files of the corpus, by the ends of their names."""

PROSE = ("txt", "md", "cjk")
TEXT = (*PROSE, "code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """One of our configurations, and by the name of each peer the ratio to reach.

    `by_language`: the option `language` is that of the file, by the end of its name; else `language` is, if given. One
    document in `every` is taken, where a peer is too slow for more.
    """

    name: str
    strategy: str
    options: dict[str, Any]
    against: dict[str, float]
    kinds: tuple[str, ...]
    by_language: bool = False
    every: int = field(default=1)


def _sizes(size: int, overlap: int = 0, **more: Any) -> dict[str, Any]:
    return {"max_size": size, "overlap": overlap, **more}


def _recursive() -> list[Contest]:
    found = []
    for size, overlap, target in ((4000, 50, 4.0), (1000, 200, 3.0)):
        sizes = f"{size}/{overlap}"
        against = {f"langchain recursive {sizes}": target, f"semantic-text-splitter {sizes}": AHEAD}
        found += [
            Contest(
                name=f"recursive {sizes}",
                strategy="recursive",
                options=_sizes(size, overlap),
                against=against,
                kinds=TEXT,
            ),
            Contest(
                name=f"recursive {size}/0",
                strategy="recursive",
                options=_sizes(size),
                against={f"chonkie RecursiveChunker {size}": AHEAD, f"semchunk {size}": AHEAD},
                kinds=TEXT,
            ),
        ]
    tokens = {
        "langchain recursive 512 tokens": AHEAD,
        "semantic-text-splitter 512 tokens": AHEAD,
        "semchunk 512 tokens": AHEAD,
        "chonkie RecursiveChunker 512 tokens": AHEAD,
    }
    by_tokens = _sizes(512, unit="tokens")
    found.append(
        Contest(
            name="recursive 512 tokens", strategy="recursive", options=by_tokens, against=tokens, kinds=TEXT, every=4
        )
    )
    return found


def _token() -> list[Contest]:
    against = {
        "langchain TokenTextSplitter 512/50": 1.8,
        "langchain recursive 512/50 tokens": 1.8,
        "chonkie TokenChunker 512/50": AHEAD,
        "llama TokenTextSplitter 512/50": AHEAD,
    }
    return [
        Contest(name="token 512/50", strategy="token", options=_sizes(512, 50), against=against, kinds=TEXT, every=2)
    ]


def _languages() -> list[Contest]:
    found = []
    for sizes, options in (("4000/50", _sizes(4000, 50)), ("1000/200", _sizes(1000, 200))):
        found.append(
            Contest(
                name=f"recursive by language {sizes}",
                strategy="recursive",
                options=options,
                against={f"langchain from_language {sizes}": 3.0},
                kinds=("py", "go", "js", "ts"),
                by_language=True,
            )
        )
        for language, kind in (("markdown", "md"), ("latex", "tex"), ("html", "html")):
            found.append(
                Contest(
                    name=f"recursive, {language} {sizes}",
                    strategy="recursive",
                    options={**options, "language": language},
                    against={f"langchain from_language {sizes}": 3.0},
                    kinds=(kind,),
                )
            )
        found.append(
            Contest(
                name=f"latex {sizes}",
                strategy="latex",
                options=options,
                against={f"langchain from_language {sizes}": 3.0},
                kinds=("tex",),
            )
        )
    return found


def _code() -> list[Contest]:
    return [
        Contest(
            name=f"code {size}",
            strategy="code",
            options=_sizes(size),
            against={
                f"llama CodeSplitter {size}": 1.5,
                f"semantic-text-splitter CodeSplitter {size}": 1.5,
                f"chonkie CodeChunker {size}": 1.5,
            },
            kinds=("py", "go", "js", "ts"),
        )
        for size in (1500, 4000)
    ]


def _sentence() -> list[Contest]:
    return [
        Contest(
            name="sentence 1000",
            strategy="sentence",
            options={"max_size": 1000, "target_size": 1000},
            against={"llama SentenceSplitter 1000": 5.0, "chonkie SentenceChunker 1000": AHEAD},
            kinds=PROSE,
            every=2,
        ),
        Contest(
            name="sentence 512 tokens",
            strategy="sentence",
            options={"max_size": 512, "target_size": 512, "unit": "tokens"},
            against={"llama SentenceSplitter 512 tokens": 5.0, "chonkie SentenceChunker 512 tokens": AHEAD},
            kinds=PROSE,
            every=4,
        ),
    ]


def _markup() -> list[Contest]:
    found = [
        Contest(
            name="markdown headers 4000",
            strategy="markdown",
            options={"headers": HEADERS, "max_size": 4000},
            against={
                "langchain MarkdownHeaderTextSplitter": 5.0,
                "langchain headers, then recursive 4000": AHEAD,
                "llama MarkdownNodeParser": AHEAD,
            },
            kinds=("md",),
        )
    ]
    found += [
        Contest(
            name=f"markdown {size}",
            strategy="markdown",
            options={"max_size": size},
            against={
                f"langchain MarkdownTextSplitter {size}": AHEAD,
                f"semantic-text-splitter MarkdownSplitter {size}": AHEAD,
            },
            kinds=("md",),
        )
        for size in (4000, 1000)
    ]
    found.append(
        Contest(
            name="html",
            strategy="html",
            options={},
            against={"langchain HTMLHeaderTextSplitter": 3.0},
            kinds=("html",),
        )
    )
    for size, peer in ((4000, "langchain RecursiveJsonSplitter 4000"), (1000, "langchain RecursiveJsonSplitter 1000")):
        found.append(
            Contest(
                name=f"json {size}", strategy="json", options={"max_size": size}, against={peer: 5.0}, kinds=("json",)
            )
        )
    return found


def contests() -> list[Contest]:
    """Every contest, in the order of the table."""
    return [*_recursive(), *_token(), *_languages(), *_code(), *_sentence(), *_markup()]

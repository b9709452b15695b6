"""Our strategies against the splitters that are pinned in peers.lock, on the same documents, in one process.

`python benchmarks/strategies.py [--quick]`: JSON on stdout, a table on stderr. Exit 1 when a target is missed.
Without the peers installed it reports our own speed only.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measuring import Pair, alternate, cpu, table, texts
from chunkers import build, chunk, chunks_of, strategy_kinds

KINDS = ("md", "txt", "cjk", "code")
HEADERS = [["#", "h1"], ["##", "h2"], ["###", "h3"], ["####", "h4"], ["#####", "h5"], ["######", "h6"]]
Peer = Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """One of our configurations and the peer that does the nearest thing; `target` is the ratio to reach."""

    name: str
    strategy: str
    options: dict[str, Any]
    peer: str
    target: float | None = None
    kinds: tuple[str, ...] = KINDS


RECURSIVE_4000 = {"max_size": 4000, "overlap": 50}
RECURSIVE_1000 = {"max_size": 1000, "overlap": 200}
TOKEN_512 = {"max_size": 512, "overlap": 50}
MARKDOWN = {"headers": HEADERS, "max_size": 4000}
SENTENCE_1000 = {"max_size": 1000, "target_size": 1000}
SENTENCE_512 = {"max_size": 512, "target_size": 512, "unit": "tokens"}
PROSE = ("txt", "md", "cjk")
CONTESTS = (
    Contest(
        name="recursive 4000/50", strategy="recursive", options=RECURSIVE_4000, peer="recursive 4000/50", target=4.0
    ),
    Contest(
        name="recursive 1000/200", strategy="recursive", options=RECURSIVE_1000, peer="recursive 1000/200", target=3.0
    ),
    Contest(name="token 512/50", strategy="token", options=TOKEN_512, peer="TokenTextSplitter", target=1.8),
    Contest(name="token 512/50", strategy="token", options=TOKEN_512, peer="recursive.from_tiktoken", target=1.8),
    Contest(name="markdown headers", strategy="markdown", options=MARKDOWN, peer="headers", target=5.0, kinds=("md",)),
    Contest(
        name="markdown headers",
        strategy="markdown",
        options=MARKDOWN,
        peer="headers, then recursive 4000",
        kinds=("md",),
    ),
    Contest(
        name="sentence 1000",
        strategy="sentence",
        options=SENTENCE_1000,
        peer="SentenceSplitter 1000",
        target=5.0,
        kinds=PROSE,
    ),
    Contest(
        name="sentence 512 tokens",
        strategy="sentence",
        options=SENTENCE_512,
        peer="SentenceSplitter 512 tokens",
        kinds=PROSE,
    ),
    Contest(
        name="latex 1000/200",
        strategy="latex",
        options=RECURSIVE_1000,
        peer="LatexTextSplitter 1000/200",
        kinds=("tex",),
    ),
    Contest(
        name="latex 4000/50", strategy="latex", options=RECURSIVE_4000, peer="LatexTextSplitter 4000/50", kinds=("tex",)
    ),
    Contest(name="html", strategy="html", options={}, peer="HTMLHeaderTextSplitter", target=3.0, kinds=("html",)),
    Contest(
        name="json 4000",
        strategy="json",
        options={"max_size": 4000},
        peer="RecursiveJsonSplitter 4000",
        target=5.0,
        kinds=("json",),
    ),
    Contest(
        name="json 1000",
        strategy="json",
        options={"max_size": 1000},
        peer="RecursiveJsonSplitter 1000, lists too",
        target=5.0,
        kinds=("json",),
    ),
)


def peers() -> dict[str, Peer]:
    """The pinned peers by name; {} when they are not installed. They count with stock tiktoken over our ranks."""
    try:
        from langchain_text_splitters import (
            LatexTextSplitter,
            MarkdownHeaderTextSplitter,
            RecursiveCharacterTextSplitter,
            TokenTextSplitter,
        )
    except ImportError:
        return {}
    import tiktoken.registry

    from tests.laws.measuring import encoding

    tiktoken.registry.ENCODINGS["cl100k_base"] = encoding("cl100k_base")
    with_start = {"add_start_index": True}
    large = RecursiveCharacterTextSplitter(chunk_size=4000, chunk_overlap=50, **with_start)
    small = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200, **with_start)
    tokens = {"encoding_name": "cl100k_base", "chunk_size": 512, "chunk_overlap": 50, "disallowed_special": ()}
    token = TokenTextSplitter(**tokens)
    by_tokens = RecursiveCharacterTextSplitter.from_tiktoken_encoder(**tokens, **with_start)
    small_latex = LatexTextSplitter(chunk_size=1000, chunk_overlap=200, **with_start)
    large_latex = LatexTextSplitter(chunk_size=4000, chunk_overlap=50, **with_start)
    headers = MarkdownHeaderTextSplitter([(mark, key) for mark, key in HEADERS])
    return {
        "recursive 4000/50": lambda text: large.create_documents([text]),
        "recursive 1000/200": lambda text: small.create_documents([text]),
        "TokenTextSplitter": lambda text: token.create_documents([text]),
        "recursive.from_tiktoken": lambda text: by_tokens.create_documents([text]),
        "LatexTextSplitter 1000/200": lambda text: small_latex.create_documents([text]),
        "LatexTextSplitter 4000/50": lambda text: large_latex.create_documents([text]),
        **markup_peers(),
        **sentence_peers(encoding("cl100k_base").encode_ordinary),
        "headers": headers.split_text,
        "headers, then recursive 4000": lambda text: large.split_documents(headers.split_text(text)),
    }


def markup_peers() -> dict[str, Peer]:
    """langchain's splitters of HTML and JSON. That of JSON takes what is parsed; ours takes the text."""
    try:
        from langchain_text_splitters import HTMLHeaderTextSplitter, RecursiveJsonSplitter
    except ImportError:
        return {}
    html = HTMLHeaderTextSplitter([(f"h{level}", f"h{level}") for level in range(1, 7)])
    large, small = RecursiveJsonSplitter(max_chunk_size=4000), RecursiveJsonSplitter(max_chunk_size=1000)
    return {
        "HTMLHeaderTextSplitter": html.split_text,
        "RecursiveJsonSplitter 4000": lambda text: large.create_documents([json.loads(text)]),
        "RecursiveJsonSplitter 1000, lists too": lambda text: small.create_documents(
            [json.loads(text)], convert_lists=True
        ),
    }


def sentence_peers(encode: Callable[[str], list[int]]) -> dict[str, Peer]:
    """The splitter by sentences of llama-index, counting characters and tokens; {} when it is not installed."""
    try:
        from llama_index.core.node_parser import SentenceSplitter
    except ImportError:
        return {}
    by_characters = SentenceSplitter(chunk_size=1000, chunk_overlap=0, tokenizer=list)
    by_tokens = SentenceSplitter(chunk_size=512, chunk_overlap=0, tokenizer=encode)
    return {"SentenceSplitter 1000": by_characters.split_text, "SentenceSplitter 512 tokens": by_tokens.split_text}


def measure(contest: Contest, kind: str, peer: Peer | None, rounds: int, step: int) -> dict[str, Any]:
    documents = texts(kind)[::step]
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in documents) / 1e6

    strategy = build(contest.strategy, **contest.options)

    def ours() -> None:
        for text in documents:
            chunks_of(text, strategy.split(text))

    def one_call_each() -> None:
        for text in documents:
            chunk(text, contest.strategy, **contest.options)

    def theirs() -> None:
        for text in documents:
            peer(text)  # type: ignore[misc]

    if peer:
        pair = alternate(ours, theirs, rounds)
    else:
        ours()
        pair = Pair(ours=min(cpu(ours) for _ in range(rounds)), theirs=float("nan"), ratio=float("nan"))
    return {
        "contest": contest.name,
        "peer": contest.peer if peer else None,
        "kind": kind,
        "megabytes": round(megabytes, 3),
        "ours_mb_s": round(megabytes / pair.ours, 2),
        "call_mb_s": round(megabytes / min(cpu(one_call_each) for _ in range(2)), 2),
        "peer_mb_s": round(megabytes / pair.theirs, 2) if peer else None,
        "ratio": round(pair.ratio, 2) if peer else None,
        "target": contest.target,
        "met": None if not peer or contest.target is None else pair.ratio >= contest.target,
    }


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Every contest on every kind. `quick`: a tenth of the documents, three rounds."""
    available = peers()
    rounds, step = (3, 10) if quick else (5, 1)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for contest in CONTESTS:
            if contest.strategy in strategy_kinds():
                results += [measure(contest, kind, available.get(contest.peer), rounds, step) for kind in contest.kinds]
    return results


def report(results: list[dict[str, Any]]) -> str:
    rows = [["ours", "against", "kind", "MB", "ours MB/s", "chunk() MB/s", "peer MB/s", "ratio", "target", ""]]
    for result in results:
        verdict = {None: "", True: "met", False: "MISSED"}[result["met"]]
        cells = [
            result[key]
            for key in (
                "contest",
                "peer",
                "kind",
                "megabytes",
                "ours_mb_s",
                "call_mb_s",
                "peer_mb_s",
                "ratio",
                "target",
            )
        ]
        rows.append([*("-" if cell is None else str(cell) for cell in cells), verdict])
    return table(rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents, three rounds")
    results = run(parser.parse_args(arguments).quick)
    print(report(results), file=sys.stderr)
    if all(result["peer"] is None for result in results):
        print("no peers installed: pip install -r benchmarks/peers.lock", file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    print()
    return 1 if any(result["met"] is False for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())

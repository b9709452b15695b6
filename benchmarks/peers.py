"""The splitters that are pinned in peers.lock, each as one call over a text.

A library that is not installed leaves its rows out. All count tokens with tiktoken over the ranks that ship with
`chunkers` (semantic-text-splitter with its own copy of the same ranks), and tree-sitter's peers parse with the grammars
of our extra `[code]`, so that nothing needs the network.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.contests import HEADERS, LANGUAGES

Split = Callable[[str, str], Any]
"""A call with a text and the end of its file's name."""

ENCODING = "cl100k_base"
GRAMMARS = {"py": "python", "go": "go", "js": "javascript", "mjs": "javascript", "ts": "typescript"}
MARKUP = {"md": "markdown", "tex": "latex", "html": "html"}


@dataclass(frozen=True, slots=True)
class Peer:
    """`make` builds the splitter; again for every round if it remembers what it measured (`remembers`)."""

    make: Callable[[], Split]
    remembers: bool = False


def peers() -> dict[str, Peer]:
    """Every peer that is installed, by name."""
    families = {
        "langchain_text_splitters": _langchain,
        "llama_index": _llama,
        "chonkie": _chonkie,
        "semchunk": _semchunk,
        "semantic_text_splitter": _semantic_text_splitter,
    }
    found: dict[str, Peer] = {}
    for module, family in families.items():
        if importlib.util.find_spec(module) is not None:
            found.update(family())
    return found


def _encoding() -> Any:
    from tests.laws.measuring import encoding

    return encoding(ENCODING)


def _by_ending(of: dict[str, Callable[[str], Any]]) -> Split:
    return lambda text, ending: of[ending](text)


def _langchain() -> dict[str, Peer]:
    import langchain_text_splitters as langchain
    import tiktoken.registry

    tiktoken.registry.ENCODINGS[ENCODING] = _encoding()
    start = {"add_start_index": True}

    def recursive(size: int, overlap: int) -> Peer:
        splitter = langchain.RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, **start)
        return Peer(lambda: lambda text, _: splitter.create_documents([text]))

    def by_tokens(overlap: int) -> Peer:
        splitter = langchain.RecursiveCharacterTextSplitter.from_tiktoken_encoder(
            encoding_name=ENCODING, chunk_size=512, chunk_overlap=overlap, disallowed_special=(), **start
        )
        return Peer(lambda: lambda text, _: splitter.create_documents([text]))

    def from_language(size: int, overlap: int) -> Peer:
        made = {
            ending: langchain.RecursiveCharacterTextSplitter.from_language(
                langchain.Language(language), chunk_size=size, chunk_overlap=overlap, **start
            )
            for ending, language in {**LANGUAGES, **MARKUP}.items()
        }
        return Peer(lambda: lambda text, ending: made[ending].create_documents([text]))

    def markdown(size: int) -> Peer:
        splitter = langchain.MarkdownTextSplitter(chunk_size=size, chunk_overlap=0, **start)
        return Peer(lambda: lambda text, _: splitter.create_documents([text]))

    def of_json(size: int, *, convert_lists: bool) -> Peer:  # takes what is parsed; ours takes the text
        splitter = langchain.RecursiveJsonSplitter(max_chunk_size=size)
        return Peer(lambda: lambda text, _: splitter.create_documents([json.loads(text)], convert_lists=convert_lists))

    token = langchain.TokenTextSplitter(
        encoding_name=ENCODING, chunk_size=512, chunk_overlap=50, disallowed_special=(), **start
    )
    headers = langchain.MarkdownHeaderTextSplitter([(mark, key) for mark, key in HEADERS])
    large = langchain.RecursiveCharacterTextSplitter(chunk_size=4000, chunk_overlap=50, **start)
    html = langchain.HTMLHeaderTextSplitter([(f"h{level}", f"h{level}") for level in range(1, 7)])
    return {
        "langchain recursive 4000/50": recursive(4000, 50),
        "langchain recursive 1000/200": recursive(1000, 200),
        "langchain recursive 512 tokens": by_tokens(0),
        "langchain recursive 512/50 tokens": by_tokens(50),
        "langchain TokenTextSplitter 512/50": Peer(lambda: lambda text, _: token.create_documents([text])),
        "langchain from_language 4000/50": from_language(4000, 50),
        "langchain from_language 1000/200": from_language(1000, 200),
        "langchain MarkdownTextSplitter 4000": markdown(4000),
        "langchain MarkdownTextSplitter 1000": markdown(1000),
        "langchain MarkdownHeaderTextSplitter": Peer(lambda: lambda text, _: headers.split_text(text)),
        "langchain headers, then recursive 4000": Peer(
            lambda: lambda text, _: large.split_documents(headers.split_text(text))
        ),
        "langchain HTMLHeaderTextSplitter": Peer(lambda: lambda text, _: html.split_text(text)),
        "langchain RecursiveJsonSplitter 4000": of_json(4000, convert_lists=False),
        "langchain RecursiveJsonSplitter 1000": of_json(1000, convert_lists=True),
    }


def _llama() -> dict[str, Peer]:
    from llama_index.core import Document
    from llama_index.core.node_parser import CodeSplitter, MarkdownNodeParser, SentenceSplitter, TokenTextSplitter

    encode = _encoding().encode_ordinary
    characters = SentenceSplitter(chunk_size=1000, chunk_overlap=0, tokenizer=list)
    tokens = SentenceSplitter(chunk_size=512, chunk_overlap=0, tokenizer=encode)
    windows = TokenTextSplitter(chunk_size=512, chunk_overlap=50, tokenizer=encode)
    headers = MarkdownNodeParser()

    def code(size: int) -> Peer:
        import tree_sitter

        from chunkers.structure.grammars import language_of_grammar

        made = {
            ending: CodeSplitter(
                language=grammar, max_chars=size, parser=tree_sitter.Parser(language_of_grammar(grammar))
            ).split_text
            for ending, grammar in GRAMMARS.items()
        }

        def split(text: str, ending: str) -> Any:
            try:
                return made[ending](text)
            except ValueError:  # it has parsed, and refuses what starts with a syntax error
                return []

        return Peer(lambda: split)

    return {
        "llama SentenceSplitter 1000": Peer(lambda: lambda text, _: characters.split_text(text)),
        "llama SentenceSplitter 512 tokens": Peer(lambda: lambda text, _: tokens.split_text(text)),
        "llama TokenTextSplitter 512/50": Peer(lambda: lambda text, _: windows.split_text(text)),
        "llama MarkdownNodeParser": Peer(
            lambda: lambda text, _: headers.get_nodes_from_documents([Document(text=text)])
        ),
        **{f"llama CodeSplitter {size}": code(size) for size in (1500, 4000)},
    }


def _chonkie() -> dict[str, Peer]:
    from chonkie import CodeChunker, RecursiveChunker, SentenceChunker, TokenChunker

    encoding = _encoding()

    def peer(chunker: Any) -> Peer:
        return Peer(lambda: lambda text, _: chunker.chunk(text))

    def recursive(**options: Any) -> Peer:  # it keeps the counts of 4096 pieces, as semchunk does of all
        def make() -> Split:
            RecursiveChunker._estimate_token_count.cache_clear()
            chunker = RecursiveChunker(**options)
            return lambda text, _: chunker.chunk(text)

        return Peer(make, remembers=True)

    found = {
        "chonkie RecursiveChunker 4000": recursive(chunk_size=4000),
        "chonkie RecursiveChunker 1000": recursive(chunk_size=1000),
        "chonkie RecursiveChunker 512 tokens": recursive(tokenizer=encoding, chunk_size=512),
        "chonkie SentenceChunker 1000": peer(SentenceChunker(chunk_size=1000)),
        "chonkie SentenceChunker 512 tokens": peer(SentenceChunker(tokenizer=encoding, chunk_size=512)),
        "chonkie TokenChunker 512/50": peer(TokenChunker(tokenizer=encoding, chunk_size=512, chunk_overlap=50)),
    }
    if importlib.util.find_spec("tree_sitter_language_pack") is None:
        return found
    pack: Any = importlib.import_module("tree_sitter_language_pack")
    if not set(GRAMMARS.values()) <= set(pack.downloaded_languages()):
        return found  # its grammars come from the network, where there is one
    for size in (1500, 4000):
        made = {ending: CodeChunker(chunk_size=size, language=name).chunk for ending, name in GRAMMARS.items()}
        found[f"chonkie CodeChunker {size}"] = Peer(lambda made=made: _by_ending(made))  # type: ignore[misc]
    return found


def _semchunk() -> dict[str, Peer]:
    """It keeps the count of every piece it has met, so that a second pass would only look them up."""
    semchunk: Any = importlib.import_module("semchunk")

    def peer(counter: Any, size: int) -> Peer:
        def make() -> Split:
            semchunk.semchunk._memoized_token_counters.clear()
            chunker = semchunk.chunkerify(counter, size)
            return lambda text, _: chunker(text, offsets=True)

        return Peer(make, remembers=True)

    return {
        "semchunk 4000": peer(len, 4000),
        "semchunk 1000": peer(len, 1000),
        "semchunk 512 tokens": peer(_encoding(), 512),
    }


def _semantic_text_splitter() -> dict[str, Peer]:
    import semantic_text_splitter as rust

    def peer(splitter: Any) -> Peer:
        return Peer(lambda: lambda text, _: splitter.chunk_indices(text))

    def code(size: int) -> Peer:
        from chunkers.structure.grammars import GRAMMARS as OURS

        made = {}
        for ending, name in GRAMMARS.items():
            grammar = OURS[name]
            language = getattr(importlib.import_module(grammar.module), grammar.function)()
            made[ending] = rust.CodeSplitter(language, size).chunk_indices
        return Peer(lambda: _by_ending(made))

    return {
        "semantic-text-splitter 4000/50": peer(rust.TextSplitter(4000, 50)),
        "semantic-text-splitter 1000/200": peer(rust.TextSplitter(1000, 200)),
        "semantic-text-splitter 512 tokens": peer(rust.TextSplitter.from_tiktoken_model("gpt-4", 512)),
        "semantic-text-splitter MarkdownSplitter 4000": peer(rust.MarkdownSplitter(4000)),
        "semantic-text-splitter MarkdownSplitter 1000": peer(rust.MarkdownSplitter(1000)),
        **{f"semantic-text-splitter CodeSplitter {size}": code(size) for size in (1500, 4000)},
    }

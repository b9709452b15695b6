"""Which strategies go through the battery, with which options, on which documents. A new strategy is one entry here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chunkers.records import Split
from tests.laws import json_leaves, measuring, visible
from tests.laws.laws import Promise

Options = Mapping[str, Any]
PLAIN = ("txt", "cjk", "md", "code")
UNITS: dict[str, Callable[[str], int]] = {
    "characters": measuring.characters,
    "words": measuring.words,
    "bytes": measuring.utf8_bytes,
}
SIZES: tuple[Options, ...] = (
    {},
    {"max_size": 80, "overlap": 0},
    {"max_size": 80, "overlap": 25},
    {"max_size": 500},
    {"max_size": 7, "overlap": 3},
    {"max_size": 1, "overlap": 0},
    {"max_size": 12, "overlap": 4, "unit": "words"},
    {"max_size": 64, "overlap": 20, "unit": "bytes"},
    {"max_size": 16, "overlap": 5, "unit": "tokens"},
    {"max_size": 60, "overlap": 10, "length_function": measuring.utf16},
    {"max_size": 200, "overlap": 20, "max_tokens": 12},
    {"max_size": 30, "overlap": 15, "unit": "words", "max_tokens": 14},
    {"max_size": 80, "overlap": 0, "strip_whitespace": False},
    {"max_size": 80, "overlap": 20, "strip_whitespace": False},
)
"""What every strategy that cuts by size must bear."""
CONTEXTS: tuple[Options, ...] = (
    {"max_size": 200, "overlap": 20, "context": "{headings}\n\n"},
    {"max_size": 80, "overlap": 0, "context": "{title}: {headings}\n"},
    {"max_size": 40, "overlap": 10, "unit": "tokens", "context": "{path} | {headings}\n\n"},
    {"max_size": 400, "overlap": 50, "max_tokens": 60, "context": "passage: "},
    {"max_size": 1, "overlap": 0, "context": "{headings}\n"},
)
"""What every strategy must bear that takes a template for `context`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One strategy of the battery.

    `kinds` are folders of the corpus and keys of `generators.DOCUMENTS`, `invented` keys of the latter only; `exempt` names laws with the reason why they
    do not apply; `drops` are the kinds of text its options may leave out. `promise` overrides what options promise.
    """

    strategy: str
    options: tuple[Options, ...] = SIZES
    kinds: tuple[str, ...] = PLAIN
    invented: tuple[str, ...] = ()
    exempt: Mapping[str, str] = field(default_factory=dict)
    drops: Callable[[Options], frozenset[str]] = lambda options: frozenset()
    unit: str = "characters"
    default_size: int | None = 4000
    default_overlap: int = 50
    overlap_at_words: bool = True
    keeps_indentation: Callable[[Options], bool] = lambda options: False
    section_levels: Callable[[Options], tuple[int, ...] | None] = lambda options: None
    headings_stay: Callable[[Options], bool] = lambda options: True
    has_own_sections: bool = False
    """Whether more than headings opens a section: what follows a heading may belong to another one."""
    renders: bool = False
    reads_pages: bool = False
    """Whether a text that begins with a tag may be read as a page, even if it is no file of HTML."""
    path: str | None = None
    """Where documents lie of which nothing else is said, for a way of reading that only a path asks for."""
    refuses: Callable[[str], bool] | None = None
    """Which documents have to fail, for a strategy that does not take every text."""
    says: Callable[[str, Split, Options], Sequence[str]] | None = None
    """What the chunks together say otherwise than the document, where their text is no slice of it."""
    atom: Callable[[Options], Callable[[str], bool] | None] = lambda options: None
    sizes: Callable[[Options], tuple[int, int]] | None = None
    """Size and overlap of a strategy that has no `max_size`."""
    markdown_suffixes: tuple[str, ...] | None = None
    """What paths of Markdown end in, for a strategy that takes others for plain text."""

    def counts_tokens(self, options: Options) -> bool:
        """Whether tokens are limited, of which two texts together may have more or fewer than both have apart."""
        return "max_tokens" in options or options.get("unit", self.unit) == "tokens"

    def promise(self, options: Options, split: Split, path: str | None = None, document: str = "") -> Promise:
        """What `options` owe for a document at `path`. `auto` owes what the strategy that did the work owes."""
        worker = BY_NAME.get(split.strategy, self) if self.strategy == "auto" else self
        max_size = options.get("max_size", worker.default_size)
        overlap = options.get("overlap")
        if worker.sizes is not None:
            max_size, overlap = worker.sizes(options)
        if overlap is None:
            overlap = worker.default_overlap if max_size is not None and max_size >= 100 else 0
        encoding = options.get("encoding_name", "cl100k_base")
        unit = options.get("unit", worker.unit)
        measure = options.get("length_function") or (measuring.tokens(encoding) if unit == "tokens" else UNITS[unit])
        levels = worker.section_levels(options)
        if worker.markdown_suffixes is not None and not (path or "").endswith(worker.markdown_suffixes):
            levels = None
        is_page = self.reads_pages and document.removeprefix("\ufeff").lstrip().startswith("<")
        if is_page:
            is_page = all(span.rendered is not None for span in split.spans)
            levels = None if is_page else levels
        return Promise(
            max_size=max_size,
            overlap=overlap,
            measure=measure,
            max_tokens=options.get("max_tokens"),
            tokens=measuring.tokens(encoding),
            strip=options.get("strip_whitespace", True),
            # Source files go to a language ladder, other text to a plain one: both are right for `auto`.
            keeps_indentation=None if self.strategy == "auto" else worker.keeps_indentation(options),
            renders=is_page or worker.renders,
            is_atom=worker.atom(options),
            drops=visible.DROPS if is_page else worker.drops(options),
            overlap_at_words=worker.overlap_at_words and not {"separators", "separator"} & set(options),
            section_levels=levels,
            headings_stay=worker.headings_stay(options),
            has_own_sections=worker.has_own_sections,
            has_template="{" in options.get("context", "") or ("context" in options and worker.counts_tokens(options)),
            is_mdx=path is not None and path.endswith(".mdx"),
        )


JOINED = "々ーゝゞぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
"""Letters that start no line in Japanese, and so no word."""
BETWEEN_WORDS = re.compile(
    rf"(?<!\s)\s|(?<=[{measuring.KANA_OR_HAN}])(?![{JOINED}])(?=\w)|(?<=\w)(?![{JOINED}])(?=[{measuring.KANA_OR_HAN}])"
)


def sentence_atom(options: Options) -> Callable[[str], bool] | None:
    """What stays whole when a fallback is off: a sentence, or a word."""
    if not options.get("fallback_to_words", True):
        return lambda text: True
    if not options.get("fallback_to_characters", True):
        return lambda text: not can_be_cut_between_words(text)
    return None


def can_be_cut_between_words(text: str) -> bool:
    """White space may belong to a cluster: it carries marks, or a sign in front of it takes it along."""
    edges = measuring.cut_edges(text)
    return any(edges[found.start()] for found in BETWEEN_WORDS.finditer(text) if 0 < found.start() < len(text))


def pages_sizes(options: Options) -> tuple[int, int]:
    size = options.get("chunk_size", 1200)
    overlap = options.get("chunk_overlap", min(200, size // 2))
    return size, 0 if options.get("mode") == "sentences" else overlap


def json_sizes(options: Options) -> tuple[int, int]:
    return options.get("max_size", 4000), 0


def html_says(document: str, split: Split, options: Options) -> Sequence[str]:
    """Only overlaps in characters can be taken out again."""
    known = not any(span.overlap for span in split.spans) or not {"unit", "length_function"} & set(options)
    return visible.differences(document, split) if known else []


DATA = re.compile(r"(?i)<script\b[^>]*application/ld\+json[^>]*>.*?(?:</script|\Z)", re.DOTALL)


def faq_says(document: str, split: Split, options: Options) -> Sequence[str]:
    """Data that a page does not show is laid out all the same, where its script stands."""
    scripts = [found.span() for found in DATA.finditer(document)]
    shown = [span for span in split.spans if not any(start <= span.start < end for start, end in scripts)]
    return html_says(document, split._replace(spans=shown), options)


def separators_dropped(options: Options) -> frozenset[str]:
    named = "separators" in options or "separator" in options
    return frozenset({"separator"} if named and "separator_position" not in options else ())


def markdown_drops(options: Options) -> frozenset[str]:
    return frozenset(
        {"front-matter"} | ({"heading"} if "headers" in options and options.get("strip_headers", True) else set())
    )


def markdown_levels(options: Options) -> tuple[int, ...]:
    if "headers" not in options:
        return (1, 2, 3, 4, 5, 6)
    return tuple(len(mark) for mark, _ in options["headers"])


HEADERS = [["#", "title"], ["##", "section"]]
LISTED: tuple[Listed, ...] = (
    Listed(
        strategy="recursive",
        options=(
            *SIZES,
            {"max_size": 40, "overlap": 10, "separators": ["\n\n", "\n", "。", " ", ""]},
            {"max_size": 40, "overlap": 10, "separators": [" "]},
            {"max_size": 40, "overlap": 0, "separators": ["\n", "。", ""], "separator_position": "end"},
            {"max_size": 40, "overlap": 12, "separators": [" ", ""], "separator_position": "start"},
            {"max_size": 40, "overlap": 12, "separators": ["[。!.]", r"(\s)+", ""], "is_separator_regex": True},
            {
                "max_size": 80,
                "overlap": 20,
                "separators": [r"\b(?=[A-Z])", ""],
                "is_separator_regex": True,
                "separator_position": "end",
            },
            {"max_size": 60, "overlap": 20, "language": "python"},
            {"max_size": 120, "overlap": 0, "language": "js"},
            {"max_size": 30, "overlap": 9, "language": "go", "unit": "tokens"},
            {"max_size": 80, "overlap": 20, "language": "html"},
            {"max_size": 80, "overlap": 20, "language": "rst"},
        ),
        drops=separators_dropped,
        keeps_indentation=lambda options: "language" in options,
    ),
    Listed(
        strategy="character",
        options=(
            *SIZES,
            {"max_size": 40, "overlap": 10, "separator": " "},
            {"max_size": 40, "overlap": 0, "separator": "", "strip_whitespace": False},
            {"max_size": 40, "overlap": 10, "separator": "\n", "separator_position": "end"},
            {
                "max_size": 40,
                "overlap": 10,
                "separator": r"[.。]\s*",
                "is_separator_regex": True,
                "separator_position": "start",
            },
            {"max_size": 40, "overlap": 10, "separators": ["\n\n", ",", "。"]},
        ),
        drops=separators_dropped,
        overlap_at_words=False,
    ),
    Listed(strategy="fixed", overlap_at_words=False),
    Listed(
        strategy="token",
        options=(
            {},
            {"max_size": 5, "overlap": 2},
            {"max_size": 1, "overlap": 0},
            {"max_size": 3, "overlap": 1, "strip_whitespace": False},
            {"max_size": 64, "overlap": 16},
            {"max_size": 64, "overlap": 16, "encoding_name": "o200k_base"},
            {"max_size": 20, "overlap": 5, "encoding_name": "gpt2"},
            {"max_size": 20, "overlap": 0, "encoding_name": "p50k_base", "strip_whitespace": False},
        ),
        unit="tokens",
        overlap_at_words=False,
    ),
    Listed(
        strategy="sentence",
        options=(
            *(options for options in SIZES if options),
            {"max_size": 4000},
            {"max_size": 80, "min_size": 60, "overlap": 30},
            {"max_size": 80, "min_size": 0, "target_size": 10, "overlap": 25},
            {"max_size": 200, "sentence_enders": ["...", ".", "。", "\n"], "overlap": 40},
            {"max_size": 20, "fallback_to_words": False},
            {"max_size": 20, "overlap": 10, "fallback_to_characters": False},
            {"max_size": 20, "fallback_to_characters": False, "strip_whitespace": False},
            {"max_size": 120, "min_size": 100, "target_size": 1, "unit": "bytes", "max_tokens": 30},
        ),
        default_overlap=0,
        atom=sentence_atom,
    ),
    Listed(
        strategy="markdown",
        options=(
            *SIZES,
            {"headers": HEADERS},
            {"headers": HEADERS, "max_size": 80, "overlap": 20},
            {"headers": HEADERS, "max_size": 80, "overlap": 0, "strip_headers": False},
            {
                "headers": [["#", "a"], ["###", "b"], ["######", "c"]],
                "max_size": 200,
                "overlap": 30,
                "strip_headers": False,
            },
            {"headers": HEADERS, "max_size": 80, "overlap": 0, "return_each_line": True},
            *CONTEXTS,
            {
                "headers": HEADERS,
                "max_size": 120,
                "overlap": 20,
                "context": "{metadata[title]} / {metadata[section]}: ",
            },
        ),
        kinds=("md", "txt", "cjk"),
        invented=("mdx",),
        drops=markdown_drops,
        keeps_indentation=lambda options: True,
        section_levels=markdown_levels,
        headings_stay=lambda options: (
            not options.get("return_each_line") and ("headers" not in options or not options.get("strip_headers", True))
        ),
    ),
    Listed(
        strategy="semantic-markdown",
        options=(
            *SIZES,
            {"join_threshold": 12},
            {"join_threshold": 40, "max_size": 120, "overlap": 30},
            {"join_threshold": 1, "encoding_name": "gpt2", "strip_whitespace": False},
            *CONTEXTS,
            {"join_threshold": 40, "context": "{headings}\n\n"},
        ),
        kinds=("md", "txt", "cjk"),
        invented=("mdx",),
        drops=lambda options: frozenset({"front-matter"}),
        default_size=None,
        keeps_indentation=lambda options: True,
        section_levels=lambda options: (1, 2, 3, 4, 5, 6),
        headings_stay=lambda options: True,
    ),
    Listed(
        strategy="pages",
        options=(
            {},
            {"chunk_size": 200, "chunk_overlap": 0},
            {"chunk_size": 200},
            {"chunk_size": 300, "chunk_overlap": 40, "markdown_header_depth": 2},
            {"chunk_size": 2000, "chunk_overlap": 1000, "markdown_header_depth": 1},
            {"mode": "sentences"},
            {"mode": "sentences", "chunk_size": 200, "markdown_header_depth": 3},
        ),
        kinds=("md", "txt", "cjk"),
        invented=("page",),
        drops=lambda options: frozenset({"front-matter", "heading", "no-words"}),
        section_levels=lambda options: tuple(range(1, options.get("markdown_header_depth", 6) + 1)),
        sizes=pages_sizes,
        markdown_suffixes=(".md", ".markdown"),
    ),
    Listed(
        strategy="legal",
        options=(*SIZES, *CONTEXTS),
        kinds=("txt", "cjk", "md"),
        invented=("law", "page"),
        has_own_sections=True,
        drops=lambda options: frozenset({"front-matter"}),
        keeps_indentation=lambda options: True,
        section_levels=lambda options: (1, 2, 3, 4, 5, 6),
    ),
    Listed(
        strategy="latex",
        options=(
            *SIZES,
            {"max_size": 80, "overlap": 20, "strip_whitespace": False, "separator_position": "start"},
            *CONTEXTS,
        ),
        kinds=("tex", "txt"),
        drops=lambda options: frozenset({"after-document"}),
        keeps_indentation=lambda options: True,
    ),
    Listed(
        strategy="faq",
        options=(*SIZES, *CONTEXTS),
        kinds=("html",),
        invented=("webpage",),
        path="page.html",
        drops=lambda options: visible.DROPS,
        keeps_indentation=lambda options: True,
        renders=True,
        says=faq_says,
    ),
    Listed(
        strategy="faq",
        options=(*SIZES, *CONTEXTS),
        reads_pages=True,
        kinds=("txt", "cjk", "md"),
        invented=("questions", "page"),
        drops=lambda options: frozenset({"front-matter"}),
        keeps_indentation=lambda options: True,
        section_levels=lambda options: (1, 2, 3, 4, 5, 6),
    ),
    Listed(
        strategy="html",
        options=(
            *SIZES,
            {"headers": [["h1", "title"], ["h2", "section"]], "max_size": 80, "overlap": 20},
            {"headers": [["h2", "a"], [".c", "b"], ["div > p:first-child", "c"]], "max_size": 60, "overlap": 0},
            {"sections": [["section", "a"], ["div", "b"]], "max_size": 120, "overlap": 30},
            {"sections": [["section", "a"], ["h2", "b"], ["[id]", "c"]], "max_size": 40},
            {"return_each_line": True, "max_size": 90, "overlap": 0},
            *CONTEXTS,
            {"sections": [["section", "a"], ["div", "b"]], "max_size": 120, "context": "{metadata[b]}: "},
        ),
        kinds=("html", "txt", "md"),
        drops=lambda options: visible.DROPS,
        keeps_indentation=lambda options: True,
        renders=True,
        says=html_says,
    ),
    Listed(
        strategy="json",
        options=(
            {},
            {"max_size": 80},
            {"max_size": 40, "min_size": 15},
            {"max_size": 500, "min_size": 200},
            {"max_size": 7},
            {"max_size": 1},
            {"max_size": 12, "unit": "words"},
            {"max_size": 64, "unit": "bytes"},
            {"max_size": 16, "unit": "tokens"},
            {"max_size": 60, "length_function": measuring.utf16},
            {"max_size": 200, "max_tokens": 12},
            {"max_size": 60, "ensure_ascii": True},
            {"max_size": 60, "convert_lists": True},
            {"max_size": 90, "convert_lists": True, "ensure_ascii": True, "min_size": 30},
            {"max_size": 80, "context": "{path} {metadata[pointer]}: "},
            {"max_size": 40, "min_size": 38, "context": "{metadata[base]} "},
            {"max_size": 24, "unit": "tokens", "context": "{metadata[pointer]}\n"},
            {"max_size": 2, "context": "x"},
        ),
        kinds=("json",),
        drops=lambda options: frozenset({"structure"}),
        default_overlap=0,
        sizes=json_sizes,
        renders=True,
        refuses=json_leaves.is_refused,
        atom=lambda options: json_leaves.is_atom,
        says=lambda document, split, options: json_leaves.differences(
            document, split, converted=options.get("convert_lists", False)
        ),
    ),
    Listed(
        strategy="code",
        options=(
            *SIZES,
            *(
                {"max_size": 60, "overlap": 15, "language": name}
                for name in ("python", "javascript", "go", "cpp", "ruby")
            ),
            {"max_size": 60, "overlap": 15, "language": "python", "strip_whitespace": False},
            {"max_size": 12, "overlap": 3, "unit": "tokens", "language": "rust"},
            *({**options, "language": "python"} for options in CONTEXTS),
        ),
        kinds=("code", "txt"),
        invented=("source",),
        keeps_indentation=lambda options: True,
    ),
    Listed(
        strategy="auto",
        options=tuple(o for o in SIZES if set(o) <= {"max_size", "overlap", "max_tokens"}),
        invented=("mdx",),
    ),
)
BY_NAME = {listed.strategy: listed for listed in LISTED}

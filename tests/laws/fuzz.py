"""Random documents and random options through the law battery, from seeds that can be named again.

python -m tests.laws.fuzz                          # 200 documents of every strategy
python -m tests.laws.fuzz legal faq --seeds 0:10000
python -m tests.laws.fuzz html --seeds 4711        # one document again, in full
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from chunkers import build
from chunkers.errors import OptionError, OptionWarning
from tests.laws import measuring, wild
from tests.laws.generators import PATHS
from tests.laws.subjects import REGISTERED, documents, judge, named
from tests.laws.table import Listed, Options

SUFFIXES = ("py", "js", "tsx", "go", "java", "rs", "c", "cpp", "cs", "rb", "php", "sh", "kt", "lua", "zzz")
LARGEST = 60
"""How many violations are printed of one strategy."""


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 if any document breaks a law."""
    parser = argparse.ArgumentParser(prog="python -m tests.laws.fuzz", description=__doc__.splitlines()[0])
    names = [listed.strategy for listed in REGISTERED]
    parser.add_argument("strategies", nargs="*", metavar="STRATEGY", help=f"of {', '.join(names)}; all unless given")
    parser.add_argument("--seeds", default="0:200", help="FIRST:LAST (exclusive), or one seed")
    parser.add_argument("--files", type=int, metavar="SETS", help="the files of the corpus instead; all sets in turn")
    given = parser.parse_args(arguments)
    first, colon, last = given.seeds.partition(":")
    seeds = range(int(first), int(last) if colon else int(first) + 1)
    warnings.simplefilter("ignore", OptionWarning)
    wrong = 0
    for listed in REGISTERED:
        if listed.strategy in (given.strategies or names):
            cases = of_files(listed, given.files) if given.files else of_seeds(listed, seeds, is_full=not colon)
            wrong += run(listed, cases)
    return min(wrong, 1)


class Case(NamedTuple):
    """A document, what it is called, and what is done to it."""

    name: str
    options: Options
    document: str
    path: str | None


def run(listed: Listed, cases: Iterable[Case]) -> int:
    """How many cases break a law; each is printed."""
    started, wrong, judged_ones = time.process_time(), 0, 0
    for name, options, document, path in cases:
        judged_ones += 1
        found = judged(listed, options, document, path)
        if found:
            wrong += 1
            if wrong <= LARGEST:
                print(f"{listed.strategy} {name} ({named(options)}; {len(document)} characters; {path})")
                print(*(f"    {sentence}" for sentence in found[:3]), sep="\n", flush=True)
    seconds = time.process_time() - started
    print(f"{listed.strategy:18} {judged_ones} documents, {wrong} break a law, {seconds:.0f} s", flush=True)
    return wrong


def of_seeds(listed: Listed, seeds: range, *, is_full: bool) -> Iterator[Case]:
    for seed in seeds:
        options, document, path = case(listed, seed)
        if is_full:
            print(f"{path}\n{document!r}")
        yield Case(f"--seeds {seed}", options, document, path)


def of_files(listed: Listed, sets: int) -> Iterator[Case]:
    """Every file of the kinds of a strategy, with so many sets of its options: other ones from file to file."""
    number = 0
    for kind in listed.kinds:
        for name, text in documents(kind):
            for _ in range(min(sets, len(listed.options))):
                yield Case(f"{kind}/{name}", listed.options[number % len(listed.options)], text, name)
                number += 1


def judged(listed: Listed, options: Options, document: str, path: str | None) -> list[str]:
    """What is wrong; an exception is a violation of its own."""
    try:
        return judge(listed, options, document, path)
    except Exception:
        return ["exception: " + " / ".join(traceback.format_exc().strip().split("\n")[-3:])]


def case(listed: Listed, seed: int) -> tuple[Options, str, str | None]:
    """The options, the document and the path that a seed stands for."""
    random = Random(f"{listed.strategy} {seed}")
    kinds = [kind for kind in (*listed.kinds, *listed.invented) if kind in wild.MAKERS or kind == "cjk"]
    kind = random.choice(kinds)
    path = PATHS.get(kind)
    if kind in ("source", "code"):
        path = f"document.{random.choice(SUFFIXES)}"
    document = wild.document(kind, random)
    return settled(listed, random), document, path


def settled(listed: Listed, random: Random) -> Options:
    """Options of the table as they stand, or with others: extremes, and sets that nobody wrote down."""
    if random.random() < 0.3:
        return random.choice(listed.options)
    for _ in range(200):
        options = drawn(listed, random)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                listed_build(listed.strategy, options)
        except OptionError:
            continue
        return options
    raise AssertionError(f"no options for {listed.strategy}")


def listed_build(strategy: str, options: Options) -> None:
    build(strategy, **options)


def drawn(listed: Listed, random: Random) -> dict[str, Any]:
    name = listed.strategy
    if name == "pages":
        size = random.choice((200, 201, 250, 500, 2000))
        return some(
            random,
            chunk_size=(size,),
            chunk_overlap=(0, 1, size // 2, size // 3),
            mode=("pages", "sentences"),
            markdown_header_depth=(1, 2, 3, 6),
        )
    size = random.choice((1, 2, 3, 5, 8, 13, 21, 40, 80, 100, 200, 500, 4000))
    smaller = random.choice((0, 1, size // 2, size - 1))
    own: dict[str, Any] = {"max_size": size}
    if name == "token":
        return own | {"overlap": smaller} | some(random, **TOKEN)
    own |= some(random, max_tokens=(1, 2, 5, 20, 100))
    if name != "auto":
        own |= some(random, **random.choice(UNITS))
    if name != "json" and random.random() < 0.7:
        own["overlap"] = min(smaller, size - 1)
    if name not in ("json", "html", "auto"):
        own |= some(random, strip_whitespace=(False,))
    own |= some(random, **EXTRA.get(name, lambda size: {})(size))
    if any("context" in options for options in listed.options):
        own |= some(
            random,
            context=("{headings}\n", "{title} {path}: ", "x", "{headings} {metadata[title]}\n\n", "\u4e2d{path}\n"),
        )
    return own


def some(random: Random, **choices: Any) -> dict[str, Any]:
    """Some of these options, each with one of its values."""
    return {name: random.choice(values) for name, values in choices.items() if random.random() < 0.5}


UNITS: tuple[Mapping[str, Any], ...] = (
    {},
    {"unit": ("words", "bytes", "tokens", "tokens")},
    {"length_function": (measuring.utf16,)},
)
TOKEN: Mapping[str, Any] = {"encoding_name": ("o200k_base", "gpt2", "p50k_base"), "strip_whitespace": (False,)}
EXTRA: Mapping[str, Any] = {
    "recursive": lambda size: random_separators(),
    "character": lambda size: {"separator": ("\n", " ", "。", "x"), "separator_position": ("start", "end")},
    "sentence": lambda size: {
        "min_size": (0, 1, size // 2, size),
        "target_size": (1, size // 2 or 1, size),
        "sentence_enders": (["."], ["。", "\n"], ["...", "?!"]),
        "fallback_to_words": (False,),
        "fallback_to_characters": (False,),
    },
    "markdown": lambda size: {
        "headers": ([["#", "title"]], [["#", "a"], ["##", "b"], ["###", "title"]], [["###", "c"]]),
        "strip_headers": (False,),
        "return_each_line": (True,),
    },
    "semantic-markdown": lambda size: {"join_threshold": (1, 5, 30, 500)},
    "latex": lambda size: {"separator_position": ("start", "end")},
    "html": lambda size: {
        "headers": ([["h1", "title"], ["h2", "b"]], [["p", "a"]], [["h1, h3", "a"], [".c", "b"]]),
        "return_each_line": (True,),
    },
    "json": lambda size: {
        "min_size": (0, 1, size // 2, size),
        "ensure_ascii": (True,),
        "convert_lists": (True,),
    },
    "code": lambda size: {"language": ("python", "javascript", "typescript", "tsx", "java", "c", "cpp", "csharp", "php", "bash", "ruby", "rust", "go")},
}  # fmt: skip


def random_separators() -> Mapping[str, Any]:
    languages = "c cobol cpp csharp elixir go haskell html java js kotlin latex lua markdown perl php powershell proto python r rst ruby rust scala sol swift ts"
    return {"language": tuple(languages.split())}


if __name__ == "__main__":
    sys.exit(main())

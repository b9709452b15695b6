"""How many golden rules of sentence boundaries hold, next to pySBD, sentencex, and their speed where installed.

`python benchmarks/sentences.py FOLDER`: a table on stderr, JSON on stdout. FOLDER holds `<language>.txt` files in the
form that sentencex and Pragmatic Segmenter's ports share: a text, a line `---`, its sentences one a line, a line `===`.
The rules are no part of this project; the sources of the `sentencex` crate have them in `tests/`. Ours is told no
language, the others are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measuring import CORPUS, cpu, table, texts
from chunkers import build

Splitter = Callable[[str, str], list[str]]


class Rule(NamedTuple):
    """A text and its sentences."""

    text: str
    sentences: list[str]


def rules(file: Path) -> Iterator[Rule]:
    """The rules of one language. Rules that are commented out are left out."""
    for block in file.read_text(encoding="utf-8").split("\n===")[:]:
        lines = [line for line in block.split("\n") if not line.startswith("#")]
        text, mark, sentences = "\n".join(lines).strip("\n").partition("\n---\n")
        if mark and text.strip():
            yield Rule(text, [sentence.strip() for sentence in sentences.split("\n") if sentence.strip()])


def splitters() -> dict[str, Splitter]:
    """Ours, and those that are installed."""
    found: dict[str, Splitter] = {"rechunk": ours()}
    try:
        import sentencex

        found["sentencex"] = lambda text, language: list(sentencex.segment(language, text))
    except ImportError:
        pass
    try:
        import pysbd
        from pysbd.languages import LANGUAGE_CODES

        segmenters = {code: pysbd.Segmenter(language=code, clean=False) for code in LANGUAGE_CODES}
        found["pySBD"] = lambda text, language: segmenters[language].segment(text) if language in segmenters else []
    except ImportError:
        pass
    return found


def ours() -> Splitter:
    """One chunk a sentence."""
    strategy = build("sentence", max_size=10_000, target_size=1, min_size=0)
    return lambda text, language: [span.text(text) for span in strategy.split(text).spans]


def holds(splitter: Splitter, rule: Rule, language: str) -> bool:
    found = [sentence.strip() for sentence in splitter(rule.text, language)]
    return [sentence for sentence in found if sentence] == rule.sentences


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print(f"usage: python benchmarks/sentences.py FOLDER\n\n{__doc__}", file=sys.stderr)
        return 2
    known = splitters()
    rows = [["language", "rules", *known]]
    totals = dict.fromkeys(["rules", *known], 0)
    results = []
    for file in sorted(Path(given[0]).glob("??.txt")):
        asked = list(rules(file))
        if not asked:
            continue
        counts = {name: sum(holds(splitter, rule, file.stem) for rule in asked) for name, splitter in known.items()}
        results.append({"language": file.stem, "rules": len(asked), **counts})
        rows.append([file.stem, str(len(asked)), *map(str, counts.values())])
        for name, count in {"rules": len(asked), **counts}.items():
            totals[name] += count
    rows.append(["all", *map(str, totals.values())])
    rows.append(["MB/s, en", "", *speeds(known, "txt", "en")])
    rows.append(["MB/s, zh", "", *speeds(known, "cjk", "zh")])
    print(table(rows), file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    return 0


def speeds(known: dict[str, Splitter], kind: str, language: str) -> list[str]:
    """MB/s of each on some documents of the corpus."""
    if not CORPUS.is_dir():
        return ["-"] * len(known)
    documents = texts(kind)[::40]
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in documents) / 1e6
    return [
        f"{megabytes / cpu(lambda: [splitter(text, language) for text in documents]):.1f}"  # noqa: B023 (called at once)
        for splitter in known.values()
    ]


if __name__ == "__main__":
    raise SystemExit(main())

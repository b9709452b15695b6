"""Our strategies against the splitters that are pinned in peers.lock, on the same documents, in one process.

`python benchmarks/strategies.py [--quick] [--only WORD …]`: JSON on stdout, a table on stderr. Exit 1 when a target is
missed. A peer that is not installed leaves its rows out; without any, our own speed is reported.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.contests import LANGUAGES, Contest, contests
from benchmarks.measuring import CORPUS, Pair, alternate, cpu, table
from benchmarks.peers import Peer, peers
from chunkers import build, chunks_of

Document = tuple[str, str]
"""A text, and the name of its file."""

FOLDERS = {"py": ("py",), "go": ("go",), "js": ("js", "mjs"), "ts": ("ts",)}
"""Kinds that are files of `code`, by the ends of their names."""


def documents(kind: str) -> list[Document]:
    """The decoded documents of a kind of the corpus, or those of `code` in one language."""
    folder = CORPUS / ("code" if kind in FOLDERS else kind)
    return [
        (path.read_bytes().decode("utf-8-sig", "replace"), path.name)
        for path in sorted(folder.iterdir())
        if kind not in FOLDERS or _ending(path.name) in FOLDERS[kind]
    ]


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


def splitting(contest: Contest) -> Callable[[str, str], Any]:
    """Our side: finished chunks of a text, given the name of its file."""
    if not contest.by_language:
        strategy = build(contest.strategy, **contest.options)
        return lambda text, name: chunks_of(text, strategy.split(text, path=name))
    strategies = {
        ending: build(contest.strategy, language=language, **contest.options) for ending, language in LANGUAGES.items()
    }
    return lambda text, name: chunks_of(text, strategies[_ending(name)].split(text))


def measure(contest: Contest, kind: str, name: str, peer: Peer | None, rounds: int, step: int) -> dict[str, Any]:
    """One row: one contest on one kind of document, against one peer or alone."""
    taken = documents(kind)[:: max(step, contest.every)]
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text, _ in taken) / 1e6
    split = splitting(contest)

    def ours() -> None:
        for text, file in taken:
            split(text, file)

    if peer is None:
        ours()
        pair = Pair(ours=min(cpu(ours) for _ in range(rounds)), theirs=float("nan"), ratio=float("nan"))
    else:
        pair = _against(peer, ours, taken, rounds)
    target = contest.against[name]
    return {
        "contest": contest.name,
        "peer": name if peer else None,
        "kind": kind,
        "documents": len(taken),
        "megabytes": round(megabytes, 3),
        "ours_mb_s": round(megabytes / pair.ours, 2),
        "peer_mb_s": round(megabytes / pair.theirs, 2) if peer else None,
        "ratio": round(pair.ratio, 2) if peer else None,
        "target": target,
        "met": pair.ratio >= target if peer else None,
    }


def _against(peer: Peer, ours: Callable[[], None], taken: list[Document], rounds: int) -> Pair:
    splitter = peer.make()

    def theirs() -> None:
        split = peer.make() if peer.remembers else splitter
        for text, file in taken:
            split(text, _ending(file))

    return alternate(ours, theirs, rounds)


def run(quick: bool = False, only: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Every contest on every kind. `quick`: a tenth of the documents, three rounds. `only`: rows with these words."""
    rounds, step = (3, 10) if quick else (5, 1)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        available = peers()
        for contest in contests():
            rivals = [name for name in contest.against if name in available]
            for name in rivals or [next(iter(contest.against))]:
                if all(word in f"{contest.name} | {name}" for word in only):
                    results += [
                        measure(contest, kind, name, available.get(name), rounds, step) for kind in contest.kinds
                    ]
    return results


COLUMNS = ("contest", "peer", "kind", "documents", "megabytes", "ours_mb_s", "peer_mb_s", "ratio", "target")


def report(results: list[dict[str, Any]]) -> str:
    """The rows as a table."""
    rows = [["ours", "against", "kind", "documents", "MB", "ours MB/s", "peer MB/s", "ratio", "target", ""]]
    for result in results:
        verdict = {None: "", True: "met", False: "MISSED"}[result["met"]]
        rows.append([*("-" if result[key] is None else str(result[key]) for key in COLUMNS), verdict])
    return table(rows)


def main(arguments: list[str] | None = None) -> int:
    """Measure and report; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents, three rounds")
    parser.add_argument("--only", nargs="+", default=(), metavar="WORD", help="rows that hold all these words")
    given = parser.parse_args(arguments)
    results = run(given.quick, tuple(given.only))
    print(report(results) if results else "no such row", file=sys.stderr)
    if all(result["peer"] is None for result in results):
        print("no peers installed: pip install -r benchmarks/peers.lock", file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    print()
    return 1 if any(result["met"] is False for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())

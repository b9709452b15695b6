"""Whether every strategy stays linear on inputs made to hurt: CPU(4n) / CPU(n) of at most 6.

`python benchmarks/linear.py [--quick] [--strategy NAME]`: JSON on stdout, what is too steep on stderr, exit 1 if
anything is.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measuring import cpu, table
from chunkers import InvalidResult, MalformedDocument, build, strategy_kinds
from tests.laws.pathological import PATHOLOGICAL

STEEPEST = 6.0
SIZE = 25_000
"""n; 4n is then the 100,000 headings, blank lines or brackets that have to be survived. Larger ones take minutes more
and show nothing that the ratio does not show here."""
WORTH_TIMING = 0.02
SURE = 0.3
LONGEST = 20.0
# Tokens: no input may fit into one chunk at n and not at 4n, as letters or full stops do into the default size.
OPTIONS: dict[str, tuple[Mapping[str, Any], ...]] = {
    "token": ({"max_size": 100}, {"max_size": 20, "overlap": 5}),
    "recursive": ({}, {"max_size": 80, "overlap": 20}, {"max_size": 300, "language": "ts"}),
    "sentence": ({"max_size": 80}, {"max_size": 4000}),
    "markdown": ({}, {"max_size": 80, "overlap": 20}, {"headers": [["#", "title"], ["##", "section"]]}),
    "semantic-markdown": ({}, {"max_size": 80}),
    "html": ({}, {"max_size": 80}),
    "json": ({}, {"max_size": 80}),
    "pages": ({"path": "a.md"}, {"path": "a.txt", "chunk_size": 200, "mode": "sentences"}),
    "faq": ({}, {"max_size": 80, "overlap": 20}, {"path": "a.html", "max_size": 80}),
    "code": ({"language": "python"}, {"max_size": 80, "overlap": 20, "path": "a.ts"}),
    "custom": ({"chunker": "benchmarks.linear:pieces"}, {"chunker": "benchmarks.linear:words"}),
}
"""Options, `path` among them: where the document lies."""
BY_SIZE: tuple[Mapping[str, Any], ...] = ({}, {"max_size": 80, "overlap": 20})
NOT_HERE = frozenset({"semantic"})


def pieces(text: str) -> list[str]:
    """A chunker of one's own that cuts anywhere."""
    return [text[start : start + 40] for start in range(0, len(text), 40)]


def words(text: str) -> list[str]:
    """A chunker of one's own whose strings stand in the text more than once, or are too long."""
    return text.split()


def measure(strategy: str, options: Mapping[str, Any], name: str, rounds: int) -> dict[str, Any]:
    """The ratio for one input, each size repeated until it takes long enough to time."""
    path = options.get("path")
    make, built = PATHOLOGICAL[name], build(strategy, **{key: options[key] for key in options if key != "path"})

    def split(text: str) -> None:
        with contextlib.suppress(MalformedDocument, InvalidResult):  # to be told so is an answer too
            built.split(text, path=path)

    document = make(SIZE)
    small = seconds_each(lambda: split(document), rounds)
    document = make(4 * SIZE)
    large = seconds_each(lambda: split(document), rounds)
    return {
        "strategy": strategy,
        "options": dict(options),
        "input": name,
        "n": SIZE,
        "cpu_n": round(small, 6),
        "cpu_4n": round(large, 6),
        "ratio": round(large / small, 2),
    }


def seconds_each(work: Callable[[], object], rounds: int) -> float:
    """CPU seconds of one call: the fastest round of as many calls as it takes to fill `WORTH_TIMING`.

    A first call that takes longer than `SURE` is enough, unless more rounds are asked for than two.
    """
    first = cpu(lambda: within(LONGEST, work))
    if first > SURE and rounds <= 2:
        return first
    calls, spent = 1, cpu(work)
    while spent < WORTH_TIMING:
        calls *= 4
        spent = cpu(lambda: repeat(work, calls))  # noqa: B023 (called at once)
    return min([spent, *(cpu(lambda: repeat(work, calls)) for _ in range(rounds - 1))]) / calls


def repeat(work: Callable[[], object], calls: int) -> None:
    for _ in range(calls):
        work()


def within(seconds: float, work: Callable[[], object]) -> None:
    """Do the work, or raise TimeoutError after so many seconds of CPU time."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(quick: bool = False, only: str | None = None) -> list[dict[str, Any]]:
    """Every registered strategy on every pathological input; `quick` leaves out the second round and options."""
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for strategy in sorted(set(strategy_kinds()) - NOT_HERE):
            if only in (None, strategy):
                for options in OPTIONS.get(strategy, BY_SIZE)[: 1 if quick else None]:
                    results += [guarded(strategy, options, name, 1 if quick else 2) for name in PATHOLOGICAL]
    return results


def guarded(strategy: str, options: Mapping[str, Any], name: str, rounds: int) -> dict[str, Any]:
    """A measurement; a steep one is measured again with more rounds; a failing or endless document is an error."""
    try:
        found = measure(strategy, options, name, rounds)
        return measure(strategy, options, name, rounds + 3) if found["ratio"] > STEEPEST else found
    except Exception as error:
        return {
            "strategy": strategy,
            "options": dict(options),
            "input": name,
            "error": f"{type(error).__name__}: {error}",
        }


def too_steep(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [result for result in results if result.get("ratio", 0) > STEEPEST]


def failed(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [result for result in results if "error" in result]


def report(results: list[dict[str, Any]]) -> str:
    """The steepest input of each strategy, and all that are too steep or failed."""
    timed = [result for result in results if "ratio" in result]
    steepest = {}
    for result in sorted(timed, key=lambda result: result["ratio"]):
        steepest[result["strategy"], str(result["options"])] = result
    shown = list({id(result): result for result in [*steepest.values(), *too_steep(results)]}.values())
    rows = [["strategy", "options", "input", "n", "CPU(n) s", "CPU(4n) s", "ratio"]]
    rows += [
        [str(result[key]) for key in ("strategy", "options", "input", "n", "cpu_n", "cpu_4n", "ratio")]
        for result in shown
    ]
    errors = [f"failed: {r['strategy']} {r['options']} on {r['input']}: {r['error']}" for r in failed(results)]
    return "\n".join([table(rows), *errors])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="one round, default options only")
    parser.add_argument("--strategy", help="this one only")
    given = parser.parse_args(arguments)
    results = run(given.quick, given.strategy)
    print(report(results), file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    print()
    return 1 if too_steep(results) or failed(results) else 0


if __name__ == "__main__":
    raise SystemExit(main())

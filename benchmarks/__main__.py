"""Run every benchmark: `python -m benchmarks [--quick] [part …]`. JSON goes to benchmarks/results, tables to stderr."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import sys
from pathlib import Path

from benchmarks.measuring import CORPUS

RESULTS = Path(__file__).parent / "results"
PARTS = ("strategies", "linear", "job", "steps", "store", "machine")


def main(arguments: list[str] | None = None) -> int:
    """Exit 0 when every target is met, 1 when one is missed, 2 without a corpus."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure speed and linearity.")
    parser.add_argument("--quick", action="store_true", help="fewer documents and rounds")
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    given = parser.parse_args(arguments)
    if unknown := set(given.part) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    if not CORPUS.is_dir():
        print(
            f"no corpus at {CORPUS}; set RECHUNK_CORPUS to a folder with documents in txt, md and cjk", file=sys.stderr
        )
        return 2
    present = [part for part in given.part or PARTS if importlib.util.find_spec(f"benchmarks.{part}")]
    return max((run(part, given.quick) for part in present), default=0)


def run(part: str, quick: bool) -> int:
    """One module of this folder: its `main` writes JSON to stdout, here a file, and a table to stderr."""
    module = importlib.import_module(f"benchmarks.{part}")
    print(f"\n{part}: {(module.__doc__ or '').splitlines()[0]}", file=sys.stderr)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{part}.json").open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        return int(module.main(["--quick"] if quick else []))


if __name__ == "__main__":
    raise SystemExit(main())

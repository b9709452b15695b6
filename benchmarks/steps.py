"""The steps for other people's pipelines against a loop over `chunkers.chunk`: CPU on FnApiRunner, in one process."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from benchmarks.measuring import CORPUS, alternate, table
from chunkers import chunk
from pipelines.beam.quiet import quiet_beam

with quiet_beam():
    import apache_beam as beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    from pipelines.beam.chunk_documents import ChunkDocuments
    from pipelines.beam.chunk_rows import DocumentsToRows

OPTIONS: dict[str, Any] = {"max_size": 1000}
TARGETS = {"ChunkDocuments": 1.3, "ChunkDocuments, failures beside": 1.35, "DocumentsToRows": 1.7}
"""CPU of a pipeline with the step, in that of the loop, over documents of the corpus."""

KINDS = ("txt", "md", "cjk")


@lru_cache(maxsize=1)
def corpus() -> list[tuple[str, str]]:
    """The corpus as (path, text), read once in a process: reading is not what is measured."""
    paths = [path for kind in KINDS for path in sorted((CORPUS / kind).iterdir())]
    return [(path.name, path.read_bytes().decode("utf-8-sig", "replace")) for path in paths]


class Documents(beam.DoFn):
    """The corpus."""

    def process(self, element: int) -> Iterator[tuple[str, str]]:
        """All of it, whatever comes."""
        yield from corpus()


class Drop(beam.DoFn):
    """Takes whatever comes."""

    def process(self, element: Any) -> None:
        """Nothing."""


def pipeline(step: Callable[[Any], Any]) -> Callable[[], None]:
    """A pipeline with a step from documents to one or more outputs."""

    def run() -> None:
        with quiet_beam(), beam.Pipeline(runner=FnApiRunner()) as started:
            outputs = step(started | beam.Create([0]) | beam.ParDo(Documents()))
            for number, output in enumerate(outputs if isinstance(outputs, tuple) else (outputs,)):
                _ = output | f"Drop {number}" >> beam.ParDo(Drop())

    return run


def main(arguments: list[str] | None = None) -> int:
    """Exit 1 if a ratio is above its target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks steps", description=(__doc__ or "").strip())
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    given = parser.parse_args(arguments)
    rounds = 3 if given.quick else 5

    def loop() -> None:
        for path, text in corpus():
            chunk(text, path=path, **OPTIONS)

    steps: dict[str, Callable[[Any], Any]] = {
        "nothing": lambda read: read,
        "ChunkDocuments": lambda read: read | ChunkDocuments(**OPTIONS),
        "ChunkDocuments, failures beside": lambda read: read | ChunkDocuments(**OPTIONS).with_exception_handling(),
        "DocumentsToRows": lambda read: read | DocumentsToRows(**OPTIONS),
    }
    ratios = {name: 1 / alternate(pipeline(step), loop, rounds).ratio for name, step in steps.items()}
    read = corpus()
    about = {"documents": len(read), "bytes": sum(len(text.encode()) for _, text in read)}
    print(json.dumps({**about, "ratios": ratios}, indent=1))
    rows = [[name, f"{ratio:.2f}", str(TARGETS.get(name, ""))] for name, ratio in ratios.items()]
    print(table([["step", "CPU / loop", "target"], *rows]), file=sys.stderr)
    return int(any(ratios[name] > target for name, target in TARGETS.items()))


if __name__ == "__main__":
    # As a module that can be imported: Beam would send the functions of a script as code, and its globals with them.
    raise SystemExit(importlib.import_module("benchmarks.steps").main())

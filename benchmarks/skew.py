"""Corpora that are not even: one huge file, one that is too large, a million tiny ones, as JSON on stdout.

    python -m benchmarks.skew lines [--gigabytes 5]     one JSON Lines file, an object over the limit, ten small files
    python -m benchmarks.skew tiny  [--documents 1000000]   objects of 100 bytes (tests/servers/huge.py)

`lines` accounts for every record: it must have a state, and the table its first chunk. Generated files are deleted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.machine import PEAK_MB, RECORD, configure, newest, run, texts
from benchmarks.scale import World, measured, nobody
from pipelines.operations.run import run as run_here
from pipelines.records import RunOptions
from tests.servers.huge import register

SMALL = 10
"""Files beside the large one."""


def main(arguments: list[str] | None = None) -> int:
    """Exit 0 when every target is met, 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["lines", "tiny"], help="lines, tiny (default: both)")
    parser.add_argument("--quick", action="store_true", help="a hundredth of everything")
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", help="scratch space (default: a temporary folder)")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    scale = 100 if given.quick else 1
    if given.step:
        register()
        print(json.dumps(measured(tiny_here, World(Path(given.folder), given.documents, 100, 1))))
        return 0
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="rechunk-skew-") as folder:
        if "lines" in given.what:
            result["lines"] = lines(Path(folder), int(given.gigabytes * 1e9) // scale, given.workers)
        if "tiny" in given.what:
            result["tiny"] = tiny(folder, given.documents // scale)
    missed = list(judge(result))
    print(json.dumps({**result, "missed": missed}, indent=1))
    for miss in missed:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if missed else 0


def judge(result: Mapping[str, Any]) -> Iterator[str]:
    """The targets that were missed."""
    for name, each in result.items():
        if each["peak_mb"] > PEAK_MB:
            yield f"{name}: a process took {each['peak_mb']} MB, not {PEAK_MB}"
        if each["found"] != each["expected"]:
            yield f"{name}: found {each['found']}, expected {each['expected']}"


def lines(folder: Path, size: int, workers: int) -> dict[str, Any]:
    """A run over one JSON Lines file of so many bytes and what lies next to it."""
    docs, table = folder / "docs", folder / "table"
    docs.mkdir()
    text_of, records, written = texts(), 0, 0
    with (docs / "all.jsonl").open("wb") as file:
        while written < size:
            written += file.write(json.dumps({"id": f"r{records}", "text": text_of(records)}).encode() + b"\n")
            records += 1
    for number in range(SMALL):
        (docs / f"small {number}.txt").write_text(text_of(number)[:RECORD], encoding="utf-8")
    with (docs / "too large.txt").open("wb") as file:
        file.truncate(1 << 30)  # a hole: it takes no disk, and must not be read
    found = run(configure(folder, docs, table), workers)
    identities, first_chunks = set[str](), 0
    for shard in newest(table)["shards"]:
        states = pq.read_table(table / shard["documents"]["path"], columns=["id", "kind", "status"])
        good = states.filter(pc.and_(pc.equal(states["kind"], "record"), pc.equal(states["status"], "chunked")))
        identities.update(good["id"].to_pylist())
        rows = pq.read_table(table / shard["chunks"]["path"], columns=["chunk_index"])
        first_chunks += pc.sum(pc.equal(rows["chunk_index"], 0)).as_py() or 0
    (docs / "all.jsonl").unlink()
    return found | {
        "gigabytes": round(written / 1e9, 2),
        "shards": len(newest(table)["shards"]),
        "found": {"records": len(identities), "first_chunks": first_chunks, "failed": found["failed"]},
        "expected": {"records": records, "first_chunks": records + SMALL, "failed": 1},
    }


def tiny(folder: str, documents: int) -> dict[str, Any]:
    """A first run over so many objects, and one on which nothing changed, in one process."""
    command = [sys.executable, "-m", "benchmarks.skew", "--step=tiny", f"--documents={documents}", f"--folder={folder}"]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[1]).stdout
    found: dict[str, Any] = json.loads(said)
    return found | {"expected": {"chunked": documents, "failed": 0}}


def tiny_here(world: World) -> dict[str, Any]:
    """The first run, in this process."""
    first = run_here(world.config(), RunOptions(workers=1), nobody).summary
    return {"found": {"chunked": first["chunked"], "failed": first["failed"]}, "chunks": first["chunks"]}


if __name__ == "__main__":
    raise SystemExit(main())

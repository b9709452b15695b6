"""Big containers within a small memory, and what worker processes cost, as JSON on stdout.

    python benchmarks/machine.py containers [--gigabytes 2] [--documents 200000]   two containers and many small files
    python benchmarks/machine.py workers [--megabytes 600] [--rounds 5]            two processes against one

`containers` runs with two workers, samples the memory of every process once a second, and accounts for every record;
then it edits, deletes and moves records inside of the containers, and compares what `changes` says with what was done.
`workers` counts tokens too, so that a modest corpus is a minute of work. Cores that share what is behind them, or do
other people's work, make the same instructions take more CPU when both are busy: so two runs of one process each, at
once and of one half of the corpus each, are timed as well. No division of the work is cheaper than those (`cpu_pair`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.job import CORPUS, ROOT, repeat_corpus, write
from benchmarks.memory import Memory

RECORD = 2000
"""Characters of a record's text, about."""

GROUP = 50_000
"""Rows of a row group."""

PEAK_MB = 600
CPU_RATIO = 1.2
Texts = Callable[[int], str]


def main(arguments: list[str] | None = None) -> int:
    """Exit 0 when every target is met, 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", nargs="*", default=["containers", "workers"], help="containers, workers (default: both)"
    )
    parser.add_argument("--quick", action="store_true", help="a twentieth of everything; targets are then not judged")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="of each container")
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--megabytes", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="scratch space (default: a temporary folder)")
    given = parser.parse_args(arguments)
    scale = 20 if given.quick else 1
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="rechunk-machine-") as folder:
        if "containers" in given.what:
            records = int(given.gigabytes * 1e9 / (RECORD + 60)) // scale
            result["containers"] = containers(Path(folder) / "containers", records, given.documents // scale)
        if "workers" in given.what:
            rounds = 1 if given.quick else given.rounds
            result["workers"] = workers(Path(folder) / "workers", given.megabytes // scale, rounds)
    missed = list(judge(result))
    print(json.dumps({**result, "missed": missed}, indent=1))
    for miss in missed:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if missed and not given.quick else 0


def judge(result: Mapping[str, Any]) -> Iterator[str]:
    """The targets that were missed."""
    if "containers" in result:
        for name, each in result["containers"].items():
            if each["peak_mb"] > PEAK_MB:
                yield f"{name}: a process took {each['peak_mb']} MB, not {PEAK_MB}"
            if each["found"] != each["expected"]:
                yield f"{name}: found {each['found']}, expected {each['expected']}"
    if "workers" in result:
        found = result["workers"]
        if found["cpu_one"] < 60:
            yield f"{found['cpu_one']} s of CPU is too little to judge; give more --megabytes"
        if found["cpu_ratio"] > CPU_RATIO:
            yield f"two workers take {found['cpu_ratio']} times the CPU of one process, not {CPU_RATIO}"


# containers


def containers(folder: Path, records: int, documents: int) -> dict[str, Any]:
    """A first run, and one after records were edited, deleted and moved to the other container."""
    docs, table = folder / "docs", folder / "table"
    docs.mkdir(parents=True)
    text_of = texts()
    write_containers(docs, text_of, records, edits={})
    for number in range(documents):
        write(docs / "files" / f"{number // 1000:05d}" / f"{number % 1000:03d}.txt", text_of(number)[:1000])
    config = configure(folder, docs, table)
    first = run(config, workers=2)
    first["found"] = kinds(table)
    first["expected"] = {"file": documents, "container": 2, "record": 2 * records}
    step = max(1, records // 1000)
    edits = {number: ("edit", "delete", "move")[number // step % 3] for number in range(0, records, step)}
    write_containers(docs, text_of, records, edits=edits)
    second = run(config, workers=2)
    second["found"] = changed(table)
    done = Counter(edits.values())
    # What moved keeps id and text; its rows say another source_uri, which is a change of metadata. Records are alike in
    # both containers, by number: those of the Parquet file are not edited.
    second["expected"] = {
        "documents edited": done["edit"],
        "documents deleted": done["delete"],
        "documents moved": done["move"],
    }
    shutil.rmtree(folder)
    return {"first": first, "edited": second}


def write_containers(docs: Path, text_of: Texts, records: int, edits: Mapping[int, str]) -> None:
    """`a.jsonl` with records a0…, edited as told, and `b.parquet` with b0… and what moved there."""
    moved: list[tuple[str, str]] = []
    with (docs / "a.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(records):
            edit = edits.get(number)
            identity, text = f"a{number}", text_of(number)
            if edit == "edit":
                text = "Edited. " + text
            elif edit == "move":
                moved.append((identity, text))
            if edit in (None, "edit"):
                lines.write(json.dumps({"id": identity, "text": text}, ensure_ascii=False) + "\n")
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(docs / "b.parquet", schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, records, GROUP):
            numbers = range(start, min(start + GROUP, records))
            columns = [[f"b{number}" for number in numbers], [text_of(number + 7) for number in numbers]]
            writer.write_table(pa.table(columns, schema=schema))
        if moved:
            writer.write_table(pa.table([list(each) for each in zip(*moved, strict=True)], schema=schema))
    later = 1_600_000_000 + 1000 * bool(edits)
    for name in ("a.jsonl", "b.parquet"):
        os.utime(docs / name, (later, later))


def texts() -> Texts:
    """Different pieces of real text, by number."""
    files = sorted((CORPUS / "txt").iterdir())
    whole = "\n\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files[:40])

    def text_of(number: int) -> str:
        start = number * 997 % (len(whole) - RECORD)
        return f"{number}. {whole[start : start + RECORD]}"

    return text_of


def kinds(table: Path) -> dict[str, int]:
    """States of the newest commit by kind; what failed or is there twice would be missing."""
    counted: Counter[str] = Counter()
    identities = []
    for shard in newest(table)["shards"]:
        states = pq.read_table(table / shard["documents"]["path"], columns=["id", "kind", "status"])
        good = states.filter(pc.not_equal(states["status"], "failed"))
        counted.update({each["values"]: each["counts"] for each in pc.value_counts(good["kind"]).to_pylist()})
        identities.append(good["id"])
    whole = pa.chunked_array([chunk for each in identities for chunk in each.chunks], pa.string())
    assert pc.count_distinct(whole).as_py() == sum(counted.values()), "an id is there twice"
    return {name: counted[name] for name in ("file", "container", "record")}


def changed(table: Path) -> dict[str, int]:
    """Documents that the newest commit's changes are about, by what was done to them."""
    rows = pa.concat_tables([pq.read_table(table / entry["path"]) for entry in newest(table)["changes"]])
    reasons: dict[str, set[tuple[str, str]]] = {}
    for row in rows.select(["parent_id", "change", "reason"]).to_pylist():
        reasons.setdefault(row["parent_id"], set()).add((row["change"], row["reason"]))
    done: Counter[str] = Counter()
    for found in reasons.values():
        if found == {("deleted", "removed")}:
            done["documents deleted"] += 1
        elif found == {("changed", "metadata")}:
            done["documents moved"] += 1
        elif ("changed", "text") in found and not any(reason == "removed" for _, reason in found):
            done["documents edited"] += 1
        else:
            done[f"unexpected: {sorted(found)}"] += 1
    return dict(sorted(done.items()))


def newest(table: Path) -> dict[str, Any]:
    """The record of the newest commit."""
    log = json.loads(max((table / "chunks/_delta_log").glob("*.json")).read_text().splitlines()[0])
    record: dict[str, Any] = json.loads(
        (table / "runs" / log["commitInfo"]["rechunk"]["run_id"] / "commit.json").read_bytes()
    )
    return record


# workers


def workers(folder: Path, megabytes: int, rounds: int) -> dict[str, Any]:
    """The same first run in one process and in two, by turns, and two of one half each at once."""
    docs = folder / "docs"
    halves = [docs / "first", docs / "second"]
    made = [repeat_corpus(half, megabytes * 500_000) for half in halves]
    size, files = (sum(counts) for counts in zip(*made, strict=True))
    found: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    pairs: list[float] = []

    def run_into(name: str, corpus: Path, count: int) -> dict[str, Any]:
        place = folder / name
        place.mkdir()
        config = configure(place, corpus, place / "table", tokens={"encoding_name": "cl100k_base"})
        measured = run(config, workers=count)
        shutil.rmtree(place)
        return measured

    for number in range(rounds):
        for count in (1, 2) if number % 2 == 0 else (2, 1):
            found[count].append(run_into(f"{number}-{count}", docs, count))
        with ThreadPoolExecutor() as both:
            together = both.map(lambda half, at=number: run_into(f"{at}-{half.name}", half, 1), halves)
            pairs.append(sum(each["cpu"] for each in together))
    shutil.rmtree(folder)
    medians = {
        f"{name}_{word}": round(statistics.median(each[name] for each in found[count]), 2)
        for name in ("cpu", "wall", "peak_mb", "pss_mb")
        for count, word in ((1, "one"), (2, "two"))
    }
    ratios = [two["cpu"] / one["cpu"] for one, two in zip(found[1], found[2], strict=True)]
    floors = [pair / one["cpu"] for one, pair in zip(found[1], pairs, strict=True)]
    return {
        "megabytes": size / 1e6,
        "files": files,
        **medians,
        "cpu_pair": round(statistics.median(pairs), 2),
        "cpu_ratio": round(statistics.median(ratios), 3),
        "cpu_floor": round(statistics.median(floors), 3),
    }


# runs


def configure(folder: Path, docs: Path, table: Path, **settings: Any) -> Path:
    """A configuration for `docs` into `table`."""
    file = folder / "rechunk.yaml"
    chunking = {"default": {"strategy": "recursive", "max_size": 2000}}
    output = {"path": str(table)}
    whole = {"name": "benchmark", "source": [{"path": str(docs)}], "chunking": chunking, "output": output, **settings}
    file.write_text(json.dumps(whole), encoding="utf-8")
    return file


def run(config: Path, workers: int) -> dict[str, Any]:
    """One run as a person starts it: CPU and wall seconds of all its processes, and the most that each took."""
    command = [sys.executable, "-m", "pipelines", "--output", "json", "run", "--workers", str(workers), str(config)]
    began = time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        memory = Memory(child.pid)
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        memory.stop()
    if child.returncode:
        raise RuntimeError(f"{command} ended with {child.returncode}: {said.decode()}")
    summary = json.loads(said)["summary"]
    return {
        "cpu": round(usage.ru_utime + usage.ru_stime, 2),
        "wall": round(time.monotonic() - began, 2),
        "peak_mb": max(memory.peaks.values(), default=0),
        "peaks_mb": sorted(memory.peaks.values(), reverse=True)[:5],
        "pss_mb": memory.together,
        "chunks": summary["chunks"],
        "failed": summary["failed"],
    }


if __name__ == "__main__":
    raise SystemExit(main())

"""What a whole run costs, in child processes: CPU seconds (user + system) and peak memory, as JSON on stdout.

    python benchmarks/job.py size   [--megabytes 1000 250]  real text, against reading, decoding and writing the same
    python benchmarks/job.py nights [--documents 100000]    small documents: first run, unchanged night, 1 % edited

The corpus is $RECHUNK_CORPUS (default ../shared/corpus): its txt, md and cjk folders, repeated under other paths.
Runs use one worker. Start-up (a run over an empty folder) is measured and subtracted, on both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("RECHUNK_CORPUS", ROOT.parent / "shared" / "corpus"))
KINDS = ("txt", "md", "cjk")
PLAIN = "--plain-loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU seconds, wall seconds and peak resident MB of one child process, and the documents it reported."""

    cpu: float
    wall: float
    peak_mb: float
    documents: dict[str, int]


def main(arguments: list[str] | None = None) -> int:
    """Exit 0 when every target is met, 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["size", "nights"], help="size, nights (default: both)")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything; targets are then not judged")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1000, 250])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--folder", help="scratch space (default: a temporary folder)")
    given = parser.parse_args(arguments)
    scale = 10 if given.quick else 1
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="rechunk-job-") as folder:
        if "size" in given.what:
            result["size"] = [by_size(Path(folder), size // scale) for size in given.megabytes]
        if "nights" in given.what:
            result["nights"] = nights(Path(folder), given.documents // scale)
    missed = list(judge(result))
    print(json.dumps({**result, "missed": missed}, indent=1))
    for miss in missed:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if missed and not given.quick else 0


def judge(result: Mapping[str, Any]) -> Iterator[str]:
    """The targets that were missed."""
    sizes = result.get("size", [])
    for each in sizes:
        if each["cpu_ratio"] > 2:
            yield f"{each['megabytes']:.0f} MB: CPU is {each['cpu_ratio']} times a plain loop's, not 2"
        if each["job"]["peak_mb"] > 400:
            yield f"{each['megabytes']:.0f} MB: peak memory is {each['job']['peak_mb']} MB, not 400"
    if len(sizes) == 2 and sizes[0]["job"]["peak_mb"] > 1.1 * sizes[1]["job"]["peak_mb"]:
        yield "memory grows with the corpus"
    if "nights" in result:
        found = result["nights"]
        if found["unchanged"]["cpu"] > 10:
            yield f"an unchanged night takes {found['unchanged']['cpu']} s of CPU, not 10"
        for name, limit in (("one_folder_share", 0.10), ("scattered_share", 0.50)):
            if found[name] > limit:
                yield f"{name} is {found[name]}, not {limit}"


def by_size(folder: Path, megabytes: int) -> dict[str, object]:
    """A run over `megabytes` of the corpus against a plain loop over the same files."""
    here = folder / str(megabytes)
    size, files = repeat_corpus(here / "docs", megabytes * 1_000_000)
    start_up = rechunk(here / "nothing", here / "nothing table")
    plain_start_up = cost([sys.executable, __file__, PLAIN, str(here / "nothing"), str(here / "nothing plain")])
    plain = cost([sys.executable, __file__, PLAIN, str(here / "docs"), str(here / "plain")])
    job = rechunk(here / "docs", here / "table")
    night = rechunk(here / "docs", here / "table")
    shutil.rmtree(here)
    job_cpu, plain_cpu = job.cpu - start_up.cpu, plain.cpu - plain_start_up.cpu
    return {
        "megabytes": size / 1e6,
        "files": files,
        "start_up": asdict(start_up),
        "plain": asdict(plain),
        "job": asdict(job),
        "unchanged": asdict(night),
        "plain_start_up": asdict(plain_start_up),
        "cpu_ratio": round(job_cpu / plain_cpu, 3),
        "job_mb_per_cpu_second": round(size / 1e6 / job_cpu, 1),
    }


def nights(folder: Path, documents: int) -> dict[str, object]:
    """One-kilobyte documents, 100 a folder: the first run, then nights on which little or nothing changed."""
    docs, table = folder / "docs", folder / "table"
    text = min((CORPUS / "txt").iterdir()).read_text(encoding="utf-8", errors="replace")
    text *= 1 + 4096 // len(text)
    names = [f"{number // 100:05d}/{number % 100:02d}.txt" for number in range(documents)]
    for number, name in enumerate(names):
        write(docs / name, _kilobyte(text, number))
    start_up = rechunk(folder / "nothing", folder / "nothing table")
    first = rechunk(docs, table)
    unchanged = rechunk(docs, table)
    share = documents // 100
    middle = documents // 2
    for number in range(middle, middle + share):
        write(docs / names[number], _kilobyte(text, number + 7))
    one_folder = rechunk(docs, table)
    for number in range(0, documents, 100):
        write(docs / names[number], _kilobyte(text, number + 11))
    scattered = rechunk(docs, table)
    base = first.cpu - start_up.cpu
    return {
        "documents": documents,
        "start_up": asdict(start_up),
        "first": asdict(first),
        "unchanged": asdict(unchanged),
        "one_folder": asdict(one_folder),
        "scattered": asdict(scattered),
        "one_folder_share": round((one_folder.cpu - start_up.cpu) / base, 3),
        "scattered_share": round((scattered.cpu - start_up.cpu) / base, 3),
    }


def _kilobyte(text: str, number: int) -> str:
    start = (number * 37) % (len(text) - 1100)
    return f"Document {number}.\n\n" + text[start : start + 1000]


def write(file: Path, text: str) -> None:
    """Write a document with a time that is trusted at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, (1_600_000_000, 1_600_000_000))


def repeat_corpus(target: Path, size: int) -> tuple[int, int]:
    """Copy the corpus under numbered folders until there are `size` bytes; bytes and files copied."""
    files = [file for kind in KINDS for file in sorted((CORPUS / kind).iterdir())]
    copied = count = round_ = 0
    while copied < size:
        for file in files:
            to = target / f"{round_:04d}" / file.parent.name / file.name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
            os.utime(to, (1_600_000_000, 1_600_000_000))
            copied += to.stat().st_size
            count += 1
            if copied >= size:
                break
        round_ += 1
    return copied, count


def rechunk(source: Path, table: Path) -> Cost:
    """`rechunk run` over `source`, as a person runs it."""
    source.mkdir(parents=True, exist_ok=True)
    config = table.parent / f"{table.name}.yaml"
    settings = {
        "name": "benchmark",
        "source": [{"path": str(source)}],
        "chunking": {"default": {"strategy": "recursive", "max_size": 2000}},
        "output": {"path": str(table)},
    }
    config.write_text(json.dumps(settings), encoding="utf-8")
    return cost([sys.executable, "-m", "pipelines", "--output", "json", "run", "--workers", "1", str(config)])


def cost(command: list[str]) -> Cost:
    """Run a child process to its end and take its rusage."""
    began = time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 4):
        raise RuntimeError(f"{command} ended with {child.returncode}: {said.decode()}")
    summary = json.loads(said)["summary"] if said else {}
    return Cost(
        cpu=round(usage.ru_utime + usage.ru_stime, 3),
        wall=round(time.monotonic() - began, 2),
        peak_mb=round(usage.ru_maxrss / 1024, 1),
        documents={name: summary[name] for name in ("listed", "chunked", "unchanged", "failed", "chunks") if summary},
    )


def plain_loop(source: Path, target: Path) -> None:
    """Read, decode and write every file to one zstd Parquet file, a row group every 16 MiB of text as our shards have.

    What no pipeline can do without: one process, plain Python, pyarrow's defaults.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    target.mkdir(parents=True)
    schema = pa.schema([("path", pa.string()), ("text", pa.string())])
    paths: list[str] = []
    texts: list[str] = []
    held = 0
    with pq.ParquetWriter(target / "plain.parquet", schema, compression="zstd") as writer:
        for folder, _, names in sorted(os.walk(source)):
            for name in sorted(names):
                data = Path(folder, name).read_bytes()
                paths.append(name)
                texts.append(data.decode("utf-8", "replace"))
                held += len(data)
                if held >= 16 << 20:
                    writer.write_table(pa.table([paths, texts], schema=schema))
                    paths, texts, held = [], [], 0
        if paths:
            writer.write_table(pa.table([paths, texts], schema=schema))


if __name__ == "__main__":
    if sys.argv[1:2] == [PLAIN]:
        plain_loop(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        raise SystemExit(main())

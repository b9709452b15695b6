"""Millions of objects: what each step of a run costs, and how much memory it takes, as JSON on stdout.

    python -m benchmarks.scale steps  [--objects 5000000 --size 200000]   plan, decide, publish, commit, the next nights

The objects are those of `tests/servers/huge.py`: 5 million of 200 kB on average are a terabyte, and take no disk. No
document is chunked: what the tasks would have left is made from the plan, with `--chunks` chunks a document (a real
document of 200 kB has a hundred), and chunk files without rows. Every step runs in a process of its own, one by one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipelines.config.model import Config, Hidden, Output, Rule, Source
from pipelines.operations.prepare import prepare
from pipelines.operations.run import run
from pipelines.operations.stored_run import store_run
from pipelines.records import RunOptions
from pipelines.storage.store import open_store
from pipelines.table import layout, schemas, shards, snapshot
from pipelines.table.records import FileEntry
from pipelines.work.decide import decide
from pipelines.work.finish import commit_run, publish_one
from pipelines.work.job import Job
from pipelines.work.results import Counts, TaskResult
from pipelines.work.stored_plan import StoredPlan, load_plan, load_task_documents
from tests.servers.huge import register

PLAN_SECONDS = 300
PLAN_MB = 4096
"""What planning 5 million objects, on the first night and the second, may take."""

LOOKED_AT = 200
"""Tasks of which what a worker does before it reads a document is measured."""


def main(arguments: list[str] | None = None) -> int:
    """Exit 0 when every target is met, 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["steps"], help="steps (default: all)")
    parser.add_argument("--quick", action="store_true", help="a hundredth of everything; targets are then not judged")
    parser.add_argument("--objects", type=int, default=5_000_000)
    parser.add_argument("--size", type=int, default=200_000, help="bytes of an object on average")
    parser.add_argument("--chunks", type=int, default=2, help="chunks a document that the tasks are made to have left")
    parser.add_argument("--only", nargs="+", choices=STEPS, help="of the steps, only these and those they need")
    parser.add_argument("--folder", help="scratch space (default: a temporary folder)")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.quick:
        given.objects //= 100
    register()
    if given.step:
        print(
            json.dumps(measured(STEPS[given.step], World(Path(given.folder), given.objects, given.size, given.chunks)))
        )
        return 0
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="rechunk-scale-") as folder:
        result = {"objects": given.objects, "size": given.size, **dict(steps(given, folder))}
    missed = [] if given.objects != 5_000_000 else list(judge(result))
    print(json.dumps({**result, "missed": missed}, indent=1))
    for miss in missed:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if missed else 0


def judge(result: Mapping[str, Any]) -> Iterator[str]:
    """The targets that were missed."""
    for name in ("plan", "plan_edited"):
        each = result.get(name)
        if each and max(each["cpu"], each["wall"]) > PLAN_SECONDS:
            yield f"{name}: took {each['cpu']} s of CPU and {each['wall']} s, not {PLAN_SECONDS}"
        if each and each["peak_mb"] > PLAN_MB:
            yield f"{name}: took {each['peak_mb']} MB, not {PLAN_MB}"


def steps(given: argparse.Namespace, folder: str) -> Iterator[tuple[str, Any]]:
    """What each step cost."""
    asked = set(given.only or STEPS)
    for name in STEPS:
        if name not in asked.union(*(NEEDS[each] for each in asked)):
            continue
        numbers = [f"--{each}={getattr(given, each)}" for each in ("objects", "size", "chunks")]
        command = [sys.executable, "-m", "benchmarks.scale", f"--step={name}", f"--folder={folder}", *numbers]
        said = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[1]).stdout
        found = json.loads(said)
        print(f"{name:12} {found}", file=sys.stderr, flush=True)
        yield name, found


def measured(step: Callable[[World], dict[str, Any]], world: World) -> dict[str, Any]:
    """CPU and wall seconds of this process from here on, and the most memory it took at all."""
    began, clock = time.process_time(), time.monotonic()
    found = step(world)
    return {
        "cpu": round(time.process_time() - began, 2),
        "wall": round(time.monotonic() - clock, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        **found,
    }


class World:
    """A table below a folder, and a source that is not there."""

    def __init__(self, folder: Path, objects: int, size: int, chunks: int) -> None:
        self.folder, self.objects, self.size, self.chunks = folder, objects, size, chunks

    def config(self, edited: int = 0, every: int = 1) -> Config:
        """The configuration of a night on which so many objects are edited, every so many."""
        options = {"objects": self.objects, "size": self.size, "edited": edited, "every": every}
        return Config(
            name="scale",
            sources=(Source(path="huge://corpus/docs"),),
            output=Output(path=str(self.folder / "table")),
            default=Rule(strategy="recursive", options={"max_size": 2000}),
            storage=Hidden({"huge": options}),
        )

    def job(self) -> Job:
        """The run that was planned last."""
        run_id = max(os.listdir(self.folder / "table" / "runs"))
        return Job(config=self.config(), run_id=run_id)


def nobody(event: object) -> None:
    """Where what a run says goes."""


def plan_first(world: World) -> dict[str, Any]:
    """List, plan and store the plan of a first run."""
    return _planned(world, world.config())


def plan_edited(world: World) -> dict[str, Any]:
    """The same for a night with every hundredth object edited in the last commit's table."""
    return _planned(world, world.config(edited=world.objects // 100, every=100))


def plan_folder(world: World) -> dict[str, Any]:
    """The same with one hundredth edited, next to each other."""
    return _planned(world, world.config(edited=world.objects // 100))


def _planned(world: World, config: Config) -> dict[str, Any]:
    store = open_store(config.output.path)
    run_id = layout.new_run_id()
    prepared = prepare(config, RunOptions(), store, run_id, nobody)
    store_run(store, run_id, config, prepared, None)
    folder = world.folder / "table" / layout.plan_folder(run_id)
    stored = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"tasks": prepared.tasks, "read_bytes": prepared.read_bytes, "stored_mb": round(stored / 1e6, 1)}


def begin_tasks(world: World) -> dict[str, Any]:
    """What a worker process does for each task before it reads the first document."""
    job = world.job()
    store = job.table()
    began = time.process_time()
    plan = load_plan(store, job.run_id)
    loaded = time.process_time()
    tasks = plan.tasks[:: max(1, len(plan.tasks) // LOOKED_AT)][:LOOKED_AT]
    rows = sum(load_task_documents(store, job.run_id, plan, task).num_rows for task in tasks)
    each = (time.process_time() - loaded) / len(tasks)
    return {"load_plan": round(loaded - began, 2), "ms_a_task": round(1000 * each, 2), "rows": rows}


def leave_results(world: World) -> dict[str, Any]:
    """What the tasks would have left. Not a step of a run."""
    job = world.job()
    store = job.table()
    plan = load_plan(store, job.run_id)
    empty = shards.encode(schemas.CHUNKS.empty_table(), "chunks")
    for task in plan.tasks:
        folder = Path(store.child(layout.attempts_folder(job.run_id, task.index)))
        folder.mkdir(parents=True)
        documents = load_task_documents(store, job.run_id, plan, task)
        encoded = shards.encode(_states(documents, world.config(), world.chunks), "documents")
        (folder / "documents.parquet").write_bytes(encoded.data)
        (folder / "chunks.parquet").write_bytes(empty.data)
        path = f"{layout.attempts_folder(job.run_id, task.index)}/"
        marker = world.folder / "table" / layout.task_marker(job.run_id, task.index)
        marker.parent.mkdir(exist_ok=True)
        marker.write_bytes(
            _result(plan, task.index, encoded.entry(path + "documents.parquet"), empty.entry(path + "chunks.parquet"))
        )
    return {}


def _states(documents: pa.Table, config: Config, chunks: int) -> pa.Table:
    rows = documents.num_rows
    hashes = np.random.default_rng(1).bytes(64 * chunks * rows)
    constant = {"encoding": "utf-8", "confidence": 1.0, "strategy": "recursive", "status": "chunked", "error": None}
    values: dict[str, Any] = {name: [value] * rows for name, value in constant.items()}
    values |= {name: documents[name] for name in ("id", "uri", "path", "validator", "size", "modified", "fingerprint")}
    values |= {"source": [config.sources[0].path] * rows, "kind": ["file"] * rows, "key": documents["id"]}
    values |= {"chunk_count": [chunks] * rows, "fail_streak": [0] * rows, "position": [None] * rows}
    values["hash"] = [hashlib.sha256(hashes[64 * at : 64 * at + 64]).hexdigest() for at in range(rows)]
    values["chunk_hashes"] = [hashes[64 * chunks * at : 64 * chunks * (at + 1)] for at in range(rows)]
    arrays = [values[field.name] for field in schemas.DOCUMENTS]
    columns = [
        each.cast(field.type) if isinstance(each, pa.ChunkedArray) else pa.array(each, field.type)
        for each, field in zip(arrays, schemas.DOCUMENTS, strict=True)
    ]
    return pa.table(columns, schema=schemas.DOCUMENTS)


def _result(plan: StoredPlan, index: int, documents: FileEntry, chunks: FileEntry) -> bytes:
    counts = Counts(documents=Counter({"huge://corpus/docs\tchunked": documents.rows}), new_rows=documents.rows)
    result = TaskResult(
        index=index, chunks=chunks, documents=documents, failures=None, withheld=None, reused=False, counts=counts,
        states_changed=documents.rows,
    )  # fmt: skip
    return result.to_json()


def decided(world: World) -> dict[str, Any]:
    """Everything between the last task and the first file that is published."""
    job = world.job()
    store = job.table()
    plan = load_plan(store, job.run_id)
    results = [TaskResult.from_json(store.read(layout.task_marker(job.run_id, task.index))) for task in plan.tasks]
    began, clock = time.process_time(), time.monotonic()
    decision = decide(job, plan, results)
    cpu, wall = time.process_time() - began, time.monotonic() - clock
    (world.folder / "decision").write_bytes(pickle.dumps(decision))
    return {
        "decide_cpu": round(cpu, 2),
        "decide_wall": round(wall, 2),
        "action": decision.action,
        "changes": sum(decision.by_change.values()),
        "decision_mb": round((world.folder / "decision").stat().st_size / 1e6, 1),
    }


def published(world: World) -> dict[str, Any]:
    """Give every shard its final names."""
    job = world.job()
    decision = pickle.loads((world.folder / "decision").read_bytes())
    found = [publish_one(job, at, len(decision.shards), shard) for at, shard in enumerate(decision.shards)]
    (world.folder / "published").write_bytes(pickle.dumps([shard for _, shard in found]))
    return {"shards": len(found)}


def committed(world: World) -> dict[str, Any]:
    """Check every file, write `commit.json`, create the version."""
    job = world.job()
    decision = pickle.loads((world.folder / "decision").read_bytes())
    commit_run(job, decision, pickle.loads((world.folder / "published").read_bytes()))
    table = world.folder / "table"
    files = [table / layout.commit_file(job.run_id), *(table / layout.LOG).glob("*.json")]
    return {file.name: round(file.stat().st_size / 1e6, 1) for file in files}


def unchanged(world: World) -> dict[str, Any]:
    """A whole run on a night on which nothing changed."""
    outcome = run(world.config(), RunOptions(workers=1), nobody)
    assert not outcome.committed
    assert outcome.summary["unchanged"] == world.objects
    return {"states": len(snapshot.load(open_store(world.config().output.path)).shards)}  # type: ignore[union-attr]


STEPS: Mapping[str, Callable[[World], dict[str, Any]]] = {
    "plan": plan_first,
    "begin_tasks": begin_tasks,
    "results": leave_results,
    "decide": decided,
    "publish": published,
    "commit": committed,
    "unchanged": unchanged,
    "plan_edited": plan_edited,
    "plan_folder": plan_folder,
}

_COMMIT = ("plan", "results", "decide", "publish", "commit")
NEEDS: Mapping[str, Sequence[str]] = {
    **{name: _COMMIT[:at] for at, name in enumerate(_COMMIT)},
    "begin_tasks": ("plan",),
    **dict.fromkeys(("unchanged", "plan_edited", "plan_folder"), _COMMIT),
}
"""The steps whose files each step goes by."""


if __name__ == "__main__":
    raise SystemExit(main())

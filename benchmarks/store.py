"""Object storage at 30 ms a request: objects a second in one task, requests of a listing and of an unchanged night.

The server is a light one in a process of its own (tests/servers/s3.py), so that it is the client that is measured. Wall
time counts here, as waiting is what this is about; on a busy machine the figures are too low.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pipelines.config.model import Budget, Config, Hidden, Output, Rule, Source
from pipelines.operations.run import run
from pipelines.records import RunOptions
from pipelines.storage.store import Store, open_store
from pipelines.table import snapshot
from pipelines.work.read_ahead import read_ahead

LATENCY = 0.03
LEAST = {"fsspec": 150, "auto": 1000}
"""Objects a second in one task: with fsspec alone, with the extra `fast`."""

MOST_LISTING = 12
"""Requests that listing 10,000 objects may take."""


class Server:
    """A server process and what it was asked since it was last asked for that."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        self.url = process.stdout.readline().strip()

    def requests(self) -> dict[str, int]:
        """Requests by operation; counting starts anew."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        counts, _, _ = self._process.stdout.readline().rpartition(" ")
        found: dict[str, int] = ast.literal_eval(counts)
        return found

    def options(self, client: str) -> dict[str, dict[str, Any]]:
        """The section `storage`."""
        return {"s3": {"endpoint_url": self.url, "key": "k", "secret": "s", "client": client}}


@contextmanager
def serving(objects: int, size: int) -> Iterator[Server]:
    """A server with so many objects of so many bytes at s3://bucket/docs."""
    arguments = ["--latency", str(LATENCY), "--objects", str(objects), "--size", str(size)]
    command = [sys.executable, "-m", "tests.servers.s3", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Server(process)
        process.communicate()


def listed(store: Store) -> list[tuple[Store, str, int]]:
    """What a task would read."""
    return [(store, entry.path, entry.size) for page in store.list() for entry in page.entries()]


def objects_a_second(reads: list[tuple[Store, str, int]]) -> float:
    """The speed at which one task gets its objects; all of them must come."""
    began = time.perf_counter()
    for content in read_ahead(reads, Budget()):
        if isinstance(content, Exception):
            raise content
    return len(reads) / (time.perf_counter() - began)


def nights(server: Server, objects: int) -> dict[str, Any]:
    """A first run of everything, and the requests of one on which nothing has changed."""
    config = Config(
        name="bench",
        sources=(Source(path="s3://bucket/docs"),),
        output=Output(path="s3://bucket/table"),
        default=Rule(strategy="recursive", options={"max_size": 2000}),
        storage=Hidden(server.options("auto")),
    )
    began = time.perf_counter()
    first = run(config, RunOptions(workers=1), lambda event: None)
    seconds = time.perf_counter() - began
    assert first.summary["chunked"] == objects, first
    table = snapshot.load(open_store(config.output.path, config.storage.reveal()))
    assert table is not None
    server.requests()
    began = time.perf_counter()
    assert not run(config, RunOptions(), lambda event: None).committed
    return {
        "first_seconds": round(seconds, 2),
        "unchanged_seconds": round(time.perf_counter() - began, 2),
        "unchanged_requests": server.requests(),
        "state_files": len(table.shards),
    }


def main(arguments: list[str] | None = None) -> int:
    """Print JSON on stdout and a table on stderr. Exit 1 when a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    objects = 2_000 if parser.parse_args(arguments).quick else 10_000
    found: dict[str, Any] = {"latency_ms": LATENCY * 1000, "objects": objects, "objects_a_second": {}}
    missed: list[str] = []
    with serving(objects, 2000) as server:
        for client, least in LEAST.items():
            store = open_store("s3://bucket/docs", server.options(client))
            server.requests()
            reads = listed(store)
            found["listing_requests"] = server.requests()["list"]
            objects_a_second(reads[:200])
            best = max(objects_a_second(reads[:2000]) for _ in range(3))
            found["objects_a_second"][client] = round(best)
            if best < least:
                missed.append(f"{client}: {best:.0f} objects a second of {least}")
        if found["listing_requests"] > MOST_LISTING:
            missed.append(f"{found['listing_requests']} requests for a listing")
        found |= nights(server, objects)
    asked = found["unchanged_requests"]
    if sum(asked.values()) > found["listing_requests"] + 2 * found["state_files"] + 8:
        missed.append(f"an unchanged night asks {asked}")
    print(json.dumps(found | {"missed": missed}, indent=1))
    for name, value in found.items():
        print(f"{name:20} {value}", file=sys.stderr)
    print("\n".join(missed) or "every target met", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())

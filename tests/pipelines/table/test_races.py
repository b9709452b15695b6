"""Writers that race for one version, on every store: exactly one wins."""

from __future__ import annotations

import multiprocessing
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.operations.run import run
from pipelines.records import RunOptions
from pipelines.storage.store import open_store
from pipelines.table import log
from tests.pipelines.run.buckets import Stored
from tests.pipelines.run.corpus import text
from tests.servers.s3 import S3Server

Options = dict[str, dict[str, Any]]
Place = tuple[str, Options]

WRITERS = 8
STORES = ["disk", "memory", "s3", "gcs", *(pytest.param(name, marks=pytest.mark.slow) for name in ("moto", "azure"))]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Place]:
    """The address of an empty folder on a store, and the options to reach it."""

    def place(name: str) -> Place:
        if name == "disk":
            return str(tmp_path), {}
        if name == "memory":
            return f"memory://races-{uuid.uuid4().hex}", {}
        if name == "gcs":
            return "gs://bucket", request.getfixturevalue("gcs_options")
        if name == "s3":
            server: S3Server = request.getfixturevalue("s3")
            server.latency = 0.002  # so that requests overlap
            return "s3://bucket", request.getfixturevalue("s3_options")
        found: Place = request.getfixturevalue(name)
        return found

    return place


def content(writer: int) -> bytes:
    """Half of the writers write the same."""
    return b"all write the same" if writer % 2 else f"writer {writer}".encode()


def race(address: str, options: Options, names: list[str]) -> list[tuple[str, list[int]]]:
    """All writers create each of `names` at once; by name, who won."""
    barrier = threading.Barrier(WRITERS)
    won: dict[str, list[int]] = {name: [] for name in names}

    def write(number: int) -> None:
        store = open_store(address, options)
        for name in names:
            barrier.wait()
            if store.create(name, content(number)):
                won[name].append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(won.items())


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("rounds", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_one_of_eight_writers_wins_each_round(place: Callable[[str], Place], store: str, rounds: int) -> None:
    address, options = place(store)
    winners = race(f"{address}/table", options, [f"_delta_log/{number:020d}.json" for number in range(rounds)])
    assert [len(won) for _, won in winners] == [1] * rounds
    table = open_store(f"{address}/table", options)
    assert [table.read(name) for name, _ in winners] == [content(winner) for _, (winner,) in winners]


def whole_run(stored: Stored, barrier: Any, queue: Any) -> None:
    """A run in a process of its own that waits for the others before it begins."""
    barrier.wait()
    outcome = run(stored.config, RunOptions(workers=1), lambda event: None)
    queue.put((outcome.exit_code, outcome.version, outcome.run_id, outcome.committed))


@pytest.mark.slow
@pytest.mark.parametrize("store", ["disk", "s3", "gcs", "azure"])
def test_one_of_eight_whole_runs_wins(place: Callable[[str], Place], store: str) -> None:
    """Each in a process of its own; nights with a change each, so that there is a race every time."""
    address, options = place(store)
    stored = Stored(f"{address}/docs", f"{address}/table", options)
    for number in range(10):
        stored.write(f"{number:03d}.txt", text(3, f"of {number}"))
    context = multiprocessing.get_context("spawn")
    for version in range(2):
        stored.write("000.txt", text(version + 4, "changing"))
        barrier, queue = context.Barrier(WRITERS), context.Queue()
        processes = [context.Process(target=whole_run, args=(stored, barrier, queue)) for _ in range(WRITERS)]
        for process in processes:
            process.start()
        outcomes = [queue.get(timeout=300) for _ in processes]
        for process in processes:
            process.join()
        winners = [outcome for outcome in outcomes if outcome[3]]
        assert len(winners) == 1
        # Who begins after the winner has committed finds nothing to do.
        assert {outcome[0] for outcome in outcomes if not outcome[3]} <= {0, 6}
        head = log.head(stored.store)
        assert head is not None
        assert (head.version, head.run_id) == (version, winners[0][2])
        assert stored.rows() == stored.afresh(f"afresh-{version}")
    assert stored.run().committed is False

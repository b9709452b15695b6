"""Writers that race for one version on S3: exactly one wins, and everyone knows who."""

from __future__ import annotations

import multiprocessing
import threading
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

WRITERS = 8


def race(address: str, options: Options, names: list[str]) -> list[tuple[str, list[int]]]:
    """All writers create each of `names` at once; by name, who won."""
    barrier = threading.Barrier(WRITERS)
    won: dict[str, list[int]] = {name: [] for name in names}

    def write(number: int) -> None:
        store = open_store(address, options)
        for name in names:
            barrier.wait()
            if store.create(name, b"all write the same" if number % 2 else f"writer {number}".encode()):
                won[name].append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(won.items())


@pytest.mark.parametrize("rounds", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_one_of_eight_writers_wins_each_round(s3: S3Server, s3_options: Options, rounds: int) -> None:
    s3.latency = 0.002
    names = [f"_delta_log/{number:020d}.json" for number in range(rounds)]
    winners = race("s3://bucket/table", s3_options, names)
    assert [len(won) for _, won in winners] == [1] * rounds
    for name, (number,) in winners:
        content = s3.bucket("bucket").objects[f"table/{name}"].data
        assert content == (b"all write the same" if number % 2 else f"writer {number}".encode())


@pytest.mark.slow
def test_one_of_eight_writers_wins_each_round_on_moto(moto: tuple[str, Options]) -> None:
    address, options = moto
    winners = race(f"{address}/table", options, [f"_delta_log/{number:020d}.json" for number in range(50)])
    assert [len(won) for _, won in winners] == [1] * 50


def whole_run(stored: Stored, barrier: Any, queue: Any) -> None:
    """A run in a process of its own that waits for the others before it begins."""
    barrier.wait()
    outcome = run(stored.config, RunOptions(workers=1), lambda event: None)
    queue.put((outcome.exit_code, outcome.version, outcome.run_id, outcome.committed))


@pytest.mark.slow
def test_one_of_eight_whole_runs_wins(s3: S3Server, s3_options: Options) -> None:
    stored = Stored("s3://bucket/docs", "s3://bucket/table", s3_options)
    for number in range(10):
        stored.write(f"{number:03d}.txt", text(3, f"of {number}"))
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(WRITERS), context.Queue()
    processes = [context.Process(target=whole_run, args=(stored, barrier, queue)) for _ in range(WRITERS)]
    for process in processes:
        process.start()
    outcomes = [queue.get(timeout=300) for _ in processes]
    for process in processes:
        process.join()
    winners = [outcome for outcome in outcomes if outcome[3]]
    # Who begins after the winner has committed finds nothing to do.
    assert len(winners) == 1
    assert {outcome[0] for outcome in outcomes if not outcome[3]} <= {0, 6}
    head = log.head(stored.store)
    assert head is not None
    assert (head.version, head.run_id) == (0, winners[0][2])
    assert stored.rows() == stored.afresh()
    assert stored.run().committed is False

"""Many writers at one table on each kind of store: exactly one of them wins each time, and nobody's work is mixed."""

from __future__ import annotations

import itertools
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pipelines.operations.verify import verify
from pipelines.storage.retry import Retry
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, log, snapshot
from pipelines.table.commit import Committed, LostRace, commit
from pipelines.table.publish import publish
from tests.pipelines.run.buckets import Stored
from tests.pipelines.run.corpus import text
from tests.pipelines.table.tables import attempt, snapshot_of
from tests.servers.faults import Fault
from tests.servers.gcs import GcsServer

Options = dict[str, dict[str, Any]]
WRITERS, ROUNDS = 8, 50
STORES = ["moto", "gcs", "gcs that loses answers", "azure", "disk"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.storage.bucket.Retry", lambda: Retry(first=0.01))


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Options]]:
    """An empty folder on the store that the test is for."""
    if request.param == "disk":
        yield str(tmp_path), {}
    elif request.param.startswith("gcs"):
        server: GcsServer = request.getfixturevalue("gcs")
        if request.param != "gcs":
            uploads = itertools.count()  # every third one is done and its answer lost
            unwell = lambda asked: asked.operation == "upload" and next(uploads) % 3 == 2
            server.faults.add(Fault(kind="lost", times=-1, meets=unwell))
        yield "gs://bucket", request.getfixturevalue("gcs_options")
    else:
        yield request.getfixturevalue(request.param)


def race(store: Store, number: int) -> list[tuple[str, Committed | LostRace]]:
    """All writers commit their own run on top of the same head, at once."""
    head = log.head(store)
    barrier = threading.Barrier(WRITERS)

    def write(name: int) -> tuple[str, Committed | LostRace]:
        mine = open_store(store.address, options_of(store))
        run_id = layout.new_run_id()
        parts = publish(mine, run_id, attempt(mine, run_id, {"a": [f"{name} of {number}"]}))
        ready = snapshot_of(run_id, parts, head)
        barrier.wait(60)
        return run_id, commit(mine, ready, head)

    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(write, range(WRITERS)))


def options_of(store: Store) -> Options:
    """The options a store was opened with."""
    return {store.address.partition("://")[0]: dict(getattr(store, "_options", {}))} if "://" in store.address else {}


def check_rounds(place: tuple[str, Options], rounds: int) -> None:
    store = open_store(f"{place[0]}/table-{uuid.uuid4().hex[:8]}", place[1])
    for number in range(rounds):
        done = race(store, number)
        winners = [run_id for run_id, result in done if isinstance(result, Committed)]
        assert len(winners) == 1
        assert {result.version for _, result in done} == {number}
        assert {result.winner for _, result in done if isinstance(result, LostRace)} == set(winners)
        found = snapshot.load(store)
        assert found is not None
        assert (found.version, found.run_id) == (number, winners[0])
    assert [each.version for each in log.versions(store)] == list(range(rounds))


@pytest.mark.parametrize("place", ["gcs", "gcs that loses answers"], indirect=True)
def test_of_eight_writers_one_commits(place: tuple[str, Options]) -> None:
    check_rounds(place, 2)


@pytest.mark.slow
@pytest.mark.parametrize("place", STORES, indirect=True)
def test_of_eight_writers_one_commits_fifty_times(place: tuple[str, Options]) -> None:
    check_rounds(place, ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("place", STORES, indirect=True)
def test_of_eight_whole_runs_one_publishes(place: tuple[str, Options]) -> None:
    """First on an empty table, then with a change that all of them see."""
    address, options = place
    jobs = [Stored(f"{address}/docs", f"{address}/table", options, task_bytes=2000) for _ in range(WRITERS)]
    for number in range(6):
        jobs[0].write(f"{number}.txt", text(2, f"of {number}"))
    for version in range(2):
        with ThreadPoolExecutor(WRITERS) as pool:
            outcomes = list(pool.map(lambda job: job.run(), jobs))
        # (whoever begins after the winner has committed finds nothing to do)
        assert {(outcome.exit_code, outcome.committed) for outcome in outcomes} <= {(0, True), (0, False), (6, False)}
        assert sum(outcome.committed for outcome in outcomes) == 1
        assert jobs[0].snapshot().version == version
        assert jobs[0].rows() == jobs[0].afresh(f"afresh-{version}")
        found = verify(jobs[0].store, lambda event: None, full=True)
        assert list(found.problems) == []
        jobs[0].write("1.txt", text(4, "changed"))

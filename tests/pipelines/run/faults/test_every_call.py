"""Every storage call of a run, and of what repairs and cleans up after runs, fails once in each way.

The fast tests try a seeded sample of the points. The slow ones try all of them on a disk, and some of them, and all
requests, where the code is the same. `make test-slow` prints how many there were.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.storage.retry import Retry
from tests.pipelines.run.faults.injection import KINDS, Kind
from tests.pipelines.run.faults.places import S3, Disk, Memory, Place
from tests.pipelines.run.faults.points import Tried, try_points
from tests.pipelines.run.faults.scenes import SCENES
from tests.servers.faults import Fault
from tests.servers.s3 import S3Server

ROOT = Path(__file__).parents[4]
SAMPLE: dict[str, tuple[str, int]] = {
    "first run": ("memory", 4),
    "next run": ("disk", 8),
    "resume": ("memory", 5),
    "rollback": ("disk", 3),
    "gc": ("memory", 3),
    "verify": ("memory", 2),
}
"""Where the fast tests try a scene, and how many points of it."""


@pytest.fixture
def place_of(
    quick_disk: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Place]:
    def place(name: str) -> Place:
        if name == "disk":
            return Disk(quick_disk)
        if name == "memory":
            return Memory(f"faults-{uuid.uuid4().hex}")
        monkeypatch.setattr("pipelines.storage.bucket.Retry", lambda: Retry(tries=4, first=0.005))
        server: S3Server = request.getfixturevalue("s3")
        return S3(server, request.getfixturevalue("s3_options"), quick_disk)

    return place


@pytest.mark.parametrize("scene", SAMPLE)
def test_some_calls_fail(scene: str, place_of: Callable[[str], Place]) -> None:
    where, count = SAMPLE[scene]
    chance = random.Random(f"{scene} 1")
    tried = SCENES[scene](place_of(where))
    found = 0
    for number, kind in enumerate(chance.sample(KINDS, min(count, len(KINDS)))):
        points = chance.sample(tried.points(kind), 1 + (number < count - len(KINDS)))
        found += len([*try_points(tried, kind, points)])
    assert found == count


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(("where", "every"), [("disk", 1), ("memory", 2), ("s3", 3)])
def test_every_call_fails(
    where: str,
    every: int,
    scene: str,
    kind: Kind,
    place_of: Callable[[str], Place],
    record_property: Callable[[str, object], None],
) -> None:
    if where == "disk" and kind.startswith("crashes"):
        pytest.skip("see below")
    tried, set_up = Tried(), SCENES[scene](place_of(where))
    points = set_up.points(kind)[::every]
    tried.by_operation.update(try_points(set_up, kind, points))
    record_property("fault points", [where, scene, kind, dict(tried.by_operation)])
    assert tried.by_operation.total() >= 0.9 * len(points)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["crashes before", "crashes after"])
@pytest.mark.parametrize("scene", SCENES)
def test_every_call_crashes_a_process(
    scene: str, kind: Kind, quick_disk: Path, record_property: Callable[[str, object], None]
) -> None:
    """Crashes as they are: the process is gone at once. Forked from one that never ran Beam."""
    command = [sys.executable, "-m", "tests.pipelines.run.faults.crashing", str(quick_disk), scene, kind]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout)
    record_property("fault points", ["disk, processes", scene, kind, found])
    assert sum(found.values()) > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["status", "drop", "lost", "short"])
@pytest.mark.parametrize("scene", ["first run", "next run", "resume", "rollback", "gc"])
def test_every_request_fails_once_and_nobody_notices(
    scene: str, kind: Any, place_of: Callable[[str], Place], record_property: Callable[[str, object], None]
) -> None:
    place = place_of("s3")
    assert isinstance(place, S3)
    tried, set_up = Tried(), SCENES[scene](place)
    faults, world = place.server.faults, set_up.world
    number, met = 0, True
    while met:
        place.restore(set_up.kept)
        faults.clear()
        faults.add(Fault(kind=kind, skip=number))
        assert set_up.work(world) == 0, f"request {number}: {faults.met}"
        met, number = bool(faults.met), number + 1
        tried.by_operation.update(request.operation for _, request in faults.met)
        faults.clear()
        assert world.rows() == (set_up.aims if set_up.publishes else set_up.rows)
        world.check_table()
    record_property("fault points", ["s3, requests", scene, kind, dict(tried.by_operation)])
    assert tried.by_operation.total() > 20

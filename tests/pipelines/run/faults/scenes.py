"""The work during which storage calls fail: runs, and what repairs and cleans up after them."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.operations.rollback import rollback
from pipelines.operations.verify import verify
from tests.pipelines.run.faults.injection import Call, Fault, Killed, injected
from tests.pipelines.run.faults.places import Place
from tests.pipelines.run.faults.points import Scene
from tests.pipelines.run.faults.world import FIRST, SECOND, World


def _first(world: World) -> None:
    world.change(FIRST)


def _second(world: World) -> None:
    _first(world)
    assert world.run().exit_code == 0
    world.change(SECOND)


def _both(world: World) -> None:
    _second(world)
    assert world.run().exit_code == 0


def _broken_off(world: World) -> None:
    """A run that was killed between its tasks."""
    _second(world)
    with injected(Fault("crashes after", at_first=_finishes_a_task)):
        try:
            world.run()
        except Killed:
            return
    raise AssertionError("not killed")


def _finishes_a_task(call: Call) -> bool:
    return call.operation == "create" and call.path.endswith("/tasks/00000.json")


def _much_to_collect(world: World) -> None:
    """An old version, and a run that was killed and is marked already."""
    _broken_off(world)
    assert world.run().exit_code == 0
    world.gc(grace=3600.0)
    world.change({"files/zz last.txt": b"The last one is another one now.\n"})
    assert world.run().committed


def _run(world: World) -> int:
    return world.run().exit_code


def _resume(world: World) -> int:
    return world.resume().exit_code


def _gc(world: World) -> int:
    world.gc()
    return 0


def _rollback(world: World) -> int:
    rollback(world.store, 0, world.events.append)
    return 0


def _verify(world: World) -> int:
    return 6 if verify(world.store, world.events.append, full=True).total else 0


SCENES: dict[str, Callable[[Place], Scene]] = {
    "first run": lambda place: Scene("first run", World(place), _first, _run),
    "next run": lambda place: Scene("next run", World(place), _second, _run),
    "resume": lambda place: Scene("resume", World(place), _broken_off, _resume),
    "rollback": lambda place: Scene("rollback", World(place), _both, _rollback, aims_at=0),
    "gc": lambda place: Scene(
        "gc", World(place), _much_to_collect, _gc, publishes=False, is_overtaken=True, keeps_newest_only=True
    ),
    "verify": lambda place: Scene("verify", World(place), _both, _verify, publishes=False),
}

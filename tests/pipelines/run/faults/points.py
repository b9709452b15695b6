"""Work during which one storage call fails, and all that must hold afterwards."""

from __future__ import annotations

import os
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from pipelines.errors import RechunkError
from tests.pipelines.run.faults.injection import Call, Fault, Killed, Kind, injected
from tests.pipelines.run.faults.world import MEANWHILE, STAYING, Rows, World, hashes

DIED = 9
"""Exit code of a process that crashed on purpose."""

BUG = 70


@dataclass
class Scene:
    """What is tried: `work` on a world that was put into a state (by `prepare`) that every point starts from.

    `version` and `rows` are the commit that a consumer saw then. `fresh` is what a run into a new table makes of the
    sources, with the rows of documents that cannot be chunked any more; `later` the same after another run was at work
    `meanwhile`. Work that `publishes` ends with a new commit, whose rows are `aims`: those
    of version `aims_at`, or `fresh`. `is_overtaken`: there is a run that broke off before the last commit.
    `keeps_newest_only`: the work deletes every version that another one has superseded by then.
    """

    name: str
    world: World
    prepare: Callable[[World], None]
    work: Callable[[World], int]
    publishes: bool = True
    aims_at: int | None = None
    is_overtaken: bool = False
    keeps_newest_only: bool = False
    kept: object = None
    version: int | None = None
    rows: Rows = field(default_factory=dict)
    fresh: Rows = field(default_factory=dict)
    later: Rows = field(default_factory=dict)
    aims: Rows = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.prepare(self.world)
        self.version, self.rows = self.world.version(), self.world.rows()
        self.kept = self.world.place.keep()
        self.fresh = self._expected()
        self.aims = self.fresh if self.aims_at is None else self.world.rows(self.aims_at)
        self.world.place.restore(self.kept)
        self.world.change(MEANWHILE)
        self.later = self._expected()

    def _expected(self) -> Rows:
        found = self.world.afresh()
        kept = {id_: row for id_, row in self.rows.items() if row["parent_id"] in STAYING}
        assert not kept.keys() & found.keys()
        return found | kept

    def points(self, kind: Kind) -> list[int]:
        """The numbers of the calls that are worth this fault: all, and of the reads of one open file the outer ones."""
        self.world.place.restore(self.kept)
        fault = Fault(kind)
        with injected(fault):
            code = self.work(self.world)
        assert code == 0, f"{self.name} does not even work without a fault: {code}"
        calls = [None, *fault.calls, None]
        return [
            number
            for number, call in enumerate(calls)
            if call is not None
            and not (call.operation == "range" and _same(calls[number - 1], call) and _same(calls[number + 1], call))
        ]


def _same(other: Call | None, call: Call) -> bool:
    return other is not None and (other.operation, other.path) == (call.operation, call.path)


def try_points(scene: Scene, kind: Kind, numbers: list[int], *, fork: bool = False) -> Iterator[str]:
    """Try them one after the other; the operation that each fault met. AssertionError says at which call."""
    for at in numbers:
        fault = Fault(kind, at)
        try:
            met = try_point(scene, fault, fork=fork)
        except BaseException as error:
            raise AssertionError(f"{scene.name}: {kind} at call {at}, {fault.met}: {error!r}") from error
        if met is not None:
            yield met.operation


def try_point(scene: Scene, fault: Fault, *, fork: bool = False) -> Call | None:
    """Commit one fault, and check everything. With `fork` a crash is one: of a process of its own.

    None when the fault met no call: there may be fewer than when they were counted, in another order.
    """
    world = scene.world
    world.place.restore(scene.kept)
    heal: list[Callable[[], None]] = []

    def meanwhile() -> None:
        world.change(MEANWHILE)
        assert World(world.place).run().exit_code == 0

    def cut(call: Call) -> bool:
        found = world.place.cut(f"{call.address}/{call.path}")
        heal.extend([] if found is None else [found])
        return found is not None

    fault.meanwhile, fault.cut = meanwhile, cut
    fault.code = _in_a_process(scene, fault) if fork else _here(scene, fault)
    for each in heal:
        each()
    if fault.met is not None:
        _check(scene, fault, fault.met, fault.code)
    return fault.met


def exit_code(work: Callable[[World], int], world: World) -> int:
    """The exit code that a command would end with."""
    try:
        return work(world)
    except RechunkError as error:
        return error.exit_code
    except Killed:
        return DIED
    except Exception:
        traceback.print_exc()
        return BUG


def _here(scene: Scene, fault: Fault) -> int:
    with injected(fault):
        return exit_code(scene.work, scene.world)


def _in_a_process(scene: Scene, fault: Fault) -> int:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:

        def die() -> None:
            call = fault.met
            os.write(writing, "" if call is None else "\0".join((call.operation, call.address, call.path)).encode())
            os._exit(DIED)

        fault.kill = die
        _here(scene, fault)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as said:
        met = said.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    fault.met = Call(*met.split("\0")) if met else None
    return code


# what must hold


def _check(scene: Scene, fault: Fault, met: Call, code: int) -> None:
    world = scene.world
    version, rows = world.version(), world.rows()
    of_source = met.address.startswith(world.place.docs)
    assert code != BUG, "a bug"
    if version == scene.version:
        assert hashes(rows) == hashes(scene.rows), "other rows without a commit"
    else:
        _check_view(scene, fault, met if of_source else None, rows)
    _check_code(scene, fault, code, of_source=of_source, committed=version != scene.version, path=met.path)
    world.check_table()
    check_history = partial(
        world.check_history,
        scene.version,
        scene.rows,
        may_be_collected=scene.keeps_newest_only and fault.kind == "slow",  # superseded by another run in between
    )
    check_history()
    if scene.aims_at is not None:  # what was begun is done once more: nothing that was left blocks it
        assert exit_code(scene.work, world) == 0
        assert hashes(world.rows()) == hashes(scene.aims)
    resumed = exit_code(lambda world: world.resume().exit_code, world)
    overtaken = scene.is_overtaken or fault.kind == "slow"
    assert resumed == 0 or (overtaken and resumed == 6), f"resume ends with {resumed}"
    check_history()
    assert world.run().exit_code == 0
    assert world.rows() == (scene.later if fault.kind == "slow" else scene.fresh)
    check_history()
    world.check_table()
    assert world.run().committed is False
    world.check_nothing_left()


def _check_view(scene: Scene, fault: Fault, met: Call | None, rows: Rows) -> None:
    """What a reader sees of a new commit: what it was to be, but for documents of a source that failed (at `met`)."""
    if fault.kind == "slow":
        assert hashes(rows) in (hashes(scene.later), hashes(scene.aims)), "neither this commit nor the other run's"
        return
    if met is None:
        assert hashes(rows) == hashes(scene.aims), "a commit that is not whole"
        return
    old, new, seen = (_by_document(each) for each in (scene.rows, scene.aims, rows))
    name = met.path if met.operation == "fetch" and fault.kind == "short" else None  # half of it was all there was
    for document in (old.keys() | new.keys() | seen.keys()) - {name}:
        assert seen.get(document) in (old.get(document), new.get(document)), f"{document} is neither old nor new"


def _by_document(rows: Rows) -> dict[str, dict[str, tuple[str, str]]]:
    found: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for id_, each in hashes(rows).items():
        found[rows[id_]["parent_id"]][id_] = each
    return found


def _check_code(scene: Scene, fault: Fault, code: int, *, of_source: bool, committed: bool, path: str) -> None:
    """What was published and what was not, the exit code says."""
    match fault.kind:
        case "crashes before" | "crashes after":
            right = {DIED}
        case "slow":
            right = {0, 6}
        case "short" if of_source:
            right = {0}
        case "short":  # damage; but a read of nothing is not shortened
            right = {0} if committed else {5, 6} if scene.publishes else {0, 5, 6}
        case _ if of_source:
            right = {0, 4} if committed else {5}  # 4: a source was not listed whole
        case _:
            right = {0} if committed else {5} if scene.publishes else {0, 5, 6}
    assert code in right, f"exit code {code}, {'' if committed else 'not '}committed"
    if path.startswith("claims/") and scene.publishes and fault.kind in ("raises", "reply lost"):
        assert committed, "claims are advisory"


@dataclass
class Tried:
    """How many points were tried, by operation."""

    by_operation: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return f"{self.by_operation.total()} points: " + ", ".join(
            f"{name} {number}" for name, number in sorted(self.by_operation.items())
        )

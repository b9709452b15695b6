"""`gc`: what nobody needs goes, and nothing else, whoever is at work at the same time."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli.main import main
from pipelines.errors import StorageError, TableStateError
from pipelines.operations.gc import Collected, collect
from pipelines.operations.rollback import RolledBack, rollback
from pipelines.operations.verify import verify
from pipelines.storage.local import LocalStore
from pipelines.storage.store import open_store
from pipelines.table import layout, log, snapshot
from pipelines.table.commit import Committed, commit
from pipelines.table.publish import publish
from pipelines.table.records import Snapshot
from tests.pipelines.operations.interleaving import SECOND, Actor, Killed, SteppedStore, play
from tests.pipelines.run.corpus import Corpus, text
from tests.pipelines.table import tables

DAY = 86_400.0


@pytest.fixture
def table(tmp_path: Path) -> LocalStore:
    """Four versions, each of a few files."""
    store = LocalStore(str(tmp_path / "table"))
    for number in range(4):
        tables.run(store, {"a": ["same"], "b": [f"text {number}"]}, ["b"])
    return store


def age(store: LocalStore, seconds: float, *, under: str = "") -> None:
    """Make everything as old as if so much time had gone by."""
    for page in store.list(under):
        for path in page.paths:
            file = Path(store.child(path))
            when = file.stat().st_mtime - seconds
            os.utime(file, (when, when))


def versions_of(store: Any) -> list[int]:
    """Versions that are whole."""
    return [version.version for version in log.versions(store) if version.run_id and is_whole(store, version.version)]


def is_whole(store: Any, version: int) -> bool:
    try:
        found = snapshot.load(store, version)
    except TableStateError:
        return False
    assert found is not None
    for entry in found.files():
        try:
            data = store.read(entry.path)
        except FileNotFoundError:
            raise AssertionError(f"version {version} can be opened and lacks {entry.path}") from None
        assert hashlib.sha256(data).hexdigest() == entry.sha256
    return True


def test_a_young_table_keeps_everything_but_what_runs_needed_while_they_worked(table: LocalStore) -> None:
    before = paths(table)
    assert collect(table).files == 0
    assert paths(table) == before
    age(table, 2 * 3600)
    found = collect(table)
    assert (found.versions, found.oldest, found.marked) == ([], 0, [])
    assert {path.split("/")[2] for path in before - paths(table)} == {"attempts"}
    assert versions_of(table) == [0, 1, 2, 3]


def paths(store: Any) -> set[str]:
    return {path for page in store.list() for path in page.paths}


def test_versions_go_when_another_has_been_in_their_place_for_the_retention(table: LocalStore) -> None:
    age(table, 10 * DAY)
    tables.run(table, {"a": ["same"], "b": ["text 4"]}, ["b"])  # replaces version 3 now
    found = collect(table, retain=9 * DAY)
    assert (found.versions, found.oldest) == ([0, 1, 2], 3)
    assert versions_of(table) == [3, 4]
    with pytest.raises(TableStateError, match="version 1 was collected or lost; the oldest version still there is 3"):
        snapshot.load(table, 1)
    assert collect(table, retain=9 * DAY).files == 0


def test_the_log_and_what_is_not_ours_is_never_touched(table: LocalStore) -> None:
    foreign = [
        "chunks/part-00000-1f2e3d4c.snappy.parquet",
        "chunks/_delta_log/00000000000000000003.checkpoint.parquet",
        "chunks/_delta_log/_last_checkpoint",
        "chunks/other/part-00000-of-00001.parquet",
        "runs/README.txt",
        "claims/README.txt",
        "notes.txt",
    ]
    for path in foreign:
        table.write(path, b"x")
    log_files = {path for path in paths(table) if path.startswith("chunks/_delta_log/")}
    age(table, 1000 * DAY)
    collect(table, retain=0, grace=0)
    assert set(foreign) | log_files <= paths(table)
    assert versions_of(table) == [3]


def test_states_that_a_newer_version_names_stay(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.change(output=replace(corpus.config.output, task_bytes=1000))
    corpus.fill(6)
    corpus.run()
    corpus.write("005.txt", text(4, "new"))
    corpus.run()
    first, second = corpus.snapshot(0), corpus.snapshot(1)
    shared = {shard.documents.path for shard in first.shards} & {shard.documents.path for shard in second.shards}
    assert shared
    table = LocalStore(str(tmp_path / "table"))
    age(table, DAY)
    found = collect(table, retain=0)
    assert found.versions == [0]
    assert 0 < found.freed < found.bytes  # untouched shards are hard links
    assert verify(table, lambda event: None, full=True).problems == []
    assert not list((tmp_path / "table/chunks" / first.run_id).glob("*"))
    corpus.write("000.txt", text(1, "newer"))
    assert corpus.run().committed
    assert corpus.rows() == corpus.afresh()


def broken_run(store: Any) -> str:
    """A run that broke off before it could commit."""
    run_id = layout.new_run_id()
    publish(store, run_id, tables.attempt(store, run_id, {"a": ["broken"]}))
    return run_id


def test_a_broken_run_is_marked_first_and_deleted_after_the_grace_period(table: LocalStore) -> None:
    run_id = broken_run(table)
    assert collect(table).marked == []
    age(table, 31 * DAY)
    assert collect(table).marked == [run_id]
    assert table.exists(layout.expired_file(run_id))
    assert collect(table).waiting == [run_id]
    age(table, 2 * 3600, under=layout.expired_file(run_id))
    assert collect(table).runs == [run_id]
    left = {path for path in paths(table) if run_id in path}
    assert left == {layout.expired_file(run_id)}  # it could still commit on the newest version
    tables.run(table, {"a": ["newer"]})
    collect(table)
    assert not {path for path in paths(table) if run_id in path}


def test_a_run_with_a_fresh_claim_is_at_work_however_quiet(table: LocalStore) -> None:
    run_id = broken_run(table)
    age(table, 31 * DAY)
    table.write(layout.claim_file(run_id), b"{}")
    assert collect(table).marked == []
    age(table, 3600, under=layout.CLAIMS)
    assert collect(table).marked == [run_id]
    assert not table.exists(layout.claim_file(run_id))


def test_a_marked_run_cannot_commit(table: LocalStore) -> None:
    head = log.head(table)
    run_id = layout.new_run_id()
    parts = publish(table, run_id, tables.attempt(table, run_id, {"a": ["late"]}))
    age(table, 31 * DAY)
    collect(table)
    with pytest.raises(TableStateError, match="are being collected"):
        commit(table, tables.snapshot_of(run_id, parts, head), head)


def test_a_run_that_may_be_committing_is_left_until_it_has_lost(table: LocalStore) -> None:
    head = log.head(table)
    run_id = layout.new_run_id()
    parts = publish(table, run_id, tables.attempt(table, run_id, {"a": ["slow"]}))
    table.create(layout.commit_file(run_id), snapshot.dumps(tables.snapshot_of(run_id, parts, head)))
    age(table, 31 * DAY)
    collect(table, grace=0)
    age(table, 31 * DAY)
    assert collect(table, grace=0).waiting == [run_id]
    assert table.exists(parts[0].chunks.path)
    tables.run(table, {"a": ["newer"]})
    assert collect(table, grace=0).runs == [run_id]
    assert not {path for path in paths(table) if run_id in path}


def test_a_run_that_ended_without_a_commit_leaves_its_notes(table: LocalStore) -> None:
    run_id = broken_run(table)
    notes = [layout.run_file(run_id, name) for name in ("outcome.json", "stats.json")]
    for path in notes:
        table.write(path, b"{}")
    age(table, 2 * 3600)
    assert collect(table).marked == [run_id]
    age(table, 2 * 3600)
    collect(table)
    assert {path for path in paths(table) if run_id in path} == {*notes, layout.expired_file(run_id)}
    age(table, 31 * DAY)
    tables.run(table, {"a": ["newer"]})
    collect(table)
    assert not {path for path in paths(table) if run_id in path}


def test_temporaries_of_interrupted_writes_go(table: LocalStore) -> None:
    stray = Path(table.child("chunks/_delta_log/.tmp-rechunk-0123456789abcdef"))
    stray.write_bytes(b"half")
    collect(table)
    assert stray.exists()
    os.utime(stray, (time.time() - 7200,) * 2)
    assert collect(table).bytes == 4
    assert not stray.exists()


def test_a_dry_run_says_the_same_and_writes_nothing(table: LocalStore) -> None:
    broken_run(table)
    age(table, 31 * DAY)
    before = paths(table)
    foreseen = collect(table, retain=DAY, dry_run=True)
    assert paths(table) == before
    done = collect(table, retain=DAY)
    assert replace(done, freed=0, dry_run=True) == foreseen
    assert (done.versions, len(done.marked)) == ([0, 1, 2], 1)
    assert paths(table) != before


def test_time_is_the_stores_and_not_this_machines(table: LocalStore) -> None:
    """A store whose clock is ten days behind: nothing in it is as old as our clock says."""
    behind = SteppedStore()
    behind.now = time.time_ns() - 40 * 86_400 * SECOND
    for number in range(3):
        tables.run(behind, {"a": [f"text {number}"]})
    assert collect(behind).versions == []
    behind.now += 29 * 86_400 * SECOND
    assert collect(behind).versions == []
    behind.now += 2 * 86_400 * SECOND
    assert collect(behind).versions == [0, 1]


def test_a_store_that_does_not_say_when_is_refused() -> None:
    class Timeless(SteppedStore):
        def _entry(self, path: str) -> Any:
            return super()._entry(path)._replace(modified=None)

    store = Timeless()
    tables.run(store, {"a": ["text"]})
    with pytest.raises(StorageError, match="does not say when objects were written"):
        collect(store)


def test_foreign_changes_and_damaged_records_are_refused(table: LocalStore) -> None:
    path = layout.commit_file(log.versions(table)[1].run_id or "")
    data = table.read(path)
    table.write(path, data.replace(b"nightly", b"NIGHTLY"))
    with pytest.raises(TableStateError, match="it is not known what a version names"):
        collect(table)
    table.write(path, data)
    table.write(layout.version_file(4), b'{"commitInfo":{"operation":"OPTIMIZE"}}\n{"remove":{"path":"x"}}\n')
    with pytest.raises(TableStateError, match="was written by another tool"):
        collect(table)


def test_a_table_that_never_had_a_commit(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "table"))
    with pytest.raises(TableStateError, match="holds no table"):
        collect(store)
    assert not (tmp_path / "table").exists()
    run_id = broken_run(store)
    age(store, 31 * DAY)
    found = collect(store)
    assert (found.marked, found.oldest) == ([run_id], None)
    age(store, DAY)
    assert collect(store).runs == [run_id]
    tables.run(store, {"a": ["first"]})
    collect(store)
    assert not {path for path in paths(store) if run_id in path}


def test_the_command(tmp_path: Path, table: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    age(table, 31 * DAY)
    tables.run(table, {"a": ["newest"]})
    assert main(["gc", table.address, "--retain", "30d", "--dry-run", "--output", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["versions"], told["oldest"], told["dry_run"]) == ([0, 1, 2], 3, True)
    assert main(["gc", table.address, "--grace", "1h"]) == 0
    assert "versions deleted     0, 1, 2" in capsys.readouterr().out
    assert main(["gc", table.address, "--retain", "soon"]) == 2
    assert "'soon' is no span of time; write 90s" in capsys.readouterr().err


# everybody at once


class World:
    """A table with a few versions, and what actors do to it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.store = SteppedStore()
        self.retain = self.chance.choice((0.0, 60.0, 200.0))
        self.grace = self.chance.choice((0.0, 20.0))
        for number in range(3):
            self.store.now += 100 * SECOND
            tables.run(self.store, {"a": [f"first {number}"], "m": ["middle"]}, ["m"])

    def run(self, tag: str, run_id: str) -> Any:
        """What a run does to the table: one new shard, and one taken over from the head."""
        head = log.head(self.store)
        assert head is not None
        base = snapshot.load_head(self.store, head)
        (new,) = tables.attempt(self.store, run_id, {"a": [tag]})
        parts = publish(self.store, run_id, [replace(new, high="m"), base.shards[-1]])
        return commit(self.store, tables.snapshot_of(run_id, parts, head), head)

    def finish(self, run_id: str, base: int, record: Snapshot) -> Any:
        """What resuming a run comes to that had all its work done: publish again, and commit."""
        if self.store.exists(layout.expired_file(run_id)):
            raise TableStateError("expired")
        parts = publish(self.store, run_id, record.shards)
        return commit(self.store, replace(record, shards=tuple(parts)), log.head_at(self.store, base))

    def read(self) -> None:
        """A slow reader of the newest version."""
        head = log.head(self.store)
        assert head is not None
        try:
            found = snapshot.load_head(self.store, head)
        except TableStateError:  # nothing was read of it yet
            assert not self.store.exists(layout.commit_file(head.run_id))
            assert self.superseded_for(head.version) >= self.retain, "the newest version was lost to a reader"
            return
        for entry in found.files():
            try:
                data = self.store.read(entry.path)
            except FileNotFoundError:
                assert self.superseded_for(head.version) >= self.retain, f"{entry.path} was lost to a reader"
                return
            assert hashlib.sha256(data).hexdigest() == entry.sha256

    def superseded_for(self, version: int) -> float:
        later = self.store.objects.get(layout.version_file(version + 1))
        return -1.0 if later is None else (self.store.now - later[1]) / SECOND

    def collect(self) -> Collected:
        return collect(self.store, retain=self.retain, grace=self.grace)


def unfinished(world: World) -> tuple[str, int, Snapshot]:
    """A run that broke off right before its commit, a while ago."""
    head = log.head(world.store)
    assert head is not None
    run_id = layout.new_run_id()
    made = tables.attempt(world.store, run_id, {"a": ["resumed"], "m": ["middle"]}, ["m"])
    parts = publish(world.store, run_id, made)
    world.store.now += world.chance.choice((0, 1_000)) * SECOND
    record = tables.snapshot_of(run_id, parts, head)
    if world.chance.random() < 0.3:
        world.store.create(layout.commit_file(run_id), snapshot.dumps(record))
    return run_id, head.version, record


WRITERS = ("run one", "run two", "resume", "rollback")


def everybody(seed: int) -> None:
    world = World(seed)
    run_id, base, record = unfinished(world)
    chance = world.chance
    older = chance.randint(0, 1)
    ids = [layout.new_run_id(datetime.fromtimestamp(1_800_000_000 + n, tz=UTC)) for n in range(2)]
    actors = [
        Actor("run one", lambda: world.run("one", ids[0])),
        Actor("run two", lambda: world.run("two", ids[1])),
        Actor("resume", lambda: world.finish(run_id, base, record)),
        Actor("gc", world.collect),
        Actor("second gc", lambda: (world.collect(), world.collect()), chance.choice((None, chance.randint(5, 60)))),
        Actor("rollback", lambda: rollback(world.store, older, lambda event: None)),
        Actor("reader", world.read),
        Actor("slow reader", world.read),
    ]
    play(world.store, actors, chance)
    for actor in actors:
        if isinstance(actor.error, Killed) and actor.left is not None:
            continue
        if isinstance(actor.error, TableStateError | FileNotFoundError) and actor.name in WRITERS:
            continue  # refused, or its files were collected: it did not commit
        assert actor.error is None, f"{actor.name}: {actor.error!r}"
    check(world, actors)
    for _ in range(3):  # whatever was killed or waiting is gone in the end
        world.store.now += 10_000 * SECOND
        head = log.head(world.store)
        tables.run(world.store, {"a": [f"after {head}"]})
        world.store.now += 10_000 * SECOND
        world.collect()
        check(world, [])
    whole = [snapshot.load(world.store, version) for version in versions_of(world.store)]
    named = {entry.path for found in whole if found is not None for entry in found.files()}
    left = {path for path in paths(world.store) if not path.startswith(layout.LOG)} - named
    assert {path.rpartition("/")[2] for path in left} <= {"commit.json"}, left


def check(world: World, actors: list[Actor]) -> None:
    """The newest version is whole, so is each within the retention, and a run that says it committed did."""
    numbers = log.version_numbers(world.store)
    for version in numbers:
        if world.superseded_for(version) < world.retain:
            assert is_whole(world.store, version), f"version {version} was lost"
        else:
            is_whole(world.store, version)
    for actor in actors:
        if isinstance(actor.result, RolledBack):
            assert log.find_run(world.store, actor.result.run_id or "", above=-1) == actor.result.version
        if isinstance(actor.result, Committed):
            assert log.find_run(world.store, actor.result.snapshot.run_id, above=-1) == actor.result.version


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler decides who acts, so nothing acts in threads of its own."""
    for module in ("table.publish", "table.retention", "operations.rollback"):
        monkeypatch.setattr(
            f"pipelines.{module}.in_parallel", lambda function, items, threads=1: list(map(function, items))
        )


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("seed", range(12))
def test_everybody_at_once(seed: int) -> None:
    everybody(seed)


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("hundred", range(20))
def test_everybody_at_once_many_times(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        try:
            everybody(1_000 + seed)
        except AssertionError as error:
            raise AssertionError(f"seed {1_000 + seed}") from error


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in (1, 2, 3))])
def test_a_collection_that_is_killed_at_any_call_is_repeatable(first: int) -> None:
    for calls in range(first, 200, 4):
        store = SteppedStore()
        for number in range(3):
            tables.run(store, {"a": [f"text {number}"]})
        broken_run(store)
        store.now += 1_000_000 * SECOND
        actor = Actor("gc", lambda store=store: collect(store, retain=10, grace=0), calls)  # type: ignore[misc]
        play(store, [actor], random.Random(calls))
        assert versions_of(store)[-1] == 2
        collect(store, retain=10, grace=0)
        assert versions_of(store) == [2]
        tables.run(store, {"a": ["newer"]})
        store.now += 1_000_000 * SECOND
        collect(store, retain=10, grace=0)
        head = snapshot.load(store)
        assert head is not None
        kept = {entry.path for entry in head.files()} | {layout.commit_file(head.run_id)}
        assert {path for path in paths(store) if not path.startswith(layout.LOG)} == kept
        if not isinstance(actor.error, Killed):
            break
    assert calls > 20


def test_open_stores_are_the_ones_tested(tmp_path: Path) -> None:
    """The memory store, through its real class."""
    store = open_store(f"memory://gc-{tmp_path.name}")
    for number in range(3):
        tables.run(store, {"a": [f"text {number}"]})
    found = collect(store, retain=0, grace=0)
    assert found.versions == [0, 1]
    assert versions_of(store) == [2]

"""Commits: what they leave, who wins, and what readers see when a run dies half-way."""

from __future__ import annotations

import json
import multiprocessing
import os
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from pipelines.errors import StorageError, TableStateError
from pipelines.storage.local import LocalStore
from pipelines.storage.store import Store, open_store
from pipelines.table import layout, log, reading, shards, snapshot
from pipelines.table.commit import Committed, LostRace, commit
from pipelines.table.publish import publish
from tests.pipelines.table.tables import attempt, run, snapshot_of, texts_of

OLD = {"a.md": ["one", "two"], "b.md": ["three"], "z.md": ["last"]}
NEW = {"a.md": ["one", "2"], "c.md": ["four", "five"], "z.md": ["last"]}


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "table") if request.param == "local" else f"memory://{uuid.uuid4().hex}")


def texts(store: Store, version: int | None = None) -> dict[str, str]:
    found = snapshot.load(store, version)
    assert found is not None
    rows = reading.read_chunks(store, found, columns=["id", "text"])
    return dict(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))


def foreign(store: Store, version: int, *actions: dict[str, Any], operation: str = "OPTIMIZE") -> None:
    info = {"commitInfo": {"timestamp": 0, "operation": operation, "engineInfo": "other"}}
    assert log.create_version(store, version, [info, *actions])


def test_a_table_without_commits_is_none(store: Store) -> None:
    assert log.head(store) is None
    assert snapshot.load(store) is None
    assert log.versions(store) == []
    with pytest.raises(TableStateError, match="there is no version 3; the table has no version"):
        snapshot.load(store, 3)


def test_each_commit_is_the_whole_table(store: Store) -> None:
    first = run(store, OLD, ["b.md"])
    assert isinstance(first, Committed)
    second = run(store, NEW)
    assert isinstance(second, Committed)
    assert (first.version, second.version) == (0, 1)
    assert texts(store) == texts(store, 1) == texts_of(NEW)
    assert texts(store, 0) == texts_of(OLD)
    assert snapshot.load(store) == second.snapshot
    assert [(each.version, each.operation, each.run_id) for each in log.versions(store)] == [
        (0, "WRITE", first.snapshot.run_id),
        (1, "WRITE", second.snapshot.run_id),
    ]
    with pytest.raises(TableStateError, match="there is no version 2; the table has versions 0 to 1"):
        snapshot.load(store, 2)


def test_the_run_folder_holds_the_whole_corpus_and_nothing_else(store: Store) -> None:
    done = run(store, OLD, ["b.md"])
    assert isinstance(done, Committed)
    folder = f"chunks/{done.snapshot.run_id}/"
    found = sorted(path for page in store.list("chunks/") for path in page.paths)
    parts = [f"{folder}part-0000{n}-of-00002.parquet" for n in (0, 1)]
    assert found == sorted([layout.version_file(0), *parts])
    assert sum(shards.read(store, part).num_rows for part in parts) == 4


def test_an_empty_corpus_is_one_shard_without_rows(store: Store) -> None:
    done = run(store, {})
    assert isinstance(done, Committed)
    assert [(shard.low, shard.high, shard.chunks.rows) for shard in done.snapshot.shards] == [("", None, 0)]
    assert texts(store) == {}
    assert reading.read_documents(store, done.snapshot).num_rows == 0


def test_the_log_entry_is_what_delta_asks_for(store: Store) -> None:
    first, second = run(store, OLD), run(store, NEW)
    assert isinstance(first, Committed)
    assert isinstance(second, Committed)
    zero, one = log.read_version(store, 0), log.read_version(store, 1)
    assert [next(iter(action)) for action in one] == ["commitInfo", "protocol", "metaData", "remove", "add"]
    assert one[0]["commitInfo"]["rechunk"]["run_id"] == second.snapshot.run_id
    assert one[1] == {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    assert one[2]["metaData"]["id"] == zero[2]["metaData"]["id"]
    assert one[2]["metaData"]["createdTime"] == zero[2]["metaData"]["createdTime"]
    assert one[3]["remove"]["path"] == f"{first.snapshot.run_id}/part-00000-of-00001.parquet"
    add = one[4]["add"]
    assert add["path"] == f"{second.snapshot.run_id}/part-00000-of-00001.parquet"
    assert add["size"] == len(store.read(f"chunks/{add['path']}"))
    assert json.loads(add["stats"]) == {
        "numRecords": 5,
        "minValues": {"id": "a.md#0"},
        "maxValues": {"id": "z.md#0"},
        "nullCount": {"id": 0},
    }
    assert add["tags"] == {"sha256": second.snapshot.shards[0].chunks.sha256}


def test_files_that_stay_live_are_added_again_and_not_removed(store: Store) -> None:
    first = run(store, OLD, ["b.md"])
    assert isinstance(first, Committed)
    head = log.head(store)
    run_id = layout.new_run_id()
    same = publish(store, run_id, first.snapshot.shards, folder=False)
    assert same == list(first.snapshot.shards)
    done = commit(store, snapshot_of(run_id, same, head), head)
    assert isinstance(done, Committed)
    assert [next(iter(action)) for action in log.read_version(store, 1)].count("add") == 2
    assert not any("remove" in action for action in log.read_version(store, 1))
    assert texts(store) == texts_of(OLD)


def test_untouched_shards_keep_their_states_and_are_linked_into_the_new_folder(store: Store) -> None:
    first = run(store, OLD, ["b.md"])
    assert isinstance(first, Committed)
    head, run_id = log.head(store), layout.new_run_id()
    changed = attempt(store, run_id, {"a.md": ["new"]}, ["b.md"])[0]
    parts = publish(store, run_id, [changed, first.snapshot.shards[1]])
    assert parts == publish(store, run_id, [changed, first.snapshot.shards[1]])
    assert parts[1].documents == first.snapshot.shards[1].documents
    assert parts[1].chunks == replace(
        first.snapshot.shards[1].chunks, path=f"chunks/{run_id}/part-00001-of-00002.parquet"
    )
    assert isinstance(commit(store, snapshot_of(run_id, parts, head), head), Committed)
    assert texts(store) == texts_of({**OLD, "a.md": ["new"]})
    assert texts(store, 0) == texts_of(OLD)


def test_committing_a_run_twice_finds_it_committed(store: Store) -> None:
    run_id = layout.new_run_id()
    mine = snapshot_of(run_id, publish(store, run_id, attempt(store, run_id, OLD)), None)
    first = commit(store, mine, None)
    assert commit(store, replace(mine, stats={"attempt": 2}), None) == first
    run(store, NEW)
    assert commit(store, mine, None) == first
    assert log.version_numbers(store) == [0, 1]
    assert texts(store, 0) == texts_of(OLD)


def test_a_run_that_began_on_an_older_head_loses(store: Store) -> None:
    run(store, OLD)
    head, run_id = log.head(store), layout.new_run_id()
    parts = publish(store, run_id, attempt(store, run_id, {"mine": ["x"]}))
    winner = run(store, NEW)
    assert isinstance(winner, Committed)
    lost = commit(store, snapshot_of(run_id, parts, head), head)
    assert lost == LostRace(version=1, winner=winner.snapshot.run_id)
    assert texts(store) == texts_of(NEW)


def test_another_tools_vacuum_entries_are_stepped_over(store: Store) -> None:
    run(store, OLD)
    head = log.head(store)
    foreign(store, 1, operation="VACUUM START")
    foreign(store, 2, operation="VACUUM END")
    run_id = layout.new_run_id()
    parts = publish(store, run_id, attempt(store, run_id, NEW))
    done = commit(store, snapshot_of(run_id, parts, head), head)
    assert isinstance(done, Committed)
    assert done.version == 3
    assert texts(store) == texts_of(NEW)
    assert texts(store, 2) == texts(store, 0) == texts_of(OLD)
    assert [each.operation for each in log.versions(store)] == ["WRITE", "VACUUM START", "VACUUM END", "WRITE"]


def test_another_tools_change_makes_the_table_unusable(store: Store) -> None:
    run(store, OLD)
    foreign(store, 1, {"remove": {"path": "x", "dataChange": False}})
    foreign(store, 2, operation="VACUUM START")
    for attempt_to in (lambda: log.head(store), lambda: snapshot.load(store), lambda: run(store, NEW)):
        with pytest.raises(TableStateError, match=r"version 1 \(OPTIMIZE\) was written by another tool") as caught:
            attempt_to()
        assert str(caught.value).endswith("; `rechunk rollback CONFIG 0` undoes what it did")
        assert caught.value.exit_code == 6
    assert texts(store, 0) == texts_of(OLD)


def test_a_change_that_needs_a_newer_reader_cannot_be_committed_over(store: Store) -> None:
    run(store, OLD)
    foreign(store, 1, {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7}}, operation="SET TBLPROPERTIES")
    with pytest.raises(TableStateError, match=r"version 1 \(SET TBLPROPERTIES\) .* by rechunk$"):
        log.head(store, over_foreign=True)


def test_a_table_that_was_never_ours_is_refused(store: Store) -> None:
    foreign(store, 0, {"protocol": {}}, operation="CREATE TABLE")
    with pytest.raises(TableStateError, match=r"version 0 \(CREATE TABLE\) .* by rechunk$"):
        log.head(store)


def test_a_table_of_another_format_is_refused(store: Store) -> None:
    run(store, OLD)
    actions = log.read_version(store, 0)
    actions[0]["commitInfo"]["rechunk"]["format"] = 2
    log.create_version(store, 1, actions)
    with pytest.raises(TableStateError, match="the table has format 2, which a newer rechunk wrote"):
        log.head(store)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"commitInfo":', "not a readable log entry"),
        (b"[]\n", "not a readable log entry"),
        (b"", "not a readable log entry"),
        (b"\xff", "not a readable"),
        (b'{"commitInfo":{"rechunk":{"format":0}}}', "version 1 is incomplete"),
    ],
)
def test_a_broken_log_entry_is_a_table_error(store: Store, text: bytes, message: str) -> None:
    run(store, OLD)
    store.create(layout.version_file(1), text)
    with pytest.raises(TableStateError, match=message):
        log.head(store)


def test_a_log_cleaned_up_behind_a_checkpoint_is_refused(store: Store) -> None:
    run(store, OLD)
    store.write("chunks/_delta_log/00000000000000000000.checkpoint.parquet", b"")
    assert log.version_numbers(store) == [0]
    store.write("chunks/_delta_log/00000000000000000009.checkpoint.parquet", b"")
    with pytest.raises(TableStateError, match="version 9 is only a checkpoint"):
        log.head(store)


def test_a_changed_commit_record_is_noticed(store: Store) -> None:
    done = run(store, OLD)
    assert isinstance(done, Committed)
    path = layout.commit_file(done.snapshot.run_id)
    store.write(path, store.read(path).replace(b"nightly", b"daily"))
    with pytest.raises(TableStateError, match="is not what version 0 committed; checksum differs"):
        snapshot.load(store)


def test_a_collected_version_names_the_oldest_that_is_left(store: Store) -> None:
    done = run(store, OLD)
    assert isinstance(done, Committed)
    run(store, NEW)
    store.delete(layout.commit_file(done.snapshot.run_id))
    with pytest.raises(TableStateError, match="version 0 was collected or lost; the oldest version still there is 1"):
        snapshot.load(store, 0)


def test_a_missing_or_short_file_stops_the_commit(store: Store) -> None:
    run_id = layout.new_run_id()
    parts = publish(store, run_id, attempt(store, run_id, OLD))
    data = store.read(parts[0].documents.path)
    store.write(parts[0].documents.path, data[:-1])
    with pytest.raises(TableStateError, match=f"has {len(data) - 1} bytes instead of {len(data)}"):
        commit(store, snapshot_of(run_id, parts, None), None)
    store.delete(parts[0].documents.path)
    with pytest.raises(TableStateError, match="the file to publish is missing"):
        commit(store, snapshot_of(run_id, parts, None), None)
    assert log.head(store) is None


def test_an_expired_run_cannot_commit(store: Store) -> None:
    run_id = layout.new_run_id()
    parts = publish(store, run_id, attempt(store, run_id, OLD))
    store.create(layout.expired_file(run_id), b"")
    with pytest.raises(TableStateError, match="are being collected"):
        commit(store, snapshot_of(run_id, parts, None), None)


def test_publish_touches_what_it_links(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    first = run(store, OLD)
    assert isinstance(first, Committed)
    old = tmp_path / first.snapshot.shards[0].chunks.path
    os.utime(old, (0, 0))
    (published,) = publish(store, layout.new_run_id(), first.snapshot.shards)
    assert os.stat(tmp_path / published.chunks.path).st_mtime > 1_000_000_000
    assert os.path.samefile(old, tmp_path / published.chunks.path)


def test_shards_must_own_every_key_once(store: Store) -> None:
    parts = attempt(store, layout.new_run_id(), OLD, ["b.md"])
    for wrong in (parts[:1], parts[1:], parts[::-1], []):
        with pytest.raises(ValueError, match="own every key once"):
            snapshot_of("x", wrong, None)


def test_lookups_read_only_the_files_that_may_hold_the_answer(store: Store) -> None:
    corpus = {"a": ["0"] * 12, "a#0": ["child"], "b": ["x"], "c": [], "d": ["y", "z"]}
    done = run(store, corpus, ["a#", "b", "d"])
    assert isinstance(done, Committed)

    def ids(**question: Any) -> list[str]:
        found: list[str] = reading.read_chunks(store, done.snapshot, columns=["id"], **question)["id"].to_pylist()
        return found

    assert ids(parent_ids=["a"]) == [f"a#{n}" for n in range(12)]
    assert ids(parent_ids=["a", "a#0", "d"]) == [*[f"a#{n}" for n in range(12)], "a#0#0", "d#0", "d#1"]
    assert ids(ids=["a#11", "d#1", "nothing"]) == ["a#11", "d#1"]
    assert ids(parent_ids=["b"], ids=["b#0", "d#0"]) == ["b#0"]
    assert ids(parent_ids=[]) == []
    assert ids(shard_indexes=[3]) == ["d#0", "d#1"]
    assert reading.read_documents(store, done.snapshot, [2, 3], ["id", "status"]).to_pylist() == [
        {"id": "b", "status": "chunked"},
        {"id": "c", "status": "empty"},
        {"id": "d", "status": "chunked"},
    ]
    for shard in done.snapshot.shards[2:]:  # the second one holds a#0#0, which could be a chunk of "a"
        store.delete(shard.chunks.path)
    assert ids(parent_ids=["a"]) == [f"a#{n}" for n in range(12)]


class Dying(LocalStore):
    """A disk that fails for good at its `budget`-th change: before it, or right after it."""

    budget: int
    late: bool

    def _spend(self) -> bool:
        self.budget -= 1
        if self.budget < 0 or (self.budget == 0 and not self.late):
            raise StorageError("the machine died", address=self.address)
        return self.budget == 0

    def write(self, path: str, data: bytes) -> None:
        last = self._spend()
        super().write(path, data)
        self._die(last)

    def create(self, path: str, data: bytes) -> bool:
        last = self._spend()
        created = super().create(path, data)
        self._die(last)
        return created

    def link(self, source: str, target: str) -> None:
        last = self._spend()
        super().link(source, target)
        self._die(last)

    def read(self, path: str) -> bytes:
        self._die(self.budget <= 0)
        return super().read(path)

    def open(self, path: str) -> BinaryIO:
        self._die(self.budget <= 0)
        return super().open(path)

    def _die(self, now: bool) -> None:
        if now:
            raise StorageError("the machine died", address=self.address)


@pytest.mark.parametrize("late", [False, True])
def test_wherever_a_run_dies_readers_see_a_whole_commit_and_a_retry_succeeds(tmp_path: Path, late: bool) -> None:
    seen = []
    for budget in range(1, 12):
        root = str(tmp_path / f"{budget}")
        good = LocalStore(root)
        run(good, OLD, ["b.md"])
        head = log.head(good)
        run_id = layout.new_run_id()
        parts = attempt(good, run_id, NEW, ["b.md"])
        dying = Dying(root)
        dying.budget, dying.late = budget, late
        try:
            done = commit(dying, snapshot_of(run_id, publish(dying, run_id, parts), head), head)
        except StorageError:
            seen.append(texts(good) == texts_of(NEW))
            assert texts(good) in (texts_of(OLD), texts_of(NEW))
        else:
            assert isinstance(done, Committed)
            break
        again = commit(good, snapshot_of(run_id, publish(good, run_id, parts), head), head)
        assert isinstance(again, Committed)
        assert again.version == 1
        assert texts(good) == texts_of(NEW)
        assert log.version_numbers(good) == [0, 1]
    # Four links, commit.json, the log entry; only death after the last of them leaves the new commit.
    assert seen == [False] * 5 + [late]


def test_an_error_after_the_deed_is_a_commit(tmp_path: Path) -> None:
    class Late(LocalStore):
        def create(self, path: str, data: bytes) -> bool:
            super().create(path, data)
            if path.startswith(layout.LOG):
                raise StorageError("timed out", address=path)
            return True

    done = run(Late(str(tmp_path)), OLD)
    assert isinstance(done, Committed)
    assert texts(LocalStore(str(tmp_path))) == texts_of(OLD)


def _race(root: str, rounds: int, name: str, barrier: Any, results: Any) -> None:
    store = open_store(root)
    for number in range(rounds):
        head = log.head(store)
        run_id = layout.new_run_id()
        parts = publish(store, run_id, attempt(store, run_id, {"a": [f"{name} {number}"]}))
        mine = snapshot_of(run_id, parts, head)
        barrier.wait()
        done = commit(store, mine, head)
        winner = done.winner if isinstance(done, LostRace) else run_id
        results.put((number, name, run_id, isinstance(done, Committed), done.version, winner))
        barrier.wait()


def test_exactly_one_of_the_racing_processes_commits(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    rounds, names = 40, ["x", "y", "z"]
    barrier, results = context.Barrier(len(names)), context.Queue()
    racers = [context.Process(target=_race, args=(str(tmp_path), rounds, name, barrier, results)) for name in names]
    for racer in racers:
        racer.start()
    outcomes = [results.get(timeout=120) for _ in range(rounds * len(names))]
    for racer in racers:
        racer.join(60)
    store = open_store(str(tmp_path))
    by_version = {each.version: each.run_id for each in log.versions(store)}
    assert list(by_version) == list(range(rounds))
    for number in range(rounds):
        of_round = [outcome for outcome in outcomes if outcome[0] == number]
        winners = [outcome for outcome in of_round if outcome[3]]
        assert len(winners) == 1
        assert {(outcome[4], outcome[5]) for outcome in of_round} == {(number, by_version[number])}
        assert texts(store, number) == {"a#0": f"{winners[0][1]} {number}"}


def test_a_version_that_is_missing_in_between_is_named(store: Store) -> None:
    for documents in (OLD, NEW, OLD):
        run(store, documents)
    store.delete(layout.version_file(1))
    with pytest.raises(TableStateError, match=r"0001\.json: version 1 is missing from the log"):
        log.head(store)
    store.delete(layout.version_file(0))  # from the start on they may be gone: another tool's clean-up
    assert texts(store) == texts_of(OLD)


def test_a_run_id_that_is_no_name_is_refused(store: Store) -> None:
    run(store, OLD)
    actions = log.read_version(store, 0)
    actions[0]["commitInfo"]["rechunk"]["run_id"] = "../../elsewhere"
    log.create_version(store, 1, actions)
    with pytest.raises(TableStateError, match=r"version 1 is incomplete: '\.\./\.\./elsewhere' cannot name anything"):
        snapshot.load(store)


@pytest.mark.parametrize("what", ["folder", "broken link"])
def test_something_in_the_way_of_the_next_version_ends_the_commit(tmp_path: Path, what: str) -> None:
    store = open_store(str(tmp_path))
    run(store, OLD)
    blocked = tmp_path / layout.version_file(1)
    if what == "folder":
        blocked.mkdir()
    else:
        blocked.symlink_to("nowhere")
    with pytest.raises(TableStateError, match=r"0001\.json: is no log entry and in the way of version 1; remove it"):
        run(store, NEW)
    assert texts(store) == texts_of(OLD)

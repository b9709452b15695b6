"""The log against `commit.json`: what any Delta reader sees is what our own readers see."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipelines.errors import TableStateError
from pipelines.operations.verifying.problems import Problem
from pipelines.storage.store import Store
from pipelines.table import layout, log
from pipelines.table.records import FileEntry, Snapshot
from pipelines.table.schemas import chunks_schema, delta_schema

Actions = Sequence[Mapping[str, Any]]


def check_entry(store: Store, snapshot: Snapshot) -> Iterator[Problem]:
    """The log's entry of one commit: its live files, their sizes and statistics, its schema."""
    assert snapshot.version is not None
    where = layout.version_file(snapshot.version)
    try:
        yield from _entry(log.read_version(store, snapshot.version), snapshot, where)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        yield Problem(where, f"is no commit of rechunk: {type(error).__name__}: {error}")


def check_history(store: Store, numbers: Sequence[int], *, since: int | None = None) -> Iterator[Problem]:
    """Versions one after the other (from `since` on): what each leaves live is what it says, and it is one table.

    A commit states the whole table, so every file that was live before and is not in it must be removed.
    """
    if numbers[0] > 0:
        yield Problem(layout.version_file(0), f"is missing from the log, which begins with version {numbers[0]}")
    live: set[str] = set()
    table_id: str | None = None
    for number in numbers:
        if since is not None and number < since:
            continue
        where = layout.version_file(number)
        try:
            actions = log.read_version(store, number)
            adds, removes = _named(actions, "add"), _named(actions, "remove")
            mark = _mark(actions)
            if mark is not None:
                for path in sorted(live - adds - removes):
                    yield Problem(
                        where, f"{path} was live before and is neither kept nor removed: its rows are doubled"
                    )
                own_id = _one(actions, "metaData")["id"]
                if table_id is not None and own_id != table_id:
                    yield Problem(where, f"says that this is table {own_id}; it was {table_id} before")
                table_id = own_id
                yield from _record_of(store, number, mark)
            live = (live - removes) | adds
        except TableStateError as error:
            yield Problem(where, str(error))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Problem(where, f"is no log entry: {type(error).__name__}: {error}")


def payloads_in_log(store: Store, numbers: Sequence[int]) -> list[tuple[str, ...]]:
    """The payload columns of the table, newest first, each set as often as it came back."""
    found: list[tuple[str, ...]] = []
    own = set(chunks_schema({}).names)
    for number in reversed(numbers):
        try:
            schema = json.loads(_one(log.read_version(store, number), "metaData")["schemaString"])
            payload = tuple(field["name"] for field in schema["fields"] if field["name"] not in own)
        except (TableStateError, KeyError, TypeError, ValueError, AttributeError):
            continue  # said elsewhere, or a version without a schema
        if found[-1:] != [payload]:
            found.append(payload)
    return found


def _record_of(store: Store, number: int, mark: Mapping[str, Any]) -> Iterator[Problem]:
    path = layout.commit_file(mark["run_id"])
    try:
        data = store.read(path)
    except FileNotFoundError:
        return  # collected: whoever asks for that version is told
    if hashlib.sha256(data).hexdigest() != mark["checksum"]:
        yield Problem(path, f"is not what version {number} committed; checksum differs")


def _entry(actions: Actions, snapshot: Snapshot, where: str) -> Iterator[Problem]:
    expected = {layout.delta_path(shard.chunks.path): shard.chunks for shard in snapshot.shards}
    adds = [action["add"] for action in actions if "add" in action]
    for path in sorted(expected.keys() - {add["path"] for add in adds}):
        yield Problem(where, f"does not have {path}, which is in the commit")
    seen: set[str] = set()
    for add in adds:
        path = add["path"]
        if path in seen:
            yield Problem(where, f"adds {path} twice")
        seen.add(path)
        if path in expected:
            yield from _added(add, expected[path], where)
        else:
            yield Problem(where, f"has {path}, which is not in the commit")
    for path in sorted(_named(actions, "remove") & seen):
        yield Problem(where, f"adds and removes {path}: readers disagree on what that means")
    protocol = _one(actions, "protocol")
    if (protocol["minReaderVersion"], protocol["minWriterVersion"]) != (1, 2):
        yield Problem(where, "asks for another protocol than rechunk writes")
    if json.loads(_one(actions, "metaData")["schemaString"]) != json.loads(
        delta_schema(chunks_schema(snapshot.payload))
    ):
        yield Problem(where, "has another schema than the commit")


def _added(add: Mapping[str, Any], entry: FileEntry, where: str) -> Iterator[Problem]:
    stats = json.loads(add["stats"])
    low, high = (stats.get(name, {}).get("id") for name in ("minValues", "maxValues"))
    for name, said, meant in (
        ("size", add["size"], entry.bytes),
        ("numRecords", stats["numRecords"], entry.rows),
        ("smallest id", low, entry.min_id),
        ("largest id", high, entry.max_id),
        ("sha256", add["tags"]["sha256"], entry.sha256),
    ):
        if said != meant:
            yield Problem(where, f"{add['path']}: the {name} is {said!r} in the log and {meant!r} in the commit")


def _named(actions: Actions, kind: str) -> set[str]:
    return {action[kind]["path"] for action in actions if kind in action}


def _one(actions: Actions, kind: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next((action[kind] for action in actions if kind in action), {})
    return found


def _mark(actions: Actions) -> Mapping[str, Any] | None:
    mark: Any = _one(actions, "commitInfo").get("rechunk")
    return mark if isinstance(mark, Mapping) else None

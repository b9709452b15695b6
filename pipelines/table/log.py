"""The commit log: Delta Lake's own, written by us.

Version N is whoever creates `N.json`. A commit of ours states the whole table, so that the newest one is all that has
to be read. Versions that hold nothing but `commitInfo` (another tool's VACUUM) are stepped over; anything else that is
not ours, above our newest commit, makes the table unusable.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from pipelines.errors import TableStateError
from pipelines.storage.store import Store
from pipelines.table.layout import LOG, check_name, delta_path, version_file, version_of
from pipelines.table.records import FileEntry, Snapshot
from pipelines.table.schemas import FORMAT, check_format, chunks_schema, delta_schema
from pipelines.version import VERSION

RETENTION_DAYS = 30
"""How long files that no commit names any more are kept for readers of older commits."""

_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\b.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest commit of ours.

    `checksum` is the SHA-256 of its `commit.json`. `newest` is the log's last version: above `version` when another
    tool logged operations that changed nothing. `live` maps the path of each live chunk file, relative to `chunks`, to
    its size in bytes.
    """

    version: int
    newest: int
    run_id: str
    checksum: str
    created: datetime
    table_id: str
    table_created: int
    live: Mapping[str, int] = field(default_factory=dict)

    @property
    def next_version(self) -> int:
        """The version a commit on top of this one gets."""
        return self.newest + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One entry of the log. `run_id` and `checksum` are None unless we wrote it."""

    version: int
    operation: str
    created: datetime
    run_id: str | None = None
    checksum: str | None = None


def head(store: Store, *, over_foreign: bool = False) -> Head | None:
    """The newest commit, or None for a table without any.

    TableStateError if another tool changed the table since. With `over_foreign` its changes are read into `live`
    instead, so that a commit can replace them: for repairs only.
    """
    return head_at(store, None, over_foreign=over_foreign)


def head_at(store: Store, version: int | None, *, over_foreign: bool = False) -> Head | None:
    """The newest commit at or below `version` (None: of all)."""
    numbers = version_numbers(store)
    newest = numbers[-1] if numbers else -1
    later: list[list[dict[str, Any]]] = []
    for number in reversed(numbers if version is None else [each for each in numbers if each <= version]):
        actions = read_version(store, number)
        if "rechunk" in _info(actions):
            return _head(store, number, newest, actions, later)
        if any("commitInfo" not in action for action in actions):
            if not over_foreign or _needs_newer_reader(actions):
                raise _foreign(store, number, actions)
            later.insert(0, actions)
    if numbers and version is None:
        raise TableStateError(f"{store.child(LOG)}: none of the {len(numbers)} versions was written by rechunk")
    return None


def _needs_newer_reader(actions: Sequence[Mapping[str, Any]]) -> bool:
    return any(action["protocol"].get("minReaderVersion", 1) > 1 for action in actions if "protocol" in action)


def _foreign(store: Store, version: int, actions: Sequence[Mapping[str, Any]]) -> TableStateError:
    operation = _info(actions).get("operation", "no operation named")
    return TableStateError(
        f"{store.child(version_file(version))}: version {version} ({operation}) was written by another tool; "
        f"this table can only be changed by rechunk{_way_back(store, version, actions)}"
    )


def _way_back(store: Store, version: int, actions: Sequence[Mapping[str, Any]]) -> str:
    """How to undo what another tool did, where it can be: the newest version of ours below is the table again."""
    if _needs_newer_reader(actions):
        return ""
    try:
        ours = head_at(store, version - 1, over_foreign=True)
    except TableStateError:
        return ""  # this error is enough to begin with
    return "" if ours is None else f"; `rechunk rollback CONFIG {ours.version}` undoes what it did"


def versions(store: Store) -> list[Version]:
    """Every version of the log, oldest first. Reads them all."""
    return [_version(number, _info(read_version(store, number))) for number in version_numbers(store)]


def version_numbers(store: Store) -> list[int]:
    """The log's versions in order. TableStateError when another tool cleaned the log up behind a checkpoint, or one
    in between is missing: Delta's readers need them all.
    """
    found, checkpoint = _listed_versions(store)
    if _missing_version(found, checkpoint) is not None:
        found, checkpoint = _listed_versions(store)  # a listing may miss what is created while it goes on
    if (missing := _missing_version(found, checkpoint)) is not None:
        raise TableStateError(f"{store.child(version_file(missing))}: version {missing} is missing from the log")
    if checkpoint > (found[-1] if found else -1):
        raise TableStateError(f"{store.child(LOG)}: version {checkpoint} is only a checkpoint; its commit is missing")
    return found


def _missing_version(found: Sequence[int], checkpoint: int) -> int | None:
    """The first gap in the versions above the newest checkpoint."""
    return next((number + 1 for number, after in pairwise(found) if number >= checkpoint and after != number + 1), None)


def _listed_versions(store: Store) -> tuple[list[int], int]:
    """The versions that have a file, in order, and the newest checkpoint, -1 for none."""
    found, checkpoint = [], -1
    for page in store.list(LOG):
        for path in page.paths:
            number = version_of(path)
            if number is not None:
                found.append(number)
            elif match := _CHECKPOINT.fullmatch(path.removeprefix(LOG)):
                checkpoint = max(checkpoint, int(match[1]))
    return sorted(found), checkpoint


def find_run(store: Store, run_id: str, above: int) -> int | None:
    """The version that committed `run_id`, among those above `above`; None if there is none."""
    for number in reversed(version_numbers(store)):
        if number <= above:
            return None
        mark = _info(read_version(store, number)).get("rechunk")
        if isinstance(mark, Mapping) and mark.get("run_id") == run_id:
            return number
    return None


def read_version(store: Store, version: int) -> list[dict[str, Any]]:
    """The actions of one version. TableStateError if it is missing or cannot be read."""
    path = version_file(version)
    try:
        lines = store.read(path).splitlines()
    except FileNotFoundError as error:
        raise TableStateError(f"{store.child(path)}: version {version} is missing from the log") from error
    try:
        actions = [json.loads(line) for line in lines if line.strip()]
    except ValueError as error:
        raise TableStateError(f"{store.child(path)}: version {version} is not a readable log entry: {error}") from error
    # An entry without a line is one that a power cut or a full disk left behind: what it committed is unknown.
    if not actions or not all(isinstance(action, dict) for action in actions):
        raise TableStateError(f"{store.child(path)}: version {version} is not a readable log entry")
    return actions


def create_version(store: Store, version: int, actions: Sequence[Mapping[str, Any]]) -> bool:
    """Commit: store `actions` as `version`. False when that version exists already."""
    lines = (json.dumps(action, ensure_ascii=False, separators=(",", ":")) for action in actions)
    return store.create(version_file(version), "".join(f"{line}\n" for line in lines).encode())


def build_actions(snapshot: Snapshot, checksum: str, old: Head | None) -> list[dict[str, Any]]:
    """The actions that make `snapshot` the table: `checksum` is that of its `commit.json`, `old` what it replaces.

    Files that stay live are added again, which every reader takes; a path is never both removed and added.
    """
    now = milliseconds(snapshot.created)
    live = {delta_path(shard.chunks.path): shard.chunks for shard in snapshot.shards}
    removed = {} if old is None else {path: size for path, size in old.live.items() if path not in live}
    return [
        {"commitInfo": _commit_info(snapshot, checksum, now)},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": _metadata(snapshot, now, old)},
        *(
            {"remove": {"path": path, "deletionTimestamp": now, "dataChange": True, "size": size}}
            for path, size in sorted(removed.items())
        ),
        *({"add": _add(path, entry, now)} for path, entry in live.items()),
    ]


def milliseconds(when: datetime) -> int:
    """UTC milliseconds, as the log has its times."""
    return int(when.timestamp() * 1000)


def _commit_info(snapshot: Snapshot, checksum: str, now: int) -> dict[str, Any]:
    return {
        "timestamp": now,
        "operation": "WRITE",
        "operationParameters": {"mode": "Overwrite", "partitionBy": "[]"},
        "engineInfo": f"rechunk/{VERSION}",
        "isBlindAppend": False,
        "rechunk": {"format": FORMAT, "run_id": snapshot.run_id, "checksum": checksum},
    }


def _metadata(snapshot: Snapshot, now: int, old: Head | None) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()) if old is None else old.table_id,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": delta_schema(chunks_schema(snapshot.payload)),
        "partitionColumns": [],
        "configuration": {
            "delta.deletedFileRetentionDuration": f"interval {RETENTION_DAYS} days",
            "delta.logRetentionDuration": "interval 3650 days",
            "delta.enableExpiredLogCleanup": "false",
        },
        "createdTime": now if old is None else old.table_created,
    }


def _add(path: str, entry: FileEntry, now: int) -> dict[str, Any]:
    stats: dict[str, Any] = {"numRecords": entry.rows}
    if entry.min_id is not None and entry.max_id is not None:
        stats |= {"minValues": {"id": entry.min_id}, "maxValues": {"id": entry.max_id}, "nullCount": {"id": 0}}
    return {
        "path": path,
        "partitionValues": {},
        "size": entry.bytes,
        "modificationTime": now,
        "dataChange": True,
        "stats": json.dumps(stats, ensure_ascii=False),
        "tags": {"sha256": entry.sha256},
    }


def _info(actions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    info: Any = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    return info if isinstance(info, Mapping) else {}


def _version(number: int, info: Mapping[str, Any]) -> Version:
    mark = info.get("rechunk")
    ours = mark if isinstance(mark, Mapping) else {}
    return Version(
        version=number,
        operation=str(info.get("operation", "")),
        created=_when(info.get("timestamp")),
        run_id=ours.get("run_id"),
        checksum=ours.get("checksum"),
    )


def _when(timestamp: Any) -> datetime:
    """A time of the log; other tools may have left it out."""
    try:
        return datetime.fromtimestamp(timestamp / 1000, tz=UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, tz=UTC)


def _head(
    store: Store,
    number: int,
    newest: int,
    actions: Sequence[Mapping[str, Any]],
    later: Sequence[Sequence[Mapping[str, Any]]],
) -> Head:
    where = store.child(version_file(number))
    mark = _info(actions)["rechunk"]
    if not isinstance(mark, Mapping):
        raise TableStateError(f"{where}: version {number} is incomplete")
    check_format(mark.get("format"), where)
    try:
        metadata = next(action["metaData"] for action in actions if "metaData" in action)
        version = _version(number, _info(actions))
        return Head(
            version=number,
            newest=newest,
            run_id=check_name(mark["run_id"]),
            checksum=mark["checksum"],
            created=version.created,
            table_id=metadata["id"],
            table_created=metadata["createdTime"],
            live=_live([actions, *later]),
        )
    except (KeyError, StopIteration, TypeError, ValueError) as error:
        raise TableStateError(f"{where}: version {number} is incomplete: {error}") from error


def _live(versions: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    """The live files after some versions, oldest first; paths exactly as the log spells them."""
    live: dict[str, int] = {}
    for actions in versions:
        for action in actions:
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
        for action in actions:
            if "add" in action:
                live[action["add"]["path"]] = action["add"]["size"]
    return live

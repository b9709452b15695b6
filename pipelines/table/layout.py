"""Names and addresses of everything in a table.

    chunks/_delta_log/00000000000000000042.json            the commit log; `chunks` is a Delta table
    chunks/<run id>/part-00003-of-00016.parquet            the whole corpus as of the run's commit
    runs/<run id>/documents|changes|failures|renames/part-…
    runs/<run id>/commit.json stats.json report.html outcome.json submitted.json
    runs/<run id>/plan/ starts/<task>/<attempt> attempts/<task>/<attempt>/ tasks/<task>.json
    claims/<run id>.json                                   there while the run works

Run ids and file names match `[A-Za-z0-9][A-Za-z0-9.-]*`, so that no reader has to encode or decode them.
"""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from typing import Literal

from pipelines.errors import UsageError

Kind = Literal["chunks", "documents", "changes", "failures", "renames"]
"""The kinds of Parquet file in a table."""

CHUNKS = "chunks/"
LOG = "chunks/_delta_log/"
RUNS = "runs/"
CLAIMS = "claims/"

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")
VERSION = re.compile(r"(\d{20})\.json")
PLAIN = re.compile(r"[A-Za-z0-9._/:@~+=,-]+")


def check_address(address: str) -> str:
    """The characters of a table's address that are unusual enough to warn of. UsageError for `%`.

    Delta readers percent-decode the paths of a table differently; with a `%` in the address some of them read another
    folder or none.
    """
    if "%" in address:
        raise UsageError(f"{address}: a table's address cannot hold '%'; readers decode it differently")
    return "".join(sorted({character for character in address if not PLAIN.fullmatch(character)}))


def new_run_id(now: datetime | None = None) -> str:
    """`20260131T235959Z-1f2e3d4c`: the UTC second and 32 random bits. Sorts by time."""
    when = datetime.now(tz=UTC) if now is None else now.astimezone(UTC)
    return f"{when:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


def check_name(name: str) -> str:
    """`name` itself if it can be a folder or file of a table; ValueError otherwise."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name anything in a table; it must match {NAME.pattern}")
    return name


def version_file(version: int) -> str:
    """The log's file of one version."""
    return f"{LOG}{version:020d}.json"


def version_of(path: str) -> int | None:
    """The version a file of the log holds; None for any other file (checkpoints, other tools' files)."""
    match = VERSION.fullmatch(path.removeprefix(LOG))
    return int(match[1]) if match and path.startswith(LOG) else None


def part(index: int, count: int) -> str:
    """File name of one of `count` parts, `index` from 0."""
    return f"part-{index:05d}-of-{count:05d}.parquet"


def run_file(run_id: str, name: str) -> str:
    """A file in the run's own folder: `commit.json`, `stats.json`, …"""
    return f"{RUNS}{check_name(run_id)}/{name}"


def commit_file(run_id: str) -> str:
    """The record of what the run committed."""
    return run_file(run_id, "commit.json")


def submitted_file(run_id: str) -> str:
    """Says to what engine the run was given that works on it while nobody waits."""
    return run_file(run_id, "submitted.json")


def expired_file(run_id: str) -> str:
    """Marks a run whose files are being collected: it can no longer commit or be resumed."""
    return run_file(run_id, "_expired")


def claim_file(run_id: str) -> str:
    """Says that the run is at work."""
    return f"{CLAIMS}{check_name(run_id)}.json"


def clock_file(token: str) -> str:
    """Written to learn what time it is by the store's clock."""
    return f"{CLAIMS}clock-{token}"


def claimed_run(path: str) -> str | None:
    """The run that a claim is of; None for any other file."""
    name = path.removeprefix(CLAIMS).removesuffix(".json")
    return name if path == f"{CLAIMS}{name}.json" and RUN_ID.fullmatch(name) else None


def stored_run(run_id: str) -> str:
    """What `resume` needs besides the plan. It is written last."""
    return f"{plan_folder(run_id)}/run.json"


def final_file(run_id: str, kind: Kind, index: int = 0, count: int = 1) -> str:
    """Where a published file of the run lies: chunks below `chunks/`, every other kind below the run's folder."""
    if kind == "chunks":
        return f"{CHUNKS}{check_name(run_id)}/{part(index, count)}"
    return run_file(run_id, f"{kind}/{part(index, count)}")


def plan_folder(run_id: str) -> str:
    """The folder of the run's stored plan."""
    return run_file(run_id, "plan")


def attempts_folder(run_id: str, task: int | None = None) -> str:
    """The folder of everything that attempts at one task wrote (None: at any task of the run)."""
    folder = run_file(run_id, "attempts")
    return folder if task is None else f"{folder}/{task:05d}"


def task_markers(run_id: str) -> str:
    """What the paths of all task markers of the run start with."""
    return run_file(run_id, "tasks/")


def published_chunks(run_id: str) -> str:
    """What the paths of the run's published chunk files start with."""
    return f"{CHUNKS}{check_name(run_id)}/"


def task_marker(run_id: str, task: int) -> str:
    """Created exclusively by the attempt that wins the task."""
    return run_file(run_id, f"tasks/{task:05d}.json")


def starts_folder(run_id: str, task: int) -> str:
    """The folder of the start markers of one task."""
    return run_file(run_id, f"starts/{task:05d}")


def start_marker(run_id: str, task: int, attempt: str) -> str:
    """Created before an attempt at a task begins: what kills its process leaves only this behind."""
    return f"{starts_folder(run_id, task)}/{check_name(attempt)}"


def delta_path(path: str) -> str:
    """A chunk file's path as the Delta log has it, relative to `chunks`."""
    if not path.startswith(CHUNKS):
        raise ValueError(f"{path!r} is no chunk file")
    return path.removeprefix(CHUNKS)

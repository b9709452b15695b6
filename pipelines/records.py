"""The records that cross from one part of the job to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What the command line adds to a configuration for one run.

    `prune` lets go of documents that no source's globs take any more. `approve_deletions` is the largest number of
    vanished documents to delete although the guard would withhold them. `full` reads every document again. `workers`
    is the number of processes (None: as many as the work is worth; one is this process itself). `objects` is a file
    that lists the objects to look at, and nothing else is (None: the sources are listed). `pipeline` are options for
    Beam, as a command line has them.
    """

    prune: bool = False
    approve_deletions: int | None = None
    full: bool = False
    workers: int | None = None
    objects: str | None = None
    pipeline: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended. `version` is the table's version after it: the new one if `committed`, else the one it found."""

    exit_code: int
    run_id: str
    version: int | None
    committed: bool
    summary: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""

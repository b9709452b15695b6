"""Everything of ours that lies in a table, run by run: what `gc` decides about. Names of anybody else are not in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipelines.storage.store import Entry, Store
from pipelines.table import layout

WORK = ("plan/", "starts/", "attempts/", "tasks/", "probe-")
"""What a run needs only while it works: names below its folder start with one of these."""

NOTES = ("submitted.json", "outcome.json", "stats.json", "report.html")
"""What a run says about itself."""

EXPIRED = "_expired"

_OWN = re.compile(
    r"(commit\.json|submitted\.json|outcome\.json|stats\.json|report\.html|_expired"
    r"|probe-[0-9a-f]+"
    r"|(documents|changes|failures|renames)/part-\d+-of-\d+\.parquet"
    r"|(plan|starts|attempts|tasks)/.+)"
)
_PART = re.compile(r"part-\d+-of-\d+\.parquet")


@dataclass(slots=True)
class RunFiles:
    """The objects of one run by path below the table: those of its folder, and its published chunks."""

    run_id: str
    entries: dict[str, Entry] = field(default_factory=dict)

    def name(self, path: str) -> str:
        """A path below the run's folder; a chunk file's as it is."""
        return path.removeprefix(layout.run_file(self.run_id, ""))

    def is_work(self, path: str) -> bool:
        """Whether the object is one that nobody needs once the run is over."""
        return self.name(path).startswith(WORK)

    @property
    def last_sign(self) -> int | None:
        """When the run last wrote anything (UTC ns by the store's clock); None when the store does not say."""
        own = [entry.modified for path, entry in self.entries.items() if self.name(path) != EXPIRED]
        known = [modified for modified in own if modified is not None]
        return None if len(known) < len(own) else max(known, default=0)

    @property
    def expired(self) -> Entry | None:
        """The mark of a run whose files are being collected."""
        return self.entries.get(layout.expired_file(self.run_id))

    @property
    def ended(self) -> bool:
        """Whether the run said how it ended."""
        return layout.run_file(self.run_id, "outcome.json") in self.entries


def take_inventory(store: Store) -> dict[str, RunFiles]:
    """The objects of every run, by its id. One listing of each of the table's two folders."""
    found: dict[str, RunFiles] = {}
    for run_id, entry in _owned(store):
        found.setdefault(run_id, RunFiles(run_id)).entries[entry.path] = entry
    return found


def owner(path: str) -> str | None:
    """The run that an object of this path is of; None for what is no run's, as anything that is not ours."""
    for prefix, pattern in ((layout.RUNS, _OWN), (layout.CHUNKS, _PART)):
        if path.startswith(prefix):
            run_id, _, name = path.removeprefix(prefix).partition("/")
            return run_id if layout.RUN_ID.fullmatch(run_id) and pattern.fullmatch(name) else None
    return None


def _owned(store: Store) -> Iterator[tuple[str, Entry]]:
    for prefix in (layout.RUNS, layout.CHUNKS):
        for page in store.list(prefix):
            for entry in page.entries():
                run_id = owner(entry.path)
                if run_id is not None:
                    yield run_id, entry

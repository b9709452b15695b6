"""What a run stores next to its plan so that `resume` can go on in another process, on another machine.

The digests say what the configuration was, part by part: resuming under another one would mix two outputs in one
commit. Neither addresses of the table nor options of storage and engine are in them: those may change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipelines.config.fingerprint import describe
from pipelines.config.model import Config
from pipelines.errors import TableStateError
from pipelines.operations.prepare import Prepared
from pipelines.routing import Router
from pipelines.storage.store import Store
from pipelines.table import layout, snapshot
from pipelines.table.schemas import FORMAT

_NUMBERS = ("sources", "plan", "tasks", "read_bytes", "partial", "twins")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A planned run. `base` is the version it starts from, `configuration` a digest of each part of its configuration.

    `approve_deletions` is what the command line said. `numbers` are those of Prepared.
    """

    base: int | None
    approve_deletions: int | None
    configuration: Mapping[str, str]
    numbers: Mapping[str, Any]

    def prepared(self, store: Store) -> Prepared:
        """The run as `prepare` left it."""
        base = None if self.base is None else snapshot.load(store, self.base)
        return Prepared(base=base, nothing_to_do=False, **self.numbers)


def store_run(store: Store, run_id: str, config: Config, prepared: Prepared, approve_deletions: int | None) -> None:
    """Write it; a run that has this file has a whole plan."""
    record = {
        "format": FORMAT,
        "base": None if prepared.base is None else prepared.base.version,
        "approve_deletions": approve_deletions,
        "configuration": digests(config),
        "numbers": {name: getattr(prepared, name) for name in _NUMBERS},
    }
    store.write(layout.stored_run(run_id), json.dumps(record, ensure_ascii=False, indent=1).encode())


def load_run(store: Store, run_id: str) -> StoredRun | None:
    """The stored run, None where it broke off before its plan was stored. TableStateError for another format's."""
    path = layout.stored_run(run_id)
    try:
        record = json.loads(store.read(path))
        if record.pop("format") != FORMAT:
            raise TableStateError(f"{store.child(path)}: was planned by another version of rechunk; start a new run")
        return StoredRun(**record)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TableStateError(f"{store.child(path)}: is not readable: {error}; start a new run") from error


def digests(config: Config) -> dict[str, str]:
    """A short digest of each part of a configuration that decides what a run does. Secrets are in none."""
    router = Router(config)
    parts: dict[str, Any] = {
        "name": config.name,
        "source": [describe(source) for source in config.sources],
        "chunking": [
            {"match": rule.match, "strategy": describe(router.strategy(index))}
            for index, rule in enumerate(config.all_rules)
        ],
        "tokens": describe(config.tokens),
        "metadata_values": config.metadata_values,
        "limits": describe(config.limits),
        "guard": describe(config.guard),
        "gates": describe(config.gates),
        "output": {"snapshot": config.output.snapshot, "task_bytes": config.output.task_bytes},
        "versions of rechunk and its libraries": [router.fingerprints(index) for index in range(len(config.sources))],
    }
    return {name: _digest(part) for name, part in parts.items()}


def _digest(part: Any) -> str:
    text = json.dumps(part, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]

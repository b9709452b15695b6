"""Whether a worker chunks as the run was planned. It may be on another machine, with other versions installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.config.fingerprint import library_versions
from pipelines.config.model import Config
from pipelines.errors import EngineFailed
from pipelines.routing import Router
from pipelines.version import VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What chunks depend on here: the fingerprints of each source's documents, and versions to tell by name."""

    fingerprints: tuple[tuple[str, ...], ...]
    named: Mapping[str, str]


def versions_of(config: Config, router: Router) -> Versions:
    """Those of this process."""
    return Versions(
        fingerprints=tuple(router.fingerprints(source) for source in range(len(config.sources))),
        named={"rechunk": VERSION, **library_versions()},
    )


def refuse_others(here: Versions, planned: Versions) -> None:
    """EngineFailed in a worker that would chunk otherwise than the plan says, and mix two outputs in one table."""
    if here.fingerprints == planned.fingerprints:
        return
    names = {**planned.named, **here.named}
    differing = [
        f"{name} {here.named.get(name)} (here {planned.named.get(name)})"
        for name in names
        if here.named.get(name) != planned.named.get(name)
    ]
    raise EngineFailed(
        f"a worker would chunk otherwise than this process: it has {', '.join(differing) or 'another rechunk'}. "
        "Nothing was published; give workers the same versions, and `rechunk resume` goes on"
    )

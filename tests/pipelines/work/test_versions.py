"""A worker with other versions than the process that planned the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipelines.config import fingerprint
from pipelines.config.model import Config, Output, Source
from pipelines.errors import EngineFailed
from pipelines.routing import Router
from pipelines.work.versions import Versions, refuse_others, versions_of

CONFIG = Config(name="c", sources=(Source(path="docs"), Source(path="more")), output=Output(path="table"))


def versions() -> Versions:
    return versions_of(CONFIG, Router(CONFIG))


def test_the_same_versions_do() -> None:
    assert len(versions().fingerprints) == 2
    refuse_others(versions(), versions())


def test_a_library_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = versions()
    others = {**fingerprint.library_versions(), "regex": "1.0"}
    monkeypatch.setattr(fingerprint, "library_versions", lambda: others)
    monkeypatch.setattr("pipelines.work.versions.library_versions", lambda: others)
    with pytest.raises(EngineFailed) as caught:
        refuse_others(versions(), planned)
    assert str(caught.value) == (
        f"a worker would chunk otherwise than this process: it has regex 1.0 (here {planned.named['regex']}). "
        "Nothing was published; give workers the same versions, and `rechunk resume` goes on"
    )


def test_versions_that_decide_nothing_may_differ() -> None:
    planned: Any = replace(versions(), named={**versions().named, "rechunk": "9.9"})
    refuse_others(versions(), planned)

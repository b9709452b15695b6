"""Output may change only under a new version: fingerprints, and so re-ingest, depend on it."""

from __future__ import annotations

import json

from tests.chunkers.versions import FILE, digests, unversioned


def test_output_changes_only_with_a_version() -> None:
    now, recorded = digests(), json.loads(FILE.read_text())
    assert unversioned(now, recorded) == [], "output changed: raise `version` of these strategies or KERNEL_VERSION"
    assert now == recorded, "run python -m tests.chunkers.versions"


def test_a_changed_digest_under_the_same_version_is_noticed() -> None:
    recorded = {
        "fixed": {"version": 1, "kernel": 1, "digest": "aa"},
        "token": {"version": 1, "kernel": 1, "digest": "cc"},
    }
    now = {"fixed": {"version": 1, "kernel": 1, "digest": "bb"}, "token": {"version": 2, "kernel": 1, "digest": "dd"}}
    assert unversioned(now, recorded) == ["fixed"]

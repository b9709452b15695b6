"""Measurements that the decision records point to and no other test makes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.docs.workspace import prepare


@pytest.mark.slow
def test_0006_shards_are_the_same_bytes_whatever_the_number_of_workers(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    prepare(tmp_path)
    config = (tmp_path / "nightly.yaml").read_text(encoding="utf-8")
    written = []
    for workers in ("1", "2"):
        name = f"by-{workers}.yaml"
        output = f"output: {{path: by-{workers}, task_bytes: 32KiB}}"
        (tmp_path / name).write_text(config.replace("output: {path: table}", output), encoding="utf-8")
        command = ["rechunk", "run", name, "--workers", workers]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        (commit,) = (tmp_path / f"by-{workers}").glob("runs/*/commit.json")
        shards = json.loads(commit.read_bytes())["shards"]
        written.append([(shard["low"], shard["chunks"]["sha256"], shard["documents"]["sha256"]) for shard in shards])
    assert len(written[0]) == 4
    assert written[0] == written[1]

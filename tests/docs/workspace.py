"""The folder that a page's snippets share, and how each kind of snippet is run in it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest.mock
from pathlib import Path
from typing import Any

import duckdb
import yaml

from pipelines.config.load import load_config
from tests.docs.pages import ROOT, Fence

FRAGMENT_BASE = {"source": [{"path": "documents"}], "output": {"path": "table"}}
SHOWN_ONLY = {"", "text", "mermaid", "console"}


def runs(fence: Fence) -> bool:
    """Whether a fence is a snippet to run."""
    return fence.language not in SHOWN_ONLY and "no-run" not in fence.words


def makes_its_own_table(found: list[Fence]) -> bool:
    """Whether the page's snippets run the configuration themselves, so that no table may be there before."""
    return any("rechunk run nightly.yaml" in fence.code for fence in found)


def prepare(folder: Path) -> None:
    """Put the sample corpus and its configuration into a folder."""
    shutil.copytree(ROOT / "examples/corpus", folder / "documents")
    shutil.copy(ROOT / "examples/nightly.yaml", folder)


def make_environment(bin_folder: Path) -> dict[str, str]:
    """Environment variables under which `rechunk` is this tree's command, whatever is installed."""
    shim = bin_folder / "rechunk"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pipelines "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    path = os.pathsep.join([str(bin_folder), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"}


class Workspace:
    """The folder and the Python names that a page's snippets share."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, fence: Fence) -> str:
        """Run a fence; returns what it prints. AssertionError or the fence's own exception when it fails."""
        return str(getattr(self, f"run_{fence.language}")(fence))

    def run_python(self, fence: Fence) -> str:
        """Execute in this process, among the page's names."""
        printed = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            unittest.mock.patch.dict(os.environ, self.environment),  # a snippet may start `rechunk` itself
        ):
            exec(compile(fence.code, fence.place, "exec"), self.names)
        return printed.getvalue()

    def run_bash(self, fence: Fence) -> str:
        """Run by bash; of `make` lines only the target is checked."""
        commands = [line for line in fence.code.splitlines() if not self._is_known_target(line, fence)]
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{fence.place}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def run_sql(self, fence: Fence) -> str:
        """Run by DuckDB, statement by statement."""
        with contextlib.chdir(self.folder):
            return "\n".join(str(duckdb.sql(statement)) for statement in fence.code.split(";") if statement.strip())

    def run_yaml(self, fence: Fence) -> str:
        """Check as a configuration; a fragment gets the keys that it lacks, `# name.yaml` saves it."""
        named = re.match(r"# (\S+\.yaml)\n", fence.code)
        path = self.folder / (named[1] if named else "fragment.yaml")
        missing = {key: value for key, value in FRAGMENT_BASE.items() if key not in yaml.safe_load(fence.code)}
        path.write_text(fence.code + (yaml.safe_dump(missing) if missing else ""), encoding="utf-8")
        variables = dict.fromkeys(re.findall(r"\$\{(\w+)\}", fence.code), "value")
        with contextlib.chdir(self.folder):
            load_config(path, variables)
        return ""

    def run_json(self, fence: Fence) -> str:
        """Must be JSON."""
        json.loads(fence.code)
        return ""

    @staticmethod
    def _is_known_target(line: str, fence: Fence) -> bool:
        found = re.match(r"make\s+([\w-]+)", line)
        if found:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{found[1]}:", makefile, re.MULTILINE), f"{fence.place}: no target {found[1]}"
        return bool(found)

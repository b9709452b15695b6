"""Runs every snippet of README and docs, in the order of its page, and compares what it prints with what is shown.

A page's snippets share one folder. It holds the sample corpus as `documents/` and `nightly.yaml`; `table/` is there
too, made by one run, unless the page runs that configuration itself.

    ```python           executed; names live on to the next Python fence of the page
    ```bash             run by bash, where `rechunk` is this tree's command; of `make` lines only the target is checked
    ```sql              run by DuckDB
    ```yaml             checked as a configuration; a fragment gets the keys that it lacks; `# name.yaml` saves it
    ```json             must be JSON
    ```text output      what the fence before it prints: `…` is anything in a line, a line of `…` any lines
    ```bash no-run      not run: it needs a machine or a service that no test has
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from pipelines.config.load import load_config
from tests.docs.conftest import prepare
from tests.docs.pages import ROOT, Fence, fences, matches, pages

FRAGMENT_BASE = {"source": [{"path": "documents"}], "output": {"path": "table"}}
SHOWN_ONLY = {"", "text", "mermaid", "console"}


class Workspace:
    """The folder and the Python names that a page's snippets share."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, fence: Fence) -> str:
        """Run a fence; returns what it prints. Fails the test when the fence fails."""
        return str(getattr(self, f"run_{fence.language}")(fence))

    def run_python(self, fence: Fence) -> str:
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            exec(compile(fence.code, fence.place, "exec"), self.names)
        return printed.getvalue()

    def run_bash(self, fence: Fence) -> str:
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
        with contextlib.chdir(self.folder):
            return "\n".join(str(duckdb.sql(statement)) for statement in fence.code.split(";") if statement.strip())

    def run_yaml(self, fence: Fence) -> str:
        named = re.match(r"# (\S+\.yaml)\n", fence.code)
        path = self.folder / (named[1] if named else "fragment.yaml")
        missing = {key: value for key, value in FRAGMENT_BASE.items() if key not in yaml.safe_load(fence.code)}
        path.write_text(fence.code + (yaml.safe_dump(missing) if missing else ""), encoding="utf-8")
        variables = dict.fromkeys(re.findall(r"\$\{(\w+)\}", fence.code), "value")
        with contextlib.chdir(self.folder):
            load_config(path, variables)
        return ""

    def run_json(self, fence: Fence) -> str:
        json.loads(fence.code)
        return ""

    @staticmethod
    def _is_known_target(line: str, fence: Fence) -> bool:
        found = re.match(r"make\s+([\w-]+)", line)
        if found:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{found[1]}:", makefile, re.MULTILINE), f"{fence.place}: no target {found[1]}"
        return bool(found)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_run_and_print_what_the_page_shows(
    page: Path, tmp_path: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    found = [fence for fence in fences(page) if fence.language not in SHOWN_ONLY and "no-run" not in fence.words]
    if not found:
        return
    folder = tmp_path / "work"
    if any("rechunk run" in fence.code for fence in found) or not any(_needs_a_table(fence) for fence in found):
        folder.mkdir()
        prepare(folder)
    else:
        shutil.copytree(request.getfixturevalue("table"), folder)
    workspace = Workspace(folder, environment)
    for fence in found:
        printed = workspace.run(fence)
        if fence.output is not None:
            assert matches(fence.output, printed), f"{fence.place} prints\n\n{printed}\nbut shows\n\n{fence.output}"


def _needs_a_table(fence: Fence) -> bool:
    return fence.language in ("sql", "bash") or "table/" in fence.code or '"table"' in fence.code


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("one\n", "one\n", True),
        ("one\n", "one\ntwo\n", False),
        ("a … c\n", "a b c\n", True),
        ("a … c\n", "a b\nc\n", False),
        ("one\n…\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("one\n…\nfour\n", "one\nfour\n", True),
        ("1 (x)\n", "1 (x)  \n", True),
    ],
)
def test_ellipsis_in_shown_output(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same

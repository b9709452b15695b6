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

A page in TESTED_ELSEWHERE has a test of its own. `python -m tests.docs.refresh` puts what is printed now where a page shows something else.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, TESTED_ELSEWHERE, fences, matches, pages
from tests.docs.workspace import Workspace, makes_its_own_table, prepare, runs


@pytest.mark.parametrize(
    "page", [page for page in pages() if page not in TESTED_ELSEWHERE], ids=lambda page: str(page.relative_to(ROOT))
)
def test_snippets_run_and_print_what_the_page_shows(
    page: Path, tmp_path: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    found = [fence for fence in fences(page) if runs(fence)]
    if not found:
        return
    folder = tmp_path / "work"
    if makes_its_own_table(found):
        folder.mkdir()
        prepare(folder)
    else:
        shutil.copytree(request.getfixturevalue("table"), folder)
    workspace = Workspace(folder, environment)
    for fence in found:
        printed = workspace.run(fence)
        if fence.output is not None:
            assert matches(fence.output, printed), f"{fence.place} prints\n\n{printed}\nbut shows\n\n{fence.output}"


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

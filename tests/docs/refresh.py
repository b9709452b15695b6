"""`python -m tests.docs.refresh [PAGE …]`: put what snippets print now where a page shows something else.

Read the difference before committing it: a page that changes unexpectedly is a finding. Run ids and the folder's own
address become `…`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.pages import ROOT, TESTED_ELSEWHERE, fences, matches, pages
from tests.docs.workspace import Workspace, make_environment, makes_its_own_table, prepare, runs


def refresh(page: Path, environment: dict[str, str]) -> None:
    """Rewrite one page."""
    found = [fence for fence in fences(page) if runs(fence)]
    if not any(fence.output is not None for fence in found):
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        folder.mkdir()
        prepare(folder)
        if not makes_its_own_table(found):
            subprocess.run(["rechunk", "run", "nightly.yaml"], cwd=folder, env=environment, check=True)
        workspace = Workspace(folder, environment)
        for fence in found:
            printed = workspace.run(fence)
            if fence.output is not None and not matches(fence.output, printed):
                text = page.read_text(encoding="utf-8")
                shown = f"{fence.code}```\n\n```text output\n"
                fresh = printed.replace(str(folder), "…")
                fresh = re.sub(r"\d{8}T\d{6}Z-[0-9a-f]{8}", "…", fresh).rstrip() + "\n"
                page.write_text(text.replace(shown + fence.output, shown + fresh, 1), encoding="utf-8")
                print(f"{fence.place}: refreshed")


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or [
        page for page in pages() if page not in TESTED_ELSEWHERE
    ]
    with tempfile.TemporaryDirectory() as commands:
        for each in chosen:
            refresh(each, make_environment(Path(commands)))
    print(f"{len(chosen)} pages are as the code is (see git diff in {ROOT.name})")

"""`make demo`, as a user sees it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT


def test_demo_shows_exactly_the_stale_ids(tmp_path: Path) -> None:
    demo = [sys.executable, str(ROOT / "examples/demo.py"), str(tmp_path / "demo")]
    printed = subprocess.run(demo, check=True, capture_output=True, text=True).stdout
    assert len(printed.splitlines()) < 100
    deleted = re.findall(r"^delete  (.+)#(\d+)$", printed, re.MULTILINE)
    upserted = re.findall(r"^upsert  (.+?)#(\d+)  ", printed, re.MULTILINE)
    assert {parent for parent, _ in deleted} == {"faq/billing.html", "recipes/bread.html", "releases/CHANGELOG.md"}
    assert {parent for parent, _ in upserted} == {"faq/bills.html", "releases/CHANGELOG.md"}
    assert ("recipes/bread.html", "0") in deleted
    assert f"{len(upserted)} to upsert and {len(deleted)} to delete from version 0 to version 1" in printed
    assert re.search(r"a note on drift\.txt: binary: .* \(2 chunks kept\)", printed)

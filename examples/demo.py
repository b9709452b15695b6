"""Chunk the sample corpus, change four documents, chunk again, and show exactly which chunk ids became stale.

    python examples/demo.py [FOLDER]

Everything happens in FOLDER (default: `.demo/` next to the Makefile) and through the command line. FOLDER is replaced.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
DEMO = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / ".demo"
DOCUMENTS = DEMO / "documents"


def main() -> None:
    """Both nights."""
    shutil.rmtree(DEMO, ignore_errors=True)
    shutil.copytree(ROOT / "examples/corpus", DOCUMENTS)
    shutil.copy(ROOT / "examples/nightly.yaml", DEMO)

    title(f"The first night: {sum(path.is_file() for path in DOCUMENTS.rglob('*'))} documents, no table yet")
    rechunk("run", "nightly.yaml")
    folder = rechunk("files", "--folder", "nightly.yaml")

    title("The table is Parquet: any reader takes it")
    print(query(folder, "id, start_index AS start, end_index AS end, cut, token_count AS tokens, headings"))

    title("During the day")
    for change in change_documents():
        print(f"  {change}")

    title("The second night: only what changed is read")
    rechunk("run", "nightly.yaml")

    title("What an index that holds version 0 has to do: these upserts, and these stale ids to delete")
    rechunk("changes", "nightly.yaml", "--since", "0")

    title("The document that cannot be read keeps its chunks, and says why")
    print(failures())
    print(f"\nEverything is in {DEMO}: look around, change documents, run again.")


def change_documents() -> list[str]:
    """Shorten one document, remove one, make one unreadable, rename one."""
    changelog = DOCUMENTS / "releases/CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(text[: text.index("## 3.3.0")], encoding="utf-8")
    (DOCUMENTS / "recipes/bread.html").unlink()
    (DOCUMENTS / "papers/a note on drift.txt").write_bytes(bytes(range(256)) * 4)
    (DOCUMENTS / "faq/billing.html").rename(DOCUMENTS / "faq/bills.html")
    return [
        "shortened   releases/CHANGELOG.md",
        "removed     recipes/bread.html",
        "overwritten papers/a note on drift.txt, with bytes that are no text",
        "renamed     faq/billing.html to faq/bills.html",
    ]


def query(folder: str, columns: str) -> str:
    """Some rows of one document."""
    rows = duckdb.sql(
        f"SELECT {columns} FROM '{DEMO / folder}/*.parquet' "
        "WHERE parent_id = 'handbook/員工手冊.md' ORDER BY chunk_index LIMIT 4"
    ).fetchall()
    return "\n".join("  " + "  ".join(map(str, row)) for row in rows)


def failures() -> str:
    """The failure rows of the last run."""
    rows = duckdb.sql(
        f"SELECT id, error, message, kept_chunks FROM '{DEMO}/table/runs/*/failures/*.parquet'"
    ).fetchall()
    return "\n".join(f"  {name}: {error}: {message} ({kept} chunks kept)" for name, error, message, kept in rows)


def rechunk(*arguments: str) -> str:
    """Show and run one command in the demo's folder; returns what it printed."""
    print(f"$ rechunk {shlex.join(arguments)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "pipelines", *arguments],
        cwd=DEMO,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout, end="", flush=True)
    if done.returncode not in (0, 4):
        sys.exit(f"rechunk {arguments[0]} ended with exit code {done.returncode}")
    return done.stdout.strip()


def title(text: str) -> None:
    """A heading between steps."""
    print(f"\n== {text}\n", flush=True)


if __name__ == "__main__":
    main()

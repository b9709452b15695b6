"""The law of `changes --since N`: version N − deletions + upserts == the newest version, for every N."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipelines.config.model import Config, Guard, Output, Rule, Source
from pipelines.errors import TableStateError
from pipelines.observe.events import ignore
from pipelines.operations.changes import changes_since
from pipelines.operations.run import run
from pipelines.operations.tables import load_snapshot, open_table
from pipelines.records import RunOptions


def text(number: int, paragraphs: int) -> str:
    return "\n\n".join(f"Paragraph {n} of document {number} is here." for n in range(paragraphs))


NIGHTS: list[dict[str, str | None]] = [
    {f"d/{n:02}.txt": text(n, 6) for n in range(12)},
    {"d/03.txt": text(3, 2), "d/05.txt": None, "e.txt": text(50, 3)},  # shorter, gone, new
    {"d/03.txt": text(3, 6), "d/05.txt": text(5, 6), "e.txt": None},  # all of that taken back
    {"d/00.txt": "New first.\n\n" + text(0, 6), "d/11.txt": ""},  # moved along, emptied
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of four versions in several shards."""
    folder = tmp_path_factory.mktemp("changes")
    config = Config(
        name="n",
        sources=(Source(path=str(folder / "docs")),),
        default=Rule(strategy="recursive", options={"max_size": 60, "overlap": 0}),
        output=Output(path=str(folder / "table"), task_bytes=1024),
        guard=Guard(documents=100),
    )
    for version, night in enumerate(NIGHTS):
        write(folder / "docs", night)
        assert run(config, RunOptions(), ignore).version == version
    return config.output.path


def write(folder: Path, night: dict[str, str | None]) -> None:
    for name, content in night.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink()
        else:
            path.write_text(content)


def rows_of(table: str, version: int | None) -> dict[str, dict[str, Any]]:
    store = open_table(table)
    found = load_snapshot(store, version)
    rows = [row for shard in found.shards for row in pq.read_table(store.child(shard.chunks.path)).to_pylist()]
    return {row["id"]: row for row in rows}


def hashes(rows: dict[str, dict[str, Any]]) -> dict[str, tuple[str, str]]:
    return {name: (row["content_hash"], row["row_hash"]) for name, row in rows.items()}


@pytest.mark.parametrize("since", [None, 0, 1, 2, 3])
def test_applied_to_an_old_version_or_nothing_the_changes_give_the_newest(table: str, since: int | None) -> None:
    index, newest = {} if since is None else rows_of(table, since), rows_of(table, None)
    changes = changes_since(table, since)
    upserts, deletions = list(changes.upserted_rows()), list(changes.deleted_rows())
    assert (changes.upserts, changes.deletions) == (len(upserts), len(deletions))
    for row in deletions:
        del index[row["id"]]
    index |= {row["id"]: row for row in upserts}
    assert hashes(index) == hashes(newest)


def test_changes_are_net_and_minimal(table: str) -> None:
    old, new = rows_of(table, 0), rows_of(table, None)
    changes = changes_since(table, 0)
    assert {row["id"] for row in changes.upserted_rows()} == {
        name for name in new if hashes(old).get(name) != hashes(new)[name]
    }
    assert {row["id"] for row in changes.deleted_rows()} == set(old) - set(new)
    assert {row["id"].split("#")[0] for row in changes.upserted_rows()} == {"d/00.txt"}  # not 03, 05 or e.txt
    assert {row["parent_id"] for row in changes.deleted_rows()} == {"d/11.txt"}


def test_upserted_rows_are_whole_rows_of_the_table(table: str) -> None:
    newest = rows_of(table, None)
    assert all(row == newest[row["id"]] for row in changes_since(table, 0).upserted_rows())


def test_since_the_newest_version_nothing_changed(table: str) -> None:
    changes = changes_since(table, 3)
    assert (changes.upserts, changes.deletions, changes.until) == (0, 0, 3)


def test_since_a_version_to_come_is_an_error(table: str) -> None:
    with pytest.raises(TableStateError, match="there is no version 4; the table has versions 0 to 3"):
        changes_since(table, 4)

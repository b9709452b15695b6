"""Very many objects: nothing is held, sorted or read that need not be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fsspec.spec import AbstractFileSystem
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.config.model import Config, Hidden, Output, Rule, Source
from pipelines.errors import StorageError
from pipelines.operations.run import run
from pipelines.planning import Plan, StateSlice, decide_objects, identify, plan
from pipelines.records import RunOptions
from pipelines.storage.remote import FsspecStore
from pipelines.storage.store import open_store
from pipelines.table import layout
from pipelines.work.deciding.keeping import Keeping
from pipelines.work.stored_plan import TASKS_PER_FILE, load_decisions, load_plan, load_task_documents, store_plan
from tests.pipelines.tables import first_rule, listed, listing, source, state, states
from tests.pipelines.test_planning import ranges
from tests.servers import huge

RUN = "20260101T000000Z-00000000"

BASE_MB = 330
"""What a process takes that has loaded everything and plans next to nothing, and then some."""

KB_AN_OBJECT = 0.8
"""Memory that planning may take for each object: 4 GB for 5 million."""


def configured(table: Path, **options: int) -> Config:
    return Config(
        name="huge",
        sources=(Source(path="huge://corpus/docs"),),
        output=Output(path=str(table)),
        default=Rule(strategy="recursive", options={"max_size": 2000}),
        storage=Hidden({"huge": {"objects": 1040, "size": 300, **options}}),
    )


def test_nights_over_a_store_that_holds_nothing(tmp_path: Path) -> None:
    huge.register()
    table = tmp_path / "table"

    def night(**options: int) -> dict[str, Any]:
        found = run(configured(table, **options), RunOptions(), lambda event: None).summary
        return {name: found[name] for name in ("listed", "chunked", "unchanged", "removed", "added", "changed")}

    first = night()
    assert first == {"listed": 1040, "chunked": 1040, "unchanged": 0, "removed": 0, "added": 1040, "changed": 0}
    assert night()["unchanged"] == 1040
    assert night(edited=3, every=500) | {"added": 0} == {
        "listed": 1040, "chunked": 3, "unchanged": 1037, "removed": 0, "added": 0, "changed": 3
    }  # fmt: skip
    assert night(edited=3, every=500, missing=4)["removed"] == 4


class Watched(huge.HugeFileSystem):
    """Counts the folders that are listed, and refuses one of them."""

    protocol = "watched"
    refused = ""

    def ls(self, path: str, detail: bool = True, **more: Any) -> list[Any]:
        if self.refused and path.endswith(self.refused):
            raise PermissionError(path)
        return super().ls(path, detail, **more)


def watched(objects: int, monkeypatch: pytest.MonkeyPatch, refused: str = "") -> tuple[FsspecStore, Watched]:
    files = Watched(objects=objects)
    files.refused = refused
    store = FsspecStore("watched://corpus/docs")
    monkeypatch.setattr(store, "_connected", lambda: (files, "corpus/docs"))
    return store, files


def test_a_listing_of_folders_comes_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    store, files = watched(100_000, monkeypatch)
    pages = store.list()
    assert len(next(pages).paths) == 5_000
    assert files.listed < 10  # of 102 folders
    paths = [path for page in [*pages] for path in page.paths]
    assert len(paths) == len(set(paths)) == 95_000
    assert type(files).find is AbstractFileSystem.find


def test_a_folder_that_cannot_be_listed_is_not_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = watched(5_000, monkeypatch, refused="topic-03")
    with pytest.raises(StorageError, match="cannot be listed: PermissionError"):
        list(store.list())


def planned(documents: int, task_bytes: int = 200) -> Plan:
    rows = [listed(f"{number:06d}", size=100) for number in range(documents)]
    return plan(
        listing=listing(*rows), sources=[source()], route=first_rule, states=None, shards=(), task_bytes=task_bytes
    )  # fmt: skip


def test_a_task_reads_a_file_of_the_plan_that_does_not_grow_with_it(tmp_path: Path) -> None:
    made = planned(4 * TASKS_PER_FILE + 2)
    store = open_store(str(tmp_path))
    store_plan(store, RUN, made, base=None, old_shards=(), listed=0, known_failures=0, partial=False)
    files = sorted((tmp_path / layout.plan_folder(RUN)).glob("documents-*"))
    assert [file.name for file in files] == [f"documents-0000{number}.parquet" for number in range(3)]
    stored = load_plan(store, RUN)
    for task in made.tasks:
        assert load_task_documents(store, RUN, stored, task).equals(made.task_documents(task).combine_chunks())
    decisions = pa.concat_tables(load_decisions(store, RUN, stored))
    assert decisions["id"].to_pylist() == made.documents["id"].to_pylist()
    for file in files[1:]:
        file.unlink()
    assert load_task_documents(store, RUN, stored, made.tasks[TASKS_PER_FILE - 1]).num_rows == 2


def test_tasks_of_thousands_of_documents_read_their_own(tmp_path: Path) -> None:
    made = planned(40_000, task_bytes=150_000)  # more rows than are written at once; no task ends with a row group
    store = open_store(str(tmp_path))
    store_plan(store, RUN, made, base=None, old_shards=(), listed=0, known_failures=0, partial=False)
    stored = load_plan(store, RUN)
    assert len(made.tasks) == 27
    for task in made.tasks:
        assert load_task_documents(store, RUN, stored, task).equals(made.task_documents(task).combine_chunks())


names = st.text(st.sampled_from("ab/é\U0001f600"), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(now=st.sets(names), before=st.sets(names), moved=st.booleans(), cuts=st.sets(names, max_size=3))
def test_states_in_slices_decide_what_all_of_them_decide(
    now: set[str], before: set[str], moved: bool, cuts: set[str]
) -> None:
    rows = [listed(name, validator=f"v{len(name) % 2}") for name in sorted(now, key=len)]
    old = [state(name) | ({"uri": f"s3://docs/{name}a"} if moved else {}) for name in sorted(before)]
    bounds: list[str | None] = [*sorted(cuts), None]
    everything = states(*old)
    pieces: list[StateSlice] = []
    low = ""
    for high in bounds:
        mine = [each for each in old if each["id"] >= low and (high is None or each["id"] < high)]
        pieces.append(StateSlice(high=high, rows=states(*mine)))
        low = high or ""

    def decided(given: list[StateSlice]) -> list[dict[str, Any]]:
        found = decide_objects(
            identified=identify(listing(*rows), [source()]),
            sources=[source()],
            route=first_rule,
            states=given,
            shards=ranges(""),
        )
        return found.documents.to_pylist()

    assert decided(pieces) == decided([StateSlice(high=None, rows=everything)])


@given(reasons=st.dictionaries(names, st.sampled_from(["removed", "rekeyed"])), asked=st.lists(names))
def test_why_documents_are_gone(reasons: dict[str, str], asked: list[str]) -> None:
    keeping = Keeping(reasons=reasons, unread=frozenset(), unreplaced=frozenset())
    gone = pa.table({"key": pa.chunked_array([pa.array(asked, pa.string())])})
    assert keeping.reasons_of(gone).to_pylist() == [reasons.get(key, "removed") for key in asked]


@pytest.mark.slow
def test_memory_of_planning_200_000_objects(tmp_path: Path) -> None:
    """A first night, and one on which every hundredth was edited, in processes of their own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--objects=200000", "--size=2000", "--chunks=1"]
    command += [f"--folder={tmp_path}"]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[3]).stdout
    found = json.loads(said)
    for step in ("plan", "unchanged", "plan_edited", "plan_folder"):
        assert found[step]["peak_mb"] < BASE_MB + 200_000 * KB_AN_OBJECT / 1000, (step, found[step])
    assert found["decide"]["action"] == "publish"
    assert found["plan_folder"]["tasks"] < found["plan_edited"]["tasks"] == found["unchanged"]["states"]

"""`verify`: clean tables are clean whatever happened to them, and every kind of damage is named where it is."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.cli.main import main
from pipelines.config.load import load_config
from pipelines.config.model import Output
from pipelines.errors import TableStateError
from pipelines.operations.run import run
from pipelines.operations.verify import Verification, verify
from pipelines.operations.verifying.files import first_disorder
from pipelines.records import RunOptions
from pipelines.storage.store import open_store
from pipelines.table import differing, layout, log, shards
from pipelines.table.records import FileEntry, Snapshot
from pipelines.table.snapshot import dumps
from tests.pipelines.container_worlds import ContainerWorld
from tests.pipelines.run.corpus import Corpus, text
from tests.pipelines.worlds import World


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Two commits, several shards; the second changes, adds, deletes and renames."""
    folder = tmp_path_factory.mktemp("verify")
    corpus = Corpus(folder)
    corpus.change(output=Output(path=str(folder / "table"), task_bytes=2000))
    corpus.fill(8)
    corpus.write("bad.txt", b"\x89PNG\r\n\x1a\n\x00")
    corpus.run()
    corpus.write("000.txt", text(5, "grown"))
    corpus.write("003.txt", text(1, "of 3"))
    corpus.write("new.txt", text(2, "new"))
    corpus.remove("005.txt")
    (folder / "docs/006.txt").rename(folder / "docs/006 renamed.txt")
    corpus.run()
    return corpus


@pytest.fixture
def corpus(made: Corpus, tmp_path: Path) -> Corpus:
    """A copy to damage."""
    shutil.copytree(made.root / "table", tmp_path / "table")
    corpus = Corpus(tmp_path)
    corpus.change(output=replace(made.config.output, path=str(tmp_path / "table")))
    return corpus


def check(corpus: Corpus, **options: Any) -> Verification:
    return verify(corpus.store, lambda event: None, full=True, **options)


def said(corpus: Corpus, **options: Any) -> list[str]:
    return [f"{where}: {what}" for where, what in check(corpus, **options).problems]


def test_a_clean_table_has_no_problem_and_says_what_was_read(corpus: Corpus) -> None:
    found = check(corpus)
    snapshot = corpus.snapshot()
    assert (list(found.problems), found.total, found.version, found.compared_with) == ([], 0, 1, 0)
    assert (found.shards, found.of_shards) == (len(snapshot.shards), len(snapshot.shards))
    assert found.files == len(list(snapshot.files()))
    assert (found.documents, found.rows) == (9, len(corpus.rows()))
    assert check(corpus, version=0).total == 0


def test_a_sample_reads_so_many_shards(corpus: Corpus) -> None:
    found = verify(corpus.store, lambda event: None, sample=2)
    assert (found.total, found.shards, found.of_shards > 2) == (0, 2, True)


# damage of files


def entry_of(corpus: Corpus, kind: str) -> FileEntry:
    snapshot = corpus.snapshot()
    by_kind = {
        "chunks": snapshot.shards[1].chunks,
        "documents": snapshot.shards[1].documents,
        "changes": snapshot.changes[0],
        "failures": snapshot.failures[0],
        "renames": snapshot.renames[0],
    }
    return by_kind[kind]


def flip(file: Path) -> None:
    """Change one byte in the middle, behind the mark at its start."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x40
    replace_file(file, bytes(data))


def truncate(file: Path) -> None:
    replace_file(file, file.read_bytes()[:-20])


def empty(file: Path) -> None:
    replace_file(file, b"")


def replace_file(file: Path, data: bytes) -> None:
    """Not in place: a hard link of it belongs to another version."""
    file.unlink()
    file.write_bytes(data)


@pytest.mark.parametrize("kind", ["chunks", "documents", "changes", "failures", "renames"])
@pytest.mark.parametrize("damage", [flip, truncate, empty, Path.unlink])
def test_damage_of_a_file_is_named(corpus: Corpus, kind: str, damage: Callable[[Path], None]) -> None:
    entry = entry_of(corpus, kind)
    damage(corpus.root / "table" / entry.path)
    found = check(corpus)
    assert entry.path in {where for where, _ in found.problems}


# damage that checksums agree with: only the rows can tell

Rows = list[dict[str, Any]]


def rewrite(corpus: Corpus, kind: str, edit: Callable[[Rows], Rows]) -> str:
    """Edit the rows of a file, and have the commit and the log say that it is right so."""
    snapshot, old = corpus.snapshot(), entry_of(corpus, kind)
    file = corpus.root / "table" / old.path
    rows = pq.read_table(file)
    edited = pa.Table.from_pylist(edit(rows.to_pylist()), rows.schema)
    encoded = shards.encode(edited, kind, snapshot.payload)  # type: ignore[arg-type]
    replace_file(file, bytes(encoded.data))
    recommit(corpus, _replaced(snapshot, old, encoded.entry(old.path)))
    return old.path


def _replaced(snapshot: Snapshot, old: FileEntry, new: FileEntry) -> Snapshot:
    def one(entry: FileEntry) -> FileEntry:
        return new if entry == old else entry

    return replace(
        snapshot,
        shards=tuple(
            replace(shard, chunks=one(shard.chunks), documents=one(shard.documents)) for shard in snapshot.shards
        ),
        changes=tuple(map(one, snapshot.changes)),
        renames=tuple(map(one, snapshot.renames)),
    )


def recommit(corpus: Corpus, snapshot: Snapshot) -> None:
    """Put `snapshot` in the place of the newest commit."""
    head = log.head(corpus.store)
    assert head is not None
    data = dumps(snapshot)
    replace_file(corpus.root / "table" / layout.commit_file(snapshot.run_id), data)
    old = log.head_at(corpus.store, head.version - 1)
    actions = log.build_actions(snapshot, hashlib.sha256(data).hexdigest(), old)
    entry = corpus.root / "table" / layout.version_file(head.version)
    replace_file(entry, "".join(json.dumps(action) + "\n" for action in actions).encode())


def edited(index: int, **values: Any) -> Callable[[Rows], Rows]:
    def edit(rows: Rows) -> Rows:
        rows[index] |= values
        return rows

    return edit


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda rows: rows[:1] + rows[2:], "stands where number 1 should be"),
        (lambda rows: rows[:2], "instead of"),
        (lambda rows: [*rows, rows[-1]], "stands where number"),
        (edited(0, text="another text"), "its content_hash is not that of its context and text"),
        (edited(0, start_index=1), "its row_hash is not that of its columns"),
        (edited(0, title="another"), "its row_hash is not that of its columns"),
        (edited(0, start_index=5, end_index=3), "goes from 5 to 3"),
        (edited(0, start_index=100_000, end_index=100_001), "before the chunk above it"),
        (edited(0, chunk_count=9), "its chunk_count is 9; the document has"),
        (edited(0, document_hash="0" * 64), "its document_hash is not that of the document's state"),
        (edited(0, content_hash="0" * 64), "have other hashes than the document's state"),
        (edited(0, source_uri="elsewhere"), "the state says otherwise"),
        (lambda rows: [row | {"parent_id": "zzz", "id": f"zzz#{n}"} for n, row in enumerate(rows)], "has no row of"),
    ],
)
def test_rows_that_their_checksums_agree_with(corpus: Corpus, edit: Callable[[Rows], Rows], what: str) -> None:
    path = rewrite(corpus, "chunks", edit)
    assert any(line.startswith(f"{path}: ") and what in line for line in said(corpus)), said(corpus)


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda rows: rows[1:], "which has no chunks by its state"),
        (lambda rows: [*rows, rows[0]], "is there twice"),
        (edited(0, status="empty"), "is a file, empty, and has"),
        (edited(0, status="lost"), "has the status 'lost'"),
        (edited(0, error="read"), "its error is 'read'"),
        (edited(0, chunk_count=1), "bytes of chunk hashes for 1 chunks"),
        (edited(0, id="~", key="~"), "is not in the shard's range of keys"),
        (edited(0, hash="0" * 64), "its document_hash is not that of the document's state"),
        (edited(0, key="other"), "with the key 'other'"),
    ],
)
def test_states_that_their_checksums_agree_with(corpus: Corpus, edit: Callable[[Rows], Rows], what: str) -> None:
    rewrite(corpus, "documents", edit)
    assert any(what in line for line in said(corpus)), said(corpus)


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda rows: rows[1:], "its changes do not say that"),
        (lambda rows: [*rows, {**rows[0], "id": "no.txt#0", "parent_id": "no.txt"}], "which is not so"),
        (edited(0, content_hash="0" * 64), "another content_hash than the document's state"),
        (edited(0, change="deleted"), "counts the changes"),
    ],
)
def test_changes_that_are_not_the_difference(corpus: Corpus, edit: Callable[[Rows], Rows], what: str) -> None:
    rewrite(corpus, "changes", edit)
    assert any(what in line for line in said(corpus)), said(corpus)


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (
            lambda rows: [],
            ["counts 1 renames; the renames table has 0", "do not say that '006.txt' is '006 renamed.txt'"],
        ),
        (
            lambda rows: [*rows, {**rows[0], "old_id": "009.txt"}],
            [
                "counts 1 renames; the renames table has 2",
                "say that '009.txt' is '006 renamed.txt' now, which is not so",
            ],
        ),
        (lambda rows: [*rows, *rows], ["the renames table has 2", "name a document twice"]),
        (edited(0, new_id="new.txt"), ["the documents' states say"]),
        (edited(0, chunk_count=7), ["the documents' states say"]),
    ],
)
def test_renames_that_are_none(corpus: Corpus, edit: Callable[[Rows], Rows], what: list[str]) -> None:
    rewrite(corpus, "renames", edit)
    found = [line for line in said(corpus) if "its renames" in line or "renames table" in line]
    assert len(found) == len(what)
    assert all(part in line for part, line in zip(what, found, strict=True)), found


def test_the_difference_is_compared_in_passes(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differing, "CHUNKS_AT_ONCE", 5)
    assert check(corpus).total == 0
    rewrite(corpus, "changes", lambda rows: rows[1:])
    assert any("its changes do not say that" in line for line in said(corpus))


def test_two_shards_that_were_swapped(corpus: Corpus) -> None:
    first, second = (shard.chunks for shard in corpus.snapshot().shards[:2])
    one, two = (corpus.root / "table" / entry.path for entry in (first, second))
    before = one.read_bytes(), two.read_bytes()
    replace_file(one, before[1])
    replace_file(two, before[0])
    assert {first.path, second.path} <= {where for where, _ in check(corpus).problems}


def test_a_document_that_two_shards_have(corpus: Corpus) -> None:
    snapshot = corpus.snapshot()
    twice = pq.read_table(corpus.root / "table" / snapshot.shards[0].documents.path).to_pylist()[0]
    rewrite(corpus, "documents", lambda rows: [twice, *rows])
    assert any(f"'{twice['id']}' is in {snapshot.shards[0].documents.path} too" in line for line in said(corpus))


def test_a_stray_file_in_the_folder_of_chunks(corpus: Corpus) -> None:
    name = f"chunks/{corpus.snapshot().run_id}/part-00099-of-00100.parquet"
    (corpus.root / "table" / name).write_bytes(b"x")
    assert said(corpus) == [f"{name}: no commit names it, and readers of the folder read it"]


# damage of the log


def log_file(corpus: Corpus, version: int = 1) -> Path:
    return corpus.root / "table" / layout.version_file(version)


def edit_log(corpus: Corpus, edit: Callable[[list[dict[str, Any]]], None], version: int = 1) -> None:
    file = log_file(corpus, version)
    actions = [json.loads(line) for line in file.read_text().splitlines()]
    edit(actions)
    replace_file(file, "".join(json.dumps(action) + "\n" for action in actions).encode())


def first(actions: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(action[kind] for action in actions if kind in action)
    return found


def without(kind: str) -> Callable[[list[dict[str, Any]]], None]:
    def edit(actions: list[dict[str, Any]]) -> None:
        actions.remove(next(action for action in actions if kind in action))

    return edit


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (without("add"), "which is in the commit"),
        (without("remove"), "is neither kept nor removed: its rows are doubled"),
        (without("protocol"), "is no commit of rechunk"),
        (lambda actions: first(actions, "add").update(size=1), "the size is 1 in the log"),
        (lambda actions: first(actions, "add").update(stats='{"numRecords": 7}'), "the numRecords is 7 in the log"),
        (lambda actions: first(actions, "add").update(path="x.parquet"), "has x.parquet, which is not in the commit"),
        (lambda actions: first(actions, "remove").update(path=first(actions, "add")["path"]), "adds and removes"),
        (lambda actions: first(actions, "metaData").update(id="another"), "says that this is table another"),
        (lambda actions: first(actions, "metaData").update(schemaString='{"fields": []}'), "has another schema"),
        (lambda actions: first(actions, "protocol").update(minReaderVersion=3), "asks for another protocol"),
        (lambda actions: first(actions, "commitInfo")["rechunk"].update(checksum="0"), "checksum differs"),
        (lambda actions: first(actions, "commitInfo")["rechunk"].update(run_id="gone"), "was collected or lost"),
        (lambda actions: first(actions, "commitInfo")["rechunk"].update(format=99), "format 99"),
        (without("commitInfo"), "was written by another tool"),
    ],
)
def test_an_edited_log_is_named(corpus: Corpus, edit: Callable[[list[dict[str, Any]]], None], what: str) -> None:
    edit_log(corpus, edit)
    quick = verify(corpus.store, lambda event: None)
    assert any(what in problem.what for problem in quick.problems), quick.problems


def test_a_version_of_another_tool_is_named_once(corpus: Corpus) -> None:
    version = corpus.snapshot().version
    edit_log(corpus, without("commitInfo"))
    (problem,) = verify(corpus.store, lambda event: None).problems
    assert (problem.where, problem.what.partition("; ")[0]) == (
        layout.version_file(version),
        f"version {version} (no operation named) was written by another tool",
    )


@pytest.mark.parametrize("damage", [lambda file: replace_file(file, b"{"), empty, Path.unlink])
def test_a_damaged_log_is_named(corpus: Corpus, damage: Callable[[Path], None]) -> None:
    damage(log_file(corpus, 0))
    assert any("version 0" in line or layout.version_file(0) in line for line in said(corpus)), said(corpus)


def test_an_edited_record_is_named(corpus: Corpus) -> None:
    file = corpus.root / "table" / layout.commit_file(corpus.snapshot().run_id)
    replace_file(file, file.read_bytes().replace(b"test", b"TEST"))
    assert any("is not what version 1 committed; checksum differs" in line for line in said(corpus))


def test_an_older_commit_is_checked_in_full(corpus: Corpus) -> None:
    file = corpus.root / "table" / layout.commit_file(corpus.snapshot(0).run_id)
    replace_file(file, file.read_bytes().replace(b"test", b"TEST"))
    assert any("is not what version 0 committed" in line for line in said(corpus))


# clean tables are clean


@pytest.mark.parametrize("seed", [3])
def test_random_worlds_are_clean(tmp_path: Path, seed: int) -> None:
    live_files(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_many_random_worlds_are_clean(tmp_path: Path, seed: int) -> None:
    live_files(tmp_path, seed)


def live_files(folder: Path, seed: int) -> None:
    world = World(folder / "world", seed=seed)
    for night in range(4):
        edits = world.edit() if night else []
        options = RunOptions(prune=night == 3, approve_deletions=10_000 if night % 2 else None)
        run(load_config(world.write_config(folder / "r.yaml", folder / "table")), options, lambda event: None)
        found = verify(open_store(str(folder / "table")), lambda event: None, full=True)
        assert not found.total, (seed, night, edits, found.problems)


@pytest.mark.parametrize("seed", [11])
def test_containers_whose_columns_come_and_go_are_clean(tmp_path: Path, seed: int) -> None:
    live_containers(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_many_containers_whose_columns_come_and_go_are_clean(tmp_path: Path, seed: int) -> None:
    live_containers(tmp_path, seed)


def live_containers(folder: Path, seed: int) -> None:
    """Records, payload columns that change, globs that narrow, sources that leave the configuration."""
    chance = random.Random(seed)
    world = ContainerWorld(folder / "world", seed=seed)
    for night in range(5):
        edits = world.edit() if night else []
        config = world.config(folder / "table", task_bytes=(1024, 4096, 1 << 20)[seed % 3])
        sources = []
        for source in config.sources:
            payload = {name: type_ for name, type_ in source.columns.payload.items() if chance.random() < 0.6}
            include = source.include if chance.random() < 0.7 else ("**/*.csv",)
            sources.append(replace(source, columns=replace(source.columns, payload=payload), include=include))
        config = replace(config, sources=tuple(sources[: 1 + (chance.random() < 0.8)]))
        run(config, RunOptions(approve_deletions=10_000 if night % 2 else None), lambda event: None)
        found = verify(open_store(config.output.path), lambda event: None, full=True)
        assert not found.total, (seed, night, edits, found.problems)


def test_order_with_nulls_and_several_keys() -> None:
    table = pa.table({"a": ["x", "x", "x", "y"], "b": pa.array([1, 2, None, 0], pa.int32())})
    assert first_disorder(table, ("a", "b")) is None
    assert first_disorder(table.take([0, 2, 1, 3]), ("a", "b")) == 2
    assert first_disorder(table.take([3, 0]), ("a",)) == 1


# the command


def test_the_command_says_what_is_wrong_and_exits_with_6(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(corpus.root / "table")
    assert main(["verify", table]) == 0
    assert capsys.readouterr().err.endswith("nothing is wrong with what was checked\n")
    entry = entry_of(corpus, "chunks")
    truncate(corpus.root / "table" / entry.path)
    assert main(["verify", table, "--output", "json"]) == 6
    told = json.loads(capsys.readouterr().out)
    assert {"file": entry.path, "problem": f"has {entry.bytes - 20} bytes instead of {entry.bytes}"} in told["problems"]
    assert main(["verify", table, "--version", "7"]) == 6
    assert "there is no version 7; the table has versions 0 to 1" in capsys.readouterr().err


def test_no_table_is_no_clean_table(tmp_path: Path) -> None:
    with pytest.raises(TableStateError, match="holds no table"):
        verify(open_store(str(tmp_path)), lambda event: None)

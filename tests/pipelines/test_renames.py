"""Which documents are renames of which: same bytes, same chunks, and none twice."""

from __future__ import annotations

import string
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines.renames import pair, slim
from pipelines.storage.store import Store, open_store
from pipelines.table import renaming, shards
from pipelines.table.keys import FILE, RECORD
from pipelines.table.records import FileEntry, Shard
from pipelines.table.renaming import renames_between
from pipelines.table.schemas import DOCUMENTS

State = tuple[str, str, str]  # id, bytes, chunks (a letter each)


def chunk(content: str, row: str = "row") -> bytes:
    return sha256(content.encode()).digest() + sha256(row.encode()).digest()


def states(*documents: State, kind: str = FILE) -> pa.Table:
    rows = [
        {
            "id": id_,
            "uri": f"/docs/{id_}",
            "hash": sha256(data.encode()).hexdigest(),
            "chunk_count": len(chunks),
            "kind": kind,
            "chunk_hashes": b"".join(chunk(letter, f"{id_} {letter}") for letter in chunks),
        }
        for id_, data, chunks in documents
    ]
    return pa.Table.from_pylist(rows, schema=DOCUMENTS)


def pairs(gone: list[State], came: list[State]) -> list[tuple[str, str]]:
    found = pair(slim(states(*gone)), slim(states(*came)))
    return list(zip(found["old_id"].to_pylist(), found["new_id"].to_pylist(), strict=True))


def test_same_bytes_and_chunks_are_a_rename() -> None:
    found = pair(slim(states(("a", "text", "xy"))), slim(states(("b", "text", "xy")))).to_pylist()
    assert found == [
        {
            "old_id": "a",
            "new_id": "b",
            "old_uri": "/docs/a",
            "new_uri": "/docs/b",
            "hash": sha256(b"text").hexdigest(),
            "chunk_count": 2,
        }
    ]


@pytest.mark.parametrize(
    "other",
    [("b", "texts", "xy"), ("b", "text", "x"), ("b", "text", "xz"), ("b", "text", "yx"), ("b", "text", "xyz")],
    ids=["other bytes", "fewer chunks", "another chunk", "another order", "more chunks"],
)
def test_other_bytes_or_chunks_are_none(other: State) -> None:
    assert pairs([("a", "text", "xy")], [other]) == []


def test_copies_are_paired_in_order_and_never_twice() -> None:
    gone = [(name, "text", "x") for name in ("c", "a", "b")]
    came = [(name, "text", "x") for name in ("z", "y")]
    assert pairs(gone, came) == [("a", "y"), ("b", "z")]
    assert pairs(gone[:1], came) == [("c", "y")]


def test_copies_with_other_chunks_are_paired_among_themselves() -> None:
    gone = [("a", "text", "x"), ("b", "text", "xy")]
    came = [("m", "text", "xy"), ("n", "text", "x")]
    assert pairs(gone, came) == [("a", "n"), ("b", "m")]


def test_records_are_paired_by_their_chunks_and_not_with_files() -> None:
    """Their hashes have their ids in them."""
    gone, came = (slim(states((name, f"hash of {name}", "xy"), kind=RECORD)) for name in "ab")
    (found,) = pair(gone, came).to_pylist()
    assert (found["old_id"], found["new_id"], found["hash"]) == ("a", "b", came["hash"][0].as_py())
    assert pair(gone, slim(states(("b", "hash of a", "xy")))).num_rows == 0
    assert pair(gone, slim(states(("b", "hash of b", "yx"), kind=RECORD))).num_rows == 0


# between snapshots


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path))


def shard(store: Store, name: str, *documents: State) -> Shard:
    entry = shards.write(store, f"{name}.parquet", states(*documents), "documents")
    empty = FileEntry(path="", rows=0, bytes=0, sha256="")
    return Shard(low="", high=None, input_bytes=0, chunks=empty, documents=entry)


def between(store: Store, old: list[Shard], new: list[Shard]) -> list[tuple[str, str]]:
    tables = list(renames_between(store, old, new))
    return [
        pair for each in tables for pair in zip(*each.select(["old_id", "new_id"]).to_pydict().values(), strict=True)
    ]


def test_renames_are_found_across_shards(store: Store) -> None:
    old = [shard(store, "o1", ("a", "A", "x"), ("b", "B", "y")), shard(store, "o2", ("m", "M", "z"))]
    new = [shard(store, "n1", ("b", "B", "y")), shard(store, "n2", ("p", "A", "x"), ("q", "M", "z"))]
    assert between(store, old, new) == [("a", "p"), ("m", "q")]


def test_a_document_that_stays_is_neither_side_of_a_rename(store: Store) -> None:
    old = [shard(store, "o", ("a", "A", "x"), ("b", "B", "y"))]
    copied = [shard(store, "n1", ("a", "A", "x"), ("b", "B", "y"), ("copy", "A", "x"))]
    assert between(store, old, copied) == []
    onto = [shard(store, "n2", ("b", "A", "x"))]  # b has the bytes of a now, and was there before
    assert between(store, old, onto) == []


def test_documents_without_chunks_are_never_renames(store: Store) -> None:
    old, new = [shard(store, "o", ("a", "", ""))], [shard(store, "n", ("b", "", ""))]
    assert between(store, old, new) == []


def test_passes_give_the_same_pairs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = string.ascii_lowercase[:20]
    old = [shard(store, "o", *((f"a{n}", f"text {n // 2}", letters[n // 2] * 2) for n in range(20)))]
    new = [shard(store, "n", *((f"b{n}", f"text {n // 2}", letters[n // 2] * 2) for n in range(20)))]
    whole = between(store, old, new)
    monkeypatch.setattr(renaming, "DOCUMENTS_AT_ONCE", 4)
    assert len(list(renames_between(store, old, new))) == 5
    assert sorted(between(store, old, new)) == sorted(whole) == [(f"a{n}", f"b{n}") for n in sorted(range(20), key=str)]


def test_nothing_gone_reads_ids_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    old = [shard(store, "o", ("a", "A", "x"))]
    new = [shard(store, "n", ("a", "A", "x"), ("b", "B", "y"))]
    read: list[list[str]] = []
    original = shards.read

    def noting(store: Store, path: str, columns: list[str]) -> pa.Table:
        read.append(columns)
        return original(store, path, columns)

    monkeypatch.setattr(shards, "read", noting)
    assert between(store, old, new) == []
    assert read == [["id"], ["id"]]
    read.clear()
    assert between(store, old, old) == []
    assert read == []

"""A store to look ahead in: everything written is seen again, and the store below is as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import StorageError
from pipelines.storage.overlay import OverlayStore
from pipelines.storage.store import Store, open_store


@pytest.fixture
def base(tmp_path: Path) -> Store:
    store = open_store(str(tmp_path / "base"))
    store.write("a/old", b"old")
    store.write("a/both", b"below")
    return store


@pytest.fixture
def store(base: Store, tmp_path: Path) -> OverlayStore:
    return OverlayStore(base, open_store(str(tmp_path / "scratch")))


def paths(store: Store, prefix: str = "") -> list[str]:
    return sorted(path for page in store.list(prefix) for path in page.paths)


def test_what_is_written_is_read_again_and_not_below(base: Store, store: OverlayStore) -> None:
    store.write("a/both", b"above")
    store.write("b/new", b"new")
    assert [store.read(path) for path in ("a/old", "a/both", "b/new")] == [b"old", b"above", b"new"]
    with store.open("a/both") as file:
        assert file.read() == b"above"
    assert (base.read("a/both"), base.exists("b/new")) == (b"below", False)
    assert store.address == base.address


def test_a_listing_has_every_path_once(base: Store, store: OverlayStore) -> None:
    store.write("a/both", b"above")
    store.write("a/new", b"new")
    assert paths(store, "a/") == ["a/both", "a/new", "a/old"]
    assert paths(base, "a/") == ["a/both", "a/old"]


def test_create_is_exclusive_over_both(base: Store, store: OverlayStore) -> None:
    assert not store.create("a/old", b"x")
    assert store.create("c", b"x")
    assert not store.create("c", b"y")
    assert (store.read("c"), base.exists("c")) == (b"x", False)


def test_links_land_above(base: Store, store: OverlayStore) -> None:
    store.link("a/old", "linked")
    store.link("a/old", "linked")
    assert (store.read("linked"), base.exists("linked")) == (b"old", False)
    with pytest.raises(StorageError):
        store.link("a/both", "linked")


def test_nothing_below_is_deleted(base: Store, store: OverlayStore) -> None:
    store.write("b", b"new")
    store.delete("b")
    assert not store.exists("b")
    with pytest.raises(StorageError):
        store.delete("a/old")
    assert base.read("a/old") == b"old"


def test_a_store_below_that_is_not_there_stays_away(tmp_path: Path) -> None:
    store = OverlayStore(open_store(str(tmp_path / "none")), open_store(str(tmp_path / "scratch")))
    store.write("a/b", b"x")
    assert (store.stat("a/c"), store.exists("a/b"), paths(store, "a/")) == (None, True, ["a/b"])
    assert not (tmp_path / "none").exists()

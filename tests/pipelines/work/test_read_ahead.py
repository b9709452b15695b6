"""Objects come in order, whatever storage does, and a failure is a value."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from pipelines.config.model import Budget
from pipelines.documents.failures import DocumentFailure
from pipelines.storage.local import LocalStore
from pipelines.storage.store import Fetched, Store
from pipelines.work import read_ahead as module
from pipelines.work.read_ahead import read_ahead


class FarStore(LocalStore):
    """A folder that answers as slowly as an object store, and remembers how many reads were under way."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.address_on_disk = self.address
        self.lock = threading.Lock()
        self.now = self.most = 0

    in_flight = 8

    def fetch(self, path: str) -> Fetched:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.01)
        try:
            return Fetched(Path(self.address_on_disk, path).read_bytes(), 1, path)
        finally:
            with self.lock:
                self.now -= 1


def far(folder: Path) -> FarStore:
    store = FarStore(str(folder))
    store.address = "s3://bucket/docs"
    return store


def fill(folder: Path, count: int) -> list[str]:
    names = [f"{number:03d}" for number in range(count)]
    for name in names:
        (folder / name).write_text(name)
    return names


def contents(store: Store, names: list[str]) -> list[Fetched | Exception]:
    return list(read_ahead([(store, name, 3) for name in names], Budget()))


def test_far_objects_are_read_together_and_come_in_order(tmp_path: Path) -> None:
    names = fill(tmp_path, 40)
    store = far(tmp_path)
    assert contents(store, names) == [Fetched(name.encode(), 1, name) for name in names]
    assert 4 < store.most <= FarStore.in_flight


def test_window_bounds_the_bytes_that_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = fill(tmp_path, 12)
    store = far(tmp_path)
    monkeypatch.setattr(module, "WINDOW_BYTES", 6)
    assert contents(store, names) == [Fetched(name.encode(), 1, name) for name in names]
    assert store.most <= 2


@pytest.mark.parametrize("near", [True, False])
def test_missing_and_too_large_objects_are_values(tmp_path: Path, near: bool) -> None:
    fill(tmp_path, 2)
    store = LocalStore(str(tmp_path)) if near else far(tmp_path)
    listed, grown, missing = read_ahead([(store, "000", 3), (store, "001", 1), (store, "none", 0)], Budget(max_bytes=2))
    assert isinstance(listed, DocumentFailure)
    assert isinstance(grown, DocumentFailure)
    assert (listed.error, grown.error) == ("too-large", "too-large")
    assert isinstance(missing, FileNotFoundError)


def test_nothing_to_read() -> None:
    assert list(read_ahead([], Budget())) == []

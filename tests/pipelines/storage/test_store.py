"""Every store does what `Store` promises: a local folder, and `memory://` through fsspec."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import StorageError, UsageError
from pipelines.storage.base import settled
from pipelines.storage.bucket import BucketStore
from pipelines.storage.store import Store, open_source, open_store

Options = dict[str, dict[str, Any]]

NAMES = [
    "plain.md",
    "a/b/c.txt",
    "with space.md",
    "br[ack]et.md",
    "#hash.md",
    "100%.md",
    "q?.md",
    "star*.md",
    "名前.md",
    "cafe\u0301.md",
    "café.md",
    "{x}.md",
    ".hidden",
    "a;b&c=d+e@f:g$h,i.md",
    "'single' \"double\".md",
    "%20.md",
    "%2F.md",
    "+.md",
    "x?versionId=3",
    "n" * 200 + ".md",
]
REMOTE_NAMES = ["a//b.md", "/a.md", "//x", "<&>.md", "back\\slash.md", "x" * 1000, "ü" * 500, "n/" * 400 + "n"]
"""Names that no file can have."""


@pytest.fixture(params=["local", "file-url", "memory", "moto", "s3"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def options(kind: str, request: pytest.FixtureRequest) -> Options:
    """The section `storage` for the store."""
    if kind == "moto":
        return dict(request.getfixturevalue("moto")[1])
    return dict(request.getfixturevalue("s3_options")) if kind == "s3" else {}


@pytest.fixture
def store(kind: str, options: Options, request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if kind == "memory":
        return open_store(f"memory://{uuid.uuid4().hex}")
    if kind in ("moto", "s3"):
        address = request.getfixturevalue("moto")[0] if kind == "moto" else "s3://bucket"
        return open_store(f"{address}/root [1] #%20", options)
    folder = tmp_path / "root [1] #%20"
    folder.mkdir()
    return open_store(str(folder) if kind == "local" else f"file://{folder}")


def listed(store: Store, prefix: str = "") -> dict[str, int]:
    return {entry.path: entry.size for page in store.list(prefix) for entry in page.entries()}


@pytest.fixture
def bucket(store: Store) -> Store:
    """`store` where it is an object store's."""
    if not isinstance(store, BucketStore):
        pytest.skip("a folder")
    return store


def test_names_that_only_objects_have_are_taken_literally(bucket: Store) -> None:
    for name in REMOTE_NAMES:
        assert bucket.create(name, name.encode())
        bucket.link(name, f"copy of {name}"[:1000])
    copies = {f"copy of {name}"[:1000]: name for name in REMOTE_NAMES}
    assert listed(bucket) == {name: len(copies.get(name, name).encode()) for name in [*REMOTE_NAMES, *copies]}
    for name in REMOTE_NAMES:
        assert bucket.read(name) == name.encode()
        bucket.delete(name)
    assert listed(bucket).keys() == copies.keys()


def test_directory_markers_are_no_documents(bucket: Store) -> None:
    for name in ["folder/", "folder/sub/", "folder/one.md", "empty.md", "marked", "marked/two.md"]:
        bucket.write(name, b"" if name in ("folder/", "folder/sub/", "empty.md", "marked") else b"1")
    assert listed(bucket) == {"folder/one.md": 1, "empty.md": 0, "marked": 0, "marked/two.md": 1}
    assert listed(bucket, "folder/") == {"folder/one.md": 1}
    assert bucket.read("empty.md") == b""
    with bucket.open("empty.md") as file:
        assert file.read() == b""


def test_names_are_taken_literally(store: Store) -> None:
    for name in NAMES:
        store.write(name, name.encode())
    assert listed(store) == {name: len(name.encode()) for name in NAMES}
    for name in NAMES:
        assert store.read(name) == name.encode()
        with store.open(name) as file:
            file.seek(1)
            assert file.read() == name.encode()[1:]
        entry = store.stat(name)
        assert entry is not None
        assert (entry.path, entry.size) == (name, len(name.encode()))


def test_list_takes_a_string_prefix(store: Store) -> None:
    for name in ["log/1.json", "log/2.json", "log2/1.json", "x"]:
        store.write(name, b"1")
    assert set(listed(store, "log")) == {"log/1.json", "log/2.json", "log2/1.json"}
    assert set(listed(store, "log/")) == {"log/1.json", "log/2.json"}
    assert set(listed(store, "log/2")) == {"log/2.json"}
    assert listed(store, "none/") == {}
    assert listed(store, "none/x") == {}


def test_write_replaces_and_delete_forgives(store: Store) -> None:
    store.write("a", b"old")
    store.write("a", b"new bytes")
    assert store.read("a") == b"new bytes"
    store.delete("a")
    store.delete("a")
    store.delete("no/such")
    assert store.stat("a") is None
    assert not store.exists("a")


def test_missing_objects_are_file_not_found(store: Store) -> None:
    store.write("file", b"")
    for name in ["missing", "no/such/folder", "file/below"]:
        with pytest.raises(FileNotFoundError):
            store.read(name)
        with pytest.raises(FileNotFoundError):
            store.open(name)
        assert store.stat(name) is None
    with pytest.raises(FileNotFoundError):
        store.link("missing", "target")


def test_create_is_exclusive(store: Store) -> None:
    assert store.create("deep/new", b"first") is True
    assert store.create("deep/new", b"second") is False
    assert store.read("deep/new") == b"first"
    assert listed(store) == {"deep/new": 5}


def test_link_is_idempotent_and_never_replaces(store: Store) -> None:
    store.write("old/a", b"bytes")
    store.write("other", b"BYTES")
    store.link("old/a", "new/deep/a")
    store.link("old/a", "new/deep/a")
    store.sync("new/deep")
    assert store.read("new/deep/a") == b"bytes"
    with pytest.raises(StorageError, match="already holds other bytes"):
        store.link("other", "new/deep/a")
    store.delete("old/a")
    assert store.read("new/deep/a") == b"bytes"


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../up", "a/../../up", "a\0b"])
def test_paths_cannot_leave_the_root(store: Store, path: str) -> None:
    if isinstance(store, BucketStore) and path == "/etc/passwd":
        assert store.stat(path) is None  # a name like any other: below the root there is an empty segment
        return
    with pytest.raises(StorageError, match="no object name"):
        store.read(path)
    with pytest.raises(StorageError, match="no object name"):
        store.write(path, b"")


def test_a_store_pickles_before_and_after_use(store: Store) -> None:
    store.write("a", b"1")
    again = pickle.loads(pickle.dumps(store))
    assert again.read("a") == b"1"
    assert again.address == store.address


def test_a_validator_changes_with_the_bytes(store: Store) -> None:
    store.write("a", b"1")
    time.sleep(0.03)
    before = store.stat("a")
    assert before is not None
    assert before.validator is not None
    assert next(iter(store.list())).validators[0] == before.validator
    store.write("a", b"2")
    time.sleep(0.03)
    after = store.stat("a")
    assert after is not None
    assert after.validator not in (None, before.validator)


@pytest.mark.parametrize(
    ("modified", "age", "expected"),
    [
        (1_700_000_000_000_000_001, 19_999_999, False),
        (1_700_000_000_000_000_001, 20_000_001, True),
        (1_700_000_000_000_000_000, 20_000_001, False),
        (1_700_000_000_000_000_000, 1_999_999_999, False),
        (1_700_000_000_000_000_000, 2_000_000_001, True),
        (1_700_000_000_000_000_001, -5, False),
    ],
)
def test_a_time_is_settled_when_a_later_write_must_have_changed_it(modified: int, age: int, expected: bool) -> None:
    assert settled(modified, modified + age) is expected


def test_touch_renews_the_modification_time(store: Store) -> None:
    if isinstance(store, BucketStore):
        store.touch("none")  # nothing that could be done, and a copy is new anyway
        return
    store.write("a", b"1")
    before = store.stat("a")
    time.sleep(0.03)
    store.touch("a")
    after = store.stat("a")
    assert before is not None
    assert after is not None
    assert before.modified is not None
    assert after.modified is not None
    assert after.modified > before.modified


def test_a_source_whose_name_is_a_marker_is_a_folder(bucket: Store, options: Options) -> None:
    bucket.write("folder", b"")
    assert open_source(bucket.child("folder"), options)[1] == "folder"
    bucket.write("folder/one.md", b"1")
    assert open_source(bucket.child("folder"), options)[1] is None


def test_a_source_is_a_folder_or_one_object(store: Store, options: Options) -> None:
    store.write("folder/one.md", b"1")
    folder, name = open_source(store.child("folder"), options)
    assert (listed(folder), name) == ({"one.md": 1}, None)
    folder, name = open_source(store.child("folder/one.md"), options)
    assert (folder.read("one.md"), name) == (b"1", "one.md")


def test_a_store_works_in_a_forked_child() -> None:
    store = open_store(f"memory://{uuid.uuid4().hex}")
    store.write("a", b"1")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(store.read("a")))
    child.start()
    assert queue.get(timeout=20) == b"1"
    child.join()


def test_other_protocols_cannot_create() -> None:
    store = open_store("http://localhost/x")
    with pytest.raises(StorageError, match="no exclusive create"):
        store.create("a", b"")


def test_an_unknown_protocol_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match="nonsense://x: cannot be opened"):
        list(open_store("nonsense://x").list())


def test_an_option_that_s3fs_does_not_have_is_named() -> None:
    with pytest.raises(StorageError, match="s3fs has no option 'profil'; it has anon, "):
        list(open_store("s3://bucket/x", {"s3": {"profil": "nightly"}}).list())


def test_options_of_a_folder_are_checked() -> None:
    assert repr(open_store("/x", {"file": {"follow_links": False}})) == "LocalStore('/x')"
    with pytest.raises(UsageError, match=r"storage\.file has no option 'folow'; allowed: follow_links"):
        open_store("/x", {"file": {"folow": False}})


def test_options_are_not_shown() -> None:
    assert "hunter2" not in repr(open_store("s3://bucket/x", {"s3": {"secret": "hunter2"}}))


def test_a_relative_address_survives_a_change_of_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("1")
    monkeypatch.chdir(tmp_path)
    store = open_store("docs")
    monkeypatch.chdir(os.sep)
    assert store.read("a.md") == b"1"

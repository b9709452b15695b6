"""Google Cloud Storage, against a fake that is as strict as the real one where clients trip over it."""

from __future__ import annotations

import datetime
import gzip
import io
from collections.abc import Mapping
from typing import Any

import pytest

from pipelines.errors import StorageError
from pipelines.storage.bucket import WHOLE, BucketStore
from pipelines.storage.probe import prove_exclusive
from pipelines.storage.retry import Retry
from pipelines.storage.store import open_store
from tests.servers.faults import Fault
from tests.servers.gcs import GcsServer
from tests.servers.gcs_objects import Conditions

Options = dict[str, dict[str, Any]]
ANY = Conditions()
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def opened(options: Options, folder: str = "docs") -> BucketStore:
    found = open_store(f"gs://bucket/{folder}", options)
    assert isinstance(found, BucketStore)
    found.retry = Retry(tries=4, first=0.01)
    return found


@pytest.fixture
def store(gcs_options: Options) -> BucketStore:
    return opened(gcs_options)


def fault(kind: Any, operation: str = "media", **options: Any) -> Fault:
    return Fault(kind=kind, meets=lambda request: request.operation == operation, **options)


def operations(server: GcsServer) -> list[str]:
    return [request.operation for request in server.requests]


TRANSIENT: list[dict[str, Any]] = [
    *({"kind": "status", "status": status} for status in (408, 429, 500, 502, 503, 504)),
    {"kind": "drop"},
    {"kind": "lost"},
    {"kind": "short"},
]


# reading


def test_the_validator_is_the_generation_of_the_bytes_that_were_read(gcs: GcsServer, store: BucketStore) -> None:
    old = gcs.buckets.put("bucket", "docs/a", b"one", ANY)
    (listed,) = [entry for page in store.list() for entry in page.entries()]
    new = gcs.buckets.put("bucket", "docs/a", b"twelve", ANY)
    fetched = store.fetch("a")
    assert (listed.validator, listed.size) == (str(old.generation), 3)
    assert (fetched.data, fetched.validator) == (b"twelve", str(new.generation))
    milliseconds = (new.updated - EPOCH) // datetime.timedelta(milliseconds=1)
    assert store.stat("a") == ("a", 6, milliseconds * 1_000_000, str(new.generation))
    gcs.buckets.put("bucket", "docs/a", b"one", ANY)
    assert store.fetch("a").validator not in (str(old.generation), str(new.generation))  # A → B → A is a change
    gcs.buckets.patch("bucket", "docs/a", metadata={"seen": "yes"})
    assert store.fetch("a").validator == str(gcs.buckets.get("bucket", "docs/a").generation)


def test_a_read_is_one_request(gcs: GcsServer, store: BucketStore) -> None:
    gcs.buckets.put("bucket", "docs/a", b"one", ANY)
    assert store.read("a") == b"one"
    assert operations(gcs) == ["media"]


@pytest.mark.parametrize("setting", ["true", "false"])
def test_nothing_but_plain_requests_whatever_gcsfs_tries_out(
    gcs: GcsServer, gcs_options: Options, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", setting)
    store = opened(gcs_options)
    store.write("a", b"1")
    store.create("b", b"2")
    store.link("a", "c")
    assert [path for page in store.list() for path in page.paths] == ["a", "b", "c"]
    store.delete("c")
    assert operations(gcs) == [
        *("upload", "upload"),
        *("get", "get", "get", "rewrite", "get"),
        *("list", "delete"),
    ]


@pytest.mark.parametrize("cache_control", [None, "no-transform"])
def test_an_object_stored_as_gzip_is_read_as_it_is_stored(
    gcs: GcsServer, store: BucketStore, cache_control: str | None
) -> None:
    """Inflated by the store, its listed size would cut it short."""
    text = b"The harbour froze early. " * 4000
    stored = gzip.compress(text)
    gcs.buckets.put("bucket", "docs/a.txt", stored, ANY, content_encoding="gzip", cache_control=cache_control)
    (listed,) = [entry for page in store.list() for entry in page.entries()]
    assert store.fetch("a.txt").data == stored
    assert listed.size == len(stored)
    with store.open("a.txt") as file:
        assert gzip.decompress(file.read()) == text


def test_a_large_object_stored_as_gzip_is_read_in_ranges_of_what_is_stored(gcs: GcsServer, store: BucketStore) -> None:
    stored = gzip.compress(bytes(range(256)) * (WHOLE // 128), compresslevel=0)
    assert len(stored) > WHOLE
    gcs.buckets.put("bucket", "docs/a", stored, ANY, content_encoding="gzip")
    with store.open("a") as file:
        file.seek(-100, io.SEEK_END)
        assert file.read() == stored[-100:]
        file.seek(1000)
        assert file.read(50) == stored[1000:1050]


def test_an_object_that_grew_since_the_listing_is_read_whole(gcs: GcsServer, store: BucketStore) -> None:
    gcs.buckets.put("bucket", "docs/a", b"short", ANY)
    list(store.list())
    gcs.buckets.put("bucket", "docs/a", b"longer than it was", ANY)
    assert store.read("a") == b"longer than it was"


def test_an_object_that_changes_while_it_is_open_is_an_error(gcs: GcsServer, store: BucketStore) -> None:
    gcs.buckets.put("bucket", "docs/a", b"a" * (WHOLE + 10), ANY)
    with store.open("a") as file:
        assert file.read(3) == b"aaa"
        gcs.buckets.put("bucket", "docs/a", b"b" * (WHOLE + 10), ANY)
        file.seek(-3, io.SEEK_END)
        with pytest.raises(StorageError, match="it changed while it was read"):
            file.read()


def test_a_missing_bucket_is_no_empty_listing(gcs_options: Options) -> None:
    store = open_store("gs://elsewhere/docs", gcs_options)
    with pytest.raises(StorageError, match=r"gs://elsewhere/docs: cannot be listed: .*404 The specified bucket"):
        list(store.list())
    with pytest.raises(StorageError, match="cannot be read"):
        store.read("a")


def test_a_listing_of_10_000_objects_is_ten_requests(gcs: GcsServer, store: BucketStore) -> None:
    names = [f"docs/{number:05d}" for number in range(10_000)]
    for name in names:
        gcs.buckets.put("bucket", name, b"", ANY)
    gcs.buckets.put("bucket", "docs2/other", b"", ANY)
    assert [f"docs/{path}" for page in store.list() for path in page.paths] == names
    assert operations(gcs) == ["list"] * 10


# faults


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_read_that_fails_for_a_moment_is_made_again(
    gcs: GcsServer, store: BucketStore, options: Mapping[str, Any]
) -> None:
    gcs.buckets.put("bucket", "docs/a", b"0123456789" * 1000, ANY)
    gcs.faults.add(fault(times=3, **options))
    assert store.read("a") == b"0123456789" * 1000
    assert len(gcs.faults.met) == 3


def test_an_answer_that_claims_half_is_all_is_never_a_shorter_document(gcs: GcsServer, store: BucketStore) -> None:
    gcs.buckets.put("bucket", "docs/a", b"0123456789" * 1000, ANY)
    gcs.faults.add(fault("short", honest=False, times=2))
    assert store.read("a") == b"0123456789" * 1000
    gcs.faults.add(fault("short", honest=False, times=9))
    with pytest.raises(StorageError, match="the response ended after 5000 of 10000 bytes"):
        store.read("a")


def test_bytes_that_changed_on_the_way_are_asked_for_again(gcs: GcsServer, store: BucketStore) -> None:
    gcs.buckets.put("bucket", "docs/a", b"0123456789" * 1000, ANY)
    gcs.faults.add(fault("flip", times=2))
    assert store.read("a") == b"0123456789" * 1000
    gcs.faults.add(fault("flip", times=9))
    with pytest.raises(StorageError, match="the bytes do not have the checksum that the store announced"):
        store.read("a")


def test_a_store_that_stays_unwell_is_an_error_after_the_tries(gcs: GcsServer, store: BucketStore) -> None:
    gcs.buckets.put("bucket", "docs/a", b"1", ANY)
    gcs.faults.add(fault("status", times=99))
    with pytest.raises(StorageError, match=r"^gs://bucket/docs/a: cannot be read: 503 injected$"):
        store.read("a")
    assert len(gcs.faults.met) == 4


@pytest.mark.parametrize("status", [400, 401, 403])
def test_what_cannot_heal_is_asked_once(gcs: GcsServer, store: BucketStore, status: int) -> None:
    gcs.buckets.put("bucket", "docs/a", b"1", ANY)
    gcs.faults.add(fault("status", status=status, times=99))
    with pytest.raises(StorageError, match=f"cannot be read: {status}"):
        store.read("a")
    assert operations(gcs) == ["media"]


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_listing_goes_on_where_it_broke_off(gcs: GcsServer, store: BucketStore, options: Mapping[str, Any]) -> None:
    for number in range(2500):
        gcs.buckets.put("bucket", f"docs/{number:04d}", b"", ANY)
    gcs.faults.add(fault(operation="list", skip=1, times=2, **options))
    assert [path for page in store.list() for path in page.paths] == [f"{number:04d}" for number in range(2500)]
    assert operations(gcs) == ["list"] * 5


# writing


def test_bytes_that_look_like_an_upload_s_own_marks_are_stored_as_they_are(gcs: GcsServer, store: BucketStore) -> None:
    data = b"one\n--==0==\ntwo\r\n--==0==--\r\n\r\n"
    store.write("a", data)
    assert store.create("b", data) is True
    assert gcs.buckets.get("bucket", "docs/a").data == gcs.buckets.get("bucket", "docs/b").data == data


def test_create_is_exclusive(gcs: GcsServer, store: BucketStore) -> None:
    assert store.create("a", b"first") is True
    assert store.create("a", b"second") is False
    assert store.create("a", b"first") is False  # the same bytes, but another's work
    assert gcs.buckets.get("bucket", "docs/a").data == b"first"
    assert [request.query.get("ifGenerationMatch") for request in gcs.requests if request.operation == "upload"] == [
        "0"
    ] * 3


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_create_that_fails_for_a_moment_knows_its_own_work(
    gcs: GcsServer, store: BucketStore, options: Mapping[str, Any]
) -> None:
    gcs.faults.add(fault(operation="upload", **options))
    assert store.create("a", b"mine") is True
    gcs.faults.add(fault(operation="upload", **options))
    assert store.create("a", b"mine") is False


def test_a_store_that_ignores_the_condition_is_refused(gcs: GcsServer, store: BucketStore) -> None:
    prove_exclusive(store, "runs/x")
    gcs.buckets.enforcing = False
    with pytest.raises(StorageError, match="ignores create-if-absent"):
        prove_exclusive(store, "runs/x")
    assert gcs.buckets.objects("bucket") == {}


@pytest.mark.parametrize("keeps", [1.0, 0.5])
def test_a_large_object_is_written_in_parts_and_appears_at_once(
    gcs: GcsServer, store: BucketStore, monkeypatch: pytest.MonkeyPatch, keeps: float
) -> None:
    monkeypatch.setattr("pipelines.storage.gcs.PART", 1 << 18)
    gcs.keeps = keeps  # how much of a part the store takes
    data = bytes(range(251)) * 3000
    gcs.faults.add(fault("drop", operation="resume", skip=1))
    store.write("a", data)
    assert gcs.buckets.get("bucket", "docs/a").data == data
    assert operations(gcs)[:3] == ["upload", "resume", "resume"]


def test_copies_are_made_by_the_store_in_as_many_calls_as_it_wants(gcs: GcsServer, store: BucketStore) -> None:
    gcs.rewrite_bytes = 4
    store.write("a", b"0123456789")
    gcs.faults.add(fault("lost", operation="rewrite", skip=2))
    store.link("a", "b")
    store.link("a", "b")
    assert gcs.buckets.get("bucket", "docs/b").data == b"0123456789"
    assert "media" not in operations(gcs)[:-2]


def test_a_copy_never_replaces_what_came_meanwhile(gcs: GcsServer, store: BucketStore) -> None:
    """Another object takes the target's name between the look at it and the copy."""
    store.write("a", b"0123456789")
    source = gcs.buckets.get("bucket", "docs/a")
    client = store._client()
    gcs.buckets.put("bucket", "docs/b", b"9876543210", ANY)
    with pytest.raises(ValueError, match="other bytes"):
        client.copy("docs/a", "docs/b", len(source.data))
    assert gcs.buckets.get("bucket", "docs/b").data == b"9876543210"


# options


def test_an_option_that_gcsfs_does_not_have_is_named(gcs_options: Options) -> None:
    store = open_store("gs://bucket/docs", {"gs": {**gcs_options["gs"], "profil": True}})
    with pytest.raises(StorageError, match="gcsfs has no option 'profil'; it has access, "):
        store.read("a")


def test_requester_pays_and_session_options_are_passed_on(gcs: GcsServer, gcs_options: Options) -> None:
    options = {**gcs_options["gs"], "requester_pays": "billed-project", "session_kwargs": {"trust_env": True}}
    store = open_store("gcs://bucket/docs", {"gcs": options})
    store.write("a", b"1")
    assert [request.query.get("userProject") for request in gcs.requests] == ["billed-project"]

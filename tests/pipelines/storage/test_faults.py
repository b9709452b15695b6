"""What fails for a moment is asked for again; what fails for good is said once; nothing is ever half an object."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

import pytest

from pipelines.errors import StorageError
from pipelines.storage.bucket import BucketStore, without_secrets
from pipelines.storage.retry import Retry
from pipelines.storage.store import Store, open_store
from tests.servers.faults import Fault
from tests.servers.s3 import S3Server

Options = dict[str, dict[str, Any]]


@pytest.fixture(params=["fsspec", "auto"])
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(s3_options: Options, client: str) -> Store:
    found = open_store("s3://bucket/docs", {"s3": {**s3_options["s3"], "client": client}})
    assert isinstance(found, BucketStore)
    found.retry = Retry(first=0.01)
    return found


def fault(kind: Any, operation: str = "get", **options: Any) -> Fault:
    return Fault(kind=kind, meets=lambda request: request.operation == operation, **options)


TRANSIENT = [
    *({"kind": "status", "status": status} for status in (429, 500, 502, 503, 504)),
    {"kind": "drop"},
    {"kind": "lost"},
    {"kind": "short"},
]


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_read_that_fails_for_a_moment_is_made_again(s3: S3Server, store: Store, options: dict[str, Any]) -> None:
    store.write("a", b"0123456789" * 1000)
    s3.faults.add(fault(times=3, **options))
    assert store.read("a") == b"0123456789" * 1000
    assert len(s3.faults.met) == 3


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_write_that_fails_for_a_moment_is_made_again(s3: S3Server, store: Store, options: dict[str, Any]) -> None:
    s3.faults.add(fault(operation="put", times=2, **options))
    store.write("a", b"bytes")
    assert s3.bucket("bucket").objects["docs/a"].data == b"bytes"


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_listing_goes_on_where_it_broke_off(s3: S3Server, store: Store, options: dict[str, Any]) -> None:
    for number in range(2500):
        s3.bucket("bucket").put(f"docs/{number:04d}", b"")
    s3.faults.add(fault(operation="list", skip=1, times=2, **options))
    pages = [page.paths for page in store.list()]
    assert [path for page in pages for path in page] == [f"{number:04d}" for number in range(2500)]
    assert s3.requests["list"] == 5


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_create_that_fails_for_a_moment_knows_its_own_work(
    s3: S3Server, store: Store, options: dict[str, Any]
) -> None:
    s3.faults.add(fault(operation="put", **options))
    assert store.create("a", b"mine") is True
    s3.faults.add(fault(operation="put", **options))
    assert store.create("a", b"mine") is False  # the same bytes, but another's work
    assert store.create("b", b"mine") is True


@pytest.mark.parametrize("client", ["fsspec"])
def test_a_read_that_always_fails_is_an_error_after_a_bounded_time(s3: S3Server, store: BucketStore) -> None:
    store.retry = Retry(tries=4, first=0.001)
    store.write("a", b"bytes")
    s3.faults.add(fault("status", times=100))
    with pytest.raises(StorageError, match=r"^s3://bucket/docs/a: cannot be read: 503 SlowDown: refused$"):
        store.read("a")
    assert len(s3.faults.met) == 4


@pytest.mark.parametrize("client", ["fsspec"])
@pytest.mark.parametrize("status", [400, 401, 403])
def test_what_cannot_heal_is_asked_once(s3: S3Server, store: Store, status: int) -> None:
    store.write("a", b"bytes")
    s3.faults.add(fault("status", status=status, times=100))
    with pytest.raises(StorageError, match=f"^s3://bucket/docs/a: cannot be read: {status} Injected: refused$"):
        store.read("a")
    assert len(s3.faults.met) == 1


def test_a_bucket_that_is_missing_is_no_empty_listing(s3_options: Options) -> None:
    missing = open_store("s3://none/docs", s3_options)
    with pytest.raises(StorageError, match=r"^s3://none/docs: cannot be listed: 404 NoSuchBucket: refused$"):
        list(missing.list())
    with pytest.raises(StorageError, match="NoSuchBucket"):
        missing.read("a")


def test_a_large_object_that_changes_while_it_is_read_is_an_error(s3: S3Server, store: Store) -> None:
    data = bytes(range(256)) * 40_000
    store.write("a", data)
    with store.open("a") as file:
        assert file.read(100) == data[:100]
        file.seek(-100, 2)
        assert file.read() == data[-100:]
        store.write("a", b"x" * len(data))
        file.seek(5_000_000)
        with pytest.raises(StorageError, match=r"s3://bucket/docs/a: cannot be read: .*it changed while it was read"):
            file.read(100)


def test_a_large_write_in_parts_appears_whole_or_not_at_all(
    s3: S3Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.storage import s3 as module

    monkeypatch.setattr(module, "PART", 1000)
    store.write("a", b"0123456789" * 450)
    assert s3.bucket("bucket").objects["docs/a"].data == b"0123456789" * 450
    assert (s3.requests["part"], s3.unfinished_uploads) == (5, 0)
    s3.faults.add(fault("status", operation="part", status=403, skip=2))
    with pytest.raises(StorageError, match="cannot be written"):
        store.write("b", b"0123456789" * 450)
    assert "docs/b" not in s3.bucket("bucket").objects
    assert s3.unfinished_uploads == 0


def test_a_copy_is_verified(s3: S3Server, store: Store) -> None:
    store.write("a", b"bytes")
    s3.damage_copies = True
    with pytest.raises(StorageError, match=r"s3://bucket/docs/b: is 4 bytes after a copy of 5 bytes"):
        store.link("a", "b")


def test_a_copy_whose_answer_is_lost_is_done(s3: S3Server, store: Store) -> None:
    store.write("a", b"bytes")
    s3.faults.add(fault("lost", operation="copy"))
    store.link("a", "b")
    assert store.read("b") == b"bytes"
    assert s3.requests["get"] == 1  # the copy's bytes never came here


def test_a_fetch_gives_the_validator_of_its_bytes_in_one_request(s3: S3Server, store: Store) -> None:
    store.write("a", b"A")
    listed = next(store.list()).validators[0]
    store.write("a", b"B")
    s3.requests.clear()
    data, _, validator = store.fetch("a")
    assert dict(s3.requests) == {"get": 1}
    assert (data, validator == listed) == (b"B", False)
    store.write("a", b"A")
    assert store.fetch("a").validator == listed


def test_an_empty_listing_is_one_request(s3: S3Server, store: Store) -> None:
    assert list(store.list()) == []
    assert dict(s3.requests) == {"list": 1}


def test_listing_is_lazy_and_takes_a_request_for_a_thousand(s3: S3Server, store: Store) -> None:
    for number in range(10_000):
        s3.bucket("bucket").put(f"docs/{number:05d}", b"")
    pages = store.list()
    next(pages)
    assert s3.requests["list"] == 1
    assert sum(len(page.paths) for page in pages) == 9_000
    assert s3.requests["list"] == 10


def secrets_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + str(error.__context__) + str(vars(error))


@pytest.mark.parametrize("make", ["refused", "unknown option", "wrong type", "no server"])
def test_no_error_shows_a_secret(s3: S3Server, s3_options: Options, make: str) -> None:
    secret = "hunter2/hunter2+hunter2"
    options: dict[str, Any] = {**s3_options["s3"], "key": "AKIAHUNTER2", "secret": secret, "token": "tok-en-hunter2"}
    match make:
        case "refused":
            s3.faults.add(Fault(kind="status", status=403, times=9))
        case "unknown option":
            options["sekret"] = secret
        case "wrong type":
            options["client_kwargs"] = {"aws_secret_access_key": secret, "verify": secret}
        case "no server":
            options["endpoint_url"] = "http://127.0.0.1:9"
    store = open_store("s3://bucket/docs", {"s3": options})
    assert isinstance(store, BucketStore)
    store.retry = Retry(tries=2, first=0.001)
    with pytest.raises((StorageError, FileNotFoundError)) as raised:
        store.read("a")
    for text in (secrets_of(raised.value), repr(store), secrets_of(pickle.loads(pickle.dumps(raised.value)))):
        assert "hunter2" not in text.lower()


@pytest.mark.parametrize(
    ("options", "message", "expected"),
    [
        ({"secret": "s3cr3t"}, "key s3cr3t is wrong", "key *** is wrong"),
        ({"endpoint_url": "http://here"}, "http://here is down", "http://here is down"),
        ({"client_kwargs": {"aws_secret_access_key": "s3cr3t"}}, "<s3cr3t>", "<***>"),
        ({"key": "x"}, "an x is no secret", "an x is no secret"),
        ({"anon": True, "timeout": 3}, "True 3", "True 3"),
        (
            {"connection_string": "AccountName=me;AccountKey=abc/def==;BlobEndpoint=http://here"},
            "me at http://here: abc/def== is wrong",
            "me at http://here: *** is wrong",
        ),
    ],
)
def test_secrets_are_taken_out_of_messages(options: dict[str, Any], message: str, expected: str) -> None:
    assert without_secrets(message, options) == expected

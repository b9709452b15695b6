"""Reading through obstore gives what fsspec's library gives: bytes, validators, times and errors."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pipelines.errors import UsageError
from pipelines.storage import fast
from pipelines.storage.base import Store
from pipelines.storage.bucket import BucketStore
from pipelines.storage.fast import FastS3Client
from pipelines.storage.retry import Retry
from pipelines.storage.s3 import S3Client
from pipelines.storage.store import open_store
from tests.pipelines.storage.test_store import NAMES, REMOTE_NAMES
from tests.servers.faults import Fault
from tests.servers.s3 import S3Server

pytest.importorskip("obstore")

Options = dict[str, dict[str, Any]]


def both(options: Options, address: str = "s3://bucket/docs") -> tuple[BucketStore, BucketStore]:
    """The store with fsspec alone, and with obstore."""
    found = []
    for client in ("fsspec", "auto"):
        store = open_store(address, {"s3": {**options["s3"], "client": client}})
        assert isinstance(store, BucketStore)
        store.retry = Retry(tries=3, first=0.001)
        found.append(store)
    assert isinstance(found[0]._client(), S3Client)
    assert isinstance(found[1]._client(), FastS3Client)
    return found[0], found[1]


def answer(question: Callable[[], Any]) -> Any:
    """What a call gives, or what it raises, as something to compare."""
    try:
        return question()
    except Exception as error:
        return type(error), str(error)


def everything(store: Store, name: str) -> list[Any]:
    """All ways to read an object."""

    def through_file() -> Any:
        file, entry = store.opened(name)
        with file:
            start = file.read(7)
            file.seek(-3, 2)
            return entry, start, file.read(), file.seek(0), file.read()

    return [answer(lambda: store.fetch(name)), answer(lambda: store.read(name)), answer(through_file)]


def test_hostile_names(s3: S3Server, s3_options: Options) -> None:
    plain, quick = both(s3_options)
    names = [*NAMES, *REMOTE_NAMES, "~", "a\\b", "^`|.md", "tab\tline\n", "\u202e.md", "A/Ä/..b/c.", "…"]
    for name in names:
        plain.write(name, f"{name} is here".encode())
    for name in [*names, "missing", "missing/too", "", "../x", "a\0"]:
        assert everything(quick, name) == everything(plain, name), name


@pytest.mark.parametrize("size", [0, 1, 2 * 1024 * 1024 - 1, 2 * 1024 * 1024, 2 * 1024 * 1024 + 1, 9_000_000])
def test_sizes(s3: S3Server, s3_options: Options, size: int) -> None:
    plain, quick = both(s3_options)
    plain.write("a", bytes(range(256)) * (size // 256) + bytes(size % 256))
    assert everything(quick, "a") == everything(plain, "a")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 416, 429, 500, 503])
def test_failures(s3: S3Server, s3_options: Options, status: int) -> None:
    found = []
    for store in both(s3_options):
        store.write("a", b"bytes")
        s3.faults.add(Fault(kind="status", status=status, times=10**6, meets=lambda call: call.operation == "get"))
        found.append(answer(lambda store=store: store.fetch("a")))  # type: ignore[misc]
        s3.faults.clear()
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["drop", "short", "lost"])
def test_connections_that_break(s3: S3Server, s3_options: Options, kind: Any) -> None:
    for store in both(s3_options):
        store.write("a", b"0123456789" * 100)
        s3.faults.add(Fault(kind=kind, times=2, meets=lambda call: call.operation == "get"))
        assert store.read("a") == b"0123456789" * 100
        s3.faults.add(Fault(kind=kind, times=10**6, meets=lambda call: call.operation == "get"))
        with pytest.raises(Exception, match="s3://bucket/docs/a: cannot be read"):
            store.read("a")
        s3.faults.clear()


def test_a_missing_bucket(s3: S3Server, s3_options: Options) -> None:
    plain, quick = both(s3_options, "s3://none/docs")
    assert everything(quick, "a") == everything(plain, "a")


def test_it_reads_in_one_request(s3: S3Server, s3_options: Options) -> None:
    _, quick = both(s3_options)
    quick.write("a", b"bytes")
    client = quick._client()
    assert isinstance(client, FastS3Client)
    before = client.read
    s3.requests.clear()
    quick.fetch("a")
    assert (dict(s3.requests), client.read - before) == ({"get": 1}, 1)


def test_moto(moto: tuple[str, Options]) -> None:
    address, options = moto
    plain, quick = both(options, f"{address}/docs")
    for name in [*NAMES, *REMOTE_NAMES]:
        plain.write(name, name.encode())
        assert quick.fetch(name) == plain.fetch(name), name


def test_anonymous(s3: S3Server) -> None:
    plain, quick = both({"s3": {"endpoint_url": s3.url, "anon": True}})
    plain.write("a", b"bytes")
    assert quick.fetch("a") == plain.fetch("a")


@pytest.mark.parametrize(
    "options",
    [{"requester_pays": True}, {"client_kwargs": {"verify": False}}, {"config_kwargs": {"read_timeout": 5}}],
    ids=str,
)
def test_options_that_obstore_does_not_know_are_honoured(s3_options: Options, options: dict[str, Any]) -> None:
    store = open_store("s3://bucket/docs", {"s3": {**s3_options["s3"], **options}})
    assert isinstance(store, BucketStore)
    assert isinstance(store._client(), S3Client)


@pytest.mark.parametrize(
    ("url", "options", "expected"),
    [
        ("", {}, (None, "eu-west-1")),
        ("", {"client_kwargs": {"region_name": "us-east-1"}}, (None, "us-east-1")),
        ("https://b.vpce-1.s3.eu-west-1.vpce.amazonaws.com", {}, ("https://b.vpce-1.s3.eu-west-1.vpce.amazonaws.com",)),
        ("http://127.0.0.1:9", {}, ("http://127.0.0.1:9",)),
    ],
)
def test_the_endpoint_is_the_one_that_was_chosen(
    monkeypatch: pytest.MonkeyPatch, url: str, options: dict[str, Any], expected: tuple[str | None, ...]
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    place = S3Client("bucket", {"key": "k", "secret": "s", "token": url or "t", **options}).place()
    assert place[: len(expected)] == expected


def test_endpoints_without_an_address_are_left_to_the_other_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_USE_FIPS_ENDPOINT", "true")
    options = {"key": "k", "secret": "s", "token": "fips"}
    client = S3Client("bucket", options)
    assert fast.faster(client, options) is client


def test_it_is_not_needed(s3: S3Server, s3_options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    client = S3Client("bucket", s3_options["s3"])
    monkeypatch.setitem(sys.modules, "obstore", None)
    assert fast.faster(client, s3_options["s3"]) is client


def test_a_client_that_fails_again_and_again_is_not_asked_any_more(
    s3: S3Server, s3_options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast, "IN_VAIN", 3)
    client = FastS3Client(S3Client("bucket", s3_options["s3"]), s3_options["s3"])
    client.put("a", b"bytes")

    def broken(*arguments: Any, **options: Any) -> Any:
        raise RuntimeError("another version")

    client._get = broken
    for _ in range(5):
        assert client.fetch("a").data == b"bytes"
    assert client.missed == 3


def test_the_client_is_one_of_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"storage\.s3\.client must be one of auto, fsspec"):
        open_store("s3://bucket/x", {"s3": {"client": "obstor"}})


def test_options_go_by_any_name_of_their_protocol(s3_options: Options) -> None:
    store = open_store("s3a://bucket/x", s3_options)
    assert isinstance(store, BucketStore)
    assert store._options == s3_options["s3"]


def test_a_forked_child_reads_too(s3: S3Server, s3_options: Options) -> None:
    _, quick = both(s3_options)
    quick.write("a", b"bytes")
    assert quick.read("a") == b"bytes"
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(quick.read("a")))
    child.start()
    assert queue.get(timeout=30) == b"bytes"
    child.join()

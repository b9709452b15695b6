"""Azure Blob Storage, against Microsoft's emulator behind a proxy that commits faults."""

from __future__ import annotations

import gzip
import io
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from pipelines.errors import StorageError
from pipelines.storage.bucket import WHOLE, BucketStore
from pipelines.storage.probe import prove_exclusive
from pipelines.storage.retry import Retry
from pipelines.storage.store import open_store
from tests.servers.azurite import Azurite
from tests.servers.faults import Fault
from tests.servers.proxy import Proxy

pytestmark = pytest.mark.slow

Options = dict[str, dict[str, Any]]


@dataclass
class Blobs:
    """A store on the emulator, the proxy before it, and Microsoft's own client behind its back."""

    store: BucketStore
    proxy: Proxy
    client: Any
    options: Options

    def operations(self) -> list[str]:
        return [request.operation for request in self.proxy.requests]

    def fail(self, kind: Any, operation: str, **options: Any) -> None:
        self.proxy.faults.add(Fault(kind=kind, meets=lambda request: request.operation == operation, **options))


@pytest.fixture
def blobs(azurite: Azurite) -> Iterator[Blobs]:
    from azure.storage.blob import ContainerClient

    container = f"c-{uuid.uuid4().hex[:20]}"
    azurite.make(container)
    with (
        Proxy(azurite.url) as proxy,
        ContainerClient.from_connection_string(azurite.connection_string, container) as client,
    ):
        options = {"az": {"connection_string": azurite.connection_string.replace(azurite.url, proxy.url)}}
        store = open_store(f"az://{container}/docs", options)
        assert isinstance(store, BucketStore)
        store.retry = Retry(tries=4, first=0.01)
        yield Blobs(store, proxy, client, options)


TRANSIENT: list[dict[str, Any]] = [
    *({"kind": "status", "status": status} for status in (408, 429, 500, 502, 503, 504)),
    {"kind": "drop"},
    {"kind": "lost"},
    {"kind": "short"},
]


def test_the_validator_is_the_etag_of_the_bytes_that_were_read(blobs: Blobs) -> None:
    blobs.client.upload_blob("docs/a", b"one")
    (listed,) = [entry for page in blobs.store.list() for entry in page.entries()]
    assert blobs.store.stat("a") == listed
    assert blobs.store.fetch("a") == (b"one", listed.modified, listed.validator)
    blobs.client.upload_blob("docs/a", b"two", overwrite=True)
    fetched = blobs.store.fetch("a")
    assert fetched.data == b"two"
    assert fetched.validator not in (None, listed.validator)


def test_a_read_is_one_request(blobs: Blobs) -> None:
    blobs.client.upload_blob("docs/a", b"one")
    assert blobs.store.read("a") == b"one"
    assert blobs.operations() == ["GET"]
    blobs.client.upload_blob("docs/empty", b"")
    assert blobs.store.read("empty") == b""


def test_an_object_stored_as_gzip_is_read_as_it_is_stored(blobs: Blobs) -> None:
    from azure.storage.blob import ContentSettings

    stored = gzip.compress(b"The harbour froze early. " * 4000)
    blobs.client.upload_blob("docs/a", stored, content_settings=ContentSettings(content_encoding="gzip"))
    assert blobs.store.fetch("a").data == stored


def test_a_large_object_is_put_and_read_in_pieces_of_one_version(blobs: Blobs) -> None:
    data = bytes(range(251)) * (70 * 1024 * 1024 // 251)
    blobs.store.write("a", data)
    assert blobs.store.read("a") == data
    with blobs.store.open("a") as file:
        file.seek(-3, io.SEEK_END)
        assert file.read() == data[-3:]
        blobs.client.upload_blob("docs/a", data[: WHOLE + 5], overwrite=True)
        file.seek(100)
        with pytest.raises(StorageError, match="it changed while it was read"):
            file.read(5)


def test_a_missing_container_is_no_empty_listing(blobs: Blobs) -> None:
    store = open_store("az://elsewhere/docs", blobs.options)
    with pytest.raises(StorageError, match=r"az://elsewhere/docs: cannot be listed: .*404 ContainerNotFound"):
        list(store.list())
    with pytest.raises(StorageError, match=r"cannot be read: .*ContainerNotFound"):
        store.read("a")


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_what_fails_for_a_moment_is_asked_again(blobs: Blobs, options: Mapping[str, Any]) -> None:
    blobs.client.upload_blob("docs/a", b"0123456789" * 1000)
    blobs.fail(operation="GET", times=3, **options)
    assert blobs.store.read("a") == b"0123456789" * 1000
    blobs.fail(operation="PUT", times=2, **options)
    blobs.store.write("b", b"bytes")
    assert blobs.client.download_blob("docs/b").readall() == b"bytes"
    blobs.fail(operation="GET list", times=2, **options)
    assert sorted(path for page in blobs.store.list() for path in page.paths) == ["a", "b"]


def test_an_answer_that_claims_half_is_all_is_never_a_shorter_document(blobs: Blobs) -> None:
    blobs.client.upload_blob("docs/a", b"0123456789" * 1000)
    blobs.fail("short", "GET", honest=False, times=2)
    assert blobs.store.read("a") == b"0123456789" * 1000
    blobs.fail("short", "GET", honest=False, times=99)
    with pytest.raises(StorageError, match="cannot be read"):
        blobs.store.read("a")


@pytest.mark.parametrize("status", [400, 401, 403])
def test_what_cannot_heal_is_asked_once(blobs: Blobs, status: int) -> None:
    blobs.fail("status", "GET", status=status, times=99)
    with pytest.raises(StorageError, match=f"cannot be read: {status}"):
        blobs.store.read("a")
    assert blobs.operations() == ["GET"]


def test_create_is_exclusive(blobs: Blobs) -> None:
    assert blobs.store.create("a", b"first") is True
    assert blobs.store.create("a", b"second") is False
    assert blobs.store.create("a", b"first") is False  # the same bytes, but another's work
    assert blobs.client.download_blob("docs/a").readall() == b"first"
    prove_exclusive(blobs.store, "runs/x")


@pytest.mark.parametrize("options", TRANSIENT, ids=str)
def test_a_create_that_fails_for_a_moment_knows_its_own_work(blobs: Blobs, options: Mapping[str, Any]) -> None:
    blobs.fail(operation="PUT", **options)
    assert blobs.store.create("a", b"mine") is True
    blobs.fail(operation="PUT", **options)
    assert blobs.store.create("a", b"mine") is False


def test_copies_are_made_by_the_store(blobs: Blobs) -> None:
    blobs.store.write("a #%2F?", b"0123456789")
    blobs.fail("lost", "PUT")
    blobs.store.link("a #%2F?", "deep//b")
    blobs.store.link("a #%2F?", "deep//b")
    assert blobs.client.download_blob("docs/deep//b").readall() == b"0123456789"
    blobs.client.upload_blob("docs/c", b"9876543210")
    with pytest.raises(ValueError, match="other bytes"):
        blobs.store._client().copy("docs/a #%2F?", "docs/c", 10)
    assert blobs.client.download_blob("docs/c").readall() == b"9876543210"


def test_an_option_that_adlfs_does_not_have_is_named() -> None:
    with pytest.raises(StorageError, match="adlfs has no option 'profil'; it has account_host, "):
        open_store("az://c/docs", {"az": {"account_name": "name", "anon": True, "profil": "x"}}).read("a")


def test_an_account_that_is_not_named_is_said_without_the_secret() -> None:
    secret = "c2VjcmV0LWtleQ=="
    with pytest.raises(StorageError) as caught:
        open_store("az://c/docs", {"az": {"connection_string": f"AccountKey={secret}"}}).read("a")
    assert secret not in str(caught.value)

"""The fake of Google Cloud Storage is as strict as the real one: what its tests rely on, seen by a plain client."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator

import pytest

from tests.servers.gcs import GcsServer
from tests.servers.gcs_objects import Conditions


@pytest.fixture
def server() -> Iterator[GcsServer]:
    pytest.importorskip("google_crc32c")
    with GcsServer() as running:
        running.buckets.make("b")
        yield running


def ask(
    server: GcsServer, method: str, target: str, body: bytes = b"", **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, target, body, {"Accept-Encoding": "identity", **sent})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def put(server: GcsServer, name: str, body: bytes, condition: str = "") -> int:
    return ask(server, "POST", f"/upload/storage/v1/b/b/o?uploadType=media&name={name}{condition}", body)[0].status


def test_whoever_does_not_take_gzip_gets_it_inflated_whole_and_without_a_length(server: GcsServer) -> None:
    stored = gzip.compress(b"x" * 1000)
    server.buckets.put("b", "a", stored, Conditions(), content_encoding="gzip")
    plain, content = ask(server, "GET", "/storage/v1/b/b/o/a?alt=media", Range="bytes=0-3")
    assert (plain.status, content, plain.getheader("Content-Length")) == (200, b"x" * 1000, None)
    raw, content = ask(server, "GET", "/storage/v1/b/b/o/a?alt=media", Accept_Encoding="gzip", Range="bytes=0-3")
    assert (raw.status, content, raw.getheader("Content-Encoding")) == (206, stored[:4], "gzip")


def test_conditions_decide_on_uploads_copies_and_deletes(server: GcsServer) -> None:
    assert put(server, "a", b"1", "&ifGenerationMatch=0") == 200
    assert put(server, "a", b"2", "&ifGenerationMatch=0") == 412
    old = server.buckets.get("b", "a").generation
    assert put(server, "a", b"2", f"&ifGenerationMatch={old}") == 200
    assert put(server, "a", b"3", f"&ifGenerationMatch={old}") == 412
    for how in ("copyTo", "rewriteTo"):
        assert ask(server, "POST", f"/storage/v1/b/b/o/a/{how}/b/b/o/{how}?ifGenerationMatch=0")[0].status == 200
        assert ask(server, "POST", f"/storage/v1/b/b/o/a/{how}/b/b/o/{how}?ifGenerationMatch=0")[0].status == 412
    assert ask(server, "DELETE", f"/storage/v1/b/b/o/a?ifGenerationMatch={old}")[0].status == 412
    assert ask(server, "DELETE", "/storage/v1/b/b/o/a")[0].status == 204
    assert ask(server, "DELETE", "/storage/v1/b/b/o/a")[0].status == 404


def test_names_are_encoded_once_and_a_bare_slash_is_none_of_them(server: GcsServer) -> None:
    server.buckets.put("b", "x/y%2F#?", b"1", Conditions())
    assert ask(server, "GET", "/storage/v1/b/b/o/x%2Fy%252F%23%3F?alt=media")[1] == b"1"
    assert ask(server, "GET", "/storage/v1/b/b/o/x/y%252F%23%3F?alt=media")[0].status == 404


def test_pages_hold_at_most_a_thousand_in_the_order_of_their_bytes(server: GcsServer) -> None:
    names = sorted([*(f"{number:04d}" for number in range(1001)), "\U0001f600", "\uffee"], key=str.encode)
    for name in names:
        server.buckets.put("b", name, b"", Conditions())
    first = json.loads(ask(server, "GET", "/storage/v1/b/b/o?maxResults=5000")[1])
    second = json.loads(ask(server, "GET", f"/storage/v1/b/b/o?pageToken={first['nextPageToken']}")[1])
    assert len(first["items"]) == 1000
    assert [item["name"] for item in first["items"] + second["items"]] == names
    assert "nextPageToken" not in second


@pytest.mark.parametrize("name", ["", ".", "..", "a%0Ab", "a%0Db", "x" * 1025, ".well-known/acme-challenge/x"])
def test_names_that_the_real_one_refuses_are_refused(server: GcsServer, name: str) -> None:
    assert put(server, name, b"1") == 400
    assert put(server, "x" * 1024, b"1") == 200

"""Object stores on loopback for every test that wants one."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.azurite import Azurite, Unavailable
from tests.servers.gcs import GcsServer
from tests.servers.s3 import S3Server

Options = dict[str, dict[str, Any]]

KEYS = {"key": "AKIATESTS", "secret": "not-a-real-secret"}


@pytest.fixture(scope="session")
def moto_url() -> Iterator[str]:
    """Moto's S3, the closest there is to the real one without it."""
    server_module = pytest.importorskip("moto.server")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def moto(moto_url: str) -> tuple[str, Options]:
    """The address of an empty bucket of moto's, and the options to reach it."""
    import urllib.request

    bucket = f"b-{uuid.uuid4().hex[:20]}"
    urllib.request.urlopen(urllib.request.Request(f"{moto_url}/{bucket}", method="PUT")).close()
    return f"s3://{bucket}", {"s3": {"endpoint_url": moto_url, **KEYS}}


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """One server for all tests: a new connection costs more than most of them."""
    with S3Server() as server:
        yield server


@pytest.fixture
def s3(s3_server: S3Server) -> S3Server:
    """A light S3 with nothing but a bucket `bucket`, which commits faults on demand."""
    s3_server.clear()
    s3_server.make("bucket")
    return s3_server


@pytest.fixture
def s3_options(s3: S3Server) -> Options:
    """The options to reach `s3`."""
    return {"s3": {"endpoint_url": s3.url, **KEYS}}


@pytest.fixture
def gcs() -> Iterator[GcsServer]:
    """A fake of Google Cloud Storage with a bucket `bucket`, which commits faults on demand."""
    pytest.importorskip("gcsfs")
    with GcsServer() as server:
        server.buckets.make("bucket")
        yield server


@pytest.fixture
def gcs_options(gcs: GcsServer) -> Options:
    """The options to reach `gcs`."""
    return {"gs": {"endpoint_url": gcs.url, "token": "anon"}}


@pytest.fixture(scope="session")
def azurite() -> Iterator[Azurite]:
    """Azure's emulator; skips where it cannot be had. For slow tests only: it may have to be installed."""
    pytest.importorskip("adlfs")
    try:
        server = Azurite()
    except Unavailable as reason:
        pytest.skip(f"no azurite: {reason}")
    with server:
        yield server


@pytest.fixture
def azure(azurite: Azurite) -> tuple[str, Options]:
    """The address of an empty container of azurite's, and the options to reach it."""
    container = f"c-{uuid.uuid4().hex[:20]}"
    azurite.make(container)
    return f"az://{container}", {"az": {"connection_string": azurite.connection_string}}

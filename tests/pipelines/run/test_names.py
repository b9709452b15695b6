"""Whatever an object is called: it is chunked under exactly that name, or said to be left out; never another's bytes."""

from __future__ import annotations

import hashlib
import os
import random
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import StorageError
from pipelines.observe.events import ObjectSkipped
from tests.pipelines.names import MOST_BYTES, hostile
from tests.pipelines.run.buckets import Stored
from tests.servers.azurite import Azurite
from tests.servers.gcs import GcsServer
from tests.servers.gcs_objects import Conditions, Refused

Options = dict[str, dict[str, Any]]
PREFIX = "docs/"
Put = Callable[[str, bytes], object]


def stored(put: Put, count: int, refusals: type[Exception] | tuple[type[Exception], ...]) -> dict[str, bytes]:
    """Objects with hostile names that the store takes, each with its own text; some are empty, as markers are."""
    rng = random.Random(1)
    held: dict[str, bytes] = {}
    for number, name in enumerate(hostile(count, room=MOST_BYTES - len(PREFIX))):
        data = b"" if rng.random() < 0.03 else f"This is object number {number}.".encode()
        try:
            put(PREFIX + name, data)
        except refusals:
            continue
        held[name] = data
    return held


def check(docs: str, table: str, options: Options, held: Mapping[str, bytes | None]) -> None:
    """Run the job over the objects that the store's own client says are there (None: it cannot be read)."""
    job = Stored(docs, table, options, task_bytes=1 << 20)
    outcome = job.run()
    rows = job.rows()
    assert outcome.exit_code == 0
    left_out = {event.path for event in job.events if isinstance(event, ObjectSkipped)}
    failed = {failure["id"]: failure for failure in job.failures()}
    states = job.states()
    chunked = {row["parent_id"]: row for row in rows.values()}
    assert len(chunked) == len(rows) == sum(1 for state in states.values() if state["status"] == "chunked")
    for id_, row in chunked.items():
        assert row["text"].encode() == held[id_], id_
        assert row["source_uri"] == f"{docs}/{id_}"
    unaccounted = []
    for name, data in held.items():
        printable = name.replace("\0", r"\x00")
        outcomes = [
            name in chunked,
            name in failed,
            printable in left_out,
            name in states and states[name]["status"] == "empty",
        ]
        if outcomes != [False] * 4 or (name.endswith("/") and not data):
            assert sum(outcomes) <= 1, name
            assert data or name not in chunked, name
            assert data is not None or name in failed or printable in left_out, name
        else:
            unaccounted.append(name)
    assert unaccounted == []
    assert set(states) | set(failed) <= set(held)
    for path in left_out & set(held):
        if not path.endswith("/"):
            with pytest.raises(StorageError, match="no object name"):
                job.source.read(path)
    if failed:
        return
    again = job.run()
    assert (again.exit_code, again.committed, job.rows()) == (0, False, rows)


def on_gcs(gcs: GcsServer, options: Options, count: int) -> int:
    held = stored(lambda key, data: gcs.buckets.put("bucket", key, data, Conditions()), count, (Refused, UnicodeError))
    check("gs://bucket/docs", "gs://bucket/table", options, held)
    return len(held)


def on_moto(moto: tuple[str, Options], count: int) -> int:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    address, options = moto
    bucket, chosen = address.removeprefix("s3://"), options["s3"]
    client = boto3.client(
        "s3",
        endpoint_url=chosen["endpoint_url"],
        aws_access_key_id=chosen["key"],
        aws_secret_access_key=chosen["secret"],
        region_name="us-east-1",
    )
    put = stored(
        lambda key, data: client.put_object(Bucket=bucket, Key=key, Body=data), count, (ClientError, BotoCoreError)
    )
    texts = {hashlib.md5(data).hexdigest(): data for data in put.values()}
    held = {}  # moto puts some names elsewhere: what it lists is what there is
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=PREFIX):
        for each in page["Contents"]:
            held[each["Key"][len(PREFIX) :]] = texts[each["ETag"].strip('"')]
    check(f"{address}/docs", f"{address}/table", options, held)
    return len(held)


def test_a_hundred_names_on_google_cloud_storage(gcs: GcsServer, gcs_options: Options) -> None:
    assert on_gcs(gcs, gcs_options, 100) > 90


def test_a_hundred_names_on_moto(moto: tuple[str, Options]) -> None:
    assert on_moto(moto, 100) > 90


def on_disk(root: Path, count: int) -> int:
    folder = root / "docs"
    folder.mkdir()

    def put(key: str, data: bytes) -> None:
        name = key[len(PREFIX) :]
        path = os.path.join(os.fsencode(folder), name.encode())
        if name.startswith((".tmp-rechunk-", "..")) or os.path.relpath(path, os.fsencode(folder)) != name.encode():
            raise ValueError("no file here has this name")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
        os.utime(path, (1_600_000_000, 1_600_000_000))

    held = stored(put, count, (OSError, ValueError))
    check(str(folder), str(root / "table"), {}, held)
    return len(held)


def test_a_hundred_names_on_disk(tmp_path: Path) -> None:
    assert on_disk(tmp_path, 100) > 50


@pytest.mark.slow
class TestAThousand:
    """The same with a thousand, and on Azurite."""

    def test_on_google_cloud_storage(self, gcs: GcsServer, gcs_options: Options) -> None:
        assert on_gcs(gcs, gcs_options, 1000) > 850

    def test_on_moto(self, moto: tuple[str, Options]) -> None:
        assert on_moto(moto, 1000) > 850

    def test_on_disk(self, tmp_path: Path) -> None:
        assert on_disk(tmp_path, 1000) > 500

    def test_on_azurite(self, azurite: Azurite) -> None:
        from azure.core.exceptions import AzureError
        from azure.storage.blob import ContainerClient

        container = f"c-{uuid.uuid4().hex[:20]}"
        azurite.make(container)
        options = {"az": {"connection_string": azurite.connection_string}}
        with ContainerClient.from_connection_string(azurite.connection_string, container) as client:

            def put(key: str, data: bytes) -> None:
                if any(character < " " for character in key):
                    raise ValueError("azurite's listings of such names are no XML")
                client.upload_blob(key, data)

            def readable(key: str) -> bool:
                try:
                    client.download_blob(key).readall()
                except AzureError:  # Microsoft's own client cannot read what it lists: so be it, but it must be said
                    return False
                return True

            texts = {hashlib.md5(data).digest(): data for data in stored(put, 1000, (AzureError, ValueError)).values()}
            held = {
                each.name[len(PREFIX) :]: texts[bytes(each.content_settings.content_md5)]
                if readable(each.name)
                else None
                for each in client.list_blobs(name_starts_with=PREFIX)
            }
        check(f"az://{container}/docs", f"az://{container}/table", options, held)
        assert len([data for data in held.values() if data is not None]) > 600

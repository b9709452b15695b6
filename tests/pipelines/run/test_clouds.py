"""The whole job with sources and table on Google Cloud Storage and Azure, and on several stores at once."""

from __future__ import annotations

import gzip
import uuid
from typing import Any

import pytest

from pipelines.operations.verify import verify
from pipelines.storage.retry import Retry
from tests.pipelines.run.buckets import Stored
from tests.pipelines.run.corpus import assert_changes_law, text
from tests.servers.azurite import KEY, Azurite
from tests.servers.faults import Fault
from tests.servers.gcs import GcsServer
from tests.servers.gcs_objects import Conditions

Options = dict[str, dict[str, Any]]
NAMES = ["a b.txt", "a+b.txt", "a%20b.txt", "[x]{y,z}.txt", "#1;2&3?.txt", "café.txt", "cafe\u0301.txt", "a//b.txt"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.storage.bucket.Retry", lambda: Retry(tries=4, first=0.005))


def some_nights(stored: Stored) -> None:
    """Run, nothing changed, edit and remove and add, the same once more: what is read of it is right each time."""
    for number in range(6):
        stored.write(f"{number:03d}.txt", text(3, f"of {number}"))
    for name in NAMES:
        stored.write(name, text(1, name))
    stored.write("empty.txt", b"")
    stored.write("binary.txt", b"\0\1\2\xff" * 100)
    first = stored.run()
    assert (first.exit_code, first.version, first.summary["failed"]) == (0, 0, 1)
    before = stored.rows()
    assert {id_.rpartition("#")[0] for id_ in before} == {f"{number:03d}.txt" for number in range(6)} | set(NAMES)
    assert {row["source_uri"] for row in before.values()} >= {f"{stored.docs}/{name}" for name in NAMES}
    quiet = stored.run()
    assert (quiet.exit_code, quiet.committed, quiet.message) == (0, False, "nothing changed")
    stored.write("000.txt", text(6, "grown"))
    stored.write("001.txt", text(1, "shrunk"))
    stored.write("003.txt", text(3, "of 3"))  # the same bytes under another generation
    stored.write("new.txt", text(2, "new"))
    stored.source.delete("002.txt")
    second = stored.run()
    assert (second.exit_code, second.version, second.summary["chunked"]) == (0, 1, 3)
    after = stored.rows()
    assert after == stored.afresh()
    assert_changes_law(before, after, stored.changes())
    assert {row["id"] for row in stored.changes() if row["change"] == "deleted"} == {
        *(f"002.txt#{number}" for number in range(3)),
        *("001.txt#1", "001.txt#2"),
    }
    assert stored.run().message == "nothing changed"
    found = verify(stored.store, lambda event: None, full=True)
    assert (found.version, list(found.problems), found.rows) == (1, [], len(after))
    assert stored.rows(0) == before


@pytest.fixture
def on_gcs(gcs: GcsServer, gcs_options: Options) -> Stored:
    return Stored("gs://bucket/docs", "gs://bucket/table", gcs_options)


def test_documents_and_table_on_google_cloud_storage(on_gcs: Stored) -> None:
    some_nights(on_gcs)


def test_documents_on_s3_and_the_table_on_google_cloud_storage(moto: tuple[str, Options], gcs_options: Options) -> None:
    bucket, options = moto
    some_nights(Stored(f"{bucket}/docs", "gs://bucket/table", options | gcs_options, task_bytes=100_000))


def test_documents_on_google_cloud_storage_and_the_table_on_s3(moto: tuple[str, Options], gcs_options: Options) -> None:
    bucket, options = moto
    some_nights(Stored("gs://bucket/docs", f"{bucket}/table", options | gcs_options, task_bytes=100_000))


def test_an_unchanged_night_costs_the_listing_and_the_state_files(on_gcs: Stored, gcs: GcsServer) -> None:
    for number in range(1500):
        gcs.buckets.put("bucket", f"docs/{number:04d}.txt", b"One line of text.", Conditions())
    on_gcs.task_bytes = 1 << 20
    on_gcs.__post_init__()
    on_gcs.run()
    gcs.requests.clear()
    assert on_gcs.run().message == "nothing changed"
    of_docs = [request.operation for request in gcs.requests if request.name.startswith("docs/")]
    assert of_docs == ["list", "list"]
    assert not [request for request in gcs.requests if request.operation not in ("list", "get", "media")]


def test_documents_stored_as_gzip_are_chunked_whole(on_gcs: Stored, gcs: GcsServer) -> None:
    """With and without a name that says so; the store would inflate them on the way."""
    for name in ("page.txt", "page.txt.gz"):
        gcs.buckets.put(
            "bucket", f"docs/{name}", gzip.compress(text(40, "zipped").encode()), Conditions(), content_encoding="gzip"
        )
    gcs.buckets.put("bucket", "docs/plain.txt", text(40, "zipped").encode(), Conditions())
    on_gcs.run()
    found: dict[str, list[str]] = {}
    for row in on_gcs.rows().values():
        found.setdefault(row["parent_id"], []).append(row["text"])
    assert len(found["plain.txt"]) == 40
    assert found["page.txt.gz"] == found["plain.txt"]
    assert found["page.txt"] == found["plain.txt"]


def test_a_document_the_store_does_not_give_is_a_failure_row_and_heals(on_gcs: Stored, gcs: GcsServer) -> None:
    for number in range(3):
        on_gcs.write(f"{number}.txt", text(2, str(number)))
    gcs.faults.add(Fault(kind="status", times=99, meets=lambda request: request.name == "docs/1.txt"))
    first = on_gcs.run()
    assert (first.exit_code, first.summary["failed"]) == (0, 1)
    assert [(each["id"], each["stage"], each["error"]) for each in on_gcs.failures()] == [("1.txt", "read", "read")]
    gcs.faults.clear()
    assert on_gcs.run().summary["chunked"] == 1
    assert on_gcs.rows() == on_gcs.afresh()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["gcs", "azure"])
def test_worker_processes_make_the_same_table(
    place: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()  # with Beam, which starts them
    if place == "gcs":
        request.getfixturevalue("gcs")
        address, options = "gs://bucket", request.getfixturevalue("gcs_options")
    else:
        address, options = request.getfixturevalue("azure")
    by_count = {}
    for workers in (1, 2):
        job = Stored(f"{address}/docs", f"{address}/table-{workers}", options)
        for number in range(10):
            job.write(f"{number}.txt", text(3, f"of {number}"))
        assert job.run(workers=workers).exit_code == 0
        by_count[workers] = [shard.chunks.sha256 for shard in job.snapshot().shards]
    assert by_count[1] == by_count[2]
    assert len(by_count[1]) > 2
    assert KEY not in "".join(capfd.readouterr())


@pytest.mark.slow
class TestAzure:
    """The same on Azurite."""

    @pytest.fixture
    def mixed(self, azure: tuple[str, Options], gcs_options: Options, moto: tuple[str, Options]) -> Options:
        return azure[1] | gcs_options | moto[1]

    @pytest.mark.parametrize(
        ("docs", "table"), [("azure", "azure"), ("azure", "gcs"), ("moto", "azure"), ("gcs", "azure")]
    )
    def test_documents_and_table(
        self, docs: str, table: str, azure: tuple[str, Options], moto: tuple[str, Options], mixed: Options
    ) -> None:
        place = {"azure": azure[0], "moto": moto[0], "gcs": "gs://bucket"}
        some_nights(Stored(f"{place[docs]}/docs", f"{place[table]}/table", mixed, task_bytes=100_000))

    def test_addresses_with_the_account_in_them(self, azurite: Azurite, azure: tuple[str, Options]) -> None:
        container = azure[0].removeprefix("az://")
        options = dict.fromkeys(("abfs", "abfss"), azure[1]["az"])
        docs = f"abfss://{container}@devstoreaccount1.dfs.core.windows.net/docs"
        some_nights(Stored(docs, f"abfs://{container}/table-{uuid.uuid4().hex[:4]}", options, task_bytes=100_000))

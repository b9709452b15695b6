"""Bring a vector index up to the newest version of a table: embed what is new or changed, delete what is stale.

    rechunk run nightly.yaml
    python examples/beam/embed_changes.py nightly.yaml vectors.db
    python examples/beam/embed_changes.py nightly.yaml vectors.db --query "When is the tide high?"

The embedding goes through Beam's MLTransform, the write through its VectorDatabaseWriteTransform; both stand in for
yours (vector_index.py). Only what differs between the versions is read and embedded. A run that breaks off leaves an
index between two versions; the next one knows, and puts right what it may have left behind.
"""

import argparse
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
from apache_beam.metrics import MetricsFilter
from apache_beam.ml.rag.ingestion.base import VectorDatabaseWriteTransform
from apache_beam.ml.rag.types import Chunk
from apache_beam.ml.transforms.base import MLTransform
from apache_beam.options.pipeline_options import PipelineOptions
from vector_index import NOTHING, DeleteVectors, HashedWords, SqliteVectors, VectorIndex

from pipelines.beam.rag import chunk_of_row
from pipelines.errors import RechunkError
from pipelines.operations.changes import ChangesSince, changes_since

IN_INDEX = MetricsFilter().with_namespace("index")


class Updated(NamedTuple):
    """What was done, and the version of the table that the index is at."""

    version: int
    upserts: int
    deletions: int


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="Any other option is one of Beam's, such as --runner (default: FnApiRunner).",
    )
    parser.add_argument("table", help="a configuration of rechunk, or the address of its table on this machine")
    parser.add_argument("index", help="the SQLite file with the vectors; made if there is none")
    parser.add_argument("--query", help="look something up instead: the three most similar chunks")
    given, options = parser.parse_known_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # worker processes import vector_index too
    logging.getLogger().setLevel(logging.ERROR)  # Beam warns of type hints of its own
    if given.query is not None:
        for similarity, id_, text in VectorIndex(given.index).nearest(given.query, 3):
            print(f"{similarity:.2f}  {id_}  {text[:60]!r}")
        return
    try:
        done = update(given.table, given.index, options)
    except RechunkError as error:  # no such table, or a version that it does not have any more
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(f"version {done.version}: {done.upserts} upserted, {done.deletions} deleted")


def update(table: str, path: str, options: Sequence[str] = ()) -> Updated:
    """One night: the changes between what the index may hold and the table's newest version, through Beam."""
    index = VectorIndex(path)
    versions = index.versions()
    newest = changes_since(table, None).until
    if versions == [newest]:
        return Updated(newest, 0, 0)
    span = (table, versions, newest)
    list(compared(*span))  # a version that the table has no more is told here, before anything is written
    index.begin(newest)
    with (
        tempfile.TemporaryDirectory() as artifacts,
        beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner", *options])) as pipeline,
    ):
        versions_to_compare = pipeline | "Versions" >> beam.Create([span])
        _ = (
            versions_to_compare
            | "Read upserts" >> beam.FlatMapTuple(upserted).with_output_types(Chunk)
            | "Embed" >> MLTransform(write_artifact_location=artifacts).with_transform(HashedWords())
            | "Write" >> VectorDatabaseWriteTransform(SqliteVectors(path))
        )
        _ = (
            versions_to_compare
            | "Read deletions" >> beam.FlatMapTuple(deleted).with_output_types(str)
            | "Delete" >> DeleteVectors(path)
        )
    index.finish(newest)
    counted = {
        counter.key.metric.name: counter.committed for counter in pipeline.result.metrics().query(IN_INDEX)["counters"]
    }
    return Updated(newest, counted.get("upsert", 0), counted.get("delete", 0))


def upserted(table: str, versions: Sequence[int], newest: int) -> Iterator[Chunk]:
    """The chunks that are in the newest version, and not as they were in all of the others.

    Rows are read shard by shard where this runs: text does not travel with the graph.
    """
    seen = set()
    for changes in compared(table, versions, newest):
        for row in changes.upserted_rows():
            if row["id"] not in seen:
                seen.add(row["id"])
                yield chunk_of_row(row)


def deleted(table: str, versions: Sequence[int], newest: int) -> Iterator[str]:
    """The ids that are in one of the versions, and not in the newest."""
    yield from {row["id"] for changes in compared(table, versions, newest) for row in changes.deleted_rows()}


def compared(table: str, versions: Sequence[int], newest: int) -> Iterator[ChangesSince]:
    """The net changes since each version."""
    for version in versions:
        changes = changes_since(table, None if version == NOTHING else version)
        if changes.until != newest:
            raise RuntimeError(f"the table went on to version {changes.until} meanwhile: run this again")
        yield changes


if __name__ == "__main__":
    main()

"""Chunk the files of a folder in a Beam pipeline of one's own: read, key by path, chunk, write, detect what is stale.

    python examples/beam/chunk_files.py examples/corpus chunks-1
    python examples/beam/chunk_files.py examples/corpus chunks-2 --previous chunks-1

Writes `chunks….parquet` with the columns of rechunk's table, `failures….jsonl` for files that cannot be chunked, and
with --previous `stale….txt`, the ids of that run's chunks that are no more. What `rechunk run` does besides: it reads
only what changed, commits all or nothing, tells what changed in chunks that stay, and holds back mass deletions.
"""

import argparse
import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.beam.chunk_rows import DocumentsToRows
from pipelines.table.schemas import CHUNKS


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="Any other option is one of Beam's, such as --runner (default: FnApiRunner).",
    )
    parser.add_argument("documents", help="a folder; files in folders below it are read too")
    parser.add_argument("output", help="a folder to write to")
    parser.add_argument("--previous", help="the output of the run before: says which of its chunks are stale")
    parser.add_argument("--max-size", type=int, default=800, help="characters a chunk may have (default: 800)")
    given, options = parser.parse_known_args()
    logging.getLogger().setLevel(logging.ERROR)
    with beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner", *options])) as pipeline:
        build(pipeline, given.documents, given.output, given.previous, max_size=given.max_size)


def build(pipeline: beam.Pipeline, documents: str, output: str, previous: str | None, **options: Any) -> None:
    """Attach the steps to a pipeline; `options` are those of the strategy `auto`."""
    files = [f"{folder}/{name}" for folder, _, names in os.walk(documents) for name in names]
    rows, failures = (
        pipeline
        | "Files" >> beam.Create(sorted(files))
        | "Spread" >> beam.Reshuffle()
        | "Read" >> beam.ParDo(ReadKeyed(documents)).with_output_types(tuple[str, bytes])
        | "Chunk" >> DocumentsToRows(**options).with_exception_handling()
    )
    _ = (
        rows
        | "As dicts" >> beam.Map(lambda row: row._asdict())
        | "Write chunks" >> beam.io.WriteToParquet(f"{output}/chunks", CHUNKS, file_name_suffix=".parquet")
    )
    _ = (
        failures
        | "As JSON" >> beam.Map(lambda row: json.dumps({"id": row.id, "error": row.error, "message": row.message}))
        | "Write failures" >> beam.io.WriteToText(f"{output}/failures", ".jsonl")
    )
    if previous is not None:
        before = (
            pipeline
            | "Before" >> beam.io.ReadFromParquet(f"{previous}/chunks*.parquet", columns=["parent_id", "chunk_count"])
            | "Old counts" >> beam.Map(lambda row: (row["parent_id"], row["chunk_count"]))
        )
        now = rows | "New counts" >> beam.Map(lambda row: (row.parent_id, row.chunk_count))
        failed = failures | "Failed ids" >> beam.Map(lambda row: (row.id, 0))
        _ = (
            {"before": before, "now": now, "failed": failed}
            | "By document" >> beam.CoGroupByKey()
            | "Stale" >> beam.FlatMapTuple(stale)
            | "Write stale" >> beam.io.WriteToText(f"{output}/stale", ".txt")
        )


class ReadKeyed(beam.DoFn):
    """A file to (path below the folder, bytes): the path is the document's id."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def process(self, element: str) -> Iterable[tuple[str, bytes]]:
        yield Path(element).relative_to(self._folder).as_posix(), Path(element).read_bytes()


def stale(path: str, counts: dict[str, Sequence[int]]) -> Iterator[str]:
    """The ids a document had and has no more. One that failed keeps its chunks: it was not read, which is not gone."""
    if not counts["failed"]:
        for index in range(max(counts["now"], default=0), max(counts["before"], default=0)):
            yield f"{path}#{index}"


if __name__ == "__main__":
    main()

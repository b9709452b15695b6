"""A pipeline of documents, some of them bad: `python -m tests.engines.good_and_bad FOLDER OPTION…`, a file an answer.

Everything comes together in one branch: DaskRunner runs only the last of several.
"""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.beam.chunk_documents import ChunkDocuments
from pipelines.beam.chunk_rows import DocumentsToRows

DOCUMENTS = [("a.txt", "One. Two."), ("b.bin", bytes(range(256))), ("c.md", "# T\n\nx")]


def main() -> None:
    """Results and failures of both steps, the chunks after a shuffle."""
    folder, *options = sys.argv[1:]
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        documents = pipeline | beam.Create(DOCUMENTS)
        chunks, failures = documents | ChunkDocuments(max_size=5).with_exception_handling()
        rows, bad_rows = documents | DocumentsToRows(max_size=5).with_exception_handling()
        said = (
            chunks
            | beam.GroupByKey()
            | "Chunks" >> beam.MapTuple(lambda path, found: f"{path}: {[each.text for one in found for each in one]}"),
            failures | "Failures" >> beam.Map(lambda row: f"{row.id}: {row.error}"),
            rows | beam.Reshuffle() | "Rows" >> beam.Map(lambda row: f"{row.id}: row {list(row.headings)}"),
            bad_rows | "Bad rows" >> beam.Map(lambda row: f"{row.id}: no rows, {row.error}"),
        )
        _ = said | beam.Flatten() | "Say" >> beam.Map(say, folder)


def say(line: str, folder: str) -> None:
    """One answer, in a file of its own."""
    (Path(folder) / uuid.uuid4().hex).write_text(line)


if __name__ == "__main__":
    main()
